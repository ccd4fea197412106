import Renewal

/// What an event tells beside its columns, as `renewald.events.detail` holds it. The one place for
/// the names of its members; `docs/events.md` has them with their events, and a test compares the
/// two.
extension Detail {
    var json: String { "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}" }

    /// The names, and their values as JSON.
    package var members: [(name: String, value: String)] {
        var json = DetailJSON()
        json["heard"] = heard.map(DetailJSON.text)
        json["false_renewal"] = falseRenewal.map(DetailJSON.flag)
        json["previous_product"] = previousProduct.map(DetailJSON.text)
        json["duration_changed"] = durationChanged.map(DetailJSON.flag)
        json["refunded_order"] = refundedOrder.map(DetailJSON.text)
        json["claimed_by"] = claimedBy.map(DetailJSON.text)
        json["commitment_ends_at"] = (commitmentEndsAt?.text).map(DetailJSON.text)
        add(sale, to: &json)
        if let refund { add(refund, to: &json) }
        return json.members
    }

    private func add(_ sale: SaleNotes, to json: inout DetailJSON) {
        json["region"] = sale.region.map(DetailJSON.text)
        json["price"] = sale.price?.text
        json["currency"] = sale.price.map { DetailJSON.text($0.currency) }
        json["base_plan"] = sale.basePlan.map(DetailJSON.text)
        json["offer"] = sale.offer.map(DetailJSON.text)
        json["offer_tags"] = DetailJSON.texts(sale.offerTags.map(DetailJSON.text))
        json["profile_token"] = sale.profileToken.map(DetailJSON.text)
        json["linked_account"] = sale.linkedAccount.map(DetailJSON.text)
        json["cancel_reason"] = sale.cancelReason.map(DetailJSON.text)
        json["cancel_comment"] = sale.cancelComment.map(DetailJSON.text)
        json["replaced_product"] = sale.replaced.map { DetailJSON.text($0.product) }
        json["replaced_base_plan"] = sale.replaced?.basePlan.map(DetailJSON.text)
        json["replacement_mode"] = sale.replaced?.mode.map(DetailJSON.text)
        json["next_product"] = sale.nextProduct.map(DetailJSON.text)
        json["leaving_products"] = DetailJSON.texts(sale.leavingProducts.map(DetailJSON.text))
    }

    private func add(_ refund: RefundNotes, to json: inout DetailJSON) {
        json["refund_source"] = refund.source.map(DetailJSON.text)
        json["refund_reason"] = refund.reason.map(DetailJSON.text)
        guard let part = refund.part else { return }
        json["partial"] = DetailJSON.flag(true)
        json["refunded_share"] = part.share?.text
        json["refunded_amount"] = part.amount?.text
        json["refunded_currency"] = part.amount.map { DetailJSON.text($0.currency) }
    }
}

/// An object, member by member; what is nil is left out.
struct DetailJSON {
    private(set) var members: [(name: String, value: String)] = []

    /// A value as JSON.
    subscript(name: String) -> String? {
        get { nil }
        set { if let newValue { members.append((name, newValue)) } }
    }

    static func flag(_ value: Bool) -> String { value ? "true" : "false" }

    /// Nil for no element: what says nothing is left out.
    static func texts(_ elements: [String]) -> String? {
        elements.isEmpty ? nil : "[" + elements.joined(separator: ",") + "]"
    }

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
