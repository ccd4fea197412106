import Renewal
import Synchronization

/// Which claims are in hand, by shard: claimed and not yet settled.
final class InFlight: Sendable {
    private struct State {
        var ids: [Int16: Set<Int64>] = [:]
        /// What was settled since each lane last began to read.
        var settled: [Int32: Set<Int64>] = [:]
        /// Those whose rows another session held, until they are tried again.
        var held: [Int64: (until: ContinuousClock.Instant, rest: Duration)] = [:]
    }

    private let state = Mutex(State())
    let newcomers = Newcomers()

    /// A lane begins to read claims. What is settled from now on may still be among them.
    func beginReading(_ lane: Int32) {
        state.withLock { $0.settled[lane] = [] }
    }

    /// A lane reads no claims for now.
    func endReading(_ lane: Int32) {
        state.withLock { $0.settled[lane] = nil }
    }

    /// - Returns: the claims that were not in hand already, nor settled while they were read.
    func add(_ claims: [Claim]) -> [Claim] {
        state.withLock { state in
            claims.filter { claim in
                let id = claim.purchaseID
                if state.settled[claim.lane]?.contains(id) == true { return false }
                guard state.ids[claim.shard, default: []].insert(id).inserted else { return false }
                newcomers.add(claim)
                return true
            }
        }
    }

    func remove(_ claims: some Sequence<Claim>) {
        state.withLock { state in
            for claim in claims {
                state.settled[claim.lane]?.insert(claim.purchaseID)
                state.ids[claim.shard]?.remove(claim.purchaseID)
                if state.ids[claim.shard]?.isEmpty == true { state.ids[claim.shard] = nil }
                newcomers.remove(claim)
            }
        }
    }

    func ids(ofShards shards: Set<Int16>) -> [Int16: [Int64]] {
        state.withLock { state in
            Dictionary(
                uniqueKeysWithValues: shards.map { ($0, (state.ids[$0] ?? []).sorted()) })
        }
    }

    /// Another session holds the rows of these, and nothing of them can be stored: each question
    /// would be in vain. They rest for ever longer.
    ///
    /// - Parameters:
    ///   - claims: that could not be stored.
    ///   - isLast: whether nobody tries again before this run ends.
    ///   - now: when they begin to rest.
    func rest(_ claims: [Claim], isLast: Bool, at now: ContinuousClock.Instant = .now) {
        guard !claims.isEmpty else { return }
        state.withLock { state in
            // Those that nobody has found due for as long are no concern of this worker any more.
            state.held = state.held.filter { $0.value.until + Self.longestRest * 2 > now }
            for id in claims.lazy.map(\.purchaseID) {
                let rest = state.held[id].map { min($0.rest * 2, Self.longestRest) }
                state.held[id] = (
                    isLast ? now + .days(1) : now + (rest ?? Self.firstRest), rest ?? Self.firstRest
                )
            }
        }
    }

    /// They can be stored again.
    func restNoMore(_ claims: some Sequence<Claim>) {
        state.withLock { state in
            guard !state.held.isEmpty else { return }
            for claim in claims { state.held[claim.purchaseID] = nil }
        }
    }

    /// Those that rest now.
    func resting(_ claims: [Claim], at now: ContinuousClock.Instant = .now) -> Set<Int64> {
        state.withLock { state in
            guard !state.held.isEmpty else { return [] }
            let resting = state.held.filter { $0.value.until > now }
            return Set(claims.lazy.map(\.purchaseID).filter { resting[$0] != nil })
        }
    }

    private static let firstRest = Duration.seconds(10)
    private static let longestRest = Duration.minutes(5)

    /// How many claims of a shard are in hand.
    func count(ofShard shard: Int16) -> Int {
        state.withLock { $0.ids[shard]?.count ?? 0 }
    }

    /// How many claims are in hand.
    var count: Int { state.withLock { $0.ids.values.reduce(0) { $0 + $1.count } } }

    var isEmpty: Bool { state.withLock { $0.ids.isEmpty } }
}
