/// The life of one user with one store, as a text tells it:
///
///     a cancelled subscription runs out
///         buy {"grace":"P6D"}
///         day 10: cancel
///         > grant monthly purchased
///
/// A line without indentation names the case. `buy` takes more members of the purchase, as the
/// simulator's control call has them; `hand in` the style of the legacy receipt that is submitted
/// instead of the token. A deed is
/// done on the morning of its day; `submit` hands in what the last deed has made new. Lines with
/// `>` are the events that must be told, in this order, and no others.
struct LifeCase: Sendable {
    let store: String
    var title: String
    var product = "monthly"
    var terms = "{}"
    var form = "token"
    var deeds: [Deed] = []
    var story: [String] = []

    struct Deed: Sendable {
        let day: Int
        let name: String
        let body: String
    }

    var name: String { "\(store): \(title)" }
    var user: String { "\(store) \(title)" }

    /// Reads the cases of one store. A line that cannot be read ends the test run with its text.
    static func read(_ store: String, _ text: String) -> [LifeCase] {
        var cases: [LifeCase] = []
        for line in text.split(separator: "\n") {
            if !line.hasPrefix(" ") {
                cases.append(LifeCase(store: store, title: String(line)))
                continue
            }
            let words = line.drop { $0 == " " }
            precondition(!cases.isEmpty && cases[cases.count - 1].take(words), "case line: \(line)")
        }
        return cases
    }

    private mutating func take(_ line: Substring) -> Bool {
        if let event = line.after("> ") {
            story.append(event)
        } else if let terms = line.after("buy ") {
            self.terms = terms
        } else if let product = line.after("product ") {
            self.product = product
        } else if let form = line.after("hand in ") {
            self.form = form
        } else if let rest = line.after("day "), let colon = rest.firstIndex(of: ":"),
            let day = Int(rest[..<colon])
        {
            let deed = rest[rest.index(colon, offsetBy: 2)...].split(separator: " ", maxSplits: 1)
            deeds.append(
                Deed(day: day, name: String(deed[0]), body: deed.count > 1 ? "\(deed[1])" : "{}"))
        } else {
            return false
        }
        return true
    }
}

extension Substring {
    fileprivate func after(_ prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
