/// Finds the line of each key in a TOML text, which the parser does not tell.
///
/// It follows headers, arrays of tables, dotted and quoted keys, and steps over strings and lists
/// of several lines. Keys inside inline tables are not looked for: their line is their table's.
/// The text must have been accepted by the parser.
struct TOMLLines {
    /// Such as `["app", "1", "id"]`: an element of an array of tables is named by its index.
    typealias Path = [String]

    private var lines: [Path: Int] = [:]
    private var counts: [Path: Int] = [:]

    init(_ text: String) {
        var scanner = TOMLScanner(text)
        var table: Path = []
        while scanner.skipToStatement() {
            let line = scanner.line
            if scanner.take("[") {
                let repeats = scanner.take("[")
                table = open(scanner.keyPath(), repeats: repeats)
                for length in 1...table.count { note(Array(table.prefix(length)), line) }
                scanner.skipRestOfLine()
            } else {
                let path = table + scanner.keyPath()
                for length in stride(from: table.count + 1, through: path.count, by: 1) {
                    note(Array(path.prefix(length)), line)
                }
                _ = scanner.skipValue()
            }
        }
    }

    /// What the parser would not refuse but end the whole process for, by an assertion of toml++:
    /// a table header without a name, such as `[=]`, and in a list a `}` or a line separator of
    /// Unicode. Right for any text up to its first fault.
    static func trap(in text: String) -> TOMLComplaint? {
        var scanner = TOMLScanner(text)
        while scanner.skipToStatement() {
            let line = scanner.line
            if scanner.take("[") {
                _ = scanner.take("[")
                guard scanner.isAtHeaderName() else {
                    return TOMLComplaint(
                        line: line, message: "a table header must begin with a name")
                }
                scanner.skipRestOfLine()
            } else if let fault = scanner.skipValue() {
                return TOMLComplaint(line: scanner.line, message: fault)
            }
        }
        return nil
    }

    /// The line of the key, or of the nearest thing around it. Nil for what is written nowhere.
    func line(of path: Path) -> Int? {
        var path = path
        while !path.isEmpty {
            if let line = lines[path] { return line }
            path.removeLast()
        }
        return nil
    }

    private mutating func note(_ path: Path, _ line: Int) {
        if lines[path] == nil { lines[path] = line }
    }

    /// Resolves a header: `[app.x]` after a second `[[app]]` is `app`, `1`, `x`.
    private mutating func open(_ names: [String], repeats: Bool) -> Path {
        var path: Path = []
        for (index, name) in names.enumerated() {
            path.append(name)
            if repeats, index == names.count - 1 {
                counts[path, default: 0] += 1
            }
            if let count = counts[path] { path.append(String(count - 1)) }
        }
        return path
    }
}

/// Reads just enough of TOML to know where statements begin and end.
private struct TOMLScanner {
    private let bytes: [UInt8]
    private var position = 0
    private(set) var line = 1

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func advance() {
        guard position < bytes.count else { return }
        if current == UInt8(ascii: "\n") { line += 1 }
        position += 1
    }

    private func isAt(_ text: String) -> Bool {
        bytes[position...].starts(with: text.utf8)
    }

    /// Takes one ASCII character if it is next.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        advance()
        return true
    }

    private mutating func skipBlanks() {
        while current == UInt8(ascii: " ") || current == UInt8(ascii: "\t") { advance() }
    }

    mutating func skipRestOfLine() {
        while let byte = current, byte != UInt8(ascii: "\n") { advance() }
    }

    /// Steps over the blanks after a bracket.
    mutating func isAtHeaderName() -> Bool {
        skipBlanks()
        guard let byte = current else { return true }
        // A closing bracket is refused by the parser itself.
        return "\"'-_]".utf8.contains(byte)
            || (byte < 0x80 && Unicode.Scalar(byte).properties.isAlphabetic)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// - Returns: false at the end of the text.
    mutating func skipToStatement() -> Bool {
        while let byte = current {
            switch byte {
            case UInt8(ascii: "#"): skipRestOfLine()
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
                advance()
            default: return true
            }
        }
        return false
    }

    /// Reads `a.b."c d"` and stops at what follows.
    mutating func keyPath() -> [String] {
        var names: [String] = []
        repeat {
            skipBlanks()
            names.append(key())
            skipBlanks()
        } while take(".")
        return names
    }

    private mutating func key() -> String {
        let start = position
        if current == UInt8(ascii: "\"") || current == UInt8(ascii: "'") {
            skipString()
            return String(decoding: bytes[start..<position].dropFirst().dropLast(), as: UTF8.self)
        }
        while let byte = current, !" \t.=]\r\n".utf8.contains(byte) { advance() }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Steps over `= value` up to the end of its last line, or up to what no list may hold.
    ///
    /// - Returns: what is wrong there.
    mutating func skipValue() -> String? {
        var open: [UInt8] = []
        while let byte = current {
            let isInList = open.last == UInt8(ascii: "[")
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                skipString()
                continue
            case UInt8(ascii: "#"):
                skipRestOfLine()
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"): open.append(byte)
            case UInt8(ascii: "}") where isInList: return "a list must end with ]"
            case UInt8(ascii: "]"), UInt8(ascii: "}"): _ = open.popLast()
            case UInt8(ascii: "\n") where open.isEmpty: return nil
            case 0xC2 where isInList && isAt("\u{85}"),
                0xE2 where isInList && (isAt("\u{2028}") || isAt("\u{2029}")):
                return "a list must not hold a line separator of Unicode"
            default: break
            }
            advance()
        }
        return nil
    }

    /// Steps over a string of any of the four kinds.
    private mutating func skipString() {
        for mark in ["\"\"\"", "'''", "\"", "'"] where isAt(mark) {
            for _ in mark.utf8 { advance() }
            while current != nil, !isAt(mark) {
                if mark.first == "\"", current == UInt8(ascii: "\\") { advance() }
                advance()
            }
            for _ in mark.utf8 where current != nil { advance() }
            // A string of several lines may end in up to two quotes of its own.
            while mark.utf8.count == 3, current == mark.utf8.first { advance() }
            return
        }
    }
}
