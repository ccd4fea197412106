import Explain
import Daemon
import FoundationEssentials
import Sockets
import Synchronization

/// Results go to standard output, everything else to standard error.
///
/// A reader that has gone, as after `| head -1`, is no failure here: what a command was told to do
/// is done all the same, and its exit code says how that went. Commands that do nothing but print,
/// on and on, ask `requireReader`.
enum Console {
    private static let readerHasGone = Mutex(false)

    /// For a command that is of no use without a reader.
    ///
    /// - Throws: `.readerGone` once something was not read.
    static func requireReader() throws(WriteFailure) {
        if readerHasGone.withLock({ $0 }) { throw .readerGone }
    }

    /// Text as it is. Nothing more is written once the reader has gone.
    static func write(_ text: String) throws(WriteFailure) {
        guard !readerHasGone.withLock({ $0 }) else { return }
        do throws(WriteFailure) {
            try StandardStream.output.write(text)
        } catch .readerGone {
            readerHasGone.withLock { $0 = true }
        }
    }

    /// Standard error has nowhere to complain to, so what it does not take is dropped.
    static func complain(_ sentence: String) {
        try? StandardStream.error.write("renewald: \(sentence.unsteered)\n")
    }

    /// A line for a person.
    static func say(_ line: String) throws(WriteFailure) {
        try write(line.unsteered + "\n")
    }

    /// A line for a tool: JSON escapes what would break it.
    static func say(json line: String) throws(WriteFailure) {
        try write(line + "\n")
    }

    /// Text whose colours and line ends are our own, and whose words are safe already.
    static func say(painted text: String) throws(WriteFailure) {
        try write(text + "\n")
    }

    static func say(lines: [String]) throws(WriteFailure) {
        for line in lines { try say(line) }
    }

    /// A line that the next one replaces: for progress on a terminal.
    static func progress(_ line: String) {
        try? StandardStream.error.write("\r\u{1b}[K" + line.unsteered)
    }

    /// Asks a person, on the line that they answer on.
    static func ask(_ question: String) throws(WriteFailure) {
        try write(question.unsteered)
    }

    /// Whether somebody can answer.
    static var isInputTerminal: Bool { StandardStream.inputIsTerminal }
    static var isErrorTerminal: Bool { StandardStream.error.isTerminal }
    static var isTerminal: Bool { StandardStream.output.isTerminal }

    /// Whether results are shown in colours: on a terminal, unless https://no-color.org is heeded.
    static var isColoured: Bool {
        let variables = ProcessInfo.processInfo.environment
        return isTerminal && (variables["NO_COLOR"] ?? "").isEmpty && variables["TERM"] != "dumb"
    }

    /// Puts the lines where those of the last call were, in one go and within the window, so that
    /// it neither flickers nor scrolls.
    static func redraw(_ lines: [TextLine]) throws(WriteFailure) {
        let window = StandardStream.output.window ?? (lines: 24, columns: 80)
        var shown = lines
        if lines.count > window.lines {
            shown = Array(lines.prefix(window.lines - 1))
            let more = lines.count - shown.count
            shown.append(TextLine("", "… \(more) lines more in a larger window", tone: .quiet))
        }
        let text = shown.map { $0.cut(to: window.columns, isColoured: isColoured) + "\u{1b}[K" }
        try write("\u{1b}[H" + text.joined(separator: "\n") + "\u{1b}[J")
    }
}
