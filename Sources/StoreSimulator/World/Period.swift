/// An ISO 8601 duration such as `P1M`, `P7D` or `P30DT1H`: calendar months, and milliseconds.
struct Period: Hashable, Sendable {
    var months: Int64
    var milliseconds: Int64

    init(months: Int64 = 0, milliseconds: Int64 = 0) {
        self.months = months
        self.milliseconds = milliseconds
    }

    static let none = Period()

    static func days(_ count: Int64) -> Period { Period(milliseconds: count * Instant.day) }

    var isNone: Bool { months == 0 && milliseconds == 0 }

    /// Reads `P1Y2M3W4DT5H6M7S`, each part optional but one. Nil for anything else, also for
    /// negative parts and for what exceeds a thousand years.
    init?(text: String) {
        guard text.first == "P", text.count > 1, text.count < 40 else { return nil }
        var period = Period()
        var number = ""
        var inTime = false
        for character in text.dropFirst() {
            if character.isASCII, character.isNumber {
                number.append(character)
                continue
            }
            if character == "T", !inTime, number.isEmpty {
                inTime = true
                continue
            }
            guard let count = Int64(number), count <= 366_000_000,
                let part = Period.unit(character, inTime: inTime)
            else { return nil }
            period.months += part.months * count
            period.milliseconds += part.milliseconds * count
            number = ""
        }
        guard number.isEmpty, text.last != "T" else { return nil }
        self = period
    }

    private static func unit(_ letter: Character, inTime: Bool) -> Period? {
        switch (letter, inTime) {
        case ("Y", false): Period(months: 12)
        case ("M", false): Period(months: 1)
        case ("W", false): Period(milliseconds: 7 * Instant.day)
        case ("D", false): Period(milliseconds: Instant.day)
        case ("H", true): Period(milliseconds: Instant.hour)
        case ("M", true): Period(milliseconds: 60 * Instant.second)
        case ("S", true): Period(milliseconds: Instant.second)
        default: nil
        }
    }

    /// The shortest ISO 8601 text of this period; nothing at all is `PT0S`.
    var text: String {
        if isNone { return "PT0S" }
        var text = "P"
        if months / 12 != 0 { text += "\(months / 12)Y" }
        if months % 12 != 0 { text += "\(months % 12)M" }
        let days = milliseconds / Instant.day
        if days != 0, days % 7 == 0, months == 0, milliseconds % Instant.day == 0 {
            return text + "\(days / 7)W"
        }
        if days != 0 { text += "\(days)D" }
        let seconds = milliseconds % Instant.day / Instant.second
        if seconds == 0 { return text }
        text += "T"
        if seconds / 3600 != 0 { text += "\(seconds / 3600)H" }
        if seconds / 60 % 60 != 0 { text += "\(seconds / 60 % 60)M" }
        if seconds % 60 != 0 { text += "\(seconds % 60)S" }
        return text
    }
}

extension Instant {
    /// This instant and `count` periods. Months keep the day of the month; where a month is too
    /// short its last day is taken, and a later one has the day again (31 Jan, 28 Feb, 31 Mar).
    func adding(_ period: Period, times count: Int64 = 1) -> Instant {
        var date = civil
        let months = date.month - 1 + period.months * count
        date.year += Instant.floorDivide(months, 12)
        date.month = months - Instant.floorDivide(months, 12) * 12 + 1
        date.day = min(date.day, Instant.daysIn(month: date.month, year: date.year))
        return Instant(date) + period.milliseconds * count
    }
}
