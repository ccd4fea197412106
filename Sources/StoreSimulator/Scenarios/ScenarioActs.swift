// The phrases for what somebody does.
extension ScenarioReader {
    /// A phrase, and the action of the control calls that it stands for.
    static let phrases: [(words: String, action: String)] = [
        ("payment fails", "fail_payment"),
        ("payment works", "fix_payment"),
        ("payment arrives", "complete"),
        ("payment abandoned", "abandon"),
        ("cancels", "cancel"),
        ("uncancels", "uncancel"),
        ("renews", "renew"),
        ("expires", "expire"),
        ("refunded", "refund"),
        ("earlier period refunded", "refund_past"),
        ("refund reversed", "reverse_refund"),
        ("revoked", "revoke"),
        ("pauses", "pause"),
        ("resumes", "resume"),
        ("changes to", "change_product"),
    ]

    /// A phrase of the table and what it takes, or `does ACTION`.
    func readAct(
        _ verb: String, _ words: inout ScenarioWords
    ) throws(Scenario.Failure) -> Scenario.What {
        var deeds = Scenario.Deeds()
        var action: String?
        if verb == "does" {
            action = words.next()
        } else {
            for phrase in Self.phrases where action == nil {
                let parts = phrase.words.split(separator: " ").map(String.init)
                if parts[0] == verb, words.take(parts.dropFirst()) { action = phrase.action }
            }
        }
        guard let action else {
            let known = Self.phrases.map(\.words).joined(separator: ", ")
            throw failure("expected buy, fault, expect, does, or one of: \(known)")
        }
        if verb == "changes" { deeds.product = words.next() }
        while let option = words.peek, ["for", "product", "at"].contains(option) {
            _ = words.next()
            guard let value = words.next() else {
                throw failure("expected a value after \(option)")
            }
            switch option {
            case "for": deeds.length = value
            case "product": deeds.product = value
            default:
                guard value == "renewal" else { throw failure("expected \"at renewal\"") }
                deeds.isAtRenewal = true
            }
        }
        for store in StoreName.allCases {
            do {
                _ = try ControlReader.deed(action[...], deeds.request, store)
            } catch {
                throw failure(error.message)
            }
        }
        return .act(action: action, deeds)
    }

    private func failure(_ message: String) -> Scenario.Failure {
        Scenario.Failure(line: lineNumber, message: message)
    }
}

extension Scenario.Deeds {
    /// As a control call would say it.
    var request: DeedRequest {
        var request = DeedRequest()
        request.for = length
        request.product = product
        request.when = isAtRenewal ? "renewal" : nil
        return request
    }
}

/// The words of a line; one between quotation marks may hold spaces.
struct ScenarioWords {
    private var words: [String] = []
    private var place = 0

    init(_ line: Substring, line number: Int) throws(Scenario.Failure) {
        var word = ""
        var isQuoted = false
        var isOpen = false
        for character in line.filter({ $0 != "\r" }) {
            if character == "\"" {
                isOpen.toggle()
                isQuoted = true
            } else if !isOpen, character == " " || character == "\t" {
                if !word.isEmpty || isQuoted { words.append(word) }
                (word, isQuoted) = ("", false)
            } else if !isOpen, character == "#", word.isEmpty, !isQuoted {
                return
            } else {
                word.append(character)
            }
        }
        if isOpen {
            throw Scenario.Failure(line: number, message: "expected a closing quotation mark")
        }
        if !word.isEmpty || isQuoted { words.append(word) }
    }

    var peek: String? { place < words.count ? words[place] : nil }

    /// The words that are left.
    var rest: String { words[place...].joined(separator: " ") }

    mutating func next() -> String? {
        guard let word = peek else { return nil }
        place += 1
        return word
    }

    /// Goes past `wanted` when exactly these come next.
    mutating func take(_ wanted: ArraySlice<String>) -> Bool {
        guard words[place...].starts(with: wanted) else { return false }
        place += wanted.count
        return true
    }
}
