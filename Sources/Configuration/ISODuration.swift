/// The part of ISO 8601 durations that has one meaning: weeks, days, hours, minutes, seconds.
///
/// A month and a year have no fixed length, so they are refused.
package enum ISODuration {
    package enum Flaw: Error, Hashable {
        case monthsOrYears
        case notADuration
    }

    /// More digits than any sensible period needs, and few enough never to overflow.
    private static let digitLimit = 9

    /// Reads such as `PT10M`, `P30D`, `P1DT12H`, `PT0.05S`. Only seconds may have a fraction.
    package static func parse(_ text: String) throws(Flaw) -> Duration {
        var rest = text[...]
        guard rest.first == "P" else { throw .notADuration }
        rest.removeFirst()
        let halves = rest.split(
            separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
        if halves[0].contains("Y") || halves[0].contains("M") { throw .monthsOrYears }
        var total = try sum(halves[0], of: [("W", 604_800), ("D", 86_400)])
        if halves.count == 2 {
            guard !halves[1].isEmpty else { throw .notADuration }
            total += try sum(halves[1], of: [("H", 3600), ("M", 60), ("S", 1)])
        } else if halves[0].isEmpty {
            throw .notADuration
        }
        return total
    }

    /// Adds up one half. The units come with their seconds, in the order in which they may appear.
    private static func sum(
        _ text: Substring, of units: [(letter: Character, seconds: Int)]
    ) throws(Flaw) -> Duration {
        var total = Duration.zero
        var rest = text
        var units = units[...]
        while !rest.isEmpty {
            guard let end = rest.firstIndex(where: { $0.isLetter }),
                let position = units.firstIndex(where: { $0.letter == rest[end] })
            else { throw .notADuration }
            let unit = units[position]
            total += try count(rest[..<end], fraction: unit.letter == "S") * unit.seconds
            units = units[(position + 1)...]
            rest = rest[rest.index(after: end)...]
        }
        return total
    }

    /// - Returns: that many seconds, to be multiplied by the unit.
    private static func count(_ text: Substring, fraction: Bool) throws(Flaw) -> Duration {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 1 || fraction, let whole = number(parts[0]) else {
            throw .notADuration
        }
        guard parts.count == 2 else { return .seconds(whole) }
        guard number(parts[1]) != nil else { throw .notADuration }
        let padded = parts[1] + String(repeating: "0", count: digitLimit - parts[1].count)
        return .seconds(whole) + .nanoseconds(number(padded) ?? 0)
    }

    private static func number(_ digits: some StringProtocol) -> Int? {
        guard !digits.isEmpty, digits.count <= digitLimit,
            digits.allSatisfy({ $0.isASCII && $0.isNumber })
        else { return nil }
        return Int(digits)
    }

    /// Writes whole milliseconds back, such as `P1DT12H`; zero is `PT0S`.
    static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = attoseconds / 1_000_000_000_000_000
        let days = seconds / 86_400
        var clock = ""
        if seconds % 86_400 / 3600 != 0 { clock += "\(seconds % 86_400 / 3600)H" }
        if seconds % 3600 / 60 != 0 { clock += "\(seconds % 3600 / 60)M" }
        if milliseconds != 0 {
            let digits = String(milliseconds + 1000).dropFirst()
            clock += "\(seconds % 60).\(trimmed(digits))S"
        } else if seconds % 60 != 0 || (days == 0 && clock.isEmpty) {
            clock += "\(seconds % 60)S"
        }
        return "P" + (days == 0 ? "" : "\(days)D") + (clock.isEmpty ? "" : "T\(clock)")
    }

    private static func trimmed(_ digits: Substring) -> Substring {
        var digits = digits
        while digits.last == "0" { digits.removeLast() }
        return digits
    }
}
