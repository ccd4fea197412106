import Renewal
import Engine
package import Logging
import Sockets

/// Where log lines go: to the journal in its own protocol, with fields, where systemd has connected
/// standard error to it; elsewhere to standard error, as text with the time.
package struct LogOutput: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    private let journal: JournalWriter?
    private let isJournalStream: Bool

    private static let journalSocket = "/run/systemd/journal/socket"

    /// - Parameters:
    ///   - level: what is below it is not said.
    ///   - environment: of the process: `JOURNAL_STREAM` names the stream that systemd has made.
    package init(level: Logger.Level, environment: [String: String]) {
        self.init(
            level: level, environment: environment, identity: StandardError.socketIdentity,
            journalSocket: Self.journalSocket)
    }

    /// - Parameters:
    ///   - level: what is below it is not said.
    ///   - environment: of the process.
    ///   - identity: device and inode of standard error, where it is a socket.
    ///   - journalSocket: the path of the journal's socket.
    init(
        level: Logger.Level, environment: [String: String], identity: String?,
        journalSocket: String
    ) {
        logLevel = level
        // A child that has put its output elsewhere inherits the variable all the same.
        isJournalStream = identity != nil && environment["JOURNAL_STREAM"] == identity
        journal = isJournalStream ? JournalWriter(path: journalSocket) : nil
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let text = Self.printable(event.message.description)
        if let journal {
            let fields = metadata.merging(event.metadata ?? [:]) { _, own in own }
            let entry = Self.entry(text, priority: event.priority, fields)
            guard journal.write(entry) == .nobodyThere else { return }
        }
        // A log that is full or gone must not stop the work.
        if isJournalStream {
            StandardError.sendWithoutWaiting(Array("<\(event.priority)>\(text)\n".utf8))
        } else {
            try? StandardStream.error.write(
                "\(WallClock.now().text) \(event.level.word) \(text)\n")
        }
    }

    static func entry(
        _ text: String, priority: Int, _ fields: Logger.Metadata
    ) -> JournalEntry {
        var entry = JournalEntry()
        entry.add("MESSAGE", text)
        entry.add("PRIORITY", String(priority))
        entry.add("SYSLOG_IDENTIFIER", "renewald")
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            guard name == LogField.topic else {
                entry.add("RENEWALD_\(name)", value.description)
                continue
            }
            entry.add("RENEWALD_TOPIC", value.description)
            if let id = CatalogEntry.id(of: value.description) { entry.add("MESSAGE_ID", id) }
        }
        return entry
    }

    /// One line stays one line, whatever a user id holds.
    static func printable(_ text: String) -> String {
        var printable = ""
        for scalar in text.unicodeScalars {
            if scalar.properties.generalCategory == .control
                || scalar.properties.generalCategory == .lineSeparator
                || scalar.properties.generalCategory == .paragraphSeparator
            {
                printable += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                printable.unicodeScalars.append(scalar)
            }
        }
        return printable
    }
}

extension LogEvent {
    /// As syslog(3) counts. What a person has to act on at once has a priority of its own.
    fileprivate var priority: Int {
        let topic = metadata?[LogField.topic]?.description
        return topic == DaemonTopic.breakerTripped.rawValue ? 1 : level.priority
    }
}

extension Logger.Level {
    /// As syslog(3) counts.
    fileprivate var priority: Int {
        switch self {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }

    /// Four letters each, so that messages stand in a column.
    fileprivate var word: String {
        switch self {
        case .critical: "crit"
        case .error: "err "
        case .warning: "warn"
        case .notice: "note"
        case .info: "info"
        case .debug, .trace: "dbug"
        }
    }
}
