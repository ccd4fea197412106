import Renewal

/// Calls that may start, one after the other, each at its own time: reserved from the row that all
/// workers share. Pure arithmetic over one clock.
struct PermitRow {
    private var nextAt: ContinuousClock.Instant
    private var left = 0
    private let interval: Duration

    /// A place in the row that was not used by then is lost: used later it would be a burst.
    static let tolerance = Duration.milliseconds(100)

    init(interval: Duration) {
        self.interval = interval
        nextAt = .now
    }

    /// Enters a reservation: so many calls, the first at the given time.
    mutating func reserve(_ count: Int, from start: ContinuousClock.Instant) {
        nextAt = start
        left = count
    }

    /// Takes the next place, if its time has come.
    mutating func take(at now: ContinuousClock.Instant) -> Bool {
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
    mutating func opensAt(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        loseUnused(at: now)
        return left > 0 ? nextAt : nil
    }

    private mutating func loseUnused(at now: ContinuousClock.Instant) {
        let late = now - nextAt
        guard left > 0, late > Self.tolerance else { return }
        let lost = min(Int((late - Self.tolerance) / interval) + 1, left)
        left -= lost
        nextAt += interval * lost
    }

    /// How many calls to reserve at once: a tenth of a second's worth, as many as are wanted within
    /// one second's worth at most.
    static func slice(wanted: Int, interval: Duration) -> Int {
        let perSecond = max(Int(Duration.seconds(1) / interval), 1)
        return min(max(wanted, perSecond / 10, 1), perSecond)
    }
}
