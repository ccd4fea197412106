import Engine
import Renewal
import TestSupport

/// All that a run depends on.
package struct Plan: Sendable {
    package let seed: UInt64
    var features: Features
    /// Customers; each has at least one purchase.
    package var fleet: Int
    package var days: Int
    package var sabotage: Sabotage?
    /// Only these customers live; nil is all.
    var only: Set<Int>?

    package init(seed: UInt64, fleet: Int, days: Int, sabotage: Sabotage? = nil) {
        self.seed = seed
        self.fleet = fleet
        self.days = days
        self.sabotage = sabotage
        features = .drawn(from: seed)
    }

    /// At most. A forecast counts on a database that is near: places in the row of calls come to
    /// nothing where it takes longer.
    var databaseLatency: Duration { .milliseconds(foresight == nil ? 40 : 8) }

    var end: Timestamp { World.start + .days(days) }

    /// A span of time.
    struct Span: Sendable {
        let from: Timestamp
        let to: Timestamp
    }

    /// Instead of one that the seed draws.
    var usualPoll: Duration?
    /// All news arrives, once and within seconds.
    var hasGoodNews = false
    /// What is committed is noted, to be compared with the truth.
    var keepsBeliefs = false

    /// Nil is drawn.
    var usualSweepShare: Double?

    var poll: Duration {
        if let usualPoll { return usualPoll }
        var chance = SeededGenerator(seed, "poll")
        return chance.any([.minutes(20), .hours(1), .hours(1), .hours(2), .hours(2), .hours(2)])
    }

    var lease: Duration { poll * 6 }

    var callsPerSecond = 1.0
    /// Its calls and its lags are forecast and compared with what is lived.
    var foresight: Foresight?

    var workerCount: Int {
        guard features.has(.severalWorkers) else { return 1 }
        var chance = SeededGenerator(seed, "workers")
        return 2 + chance.below(2)
    }

    var settings: EngineSettings {
        var settings = EngineSettings(
            inFlight: 16, poll: poll, lease: lease, batchLimit: 20, batchAge: .milliseconds(50),
            stopLimit: .seconds(20))
        settings.callsPerSecond[SimulatedStore.app] = callsPerSecond
        settings.sweepShare = sweepShare
        settings.rules.policy.shared = policyOfShares
        settings.rules.policy.breaker = breaker
        if sabotage == .breaker { settings.rules.policy.breaker.isOn = false }
        if sabotage == .leak { settings.rules.policy.breaker.release = .confirmed }
        settings.rules.catalog = Catalog([
            "plus_year": .init(kind: .autoRenewable, entitlements: ["plus"])
        ])
        return settings
    }

    /// Where the store lies it is as tight as a small fleet needs it.
    var breaker: BreakerPolicy {
        var chance = SeededGenerator(seed, "breaker")
        var policy = BreakerPolicy()
        guard features.has(.lies) else { return policy }
        policy.floor = chance.any([2, 3, 5])
        policy.window = chance.any([.hours(1), .hours(6)])
        policy.release = chance.any(BreakerPolicy.Release.allCases)
        if sabotage == .leak { policy.release = .person }
        return policy
    }

    /// Mostly the fleet is large for its quota: each purchase is asked about every few days.
    private var sweepShare: Double {
        if let usualSweepShare { return usualSweepShare }
        var chance = SeededGenerator(seed, "sweep")
        return chance.any([0.5, 0.000_5, 0.000_3, 0.000_3, 0.000_2, 0.000_2])
    }

    private var policyOfShares: Policy.Shared {
        var chance = SeededGenerator(seed, "shared")
        return chance.any([.keep, .move])
    }

    /// From when on a worker is killed at one of its next doors or stopped in order, and when it is
    /// started again. The last is after the end.
    func absences(of worker: Int) -> [Span] {
        var chance = SeededGenerator(seed, "absences", worker)
        var (now, spans): (Timestamp, [Span]) = (World.start, [])
        while features.has(.crashes) || features.has(.stops) {
            let from = now + chance.between(.hours(1), .days(30))
            guard from < end else { break }
            now = from + chance.between(.minutes(1), chance.chance(0.2) ? .days(2) : .hours(2))
            spans.append(Span(from: from, to: now))
        }
        return spans + [Span(from: end, to: end)]
    }

    /// How one of its lives ends. Some are killed while they stop.
    func ending(of worker: Int, _ life: Int) -> (isStopped: Bool, isKilled: Bool) {
        guard features.has(.stops) else { return (false, true) }
        guard features.has(.crashes) else { return (true, false) }
        var chance = SeededGenerator(seed, "endings \(worker)", life)
        return chance.any([(true, false), (true, true), (false, true)])
    }

    /// When it stands still in one of its lives, mostly past its lease.
    func stalls(of worker: Int, _ life: Int) -> [Span] {
        guard features.has(.stalls) else { return [] }
        var spans: [Span] = []
        let lives = absences(of: worker)
        var now = life == 0 ? World.start : lives[life - 1].to
        var chance = SeededGenerator(seed, "stalls \(worker)", life)
        while true {
            let from = now + chance.between(.hours(1), .days(40))
            guard from < lives[life].from else { return spans }
            now = from + chance.between(.minutes(1), lease * 2)
            spans.append(Span(from: from, to: now))
        }
    }

    /// When some worker was not there, each with what others need to take over. The last begin after
    /// the end.
    var timesWithoutWorkers: [Span] {
        (0..<workerCount).flatMap { worker in
            let absences = absences(of: worker)
            let standing = absences.indices.flatMap { stalls(of: worker, $0) }
            return (absences + standing).map {
                Span(from: $0.from, to: $0.to + lease * 2 + .hours(1))
            }
        }
    }
}

extension [Plan.Span] {
    /// What of a time they take, where they overlap more than once.
    func sum(from: Timestamp, to: Timestamp) -> Duration {
        reduce(.zero) { sum, span in
            guard span.from < to, span.to > from else { return sum }
            return sum + (Swift.min(span.to, to) - Swift.max(span.from, from))
        }
    }
}
