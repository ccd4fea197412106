/// An instant, in whole microseconds since 1970-01-01 00:00 UTC: the resolution of the database.
package struct Timestamp: Hashable, Comparable, Sendable {
    package let microsecondsSinceEpoch: Int64

    package init(microsecondsSinceEpoch: Int64) {
        self.microsecondsSinceEpoch = microsecondsSinceEpoch
    }

    /// - Returns: nil when the value does not fit, as a nonsense date of a store may not.
    package init?(millisecondsSinceEpoch: Int64) {
        let (microseconds, overflow) = millisecondsSinceEpoch.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return nil }
        self.init(microsecondsSinceEpoch: microseconds)
    }

    /// 9999-12-31 00:00 UTC: when a purchase is due that is never asked about again. The database
    /// holds it like any other time, which infinity is not.
    package static let never = Timestamp(microsecondsSinceEpoch: 253_402_214_400_000_000)

    /// 9000-01-01 00:00 UTC. What was imported and not asked about yet is due after it, 7,000 years
    /// after its import: behind everything that has a time, the oldest first.
    package static let backfill = Timestamp(microsecondsSinceEpoch: 221_845_392_000_000_000)

    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microsecondsSinceEpoch < right.microsecondsSinceEpoch
    }

    /// Stays at the first or last instant that can be represented instead of overflowing.
    package static func + (instant: Timestamp, duration: Duration) -> Timestamp {
        let (sum, overflow) = instant.microsecondsSinceEpoch.addingReportingOverflow(
            duration.microseconds)
        guard !overflow else {
            return Timestamp(microsecondsSinceEpoch: duration < .zero ? .min : .max)
        }
        return Timestamp(microsecondsSinceEpoch: sum)
    }

    package static func - (instant: Timestamp, duration: Duration) -> Timestamp {
        instant + (.zero - duration)
    }

    package static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        let (difference, overflow) = later.microsecondsSinceEpoch.subtractingReportingOverflow(
            earlier.microsecondsSinceEpoch)
        guard !overflow else { return .microseconds(later < earlier ? Int64.min : Int64.max) }
        return .microseconds(difference)
    }
}

extension Duration {
    /// Whole microseconds, clamped to what 64 bits hold.
    package var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        guard !carry else { return seconds < 0 ? .min : .max }
        return sum
    }

    package static func minutes(_ count: Int) -> Duration { .seconds(count * 60) }
    package static func hours(_ count: Int) -> Duration { .seconds(count * 3600) }
    package static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }

    package func clamped(_ least: Duration, _ most: Duration) -> Duration {
        Swift.min(Swift.max(self, least), most)
    }
}
