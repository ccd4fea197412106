import Renewal

/// What is true of one purchase token of Google's, from its first payment on. All of it is written
/// beforehand: the daemon can change nothing of it.
struct Subscription: Sendable {
    let token: StoreToken
    let product: ProductID
    let number: Int
    /// The token that this one continues.
    var linked: StoreToken?
    /// In order; the first is the purchase.
    var states: [State]
    /// How many paid periods follow the first.
    var renewals = 0
    /// Orders that were taken back, and when.
    var voids: [(order: String, at: Timestamp)] = []

    struct State: Sendable {
        var from: Timestamp
        var standing: Standing
        /// `expiryTime`.
        var end: Timestamp
        /// The number of the latest paid period.
        var period: Int
        var renews = true

        /// The same, as if nobody had paid for more.
        func expired(at time: Timestamp) -> State {
            State(
                from: from, standing: .ended(by: "system"), end: min(end, time), period: period,
                renews: false)
        }
    }

    enum Standing: Hashable, Sendable {
        case active
        /// The first day after a declined payment: it looks active, and its expiry has moved.
        case silent
        case grace
        case hold
        case paused(until: Timestamp)
        case ended(by: String)
        case refunded
        case replaced

        var grants: Bool {
            switch self {
            case .active, .silent, .grace: true
            case .hold, .paused, .ended, .refunded, .replaced: false
            }
        }

        /// Nothing follows.
        var isFinal: Bool {
            switch self {
            case .ended, .refunded, .replaced: true
            case .active, .silent, .grace, .hold, .paused: false
            }
        }
    }

    /// Nil before it was bought.
    func state(at time: Timestamp) -> State? {
        var (low, high) = (0, states.count)
        while low < high {
            let middle = (low + high) / 2
            if states[middle].from <= time { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : states[low - 1]
    }

    func grants(at time: Timestamp) -> Bool { state(at: time)?.standing.grants ?? false }

    /// Whether it was in force, or out of force, at any moment of the time.
    func was(granting: Bool, from: Timestamp, to: Timestamp) -> Bool {
        if grants(at: from) == granting { return true }
        return states.contains {
            $0.from > from && $0.from <= to && $0.standing.grants == granting
        }
    }

    /// When what is true at `time` has begun to be: in force or not.
    func changed(before time: Timestamp) -> Timestamp {
        var since = states[0].from
        var granting = states[0].standing.grants
        for state in states.dropFirst() where state.from <= time {
            if state.standing.grants != granting { since = state.from }
            granting = state.standing.grants
        }
        return since
    }

    var boughtAt: Timestamp { states[0].from }

    func order(_ period: Int) -> String {
        let base = "GPA.\(1000 + number % 9000)-0000-0000-\(10_000 + number % 90_000)"
        return period == 0 ? base : "\(base)..\(period - 1)"
    }
}

/// A person with a phone: what they buy, and when their app hands it in.
struct Customer: Sendable {
    var subscriptions: [Subscription] = []
    var submissions: [Submission] = []

    struct Submission: Sendable {
        let at: Timestamp
        let user: UserID
        let token: StoreToken
        let product: ProductID
    }
}
