import Renewal

/// Reads dates as texts, in UTC, without a locale or a time zone database.
enum CalendarTime {
    /// Reads RFC 3339, such as `2026-02-15T10:20:28.912Z`: any number of fractional digits, an
    /// offset or `Z`. Digits beyond microseconds are dropped.
    ///
    /// - Returns: nil when it is anything else, or not a date of the calendar.
    static func timestamp(rfc3339 text: String) -> Timestamp? {
        var reader = DigitReader(text)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2),
            reader.skip("-"), let day = reader.number(2), reader.skipEither("T", "t"),
            let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2),
            reader.skip(":"), let second = reader.number(2)
        else { return nil }
        guard let fraction = reader.fraction(), let offset = reader.offsetSeconds(), reader.isAtEnd
        else { return nil }
        guard let seconds = epochSeconds(year, month, day, hour, minute, second) else {
            return nil
        }
        return Timestamp(microsecondsSinceEpoch: (seconds - offset) * 1_000_000 + fraction)
    }

    /// Reads the one form of an HTTP date that may be sent today, such as
    /// `Sat, 21 Nov 2026 04:30:56 GMT`.
    ///
    /// <https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7>
    static func timestamp(httpDate text: String) -> Timestamp? {
        guard let comma = text.firstIndex(of: ",") else { return nil }
        var reader = DigitReader(text[text.index(after: comma)...])
        guard reader.skip(" "), let day = reader.number(2), reader.skip(" "),
            let month = reader.month(), reader.skip(" "), let year = reader.number(4),
            reader.skip(" "), let hour = reader.number(2), reader.skip(":"),
            let minute = reader.number(2), reader.skip(":"), let second = reader.number(2),
            reader.skip(word: " GMT"), reader.isAtEnd,
            let seconds = epochSeconds(year, month, day, hour, minute, second)
        else { return nil }
        return Timestamp(microsecondsSinceEpoch: seconds * 1_000_000)
    }

    private static func epochSeconds(
        _ year: Int64, _ month: Int64, _ day: Int64, _ hour: Int64, _ minute: Int64,
        _ second: Int64
    ) -> Int64? {
        // A leap second is written as 60, and counts as the first of the next minute.
        guard (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        let date = CivilTime.beginning(year: year, month: month) + .days(Int(day) - 1)
        guard CivilTime(date).month == month else { return nil }
        return date.microsecondsSinceEpoch / 1_000_000 + hour * 3600 + minute * 60 + second
    }
}

/// Reads a date's text from left to right.
private struct DigitReader {
    private let bytes: [UInt8]
    private var place = 0

    init(_ text: some StringProtocol) {
        bytes = Array(text.utf8)
    }

    var isAtEnd: Bool { place == bytes.count }

    /// Exactly `count` digits.
    mutating func number(_ count: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    private mutating func digit() -> Int64? {
        guard place < bytes.count else { return nil }
        let byte = bytes[place]
        guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
        place += 1
        return Int64(byte - UInt8(ascii: "0"))
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    mutating func skipEither(_ one: Unicode.Scalar, _ other: Unicode.Scalar) -> Bool {
        skip(one) || skip(other)
    }

    mutating func skip(word: String) -> Bool {
        guard bytes[place...].starts(with: word.utf8) else { return false }
        place += word.utf8.count
        return true
    }

    /// Microseconds; zero where there is no fraction; nil where a point has no digits.
    mutating func fraction() -> Int64? {
        guard skip(".") else { return 0 }
        guard let first = digit() else { return nil }
        var worth: Int64 = 100_000
        var microseconds = first * worth
        while let digit = digit() {
            worth /= 10
            microseconds += digit * worth
        }
        return microseconds
    }

    mutating func offsetSeconds() -> Int64? {
        if skipEither("Z", "z") { return 0 }
        let sign: Int64
        if skip("+") {
            sign = 1
        } else if skip("-") {
            sign = -1
        } else {
            return nil
        }
        guard let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }

    mutating func month() -> Int64? {
        for (index, name) in Self.months.enumerated() where skip(word: name) {
            return Int64(index + 1)
        }
        return nil
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

/// Which dates a store may sensibly send: a nonsense date is a malformed answer, not a fact.
struct DateWindow: Sendable {
    private let first: Timestamp
    private let last: Timestamp
    private let now: Timestamp

    /// From 2008, when the first of the stores opened, to 50 years after `now`.
    init(now: Timestamp) {
        self.now = now
        first = Timestamp(microsecondsSinceEpoch: 1_199_145_600_000_000)
        last = now + .days(50 * 365)
    }

    func date(milliseconds: Int64?, field: String) throws(StoreFailure) -> Timestamp? {
        guard let milliseconds else { return nil }
        return try checked(Timestamp(millisecondsSinceEpoch: milliseconds), field: field)
    }

    func date(rfc3339 text: String?, field: String) throws(StoreFailure) -> Timestamp? {
        guard let text else { return nil }
        return try checked(CalendarTime.timestamp(rfc3339: text), field: field)
    }

    /// The same of something that has happened: what claims to come from the future is nonsense.
    /// A day is allowed for clocks that are off.
    func past(milliseconds: Int64?, field: String) throws(StoreFailure) -> Timestamp? {
        try happened(try date(milliseconds: milliseconds, field: field), field: field)
    }

    func past(rfc3339 text: String?, field: String) throws(StoreFailure) -> Timestamp? {
        try happened(try date(rfc3339: text, field: field), field: field)
    }

    private func happened(_ date: Timestamp?, field: String) throws(StoreFailure) -> Timestamp? {
        guard let date else { return nil }
        guard date <= now + .days(1) else { throw .malformed(field: field) }
        return date
    }

    private func checked(_ date: Timestamp?, field: String) throws(StoreFailure) -> Timestamp {
        guard let date, first <= date, date <= last else { throw .malformed(field: field) }
        return date
    }
}

extension Timestamp {
    /// The same day of a later month, or the last one of a month that is too short.
    func adding(months count: Int) -> Timestamp {
        let months = Int64(count)
        let time = CivilTime(self)
        let first = CivilTime.beginning(year: time.year, month: time.month)
        let target = CivilTime.beginning(year: time.year, month: time.month + months)
        let next = CivilTime.beginning(year: time.year, month: time.month + months + 1)
        let sinceFirst = self - first
        let sinceMidnight = sinceFirst - .days(Int(time.day - 1))
        let lastDay = next - .days(1)
        return min(target + .days(Int(time.day - 1)), lastDay) + sinceMidnight
    }
}
