import Renewal
import TestSupport

/// Some stories of the decision table, with a heading for readers.
struct Section: Sendable {
    let title: String
    let prose: String
    let stories: [Story]

    /// In the text a line `# title | known | …` opens a story, the lines below it are its steps:
    /// time, heard, state, access, told, holds, asks again.
    init(_ title: String, _ prose: String, _ text: String) {
        self.title = title
        self.prose = prose
        var stories: [Story] = []
        for line in text.split(separator: "\n") where line.contains(where: { $0 != " " }) {
            if line.first == "#" {
                stories.append(Story(head: String(line.dropFirst(2))))
            } else {
                precondition(!stories.isEmpty, "a step stands before the first story")
                stories[stories.count - 1].steps.append(Story.Step(TextTable.cells(line)))
            }
        }
        self.stories = stories
    }
}

/// What is heard about a user's purchases one after another, and what must follow.
struct Story: Sendable, CustomStringConvertible {
    let title: String
    /// Purchase A as it is known at the start, in the words of `KnownWords`.
    private(set) var known = "new"
    /// Purchase B of the same user, where there is one.
    private(set) var secondKnown: String?
    private(set) var policy = ""
    var steps: [Step] = []

    /// One row: what is heard, and what must be so after it.
    struct Step: Sendable {
        /// A day of the test calendar, such as `30` or `30+10m`.
        let time: String
        let heard: String
        /// State, access, what is told, what the user holds, when it is asked again.
        let expected: [String]

        init(_ cells: [String]) {
            precondition(cells.count == 7, "a step has seven cells: \(cells)")
            time = cells[0]
            heard = cells[1]
            expected = Array(cells[2...])
        }
    }

    init(head: String) {
        let parts = head.split(separator: "|").map { TextTable.cells($0).joined(separator: " ") }
        precondition(!parts.isEmpty, "a story has a title")
        title = parts[0]
        for part in parts.dropFirst() {
            if part.hasPrefix("policy ") {
                policy = String(part.dropFirst(7))
            } else if part.hasPrefix("B ") {
                secondKnown = String(part.dropFirst(2))
            } else {
                known = part
            }
        }
    }

    var description: String { title }
}

/// A cell that nobody can read.
struct UnreadableCell: Error, CustomStringConvertible {
    let cell: String
    var description: String { "a cell of the decision table cannot be read: \(cell)" }
}

/// A cell's words: plain ones, and those with a value, such as `product=gold`.
struct Words {
    private(set) var plain: [String] = []
    private var values: [String: String] = [:]

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

    /// The time behind the first word.
    func time() throws -> Timestamp? {
        guard plain.count > 1, plain[1].first?.isNumber == true else { return nil }
        return try TestCalendar.time(plain[1])
    }

    func time(_ key: String) throws -> Timestamp? { try values[key].map(TestCalendar.time) }
}

/// The test calendar: days counted from a first one.
enum TestCalendar {
    static let start = Timestamp(microsecondsSinceEpoch: 1_767_225_600_000_000)
    private static let units: [(name: String, seconds: Int64)] = [
        ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
    ]

    /// Reads `30`, `30+10m` and `30-1h`.
    static func time(_ text: String) throws -> Timestamp {
        guard let sign = text.firstIndex(where: { $0 == "+" || $0 == "-" }) else {
            guard let day = Int(text) else { throw UnreadableCell(cell: text) }
            return start + .days(day)
        }
        guard let day = Int(text[..<sign]) else { throw UnreadableCell(cell: text) }
        let away = try duration(text[text.index(after: sign)...])
        return start + .days(day) + (text[sign] == "+" ? away : .zero - away)
    }

    /// Reads `10m`.
    static func duration(_ text: some StringProtocol) throws -> Duration {
        guard let unit = units.first(where: { text.hasSuffix($0.name) }),
            let count = Int64(text.dropLast())
        else { throw UnreadableCell(cell: String(text)) }
        return .seconds(count * unit.seconds)
    }

    /// Writes `30` or `30+17s`.
    static func text(_ time: Timestamp) -> String {
        let seconds = (time - start).components.seconds
        let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
        return rest == 0 ? "\(days)" : "\(days)+\(text(.seconds(rest)))"
    }

    /// Writes `6h15s`: to the nearest second, units that are nought left out.
    static func text(_ duration: Duration) -> String {
        var rest = (duration + .milliseconds(500)).components.seconds
        var text = ""
        for unit in units {
            let (count, left) = rest.quotientAndRemainder(dividingBy: unit.seconds)
            if count != 0 { text += "\(count)\(unit.name)" }
            rest = left
        }
        return text.isEmpty ? "0s" : text
    }
}
