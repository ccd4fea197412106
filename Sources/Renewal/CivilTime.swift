/// An instant as the calendar and the clock show it in UTC.
package struct CivilTime: Hashable, Sendable {
    package let year: Int64
    package let month: Int64
    package let day: Int64
    package let hour: Int64
    package let minute: Int64
    package let second: Int64

    package init(_ instant: Timestamp) {
        let (days, rest) = Self.floorDivide(
            Self.floorDivide(instant.microsecondsSinceEpoch, 1_000_000).quotient, 86_400)
        // Days of the proleptic Gregorian calendar, counted from 0000-03-01.
        let shifted = days + 719_468
        let (era, dayOfEra) = Self.floorDivide(shifted, 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = rest / 3600
        minute = rest / 60 % 60
        second = rest % 60
    }

    /// The beginning of a month. Months beyond 12 are those of the years that follow.
    package static func beginning(year: Int64, month: Int64) -> Timestamp {
        let (carried, rest) = floorDivide(month - 1, 12)
        let isAfterMarch = rest >= 2
        let marchYear = year + carried - (isAfterMarch ? 0 : 1)
        let (era, yearOfEra) = floorDivide(marchYear, 400)
        let dayOfYear = (153 * (isAfterMarch ? rest - 2 : rest + 10) + 2) / 5
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return Timestamp(
            microsecondsSinceEpoch: (era * 146_097 + dayOfEra - 719_468) * 86_400_000_000)
    }

    /// Such as `2026-11-21`.
    package var date: String {
        "\(Self.padded(year, to: 4))-\(Self.padded(month))-\(Self.padded(day))"
    }
    /// Such as `10:31`.
    package var clock: String { "\(Self.padded(hour)):\(Self.padded(minute))" }
    /// Such as `21 Nov`.
    package var dayAndMonth: String { "\(day) \(monthName)" }
    package var monthName: String { Self.monthNames[Int(month - 1)] }

    static func padded(_ number: Int64, to digits: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(digits - text.utf8.count, 0)) + text
    }

    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func floorDivide(
        _ number: Int64, _ divisor: Int64
    ) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension Timestamp {
    /// For machines and the log: such as `2026-02-01T00:00:00Z`, in whole seconds.
    package var text: String {
        let time = CivilTime(self)
        return "\(time.date)T\(time.clock):\(CivilTime.padded(time.second))Z"
    }

    /// The one form of times for people: such as `2026-11-21 10:31:05 UTC`.
    package var reading: String {
        let time = CivilTime(self)
        return "\(time.date) \(time.clock):\(CivilTime.padded(time.second)) UTC"
    }
}
