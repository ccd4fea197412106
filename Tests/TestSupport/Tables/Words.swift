package import Renewal

/// A cell that nobody can read.
package struct UnreadableCell: Error, CustomStringConvertible {
    package let cell: String
    package var description: String { "a cell of a table cannot be read: \(cell)" }

    package init(cell: String) { self.cell = cell }
}

/// A cell's words: plain ones, and those with a value, such as `product=gold`.
package struct Words: Sendable {
    package private(set) var plain: [String] = []
    package private(set) var values: [String: String] = [:]

    package init(_ cell: some StringProtocol) {
        for word in cell.split(separator: " ") {
            let halves = word.split(separator: "=", maxSplits: 1)
            if halves.count == 2 {
                values[String(halves[0])] = String(halves[1])
            } else {
                plain.append(String(word))
            }
        }
    }

    package subscript(key: String) -> String? { values[key] }

    package func has(_ word: String) -> Bool { plain.contains(word) }

    /// The time behind the first word.
    package func time() throws -> Timestamp? {
        guard plain.count > 1, plain[1].first?.isNumber == true else { return nil }
        return try TestCalendar.time(plain[1])
    }

    package func time(_ key: String) throws -> Timestamp? {
        try values[key].map { try TestCalendar.time($0) }
    }

    /// - Throws: when there is a word that the builder of an answer does not know, so that no row
    ///   says more than it plays.
    package func require(plain known: Set<String> = [], keys: Set<String> = []) throws {
        for word in plain where !known.contains(word) { throw UnreadableCell(cell: word) }
        for key in values.keys where !keys.contains(key) {
            throw UnreadableCell(cell: key + "=")
        }
    }
}
