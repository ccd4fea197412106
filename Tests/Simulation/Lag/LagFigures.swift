import Renewal

/// How late changes were known, and what that cost: beliefs compared with the truth.
struct LagFigures {
    enum Change: String, CaseIterable {
        case expiry, refund, renewal, recovery
    }

    private(set) var lags: [Change: [Duration]] = [:]
    /// Believed to be in force, and not so; over all users.
    private(set) var wrongAccess = Duration.zero
    private(set) var wrongDenial = Duration.zero
    private(set) var questions = 0

    private let beliefs: Beliefs
    private let from: Timestamp
    private let to: Timestamp

    init(
        of beliefs: Beliefs, about customers: [Customer], from: Timestamp, to: Timestamp
    ) {
        self.beliefs = beliefs
        self.from = from
        self.to = to
        questions = beliefs.questions.count { $0 >= from && $0 < to }
        for customer in customers {
            let submitted = Dictionary(
                customer.submissions.map { ($0.token, $0.at) }, uniquingKeysWith: min)
            for one in customer.subscriptions {
                guard let since = submitted[one.token] else { continue }
                lookForChanges(of: one, since: since)
            }
            compare(customer, submitted)
        }
    }

    /// The mean and the latest of 99 of 100; nil where nothing has changed so.
    func lag(_ change: Change) -> (mean: Duration, p99: Duration)? {
        guard let sorted = lags[change]?.sorted(), !sorted.isEmpty else { return nil }
        let sum = sorted.reduce(.zero, +)
        return (sum / sorted.count, sorted[min(sorted.count - 1, sorted.count * 99 / 100)])
    }

    // MARK: Changes

    private mutating func lookForChanges(of one: Subscription, since: Timestamp) {
        for (before, after) in zip(one.states, one.states.dropFirst()) {
            guard after.from >= max(from, since), after.from < to,
                let change = Change(from: before, to: after)
            else { continue }
            let next = one.states.first { $0.from > after.from }?.from ?? .never
            if let known = known(change, of: one, after) {
                // What has changed back before it was known is in the hours alone.
                if known < next || change == .renewal {
                    lags[change, default: []].append(known - after.from)
                }
            } else if next >= to {
                lags[change, default: []].append(to - after.from)
            }
        }
    }

    /// When it was believed first; nil for never.
    private func known(
        _ change: Change, of one: Subscription, _ state: Subscription.State
    ) -> Timestamp? {
        func isKnown(_ belief: Beliefs.Belief) -> Bool {
            switch change {
            case .expiry, .refund: !belief.isGranted
            case .recovery, .renewal:
                belief.isGranted && belief.paidThrough.map { $0 >= state.end } ?? false
            }
        }
        let all = beliefs.ofToken[one.token] ?? []
        if let last = all.last(where: { $0.at <= state.from }), isKnown(last) { return state.from }
        return all.first { $0.at > state.from && isKnown($0) }?.at
    }

    // MARK: Hours

    /// What a user has by all of their purchases, beside what they should have.
    private mutating func compare(
        _ customer: Customer, _ submitted: [StoreToken: Timestamp]
    ) {
        let tokens = customer.subscriptions.map(\.token)
        var times = customer.subscriptions.flatMap { $0.states.map(\.from) }
        times += submitted.values
        times += tokens.flatMap { (beliefs.ofToken[$0] ?? []).map(\.at) }
        let inside = times.filter { $0 > from && $0 < to }.sorted()
        for (start, end) in zip([from] + inside, inside + [to]) where end > start {
            let isTrue = customer.subscriptions.contains { one in
                submitted[one.token].map { $0 <= start } ?? false && one.grants(at: start)
            }
            let isBelieved = tokens.contains { beliefs.isGranted($0, at: start) }
            if isBelieved, !isTrue { wrongAccess += end - start }
            if isTrue, !isBelieved { wrongDenial += end - start }
        }
    }
}

extension LagFigures.Change {
    init?(from before: Subscription.State, to after: Subscription.State) {
        switch after.standing {
        case .ended where before.standing.grants: self = .expiry
        case .refunded where before.standing.grants: self = .refund
        case .active where before.standing == .active && after.period > before.period:
            self = .renewal
        case .active where before.standing != .active: self = .recovery
        default: return nil
        }
    }
}
