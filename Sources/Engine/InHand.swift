import Renewal
import Synchronization

/// Which claims are in hand, by shard: claimed and not yet settled.
final class InHand: Sendable {
    private let ids = Mutex<[Int16: Set<Int64>]>([:])

    /// - Returns: the claims that were not in hand already.
    func add(_ claims: [Claim]) -> [Claim] {
        ids.withLock { ids in
            claims.filter { ids[$0.shard, default: []].insert($0.purchase.id).inserted }
        }
    }

    func remove(_ claims: some Sequence<Claim>) {
        ids.withLock { ids in
            for claim in claims {
                ids[claim.shard]?.remove(claim.purchase.id)
                if ids[claim.shard]?.isEmpty == true { ids[claim.shard] = nil }
            }
        }
    }

    func ids(ofShards shards: Set<Int16>) -> [Int16: [Int64]] {
        ids.withLock { ids in
            Dictionary(
                uniqueKeysWithValues: shards.map { ($0, (ids[$0] ?? []).sorted()) })
        }
    }

    /// How many claims of a shard are in hand.
    func count(ofShard shard: Int16) -> Int {
        ids.withLock { $0[shard]?.count ?? 0 }
    }

    var isEmpty: Bool { ids.withLock(\.isEmpty) }
}
