package import Renewal

/// The row of an app's calls, for calls that no queue paces: each takes the next free place, so
/// that the quota holds whoever calls.
package struct CallRow: Sendable {
    /// What became of waiting for a place.
    package enum Turn: Hashable, Sendable {
        /// The call may start, now.
        case granted(CallPlace)
        /// There is no place in time: so long from now at the soonest.
        case refused(for: Duration)
        /// Places came to nothing because the database took too long to give them.
        case missed
        /// A person lets nobody call.
        case paused
    }

    private let app: AppKey
    private let reservations: CallReservations
    package let interval: Duration?
    private let isUrgent: Bool
    /// What was reserved and not used yet.
    private var places: RateReservation

    /// Places that may come to nothing.
    private static let attemptLimit = 5

    /// - Parameters:
    ///   - app: whose store is called.
    ///   - reservations: where places are asked for.
    ///   - interval: from one call to the next; nil where calls are not paced.
    ///   - isUrgent: somebody waits at a terminal: their call goes before all that the background
    ///     has not reserved yet.
    package init(
        of app: AppKey, through reservations: CallReservations, interval: Duration?,
        isUrgent: Bool = false
    ) {
        self.app = app
        self.reservations = reservations
        self.interval = interval
        self.isUrgent = isUrgent
        places = RateReservation(interval: interval ?? .seconds(1))
    }

    /// Waits for the next place; a cancelled task is refused.
    ///
    /// - Parameters:
    ///   - patience: the longest to wait: a store may ask for an hour.
    ///   - others: how many will come for a place right after this one: some are reserved for them.
    /// - Returns: whether the call may start.
    /// - Throws: `.unavailable` without a database: there is no quota then.
    package mutating func wait(
        within patience: Duration, before others: Int = 0
    ) async throws(LedgerError) -> Turn {
        guard let interval else { return .granted(.anyTime) }
        let end = ContinuousClock.now + patience
        let horizon = isUrgent ? max(patience, RateReservation.horizon) : RateReservation.horizon
        var missed = 0
        while !Task.isCancelled, missed < Self.attemptLimit {
            if let opensAt = places.opensAt(.now) {
                try? await Task.sleep(until: opensAt)
                if let place = places.take(at: .now) { return .granted(place) }
                missed += 1
                continue
            }
            let calls = min(1 + others, places.slice(wanted: 1 + others, interval: interval))
            let reply = try await reservations.reserve(
                CallRequest(
                    places.stretch(calls), of: BucketID(of: app), within: horizon,
                    isUrgent: isUrgent),
                hasTime: !isUrgent)
            switch reply.reservation {
            case .paused: return .paused
            case .askAgain(let wait):
                guard ContinuousClock.now + wait + horizon <= end else {
                    return .refused(for: wait)
                }
                try? await Task.sleep(for: max(wait, QueueMachine.leastWait))
            case .granted(let wait, _):
                places.reserve(calls, in: wait, sent: reply.sent, answered: reply.answered)
                if places.opensAt(.now) == nil { missed += 1 }
            }
        }
        return Task.isCancelled ? .refused(for: .zero) : .missed
    }
}

/// Lets one task through at a time, in the order in which they came: many that ask for the next
/// place together would only take it from each other. Whoever is through has the row of calls.
actor Turnstile {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var row: CallRow?

    /// - Returns: the row as the one before has left it.
    func enter() async -> CallRow? {
        if isTaken {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            isTaken = true
        }
        return row
    }

    /// How many come after the one who is through.
    var followers: Int { waiting.count }

    func leave(_ row: CallRow) {
        self.row = row
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        isTaken = false
    }
}
