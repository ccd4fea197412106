import Synchronization

/// The limit on checks under way at once, over all lanes. A few slots stay free for each lane, so
/// that a store that hangs cannot take them all; where there are many lanes, they share those.
final class ConcurrencyLimit: Sendable {
    private struct State {
        var limit: Int
        var total = 0
        var byLane: [Int32: Int] = [:]
        /// ConcurrencyLimit that are kept for a lane and not taken by it, over all lanes.
        var reserved = 0
        var starved: [Int32: @Sendable () -> Void] = [:]

        /// ConcurrencyLimit that no other lane may take.
        var reserve: Int {
            max(1, min(ConcurrencyLimit.reservePerLane, limit / max(byLane.count, 1)))
        }

        func reserved(for lane: Int32) -> Int { max(0, reserve - (byLane[lane] ?? 0)) }

        mutating func countReserved() {
            reserved = byLane.keys.reduce(0) { $0 + reserved(for: $1) }
        }

        mutating func enter(_ lane: Int32) {
            guard byLane[lane] == nil else { return }
            byLane[lane] = 0
            countReserved()
        }

        mutating func move(_ lane: Int32, by change: Int) {
            let before = reserved(for: lane)
            total += change
            byLane[lane, default: 0] += change
            reserved += reserved(for: lane) - before
        }
    }

    private static let reservePerLane = 4
    private let state: Mutex<State>

    init(limit: Int) {
        state = Mutex(State(limit: limit))
    }

    /// Changes the limit; slots beyond a lower one are given back as checks end.
    func allow(_ limit: Int) {
        state.withLock { state in
            state.limit = limit
            state.countReserved()
        }
    }

    func enter(_ lane: Int32) {
        state.withLock { $0.enter(lane) }
    }

    /// Takes a slot, or remembers to call when one is free.
    func take(_ lane: Int32, orCall whenFree: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            state.enter(lane)
            let own = state.byLane[lane] ?? 0
            // However many lanes there are, one alone gets half of the slots.
            let reservedForOthers = min(
                state.reserved - state.reserved(for: lane), state.limit / 2)
            guard
                state.total + reservedForOthers < state.limit
                    || (own == 0 && state.total < state.limit)
            else {
                state.starved[lane] = whenFree
                return false
            }
            state.move(lane, by: 1)
            return true
        }
    }

    /// Takes slots, so many at most, and gives how many there were.
    func take(
        _ count: Int, _ lane: Int32, orCall whenFree: @escaping @Sendable () -> Void
    ) -> Int {
        var taken = 0
        while taken < count, take(lane, orCall: whenFree) { taken += 1 }
        return taken
    }

    func give(_ lane: Int32) {
        let starved = state.withLock { state in
            state.move(lane, by: -1)
            defer { state.starved.removeAll(keepingCapacity: true) }
            return Array(state.starved.values)
        }
        for call in starved { call() }
    }
}
