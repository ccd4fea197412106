import Ledger
import Renewal

extension Explanation.User {
    init(_ history: UserHistory) {
        id = history.userID
        purchases = history.purchases.map {
            Explanation.Purchase($0, of: history.userID, at: history.now)
        }
        parted = history.parted.compactMap(Explanation.Parted.init)
        claimed = history.claimed.map { Explanation.Claimed($0.purchase) }
        unread = history.unreadable.map(Explanation.Unread.init)
        let steps = purchases.flatMap(\.steps) + parted.flatMap(\.steps)
        holdings = history.entitlements.sorted { $0.entitlement < $1.entitlement }.map {
            Explanation.Held($0, of: history.userID, among: steps)
        }
    }
}

extension Explanation.Held {
    init(_ entitlement: Entitlement, of user: UserID, among steps: [Explanation.Step]) {
        self.entitlement = entitlement
        let changes = steps.flatMap { step in
            step.events.filter { event in
                event.userID == user && event.entitlement == entitlement.entitlement
                    && (event.kind == "grant") == entitlement.active
            }.map { (step: step, event: $0) }
        }
        let last = changes.max { $0.event.id < $1.event.id }
        since = last?.event
        check = last?.step.check
    }
}

extension Explanation.Purchase {
    init(_ history: PurchaseHistory, of user: UserID, at now: Timestamp) {
        let (purchase, facts) = (history.claim.purchase, history.claim.purchase.facts)
        id = purchase.id
        userID = user
        app = purchase.app
        environment = facts.environment
        product = facts.product
        kind = facts.kind
        state = facts.state
        access = facts.access
        submittedAt = purchase.createdAt
        checkedAt = history.claim.checkedAt
        paidThrough = facts.paidThrough
        expiresAt = facts.expiresAt
        autoRenew = facts.autoRenew
        orderID = shown(facts.orderID, of: purchase)
        originalID = shown(facts.originalID, of: purchase)
        problem = history.claim.problem
        next = NextCheck(of: history.claim, at: now)
        steps = Explanation.Step.all(history.evidence, history.events) { shown($0, of: purchase) }
    }
}

extension Explanation.Parted {
    init?(_ parted: PartedPurchase) {
        guard let last = parted.events.last else { return nil }
        id = parted.purchaseID
        store = last.store
        app = last.app
        product = last.product
        // Whether an order id is its token is not known any more.
        steps = Explanation.Step.all(parted.evidence, parted.events) { _ in nil }
    }
}

extension Explanation.Step {
    /// A check and the events of its commit belong together: they have the same time.
    fileprivate static func all(
        _ evidence: [StoredEvidence], _ events: [StoredEvent], shown: (OrderID?) -> OrderID?
    ) -> [Explanation.Step] {
        var events = Dictionary(grouping: events, by: \.createdAt)
        var steps = evidence.map { stored in
            Explanation.Step(
                at: stored.at, check: Explanation.Check(stored, orderID: shown(stored.orderID)),
                events: (events.removeValue(forKey: stored.at) ?? []).map(Explanation.Event.init))
        }
        steps += events.map { at, events in
            Explanation.Step(at: at, check: nil, events: events.map(Explanation.Event.init))
        }
        return steps.sorted { $0.at < $1.at }
    }
}

extension Explanation.Check {
    init(_ stored: StoredEvidence, orderID: OrderID?) {
        userID = stored.userID
        evidence = stored.evidence
        rule = stored.rule
        stateBefore = stored.stateBefore
        state = stored.state
        accessBefore = stored.accessBefore
        access = stored.access
        product = stored.product
        self.orderID = orderID
        paidThrough = stored.paidThrough
        expiresAt = stored.expiresAt
        problem = stored.problem
        nextCheckAt = stored.nextCheckAt
    }

    var isUnchanged: Bool { state == stateBefore && access == accessBefore }
}

extension Explanation.Event {
    init(_ stored: StoredEvent) {
        id = stored.id
        key = stored.key
        at = stored.createdAt
        kind = stored.kind
        reason = stored.reason
        userID = stored.userID
        entitlement = stored.entitlement
        product = stored.product
        effectiveAt = stored.effectiveAt
        expiresAt = stored.expiresAt
    }
}

/// An order id that may be shown: Amazon's is the receipt id, which is the token.
private func shown(_ id: OrderID?, of purchase: Purchase) -> OrderID? {
    switch purchase.app.store {
    case .apple: id
    case .google: id == OrderID(purchase.token.text) ? nil : id
    case .amazon: nil
    }
}
