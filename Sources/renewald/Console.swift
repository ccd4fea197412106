import Foundation

/// Results go to standard output, everything else to standard error.
enum Console {
    static func complain(_ sentence: String) {
        write("renewald: \(sentence)\n", to: .standardError)
    }

    static func say(_ line: String) {
        write(line + "\n", to: .standardOutput)
    }

    /// A line that the next one replaces: for progress on a terminal.
    static func progress(_ line: String) {
        write("\r\u{1b}[K" + line, to: .standardError)
    }

    static var isErrorTerminal: Bool { isatty(2) == 1 }
    static var isTerminal: Bool { isatty(1) == 1 }

    /// Puts the lines where those of the last call were, without a flicker.
    static func redraw(_ lines: [String]) {
        let text = lines.map { $0 + "\u{1b}[K\n" }.joined()
        write("\u{1b}[H" + text + "\u{1b}[J", to: .standardOutput)
    }

    /// A reader that has gone away, such as `head`, is no fault.
    private static func write(_ text: String, to handle: FileHandle) {
        try? handle.write(contentsOf: Data(text.utf8))
    }

    /// One JSON value on one line, keys in order.
    static func sayJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        say(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
