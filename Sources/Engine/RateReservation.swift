import Renewal

/// Calls that may start, one after the other, each at its own time: reserved from the row that all
/// workers share. Pure arithmetic over one clock.
///
/// No second ever holds more than a second's worth, however late a call starts. A stretch of the
/// row has at most a second's worth of places, so two calls that are a second's worth of places
/// apart are in different stretches; between two stretches the row is left free for as long as a
/// place may be used late.
package struct RateReservation {
    private var nextAt: ContinuousClock.Instant
    private var left = 0
    private var lateness = Duration.zero
    private var interval: Duration
    /// How long the row is left free after each stretch: for calls that start late, for their way
    /// to the store, and for what is not known of the database's clock. Follows the time that a
    /// reservation takes.
    private(set) var margin = leastMargin

    /// The background reserves nothing that begins later: who waits at a terminal finds no more
    /// than a second of the row taken.
    package static let horizon = Duration.milliseconds(100)
    static let leastMargin = Duration.milliseconds(30)
    /// From the start of a call on an open connection until the store counts it.
    static let transit = Duration.milliseconds(15)
    /// However slow the database is, the next reservation is long enough to be of use.
    private static let mostMargin = Duration.seconds(60)

    package init(interval: Duration) {
        self.interval = interval
        nextAt = .now
    }

    /// How many calls a second come to be made while more is due than that: each stretch of the row
    /// has a second's worth, one call at least, and is left free for a while at its end.
    ///
    /// - Parameter callsPerSecond: the most that may be made.
    /// - Returns: so many of them.
    package static func usable(of callsPerSecond: Double) -> Double {
        let interval = Duration.seconds(1) / callsPerSecond
        let calls = slice(wanted: .max, interval: interval)
        return Double(calls) / ((interval * calls + leastMargin) / .seconds(1))
    }

    /// How long a stretch to reserve for so many calls, at the present interval or another one.
    package func stretch(_ count: Int, every interval: Duration? = nil) -> Duration {
        (interval ?? self.interval) * count + margin
    }

    /// Enters a reservation that was made with the current margin.
    ///
    /// - Parameters:
    ///   - count: how many calls.
    ///   - interval: from one to the next, as it was reserved; nil is as before.
    ///   - wait: until the first may start, as the database has said.
    ///   - sent: when it was asked.
    ///   - answered: when the answer was there. The wait was counted from a time in between: the
    ///     places begin at the later reading and end at the earlier one.
    package mutating func reserve(
        _ count: Int, every interval: Duration? = nil, in wait: Duration,
        sent: ContinuousClock.Instant, answered: ContinuousClock.Instant
    ) {
        self.interval = interval ?? self.interval
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
    package mutating func take(at now: ContinuousClock.Instant) -> Bool {
        loseUnused(at: now)
        guard left > 0, nextAt <= now else { return false }
        left -= 1
        nextAt += interval
        return true
    }

    /// Whether `take` would give a place.
    func wouldTake(at now: ContinuousClock.Instant) -> Bool {
        var copy = self
        return copy.take(at: now)
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

    /// How many calls to reserve at once: a tenth of a second's worth, as many as are wanted within
    /// one second's worth at most.
    static func slice(wanted: Int, interval: Duration) -> Int {
        let perSecond = max(Int(Duration.seconds(1) / interval), 1)
        return min(max(wanted, perSecond / 10, 1), perSecond)
    }
}
