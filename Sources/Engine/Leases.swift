import Renewal
import Synchronization

/// The shards that this worker owns, and whether it may still rely on them.
final class Leases: Sendable {
    private struct State {
        var lease: Lease
        /// Owned, but not for new claims: suspects to clear first, or to be given back.
        var closed: Set<Int16> = []
        var reliableUntil: ContinuousClock.Instant
    }

    private let state: Mutex<State>
    /// Signalled when the database says that a shard is not ours though we hold it.
    let doubt = AsyncEvent()

    init(worker: WorkerID) {
        state = Mutex(State(lease: Lease(worker: worker), reliableUntil: .now))
    }

    var lease: Lease { state.withLock { $0.lease } }

    /// Whether no other worker can have taken a shard over yet.
    var areReliable: Bool { state.withLock { ContinuousClock.now < $0.reliableUntil } }

    /// The shards to claim from now.
    var openShards: [Int16] {
        state.withLock { state in
            guard ContinuousClock.now < state.reliableUntil else { return [] }
            if state.closed.isEmpty { return Array(state.lease.epochs.keys) }
            return state.lease.epochs.keys.filter { !state.closed.contains($0) }
        }
    }

    /// Whether a call for this shard may still start.
    func mayStart(_ shard: Int16) -> Bool {
        state.withLock { state in
            state.lease.epochs[shard] != nil && ContinuousClock.now < state.reliableUntil
        }
    }

    func add(_ taken: [TakenShard]) {
        state.withLock { state in
            for shard in taken {
                state.lease.epochs[shard.shard] = shard.epoch
                if !shard.suspects.isEmpty { state.closed.insert(shard.shard) }
            }
        }
    }

    /// - Returns: the shards that were lost.
    func keep(_ shards: Set<Int16>, reliableUntil: ContinuousClock.Instant) -> Set<Int16> {
        state.withLock { state in
            let lost = Set(state.lease.epochs.keys).subtracting(shards)
            for shard in lost {
                state.lease.epochs[shard] = nil
                state.closed.remove(shard)
            }
            state.reliableUntil = reliableUntil
            return lost
        }
    }

    func relyUntil(_ instant: ContinuousClock.Instant) {
        state.withLock { $0.reliableUntil = instant }
    }

    func allowClaims(_ shards: Set<Int16>) {
        state.withLock { $0.closed.subtract(shards) }
    }

    /// - Returns: those that were open until now.
    func stopClaims(_ shards: Set<Int16>) -> Set<Int16> {
        state.withLock { state in
            defer { state.closed.formUnion(shards) }
            return shards.subtracting(state.closed)
        }
    }

    /// Takes shards off the lease, to be given back.
    func drop(_ shards: Set<Int16>) -> Lease {
        state.withLock { state in
            var part = Lease(worker: state.lease.worker)
            for shard in shards {
                part.epochs[shard] = state.lease.epochs.removeValue(forKey: shard)
                state.closed.remove(shard)
            }
            return part
        }
    }
}

extension [Int16] {
    /// The same shards, from any of them on: none is always behind the others.
    func fromAnywhere() -> [Int16] {
        guard let start = indices.randomElement() else { return [] }
        return Array(self[start...] + self[..<start])
    }
}
