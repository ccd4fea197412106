import Foundation
package import Logging

/// Where log lines go: standard error. Under systemd each begins with its priority, `<6>`, as
/// sd-daemon(3) says; elsewhere with the time.
package struct LogOutput: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    private let isJournal: Bool

    package init(level: Logger.Level, environment: [String: String]) {
        logLevel = level
        isJournal = environment["JOURNAL_STREAM"] != nil
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let text = Self.printable(event.message.description)
        let line =
            isJournal
            ? "<\(event.level.priority)>\(text)\n"
            : "\(WallClock.now().text) \(event.level.word) \(text)\n"
        // A log that is full or gone must not stop the work.
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
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
