import FoundationEssentials
import Sockets

/// Results go to standard output, everything else to standard error.
enum Console {
    static func complain(_ sentence: String) {
        StandardStream.error.write("renewald: \(sentence)\n")
    }

    static func say(_ line: String) {
        StandardStream.output.write(line + "\n")
    }

    /// A line that the next one replaces: for progress on a terminal.
    static func progress(_ line: String) {
        StandardStream.error.write("\r\u{1b}[K" + line)
    }

    static var isErrorTerminal: Bool { StandardStream.error.isTerminal }
    static var isTerminal: Bool { StandardStream.output.isTerminal }

    /// Puts the lines where those of the last call were, without a flicker.
    static func redraw(_ lines: [String]) {
        let text = lines.map { $0 + "\u{1b}[K\n" }.joined()
        StandardStream.output.write("\u{1b}[H" + text + "\u{1b}[J")
    }

    /// One JSON value on one line, keys in order.
    static func sayJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        say(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
