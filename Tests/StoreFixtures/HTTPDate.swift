/// A time as the `Date` of an answer has it, such as `Sat, 21 Nov 2026 04:30:56 GMT`.
package enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// `seconds` since 1970, not before.
    package static func text(secondsSinceEpoch seconds: Int64) -> String {
        let (days, time) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let (year, month, day) = civil(days)
        let clock = [time / 3600, time / 60 % 60, time % 60].map(twoDigits)
        return "\(weekdays[Int(days % 7)]), \(twoDigits(day)) \(months[Int(month) - 1]) \(year) "
            + clock.joined(separator: ":") + " GMT"
    }

    /// Year by year: slow, and without a formula that could be wrong.
    private static func civil(_ days: Int64) -> (Int64, Int64, Int64) {
        var (year, month, left): (Int64, Int64, Int64) = (1970, 1, days)
        while left >= length(year) {
            left -= length(year)
            year += 1
        }
        while left >= length(year, month) {
            left -= length(year, month)
            month += 1
        }
        return (year, month, left + 1)
    }

    private static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func length(_ year: Int64) -> Int64 { isLeap(year) ? 366 : 365 }

    private static func length(_ year: Int64, _ month: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
