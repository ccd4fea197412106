import Renewal

/// The calendar of the tables: days counted from the first one, 2026-01-01.
enum TestCalendar {
    static let start = Timestamp(microsecondsSinceEpoch: 1_767_225_600_000_000)
    private static let units: [(name: String, seconds: Int64)] = [
        ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
    ]

    /// Reads `30`, `30+10m` and `30-1h`.
    static func time(_ text: some StringProtocol) throws -> Timestamp {
        guard let sign = text.dropFirst().firstIndex(where: { $0 == "+" || $0 == "-" }) else {
            return start + .days(try number(text))
        }
        let away = try duration(text[text.index(after: sign)...])
        let day = start + .days(try number(text[..<sign]))
        return text[sign] == "+" ? day + away : day - away
    }

    /// Reads `10m`.
    static func duration(_ text: some StringProtocol) throws -> Duration {
        guard let unit = units.first(where: { text.hasSuffix($0.name) }),
            let count = Int64(text.dropLast())
        else { throw UnreadableCell(cell: String(text)) }
        return .seconds(count * unit.seconds)
    }

    private static func number(_ text: some StringProtocol) throws -> Int {
        guard let day = Int(text) else { throw UnreadableCell(cell: String(text)) }
        return day
    }

    /// Writes `30` or `30+17s`.
    static func text(_ time: Timestamp) -> String {
        let seconds = (time - start).components.seconds
        let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
        guard rest != 0 else { return "\(days)" }
        return rest > 0 ? "\(days)+\(exactly(rest))" : "\(days)-\(exactly(-rest))"
    }

    private static func exactly(_ seconds: Int64) -> String {
        var rest = seconds
        var text = ""
        for unit in units {
            let (count, left) = rest.quotientAndRemainder(dividingBy: unit.seconds)
            if count != 0 { text += "\(count)\(unit.name)" }
            rest = left
        }
        return text
    }

    /// Writes `2d`, `23h` or `90s`: the largest unit of which there are two or more, rounded.
    static func roughly(_ duration: Duration) -> String {
        let seconds = (duration + .milliseconds(500)).components.seconds
        for unit in units where seconds >= 2 * unit.seconds {
            return "\((seconds + unit.seconds / 2) / unit.seconds)\(unit.name)"
        }
        return "1s"
    }
}

/// A cell that nobody can read.
struct UnreadableCell: Error, CustomStringConvertible {
    let cell: String
    var description: String { "a cell of a table cannot be read: \(cell)" }
}

/// A cell's words: plain ones, and those with a value, such as `product=gold`.
struct Words: Sendable {
    private(set) var plain: [String] = []
    private(set) var values: [String: String] = [:]

    init(_ cell: some StringProtocol) {
        for word in cell.split(separator: " ") {
            let halves = word.split(separator: "=", maxSplits: 1)
            if halves.count == 2 {
                values[String(halves[0])] = String(halves[1])
            } else {
                plain.append(String(word))
            }
        }
    }

    subscript(key: String) -> String? { values[key] }

    func has(_ word: String) -> Bool { plain.contains(word) }

    func time(_ key: String) throws -> Timestamp? { try values[key].map(TestCalendar.time) }

    /// - Throws: when there is a word that the builder of an answer does not know, so that no row
    ///   says more than it plays.
    func require(plain known: Set<String> = [], keys: Set<String> = []) throws {
        for word in plain where !known.contains(word) { throw UnreadableCell(cell: word) }
        for key in values.keys where !keys.contains(key) {
            throw UnreadableCell(cell: key + "=")
        }
    }
}
