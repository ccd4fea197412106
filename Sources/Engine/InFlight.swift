import Renewal
import Synchronization

/// Which claims are in hand, by shard: claimed and not yet settled.
final class InFlight: Sendable {
    private struct State {
        var ids: [Int16: Set<Int64>] = [:]
        /// What was settled since each lane last began to read.
        var settled: [Int32: Set<Int64>] = [:]
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

    /// How many claims of a shard are in hand.
    func count(ofShard shard: Int16) -> Int {
        state.withLock { $0.ids[shard]?.count ?? 0 }
    }

    /// How many claims are in hand.
    var count: Int { state.withLock { $0.ids.values.reduce(0) { $0 + $1.count } } }

    var isEmpty: Bool { state.withLock { $0.ids.isEmpty } }
}
