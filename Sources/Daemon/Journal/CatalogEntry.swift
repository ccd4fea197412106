import Engine
import Logging
import Renewal

/// One kind of line in the log: its stable id, and what the journal's catalog says about it.
///
/// The tables of these are the only source: `systemd/renewald.catalog` is made from them. An id is
/// never changed and never used again.
package struct CatalogEntry: Hashable, Sendable {
    /// What a line is marked with in the code, such as `revoke_refunded`.
    package let topic: String
    /// 128 bits in hexadecimal (https://www.freedesktop.org/wiki/Software/systemd/catalog/).
    package let id: String
    /// In one line what has happened. `@FIELD@` stands for a field of the entry.
    package let subject: String
    /// What it means; an empty line; what to do.
    package let explanation: String

    package static let all: [CatalogEntry] =
        grants + revokes + notices + problems + engineConditions + daemonConditions

    /// Every topic that the code may use.
    package static let topics: [String] =
        GrantReason.allCases.map { EventKind.grant($0).topic }
        + RevokeReason.allCases.map { EventKind.revoke($0).topic }
        + NoticeReason.allCases.map { EventKind.notice($0).topic }
        + Problem.Code.allCases.map(\.topic) + EngineTopic.allCases.map(\.rawValue)
        + DaemonTopic.allCases.map(\.rawValue)

    private static let ids = Dictionary(all.map { ($0.topic, $0.id) }) { first, _ in first }

    /// - Returns: nil for an unknown topic.
    static func id(of topic: String) -> String? { ids[topic] }

    /// Reads a table: `== topic id`, the subject in one line, the explanation.
    static func entries(_ table: String) -> [CatalogEntry] {
        table.split(separator: "== ").map { entry in
            let lines = entry.split(separator: "\n", omittingEmptySubsequences: false)
            let words = lines[0].split(separator: " ")
            guard words.count == 2, lines.count > 2 else {
                preconditionFailure("a catalog entry is not complete: \(lines[0])")
            }
            let text = lines[2...].joined(separator: "\n")
            return CatalogEntry(
                topic: String(words[0]), id: String(words[1]), subject: String(lines[1]),
                explanation: text.hasSuffix("\n") ? String(text.dropLast()) : text)
        }
    }

    /// The text of `systemd/renewald.catalog`, as `journalctl --update-catalog` reads it.
    package static func catalogFile() -> String {
        let head = """
            # What "journalctl -x" says about the lines of renewald. Made from the program: after a
            # change there, run RENEWALD_WRITE_CATALOG=1 swift test --filter CatalogTests.
            """
        let entries = all.map { message in
            """
            -- \(message.id)
            Subject: \(message.subject)
            Defined-By: renewald
            Documentation: man:renewald(1)

            \(message.explanation)
            """
        }
        return ([head] + entries).joined(separator: "\n\n") + "\n"
    }
}

extension EventKind {
    var topic: String { "\(name)_\(reason)" }
}

extension Problem.Code {
    var topic: String { "problem_\(rawValue)" }
}

extension LogField {
    static func topic(_ topic: DaemonTopic) -> Logger.Metadata { [Self.topic: "\(topic.rawValue)"] }
}

/// What a line of the daemon's own is about.
package enum DaemonTopic: String, Hashable, Sendable, CaseIterable {
    case started, stopped, reloaded
    case reloadOutlook = "reload_outlook"
    case reloadRefused = "reload_refused"
    case configurationFault = "configuration_fault"
    case secretReadable = "secret_readable"
    case breakerTripped = "breaker_tripped"
    case restartNeeded = "restart_needed"
    case workStuck = "work_stuck"
    case workAdvances = "work_advances"
    case databaseWaits = "database_waits"
    case databaseThere = "database_there"
    case databaseUnfit = "database_unfit"
    case metricsUnavailable = "metrics_unavailable"
    case linesSummarised = "lines_summarised"
    case journalLinesDropped = "journal_lines_dropped"
}
