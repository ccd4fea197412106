import Renewal

/// What an event tells beside its columns, as `renewald.events.detail` holds it. The one place for
/// the names of its members; `docs/events.md` has them with their events, and a test compares the
/// two.
extension Detail {
    var json: String {
        var json = DetailJSON()
        json["heard"] = heard.map(DetailJSON.text)
        json["false_renewal"] = falseRenewal.map(DetailJSON.flag)
        json["previous_product"] = previousProduct.map(DetailJSON.text)
        json["duration_changed"] = durationChanged.map(DetailJSON.flag)
        json["refunded_order"] = refundedOrder.map(DetailJSON.text)
        json["claimed_by"] = claimedBy.map(DetailJSON.text)
        json["commitment_ends_at"] = (commitmentEndsAt?.text).map(DetailJSON.text)
        return json.object
    }
}

/// An object, member by member; what is nil is left out.
struct DetailJSON {
    private var members: [String] = []

    /// A value as JSON.
    subscript(name: String) -> String? {
        get { nil }
        set { if let newValue { members.append("\"\(name)\":" + newValue) } }
    }

    var object: String { "{" + members.joined(separator: ",") + "}" }

    static func flag(_ value: Bool) -> String { value ? "true" : "false" }

    static func text(_ id: some Identity) -> String { text(id.text) }

    /// PostgreSQL keeps no NUL in a text.
    static func text(_ value: String) -> String {
        var json = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": json += "\\\""
            case "\\": json += "\\\\"
            case "\0": json += "\u{fffd}"
            case "\u{1}"..."\u{1f}":
                let digits = String(scalar.value, radix: 16)
                json += "\\u00" + (digits.count == 1 ? "0" : "") + digits
            default: json.unicodeScalars.append(scalar)
            }
        }
        return json + "\""
    }
}
