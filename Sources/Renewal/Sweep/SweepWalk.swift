/// One app's sweep as a machine: it walks through what is not due, again and again, and spends on
/// it the calls that it is given. Pure: time is passed in.
///
/// On its way it takes what was not asked about for longer than a part of a walk, each purchase by
/// its weight: one of weight 2 is taken on every second walk. So a walk takes as long as its calls
/// do, whatever the size of the fleet, and nothing needs to be counted before it.
package struct SweepWalk: Hashable, Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// What to look at next, and how many to take of it.
    package struct Step: Hashable, Sendable {
        package let places: [Place]
        package let perShard: Int
        package let limit: Int
        /// How long a walk takes.
        package let interval: Duration
        /// How long this one has taken so far.
        package let walked: Duration
    }

    /// However small the fleet is, what changes most often is asked about no more often than this.
    package static let least = Duration.hours(1)
    /// Between two walks that have asked about all that is worth it.
    static let rest = Duration.minutes(15)
    private static let shortRest = Duration.minutes(1)
    /// Until it is looked again whether the queue has caught up.
    static let pause = Duration.seconds(5)
    /// Calls that were not spent in so long are lost: later they would be a burst.
    private static let burst = Duration.seconds(4)

    /// How long a walk takes, as far as that is known.
    private var interval = Duration.zero
    /// How often it comes to ask about what changes most often.
    package var turnOfFirst: Duration { max(interval, Self.least) }
    private var hasWalked = false
    /// Of the walk under way, the shards that are not at their ends.
    private var places: [Place] = []
    private var shardCount = 0
    /// Nil between two walks.
    private var beganAt: Instant?
    private var isFirstStep = false
    private var goesOnAt: Instant
    private var calls = 0.0
    private var countedAt: Instant

    package init(at now: Instant) {
        goesOnAt = now
        countedAt = now
    }

    /// - Parameters:
    ///   - callsPerSecond: that may be spent.
    ///   - shards: those that are ours, in any order.
    ///   - now: when it is.
    /// - Returns: the next step; nil while it rests or there is no call to spend.
    package mutating func next(
        spending callsPerSecond: Double, in shards: [Int16], at now: Instant
    ) -> Step? {
        let passed = (now - countedAt) / .seconds(1)
        countedAt = now
        let most = max(callsPerSecond * (Self.burst / .seconds(1)), 1)
        calls = min(calls + passed * callsPerSecond, most)
        guard now >= goesOnAt, calls >= 1, !shards.isEmpty else { return nil }
        let began = beganAt ?? now
        if beganAt == nil {
            beganAt = now
            isFirstStep = true
            places = shards.map(Place.start)
            shardCount = places.count
        } else {
            let ours = Set(shards)
            places.removeAll { !ours.contains($0.shard) }
            guard !places.isEmpty else {
                end(at: now)
                return nil
            }
        }
        // Of a small fleet one step sees all.
        let (shards, perShard) = isFirstStep ? (places.count, 4) : (8, 64)
        isFirstStep = false
        return Step(
            places: Array(places.prefix(shards)), perShard: perShard, limit: Int(calls),
            interval: interval, walked: now - began)
    }

    /// Enters what became of the step.
    package mutating func learn(_ step: SweepStep, at now: Instant) {
        switch step {
        case .behind:
            goesOnAt = now + Self.pause
            calls = 0
        case .swept(let count, let reached, let ended):
            calls -= Double(count)
            let reached = Dictionary(reached.map { ($0.shard, $0) }, uniquingKeysWith: { $1 })
            places = places.filter { !ended.contains($0.shard) }.map { reached[$0.shard] ?? $0 }
            if places.isEmpty { return end(at: now) }
            // The first walk is told by what it has done of it.
            let done = shardCount - places.count
            if !hasWalked, done > 0, let beganAt {
                interval = (now - beganAt) * Double(shardCount) / Double(done)
            }
        }
    }

    private mutating func end(at now: Instant) {
        guard let beganAt else { return }
        let walk = now - beganAt
        // One walk is short where the one before it has asked about much.
        interval = hasWalked ? (interval * 3 + walk) / 4 : walk
        hasWalked = true
        self.beganAt = nil
        goesOnAt = now + (interval < Self.least ? Self.rest : Self.shortRest)
    }
}
