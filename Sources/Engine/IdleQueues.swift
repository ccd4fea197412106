import Renewal

/// What is known of the lanes that have nothing to do: when the first purchase of each is due. Says
/// which lanes to look at and which to wake, so that one look a poll serves them all. Pure.
///
/// A lane that is at work looks for itself. When its work has ended, or when there is reason to
/// doubt what was known, such as a purchase that was just submitted, it is looked at at once. All
/// others take turns: what was submitted again, and nobody has told, is found so, as the time of
/// each lane's first purchase is known.
struct IdleQueues {
    private enum State {
        /// Nothing is known: to be looked at.
        case unknown
        /// Nothing is due before that; nil where nothing is scheduled.
        case idle(until: Timestamp?)
        case atWork
    }

    private var states: [Int32: State] = [:]
    /// Lanes whose state is `unknown`.
    private var unknown: Set<Int32> = []
    /// Idle lanes in turn, and who is next.
    private var turns: [Int32] = []
    private var turn = 0
    /// Lanes that became unknown after the look under way had begun.
    private var doubted: Set<Int32> = []
    private(set) var arrivals = Arrivals()

    /// Lanes of one look: each costs a probe of the index for each shard.
    static let lookLimit = 32

    /// Watches these lanes and no others.
    mutating func follow(_ lanes: some Sequence<Int32>) {
        let lanes = Set(lanes)
        for lane in states.keys where !lanes.contains(lane) {
            states[lane] = nil
            unknown.remove(lane)
        }
        for lane in lanes where states[lane] == nil { set(lane, .unknown) }
        turns = lanes.sorted()
    }

    /// Whether some lane is to be looked at before the next poll.
    var hasUnknown: Bool { !unknown.isEmpty }

    func isAtWork(_ lane: Int32) -> Bool {
        if case .atWork = states[lane] { true } else { false }
    }

    /// The lanes to look at now: those of which nothing is known, then others in turn.
    mutating func nextLook() -> [Int32] {
        doubted = []
        var lanes = Array(unknown.sorted().prefix(Self.lookLimit))
        for _ in turns.indices where lanes.count < Self.lookLimit {
            turn = (turn + 1) % turns.count
            if case .idle = states[turns[turn]] { lanes.append(turns[turn]) }
        }
        return lanes
    }

    /// Enters what a look at these lanes has found.
    mutating func learn(_ heads: QueueHeads, of lanes: [Int32]) {
        for lane in lanes where states[lane] != nil && !isAtWork(lane) && !doubted.contains(lane) {
            set(lane, .idle(until: heads.dueAt[lane]))
        }
        // Those of this look are known: it was made after the arrivals were read.
        for lane in arrivals.learn(heads.arrivals, at: heads.now).subtracting(lanes) {
            if case .idle = states[lane] { set(lane, .unknown) }
        }
    }

    /// The idle lanes that have something due.
    func due(at now: Timestamp) -> [Int32] {
        states.compactMap { lane, state in
            if case .idle(let until?) = state, until <= now { lane } else { nil }
        }
    }

    /// The lane is at work from now on.
    ///
    /// - Returns: whether it was not before.
    mutating func start(_ lane: Int32) -> Bool {
        guard states[lane] != nil, !isAtWork(lane) else { return false }
        set(lane, .atWork)
        return true
    }

    /// The lane has no more to do.
    mutating func finish(_ lane: Int32) {
        if states[lane] != nil { set(lane, .unknown) }
    }

    /// What was known of idle lanes may not hold any more: other shards are looked at.
    mutating func forget() {
        for lane in Array(states.keys) where !isAtWork(lane) { set(lane, .unknown) }
    }

    private mutating func set(_ lane: Int32, _ state: State) {
        states[lane] = state
        guard case .unknown = state else {
            unknown.remove(lane)
            return
        }
        unknown.insert(lane)
        doubted.insert(lane)
    }
}
