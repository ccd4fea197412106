package import Renewal

/// Calls that may start, one after the other, each at its own time: reserved from the row that all
/// workers share. Pure arithmetic over one clock.
///
/// No second ever holds more than a second's worth, however late a call starts. All workers leave
/// the same little more between two places than the rate asks for, so that a second's worth of
/// places takes a second and `leastMargin`: so late a call may be. A worker that may be later, as
/// its database is slow, leaves the row free for the rest of it after each of its stretches, which
/// have a second's worth of places at most.
package struct RateReservation {
    private var nextAt: ContinuousClock.Instant
    private var left = 0
    private var lateness = Duration.zero
    private var interval: Duration
    /// How late a call may reach the store: for calls that start late, for their way to the store,
    /// and for what is not known of the database's clock. Follows the time that a reservation
    /// takes.
    private(set) var margin = leastMargin

    /// The background reserves nothing that begins later: who waits at a terminal finds no more
    /// than a second of the row taken.
    package static let horizon = Duration.milliseconds(100)
    static let leastMargin = Duration.milliseconds(30)
    /// From the start of a call on an open connection until the store counts it.
    static let transit = Duration.milliseconds(15)
    /// So many calls of all workers together may be under way, and late, in a dense row.
    private static let mostUnderWay = 1000
    /// However slow the database is, the next reservation is long enough to be of use.
    private static let mostMargin = Duration.seconds(60)

    /// - Parameter interval: from one call to the next, by the rate.
    package init(interval: Duration) {
        self.interval = Self.spaced(interval)
        nextAt = .now
    }

    /// How many calls a second come to be made while more is due than that.
    ///
    /// - Parameter callsPerSecond: the most that may be made.
    /// - Returns: so many of them.
    package static func usable(of callsPerSecond: Double) -> Double {
        .seconds(1) / spaced(.seconds(1) / callsPerSecond)
    }

    /// From one place to the next, where the rate asks for `interval`.
    private static func spaced(_ interval: Duration) -> Duration {
        interval + leastMargin / secondsWorth(of: interval)
    }

    /// How many calls a second has room for, one at least.
    private static func secondsWorth(of interval: Duration) -> Int {
        max(Int(Duration.seconds(1) / interval), 1)
    }

    /// How long a stretch to reserve for so many calls, at the present interval or another one.
    package func stretch(_ count: Int, every interval: Duration? = nil) -> Duration {
        (interval.map(Self.spaced) ?? self.interval) * count + (margin - Self.leastMargin)
    }

    /// Enters a reservation that was made with the current margin.
    ///
    /// - Parameters:
    ///   - count: how many calls.
    ///   - interval: from one to the next by the rate, as it was reserved; nil is as before.
    ///   - wait: until the first may start, as the database has said.
    ///   - sent: when it was asked.
    ///   - answered: when the answer was there. The wait was counted from a time in between: the
    ///     places begin at the later reading and end at the earlier one.
    package mutating func reserve(
        _ count: Int, every interval: Duration? = nil, in wait: Duration,
        sent: ContinuousClock.Instant, answered: ContinuousClock.Instant
    ) {
        self.interval = interval.map(Self.spaced) ?? self.interval
        nextAt = answered + wait
        left = count
        let uncertainty = answered - sent
        lateness = margin - uncertainty - Self.transit
        // Too slow an answer leaves no place that is surely ours; the next margin has room for it.
        if lateness < .zero { left = 0 }
        margin = (uncertainty * 2 + Self.transit + .milliseconds(5)).clamped(
            Self.leastMargin, Self.mostMargin)
    }

    /// Takes the next place, if its time has come.
    package mutating func take(at now: ContinuousClock.Instant) -> CallPlace? {
        loseUnused(at: now)
        guard left > 0, nextAt <= now else { return nil }
        defer {
            left -= 1
            nextAt += interval
        }
        return isDense ? .anyTime : CallPlace(startsBy: nextAt + lateness)
    }

    /// Whether the margin has room for all that may be late: no store allows such a rate, some
    /// 33,000 calls a second and more.
    private var isDense: Bool { interval * Self.mostUnderWay <= Self.leastMargin }

    /// Whether `take` would give a place.
    func wouldTake(at now: ContinuousClock.Instant) -> Bool {
        var copy = self
        return copy.take(at: now) != nil
    }

    /// When the next place comes, now or later; nil when all are used or lost.
    package mutating func opensAt(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        loseUnused(at: now)
        return left > 0 ? nextAt : nil
    }

    /// A place that was not used in time is lost: used later it would be a burst.
    private mutating func loseUnused(at now: ContinuousClock.Instant) {
        let late = now - nextAt
        guard left > 0, late > lateness else { return }
        let lost = min(Int((late - lateness) / interval) + 1, left)
        left -= lost
        nextAt += interval * lost
    }

    /// Gives back all places that are left: nobody will use them here.
    ///
    /// - Returns: how long a stretch they are, at the end of the one that was reserved.
    mutating func giveBack(at now: ContinuousClock.Instant) -> Duration {
        loseUnused(at: now)
        defer { left = 0 }
        return interval * left
    }

    /// How many calls to reserve at once, where the rate asks for `interval`: as many as are
    /// wanted, a tenth of a second's worth at least and a quarter at most. A worker that is killed
    /// uses no place of its stretch any more. With a slow database more, as it is not asked as
    /// often: up to a second's worth.
    func slice(wanted: Int, interval: Duration) -> Int {
        let longest = ((margin - Self.transit) * 10).clamped(.milliseconds(250), .seconds(1))
        let least = Self.secondsWorth(of: interval) / 10
        return min(max(wanted, least, 1), max(Int(longest / interval), 1))
    }
}
