import TOMLKit

/// A TOML document as a plain value.
///
/// TOMLKit's own values point into a C++ document and its iterator traps on odd keys, so everything
/// is copied out once.
indirect enum TOMLNode: Hashable, Sendable {
    case table([String: TOMLNode])
    case array([TOMLNode])
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    /// A date, a time, or both: nothing here takes one.
    case moment

    /// What a fault calls it.
    var typeName: String {
        switch self {
        case .table: "a table"
        case .array: "a list"
        case .string: "a string"
        case .integer: "a whole number"
        case .number: "a number"
        case .boolean: "true or false"
        case .moment: "a date"
        }
    }

    /// As it would be written in a TOML file.
    var literal: String {
        switch self {
        case .table(let fields):
            "{ "
                + fields.sorted { $0.key < $1.key }
                .map { "\($0.key) = \($0.value.literal)" }
                .joined(separator: ", ") + " }"
        case .array(let elements):
            "[" + elements.map(\.literal).joined(separator: ", ") + "]"
        case .string(let text):
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        case .integer(let value): String(value)
        case .number(let value): Int(exactly: value).map(String.init) ?? String(value)
        case .boolean(let value): String(value)
        case .moment: "1970-01-01"
        }
    }

    /// - Throws: the parser's complaint, with its line and without any text of the document.
    static func parse(_ text: String) throws(TOMLComplaint) -> [String: TOMLNode] {
        guard !text.utf8.contains(0) else {
            throw TOMLComplaint(line: nil, message: "it contains a NUL character")
        }
        if let trap = TOMLLines.trap(in: text) { throw trap }
        do {
            return fields(of: try TOMLTable(string: text))
        } catch let error as TOMLParseError {
            throw TOMLComplaint(line: error.source.begin.line, message: error.description)
        } catch {
            throw TOMLComplaint(line: nil, message: "")
        }
    }

    private static func fields(of table: TOMLTable) -> [String: TOMLNode] {
        var fields: [String: TOMLNode] = [:]
        for key in table.keys {
            guard let value = table[key] else { continue }
            fields[key] = TOMLNode(value)
        }
        return fields
    }

    private init(_ value: any TOMLValueConvertible) {
        if let table = value.table {
            self = .table(TOMLNode.fields(of: table))
        } else if let array = value.array {
            self = .array((0..<array.count).map { TOMLNode(array[$0]) })
        } else if let text = value.string {
            self = .string(text)
        } else if let integer = value.int {
            self = .integer(integer)
        } else if let number = value.double {
            self = .number(number)
        } else if let boolean = value.bool {
            self = .boolean(boolean)
        } else {
            self = .moment
        }
    }
}

/// The parser's words without what it quotes from the document, which may be part of a secret.
struct TOMLComplaint: Error, Hashable {
    let line: Int?
    let sentence: String

    private static let harmless: Set<String> = ["true", "false", "\\n", "\\r"]

    init(line: Int?, message: String) {
        self.line = line
        let head = message.firstRange(of: ", saw").map { message[..<$0.lowerBound] } ?? message[...]
        let pieces = head.split(separator: "'", omittingEmptySubsequences: false)
        let kept = pieces.enumerated().map { index, piece in
            let isQuoted = index % 2 == 1
            let isHarmless =
                piece.count <= 1 || Self.harmless.contains(String(piece))
                || ConfigurationSection.isKnownWord(piece)
            return isQuoted && !isHarmless ? "…" : String(piece)
        }
        let words = kept.joined(separator: "'")
        self.sentence = words.isEmpty ? "is not valid TOML" : "is not valid TOML: \(words)"
    }
}
