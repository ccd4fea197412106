import Synchronization

/// The limit on checks under way at once, over all lanes. A few slots stay free for each lane, so
/// that a store that hangs cannot take them all.
final class Slots: Sendable {
    private struct State {
        var limit: Int
        var total = 0
        var byLane: [Int16: Int] = [:]
        var starved: [Int16: @Sendable () -> Void] = [:]
    }

    /// Slots that no other lane may take.
    private static let reservePerLane = 4
    private let state: Mutex<State>

    init(limit: Int) {
        state = Mutex(State(limit: limit))
    }

    /// Changes the limit; slots beyond a lower one are given back as checks end.
    func allow(_ limit: Int) { state.withLock { $0.limit = limit } }

    func enter(_ lane: Int16) {
        state.withLock { $0.byLane[lane] = $0.byLane[lane] ?? 0 }
    }

    /// Takes a slot, or remembers to call when one is free.
    func take(_ lane: Int16, orCall whenFree: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            let own = state.byLane[lane] ?? 0
            let reserve = min(Self.reservePerLane, state.limit / max(state.byLane.count, 1))
            let reservedForOthers = state.byLane.reduce(0) { sum, other in
                other.key == lane ? sum : sum + max(0, reserve - other.value)
            }
            guard
                state.total + reservedForOthers < state.limit
                    || (own == 0 && state.total < state.limit)
            else {
                state.starved[lane] = whenFree
                return false
            }
            state.total += 1
            state.byLane[lane] = own + 1
            return true
        }
    }

    func give(_ lane: Int16) {
        let starved = state.withLock { state in
            state.total -= 1
            state.byLane[lane, default: 1] -= 1
            defer { state.starved.removeAll(keepingCapacity: true) }
            return Array(state.starved.values)
        }
        for call in starved { call() }
    }
}
