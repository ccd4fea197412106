/// A point of time in milliseconds since 1970-01-01T00:00:00Z, the unit all three stores speak.
package struct Instant: Hashable, Comparable, Sendable {
    var milliseconds: Int64

    init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Earlier is less.
    package static func < (left: Instant, right: Instant) -> Bool {
        left.milliseconds < right.milliseconds
    }

    static func + (left: Instant, milliseconds: Int64) -> Instant {
        Instant(milliseconds: left.milliseconds + milliseconds)
    }

    static func - (left: Instant, right: Instant) -> Int64 {
        left.milliseconds - right.milliseconds
    }

    /// The end of what does not end: the last millisecond of the year 9998.
    static let distantFuture = Instant(milliseconds: 253_370_764_799_999)

    static let second: Int64 = 1000
    static let hour: Int64 = 3_600_000
    static let day: Int64 = 86_400_000

    /// Whole seconds since 1970, rounded down.
    var seconds: Int64 { Self.floorDivide(milliseconds, 1000) }

    static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}

extension Instant {
    /// A date of the proleptic Gregorian calendar and the milliseconds since its midnight, UTC.
    struct Civil: Hashable {
        var year: Int64
        var month: Int64
        var day: Int64
        var millisecondOfDay: Int64
    }

    /// Days since 1970 to a date, by counting eras of 400 years.
    var civil: Civil {
        let days = Self.floorDivide(milliseconds, Self.day)
        let shifted = days + 719_468
        let era = Self.floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return Civil(
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * shiftedMonth + 2) / 5 + 1,
            millisecondOfDay: milliseconds - days * Self.day)
    }

    init(_ civil: Civil) {
        let year = civil.month <= 2 ? civil.year - 1 : civil.year
        let era = Self.floorDivide(year, 400)
        let yearOfEra = year - era * 400
        let shiftedMonth = civil.month > 2 ? civil.month - 3 : civil.month + 9
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + civil.day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        self.init(milliseconds: days * Self.day + civil.millisecondOfDay)
    }

    static func daysIn(month: Int64, year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}

extension Instant {
    /// RFC 3339 in UTC with milliseconds only where they are not zero: `2026-01-15T10:20:30.456Z`.
    var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func append(to bytes: inout [UInt8]) {
        let date = civil
        let second = date.millisecondOfDay / 1000
        appendDigits(date.year, 4, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        appendDigits(date.month, 2, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        appendDigits(date.day, 2, to: &bytes)
        bytes.append(UInt8(ascii: "T"))
        appendDigits(second / 3600, 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        appendDigits(second / 60 % 60, 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        appendDigits(second % 60, 2, to: &bytes)
        let millisecond = date.millisecondOfDay % 1000
        if millisecond != 0 {
            bytes.append(UInt8(ascii: "."))
            appendDigits(millisecond, 3, to: &bytes)
        }
        bytes.append(UInt8(ascii: "Z"))
    }

    private func appendDigits(_ value: Int64, _ width: Int, to bytes: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<width { divisor *= 10 }
        var rest = value
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / divisor))
            rest %= divisor
            divisor /= 10
        }
    }

    /// Reads `2026-01-15T10:20:30Z`, with up to three digits of a fraction, or a date alone.
    /// Only UTC. Nil when the text is anything else.
    package init?(text: String) {
        let halves = text.split(separator: "T", omittingEmptySubsequences: false)
        let date = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard date.count == 3, halves.count <= 2, let year = Int64(date[0]),
            let month = Int64(date[1]), let day = Int64(date[2]), (1...12).contains(month),
            (1970...9999).contains(year), day >= 1, day <= Self.daysIn(month: month, year: year)
        else { return nil }
        var ofDay: Int64 = 0
        if halves.count == 2 {
            guard let parsed = Self.millisecondOfDay(halves[1]) else { return nil }
            ofDay = parsed
        }
        self.init(Civil(year: year, month: month, day: day, millisecondOfDay: ofDay))
    }

    private static func millisecondOfDay(_ text: Substring) -> Int64? {
        guard text.last == "Z" else { return nil }
        let parts = text.dropLast().split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = Int64(parts[0]), let minute = Int64(parts[1]),
            (0..<24).contains(hour), (0..<60).contains(minute)
        else { return nil }
        let seconds = parts[2].split(separator: ".", omittingEmptySubsequences: false)
        guard seconds.count <= 2, let second = Int64(seconds[0]), (0..<60).contains(second) else {
            return nil
        }
        var millisecond: Int64 = 0
        if seconds.count == 2 {
            let digits = seconds[1].prefix(3)
            guard !digits.isEmpty, let fraction = Int64(digits), fraction >= 0 else { return nil }
            millisecond = fraction
            for _ in digits.count..<3 { millisecond *= 10 }
        }
        return ((hour * 60 + minute) * 60 + second) * 1000 + millisecond
    }
}
