import Ledger
import Renewal

/// What is drawn of a user's purchases: when each gave access, and when it was looked at.
struct Timeline: Hashable, Sendable {
    let from: Timestamp
    let to: Timestamp
    let now: Timestamp
    let rows: [Row]

    /// One purchase.
    struct Row: Hashable, Sendable {
        let title: String
        let stretches: [Stretch]
        let steps: [Explanation.Step]
    }

    /// A time in which the access of a purchase stayed as it was.
    struct Stretch: Hashable, Sendable {
        let from: Timestamp
        let to: Timestamp
        let access: Access

        enum Access: String, Hashable, Sendable, CaseIterable {
            case granted, grace, held, none
            /// Before the first check that is kept.
            case unknown
            /// From now to the end that the store has named.
            case ahead
        }
    }

    /// Shorter ones are drawn as long as this.
    private static let leastSpan = Duration.hours(1)
    /// The part of what has been that is shown of what is to come.
    private static let aheadPart = 3
    /// The part of it that is left free after now at least, so that what is news is seen.
    private static let freePart = 16

    init(of user: Explanation.User, at now: Timestamp) {
        self.now = now
        let firsts =
            user.purchases.map(\.beginning) + user.transferred.compactMap(\.steps.first?.at)
        let first = firsts.min() ?? now
        from = min(first, now - Self.leastSpan)
        let end = user.purchases.map(\.facts).compactMap {
            $0.access == .none ? nil : $0.expiresAt
        }.max()
        let to = min(end ?? now, now + (now - from) / Self.aheadPart)
        self.to = max(to, now + (now - from) / Self.freePart)
        let limit = self.to
        let own = user.purchases.map { purchase in
            Row(
                title: "\(purchase.id)  \(purchase.facts.product), \(purchase.app.store.rawValue)",
                stretches: purchase.stretches(now: now, limit: limit), steps: purchase.steps)
        }
        let gone = user.transferred.map { parted in
            Row(
                title: "\(parted.id)  \(parted.product), \(parted.store)",
                stretches: parted.stretches, steps: parted.steps)
        }
        rows = own + gone
    }
}

extension Explanation.Purchase {
    /// The first that is known of it.
    fileprivate var beginning: Timestamp { min(submittedAt, steps.first?.at ?? submittedAt) }

    fileprivate func stretches(now: Timestamp, limit: Timestamp) -> [Timeline.Stretch] {
        var stretches: [Timeline.Stretch] = []
        var (since, access) = (
            beginning, beginsLate ? Timeline.Stretch.Access.unknown : Timeline.Stretch.Access.none
        )
        func end(at instant: Timestamp) {
            guard instant > since else { return }
            if let last = stretches.last, last.access == access {
                stretches[stretches.count - 1] = Timeline.Stretch(
                    from: last.from, to: instant, access: access)
            } else {
                stretches.append(Timeline.Stretch(from: since, to: instant, access: access))
            }
        }
        for step in steps {
            guard let next = step.accessAfter else { continue }
            end(at: step.at)
            (since, access) = (step.at, next)
        }
        // What stands now is known from elsewhere: the last step may not be kept.
        if access != .unknown { access = self.accessNow }
        end(at: now)
        let end = facts.expiresAt ?? .never
        if facts.access != .none, end > now {
            stretches.append(
                Timeline.Stretch(from: now, to: min(end, limit), access: .ahead))
        }
        return stretches.filter { $0.to > $0.from }
    }

    private var accessNow: Timeline.Stretch.Access {
        .init(access: facts.access.rawValue, state: facts.state.rawValue)
    }
}

extension Explanation.Transferred {
    /// Up to the last that the user was told: what follows is another's.
    fileprivate var stretches: [Timeline.Stretch] {
        zip(steps, steps.dropFirst()).map { step, next in
            Timeline.Stretch(
                from: step.at, to: next.at, access: step.accessAfter ?? .unknown)
        }
    }
}

extension Explanation.Step {
    /// Nil when it does not tell.
    fileprivate var accessAfter: Timeline.Stretch.Access? {
        if let check { return .init(access: check.access, state: check.state) }
        if events.contains(where: { $0.kind == "revoke" }) {
            return Timeline.Stretch.Access.none
        }
        if events.contains(where: { $0.kind == "grant" }) { return .granted }
        return nil
    }
}

extension Timeline.Stretch.Access {
    fileprivate init(access: String, state: String) {
        switch Access(rawValue: access) {
        case .granted: self = state == PurchaseState.grace.rawValue ? .grace : .granted
        case .held: self = .held
        case .none?: self = .none
        case nil: self = .unknown
        }
    }

    /// As the legend names it.
    var name: String {
        switch self {
        case .granted: "access"
        case .grace: "access in grace"
        case .held: "access, revoke held"
        case .none: "no access"
        case .unknown: "not known any more"
        case .ahead: "paid ahead"
        }
    }
}
