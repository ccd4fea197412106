package import Renewal

/// An instant as the calendar and the clock show it in UTC.
struct CivilTime: Hashable, Sendable {
    let year: Int64
    let month: Int64
    let day: Int64
    let hour: Int64
    let minute: Int64
    let second: Int64

    init(_ instant: Timestamp) {
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
    static func beginning(year: Int64, month: Int64) -> Timestamp {
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
    var date: String { "\(year)-\(Self.twoDigits(month))-\(Self.twoDigits(day))" }
    /// Such as `10:31`.
    var clock: String { "\(Self.twoDigits(hour)):\(Self.twoDigits(minute))" }
    /// Such as `21 Nov`.
    var dayAndMonth: String { "\(day) \(monthName)" }
    var monthName: String { Self.monthNames[Int(month - 1)] }

    static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

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
    /// The one form of times for people: such as `2026-11-21 10:31:05 UTC`.
    package var reading: String {
        let time = CivilTime(self)
        return "\(time.date) \(time.clock):\(CivilTime.twoDigits(time.second)) UTC"
    }
}
