import Testing

/// Something about one file that must be mended.
struct Violation: Hashable, Sendable, CustomStringConvertible {
    let path: String
    let line: Int
    let what: String

    var description: String { "\(path):\(line): \(what)" }
}

/// One thing that the formatter and the compiler cannot hold.
struct TidyRule: Sendable, CustomTestStringConvertible {
    let name: String
    /// The lines that break it, counted from 1, each with what is wrong there.
    let check: @Sendable (SourceFile) -> [(line: Int, what: String)]

    var testDescription: String { name }

    func violations(in file: SourceFile) -> [Violation] {
        check(file).map { Violation(path: file.path, line: $0.line, what: $0.what) }
    }

    /// A rule about each line by itself.
    static func lines(
        _ name: String, in places: [String], except: [String] = [],
        _ check: @escaping @Sendable (Substring) -> String?
    ) -> TidyRule {
        TidyRule(name: name) { file in
            guard file.isSwift, file.isUnder(places), !file.isUnder(except) else { return [] }
            return file.lines.enumerated().compactMap { index, line in
                check(line).map { (index + 1, $0) }
            }
        }
    }

    /// A rule that bans words. A word of letters must stand alone; others may stand anywhere.
    static func ban(
        _ name: String, _ words: [String], in places: [String], except: [String] = [],
        because reason: String
    ) -> TidyRule {
        lines(name, in: places, except: except) { line in
            words.first { line.containsWord($0) }.map { "has \($0): \(reason)" }
        }
    }
}

extension StringProtocol {
    /// Whether the word occurs with no letter, digit or underscore right before or after it.
    func containsWord(_ word: String) -> Bool {
        let bytes = Array(utf8)
        let wanted = Array(word.utf8)
        guard bytes.count >= wanted.count else { return false }
        for start in 0...(bytes.count - wanted.count) where bytes[start] == wanted[0] {
            let end = start + wanted.count
            guard bytes[start..<end].elementsEqual(wanted) else { continue }
            let before = start > 0 && Self.isPartOfName(bytes[start - 1])
            let after = end < bytes.count && Self.isPartOfName(bytes[end])
            let joinsBefore = before && Self.isPartOfName(wanted[0])
            let joinsAfter = after && Self.isPartOfName(wanted[wanted.count - 1])
            if !joinsBefore, !joinsAfter { return true }
        }
        return false
    }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The line without its comment. Good enough: it also cuts at `//` in a string.
    var code: SubSequence {
        firstRange(of: "//").map { self[..<$0.lowerBound] } ?? self[...]
    }

    var trimmed: SubSequence {
        let start = firstIndex { !$0.isWhitespace } ?? endIndex
        let end = lastIndex { !$0.isWhitespace }.map { index(after: $0) } ?? endIndex
        return start < end ? self[start..<end] : self[endIndex...]
    }
}
