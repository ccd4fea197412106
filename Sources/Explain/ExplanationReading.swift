import Ledger
import Renewal

extension Explanation.User {
    init(_ history: UserHistory) {
        id = history.userID
        purchases = history.purchases.map {
            Explanation.Purchase(
                $0, of: history.userID, while: history.buckets, without: history.unserved,
                at: history.now)
        }
        transferred = history.transferred.compactMap(Explanation.Transferred.init)
        claimed = history.claimed.map { Explanation.Claimed($0.purchase, for: history.userID) }
        unread = history.unreadable
        let steps = purchases.flatMap(\.steps) + transferred.flatMap(\.steps)
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
    init(
        _ history: PurchaseHistory, of user: UserID,
        while buckets: [BucketID: QueueStatus.Bucket], without unserved: Set<AppKey>,
        at now: Timestamp
    ) {
        let purchase = history.claim.purchase
        id = purchase.id
        userID = user
        app = purchase.app
        var facts = purchase.facts
        facts.orderID = shown(facts.orderID, of: purchase)
        facts.originalID = shown(facts.originalID, of: purchase)
        facts.period = nil
        self.facts = facts
        submittedAt = purchase.createdAt
        checkedAt = history.claim.checkedAt
        problem = history.claim.problem
        next = NextCheck(of: history.claim, while: buckets, without: unserved, at: now)
        steps = Explanation.Step.all(history.evidence, history.events) { shown($0, of: purchase) }
        refunds = history.refunds
    }
}

extension Explanation.Transferred {
    init?(_ transferred: TransferredPurchase) {
        guard let last = transferred.events.last else { return nil }
        id = transferred.purchaseID
        store = last.store
        app = last.app
        product = last.product ?? ""
        // Whether an order id is its token is not known any more.
        steps = Explanation.Step.all(transferred.evidence, transferred.events) { _ in nil }
    }
}

extension Explanation.Step {
    /// A check and the events of its commit belong together: they have the same time.
    fileprivate static func all(
        _ evidence: [StoredEvidence], _ events: [StoredEvent], shown: (OrderID?) -> OrderID?
    ) -> [Explanation.Step] {
        var events = Dictionary(grouping: events.map(\.withoutOrder), by: \.createdAt)
        var steps = evidence.map { stored in
            var check = stored
            check.orderID = shown(stored.orderID)
            return Explanation.Step(
                at: stored.at, check: check, events: events.removeValue(forKey: stored.at) ?? [])
        }
        steps += events.map { at, events in Explanation.Step(at: at, check: nil, events: events) }
        return steps.sorted { $0.at < $1.at }
    }
}

extension StoredEvent {
    fileprivate var withoutOrder: StoredEvent {
        var event = self
        event.orderID = nil
        return event
    }
}

/// An order id that may be shown: some stores name a purchase by its token.
private func shown(_ id: OrderID?, of purchase: Purchase) -> OrderID? {
    let traits = purchase.app.store.traits
    guard traits.namesOrders else { return nil }
    let isToken = id == OrderID(purchase.token.text)
    return isToken && traits.hasSecretTokens ? nil : id
}
