/// The dates of legacy receipts: `2026-03-20 12:00:00 Etc/GMT` and the same in Los Angeles, whose
/// summer time is in it although the members are called `pst`.
extension Instant {
    var greenwichText: String { plainText + " Etc/GMT" }

    var losAngelesText: String {
        (self + Self.losAngelesOffset(at: self)).plainText + " America/Los_Angeles"
    }

    private var plainText: String {
        let text = Instant(milliseconds: seconds * 1000).text
        return text.prefix(10) + " " + text.dropFirst(11).prefix(8)
    }

    /// Seven hours behind from the second Sunday of March to the first of November, eight
    /// otherwise; both changes are at two o'clock there.
    private static func losAngelesOffset(at instant: Instant) -> Int64 {
        let year = instant.civil.year
        let begin = sunday(2, ofMonth: 3, year) + 10 * hour
        let end = sunday(1, ofMonth: 11, year) + 9 * hour
        return (begin..<end).contains(instant) ? -7 * hour : -8 * hour
    }

    private static func sunday(_ count: Int64, ofMonth month: Int64, _ year: Int64) -> Instant {
        let first = Instant(Civil(year: year, month: month, day: 1, millisecondOfDay: 0))
        // 1970-01-01 was a Thursday; counted from Sunday it is day 4.
        let weekday = (floorDivide(first.milliseconds, day) + 4) % 7
        return first + ((7 - weekday) % 7 + (count - 1) * 7) * day
    }
}
