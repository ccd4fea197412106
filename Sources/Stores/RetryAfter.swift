import Renewal

/// `Retry-After` in the dialect of any of the stores.
enum RetryAfter {
    /// Seconds, an HTTP date, or, as Apple sends it, the Unix time in milliseconds at which to try
    /// again; Unix seconds are taken for what they are as well.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits>
    ///
    /// - Parameters:
    ///   - text: the header's raw text.
    ///   - now: what a point in time is measured from.
    /// - Returns: from one second to an hour; nil when there is no header, or none to understand.
    static func delay(_ text: String?, at now: Timestamp) -> Duration? {
        guard let text else { return nil }
        let wait: Duration? =
            if let number = Int64(text.filter { $0 != " " }) {
                delay(number, at: now)
            } else {
                CalendarTime.timestamp(httpDate: text).map { $0 - now }
            }
        return wait?.clamped(.seconds(1), .hours(1))
    }

    private static func delay(_ number: Int64, at now: Timestamp) -> Duration? {
        switch number {
        case 0..<10_000_000:
            .seconds(number)
        case 1_000_000_000..<1_000_000_000_000:
            Timestamp(millisecondsSinceEpoch: number * 1000).map { $0 - now }
        case 1_000_000_000_000...:
            Timestamp(millisecondsSinceEpoch: number).map { $0 - now }
        default:
            nil
        }
    }
}
