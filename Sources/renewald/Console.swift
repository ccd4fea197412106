import FoundationEssentials
import Sockets

/// Results go to standard output, everything else to standard error.
enum Console {
    /// Standard error has nowhere to complain to, so what it does not take is dropped.
    static func complain(_ sentence: String) {
        try? StandardStream.error.write("renewald: \(sentence)\n")
    }

    static func say(_ line: String) throws(WriteFailure) {
        try StandardStream.output.write(line + "\n")
    }

    static func say(lines: [String]) throws(WriteFailure) {
        for line in lines { try say(line) }
    }

    /// A line that the next one replaces: for progress on a terminal.
    static func progress(_ line: String) {
        try? StandardStream.error.write("\r\u{1b}[K" + line)
    }

    static var isErrorTerminal: Bool { StandardStream.error.isTerminal }
    static var isTerminal: Bool { StandardStream.output.isTerminal }

    /// Puts the lines where those of the last call were, without a flicker.
    static func redraw(_ lines: [String]) throws(WriteFailure) {
        let text = lines.map { $0 + "\u{1b}[K\n" }.joined()
        try StandardStream.output.write("\u{1b}[H" + text + "\u{1b}[J")
    }

    /// One JSON value on one line, keys in order.
    static func sayJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try say(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
