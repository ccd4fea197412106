/// The time by two clocks, and the chance that spreads checks over time.
package struct Moment: Hashable, Sendable {
    /// By the database's clock (design rule 12).
    package let now: Timestamp
    /// From 0 to 1, drawn anew for each check.
    package let jitter: Double
    /// What the store's own answer says of the time; nil where it says nothing.
    package let storeNow: Timestamp?

    /// With a store whose clock agrees.
    package init(now: Timestamp, jitter: Double) {
        self.init(now: now, jitter: jitter, storeNow: now)
    }

    package init(now: Timestamp, jitter: Double, storeNow: Timestamp?) {
        self.now = now
        self.jitter = jitter
        self.storeNow = storeNow
    }
}

extension Moment {
    /// Further apart than this the store's time is nonsense, and the store has not told any.
    private static let sensible = Duration.days(366)
    /// What a network's delay and whole seconds can explain.
    private static let unnoticed = Duration.minutes(1)
    /// How far the clocks of one store's machines may differ.
    private static let tolerance = Duration.minutes(10)
    /// A `Date` has whole seconds: the store's clock was up to so much further.
    private static let restOfSecond = Duration.milliseconds(999)

    private var witness: Timestamp? {
        storeNow.flatMap { apart($0) <= Self.sensible ? $0 : nil }
    }

    private func apart(_ told: Timestamp) -> Duration {
        told < now ? now - told : told - now
    }

    /// The time up to which an end has passed for certain: bad news that hangs on *now* hangs on
    /// this, the earlier of the two clocks. Where the store has not told the time, nothing has
    /// passed for certain.
    package var proven: Timestamp {
        witness.map { min($0 + Self.restOfSecond, now) } ?? unproven
    }

    /// The earlier of the two clocks; where the store has not told the time, the database's.
    var earliest: Timestamp { witness == nil ? now : proven }

    /// The time that it may be: the later of the two clocks.
    package var latest: Timestamp { max(now, witness ?? now) }

    /// Before everything: nothing has passed for certain.
    package var unproven: Timestamp { Timestamp(microsecondsSinceEpoch: 0) }

    /// Whether what came from the store is dated after both clocks: nonsense. A database that is
    /// behind makes nothing of what a store says now.
    package func isFuture(_ instant: Timestamp) -> Bool {
        instant > latest + Self.tolerance
    }

    /// Whether clocks that agree may differ in whether an end has passed: what the store ends now,
    /// heard by a database that is a little behind, is still to come.
    package func isPassing(_ end: Timestamp) -> Bool { apart(end) <= Self.unnoticed }

    /// How far the database's clock is ahead of the store's; zero where that is not known.
    private var ahead: Duration { witness.map { max(now - $0, .zero) } ?? .zero }

    /// When to look, by the database's clock, whether a store's time has passed for certain: when
    /// that clock is ahead, so much later, and where the store has not told the time, in a while.
    package func dueAt(_ storeTime: Timestamp) -> Timestamp {
        if storeTime == .never { return .never }
        guard witness != nil else { return max(storeTime, now + .minutes(15)) }
        return storeTime + ahead
    }

    /// The same moment as the store's clock has it, where that is behind: what a rhythm that
    /// follows the store's dates is counted from. `dueAt` leads back.
    package var atTheStore: Moment {
        Moment(now: now - ahead, jitter: jitter, storeNow: storeNow)
    }

    /// Nil while the clocks agree, or the store says nothing of the time.
    package var problem: Problem? {
        guard let storeNow, apart(storeNow) > Self.unnoticed else { return nil }
        let minutes = max(apart(storeNow).components.seconds / 60, 1)
        let side = storeNow < now ? "ahead of" : "behind"
        return Problem(
            .clock,
            witness == nil
                ? "the store's time is years off and proves no end"
                : "the database's time is \(minutes) min \(side) the store's; the earlier counts")
    }
}

extension Moment {
    /// What is wrong with the time where that may change an outcome: the clocks differ, or it is
    /// over by the database's and the store does not tell the time that would prove it.
    func problem(of outcome: Outcome) -> Problem? {
        if let problem { return problem }
        guard storeNow == nil, outcome.isVerdict, outcome.facts.access == .granted,
            let end = outcome.claim.latestEnd(by: outcome.facts), end <= now
        else { return nil }
        return Problem(.clock, "the store's answers do not tell the time, which proves no end")
    }
}

extension Claim {
    /// The moment at which something was heard, so long after the claim was read.
    package func moment(
        of answered: AnsweredCall, after elapsed: Duration, jitter: Double
    ) -> Moment {
        Moment(now: claimedAt + elapsed, jitter: jitter, storeNow: answered.storeNow)
    }
}
