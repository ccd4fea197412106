import Explain

/// What one check of `renewald doctor` has found.
package struct Finding: Hashable, Sendable {
    package enum Level: String, Hashable, Sendable, CaseIterable {
        case ok
        /// It works, and is worth knowing.
        case note
        case wrong
        /// It could not be looked at, because of something else.
        case skipped
    }

    package let level: Level
    /// In one word what it is about, such as `database`.
    package let subject: String
    package let sentence: String
    /// What to do.
    package let advice: String?
    /// `.done` for all that is not wrong.
    package let exitReason: ExitReason

    static func ok(_ subject: String, _ sentence: String) -> Finding {
        Finding(.ok, subject, sentence, nil, .done)
    }

    static func note(_ subject: String, _ sentence: String, do advice: String? = nil) -> Finding {
        Finding(.note, subject, sentence, advice, .done)
    }

    /// The exit reason is `.configuration`, `.unavailable` or `.temporary`: others have no rank.
    static func wrong(
        _ subject: String, _ sentence: String, do advice: String,
        _ exitReason: ExitReason = .configuration
    ) -> Finding {
        Finding(.wrong, subject, sentence, advice, exitReason)
    }

    static func skipped(_ subject: String, because reason: String) -> Finding {
        Finding(.skipped, subject, "not checked: \(reason)", nil, .done)
    }

    private init(
        _ level: Level, _ subject: String, _ sentence: String, _ advice: String?,
        _ exitReason: ExitReason
    ) {
        self.level = level
        self.subject = subject
        self.sentence = sentence
        self.advice = advice
        self.exitReason = exitReason
    }
}

/// All that was found.
package struct DoctorReport: Hashable, Sendable {
    package let findings: [Finding]

    package init(_ findings: [Finding]) { self.findings = findings }

    package func count(_ level: Finding.Level) -> Int { findings.count { $0.level == level } }

    /// The gravest: what a person has to mend, then a database that is not there, then a store.
    package var exitReason: ExitReason {
        let ranked: [ExitReason] = [.configuration, .unavailable, .temporary]
        return ranked.first { reason in findings.contains { $0.exitReason == reason } } ?? .done
    }

    /// The last line.
    package var summary: String {
        var parts = [String]()
        for (level, words) in [
            (Finding.Level.wrong, "wrong"), (.skipped, "skipped"), (.note, "to note"),
        ] where count(level) > 0 {
            parts.append("\(count(level)) \(words)")
        }
        let checks = "\(findings.count) checks"
        return parts.isEmpty
            ? "All is well: \(checks)." : "\(checks): \(parts.joined(separator: ", "))."
    }
}

extension Finding {
    /// A line for a person, and a second one with what to do.
    package var lines: [String] { lines(isColoured: false) }

    /// The same, with the level in its colour.
    package func lines(isColoured: Bool) -> [String] {
        let word = self.level.rawValue.padded(to: Self.levelWidth)
        let level = isColoured ? "\u{1b}[\(self.level.colour)m\(word)\u{1b}[0m" : word
        let first = level + (subject.padded(to: Self.subjectWidth) + sentence).unsteered
        let indent = String(repeating: " ", count: Self.levelWidth)
        return [first] + (advice.map { ["\(indent)do: \($0.unsteered)"] } ?? [])
    }

    private static let levelWidth = 9
    private static let subjectWidth = 15
}

extension Finding.Level {
    /// Of a terminal, as SGR counts.
    fileprivate var colour: String {
        switch self {
        case .ok: "32"
        case .note: "33"
        case .wrong: "1;31"
        case .skipped: "2"
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}

extension Duration {
    /// For people, such as `4 s`, `12 min`, `30 h`, `5 days`; the sign is left out.
    package var roughly: String {
        let seconds = abs(components.seconds)
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}
