package import Renewal

/// The calendar of the tables: days counted from the first one, 2026-01-01.
package enum TestCalendar {
    package static let start = Timestamp(microsecondsSinceEpoch: 1_767_225_600_000_000)
    private static let units: [(name: String, seconds: Int64)] = [
        ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
    ]

    /// Reads `30`, `30+10m` and `30-1h`.
    package static func time(_ text: some StringProtocol) throws -> Timestamp {
        guard let sign = text.dropFirst().firstIndex(where: { $0 == "+" || $0 == "-" }) else {
            return start + .days(try number(text))
        }
        let away = try duration(text[text.index(after: sign)...])
        let day = start + .days(try number(text[..<sign]))
        return text[sign] == "+" ? day + away : day - away
    }

    /// Reads `10m`.
    package static func duration(_ text: some StringProtocol) throws -> Duration {
        guard let unit = units.first(where: { text.hasSuffix($0.name) }),
            let count = Int64(text.dropLast())
        else { throw UnreadableCell(cell: String(text)) }
        return .seconds(count * unit.seconds)
    }

    private static func number(_ text: some StringProtocol) throws -> Int {
        guard let day = Int(text) else { throw UnreadableCell(cell: String(text)) }
        return day
    }

    /// Writes `30`, `30+17s` or `-1-17s`.
    package static func text(_ time: Timestamp) -> String {
        let seconds = (time - start).components.seconds
        let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
        guard rest != 0 else { return "\(days)" }
        return "\(days)\(rest > 0 ? "+" : "-")\(text(.seconds(abs(rest))))"
    }

    /// Writes `6h15s`: to the nearest second, units that are nought left out.
    package static func text(_ duration: Duration) -> String {
        var rest = (duration + .milliseconds(500)).components.seconds
        var text = ""
        for unit in units {
            let (count, left) = rest.quotientAndRemainder(dividingBy: unit.seconds)
            if count != 0 { text += "\(count)\(unit.name)" }
            rest = left
        }
        return text.isEmpty ? "0s" : text
    }

    /// Writes `2d`, `23h` or `90s`: the largest unit of which there are two or more, rounded.
    package static func roughly(_ duration: Duration) -> String {
        let seconds = (duration + .milliseconds(500)).components.seconds
        for unit in units where seconds >= 2 * unit.seconds {
            return "\((seconds + unit.seconds / 2) / unit.seconds)\(unit.name)"
        }
        return "1s"
    }
}
