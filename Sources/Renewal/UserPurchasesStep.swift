extension UserPurchases {
    /// Which other purchases the end of one is news of. An Apple ID may have two original ids in a
    /// group of subscriptions, and what has ended under the one gives by what runs under the other.
    /// An add-on ends with its base (design rule 16), which only its store can name.
    ///
    /// - Parameters:
    ///   - known: what was known of the purchase.
    ///   - purchase: as it is now.
    /// - Returns: what gives access by the same order as it did, or may be an add-on of it; none
    ///   where it still gives.
    func siblings(of known: Facts, after purchase: Purchase) -> Set<Int64> {
        guard known.access != .none, purchase.facts.access == .none,
            purchase.facts.state != .superseded
        else { return [] }
        let orders = Set([known.orderID, purchase.facts.orderID].compactMap(\.self))
        let mayBeBase =
            purchase.app.store.traits.sellsAddOns && purchase.facts.kind == .autoRenewable
        return Set(
            purchases.values.map(\.purchase).filter { other in
                guard other.facts.access == .granted, other.id != purchase.id,
                    other.app == purchase.app
                else { return false }
                return other.facts.orderID.map(orders.contains) ?? false
                    || mayBeBase && other.facts.kind == .autoRenewable
            }.map(\.id))
    }

    /// What one step is told of: a change, and the purchase as it is after it.
    struct Step {
        let change: Change
        let purchase: Purchase
        let rules: Rules
        let isFirstSight: Bool
        let now: Timestamp
        var heldLinks: Set<Int64> = []

        init(change: Change, purchase: Purchase, of outcome: Outcome, now: Timestamp) {
            self.change = change
            self.purchase = purchase
            rules = outcome.rules
            isFirstSight = outcome.isFirstSight
            self.now = now
        }

        /// Whether what gave something is refunded now, and no notice says so. What runs out was
        /// told before.
        func isUntoldRefund(of known: Purchase) -> Bool {
            purchase.facts.access == .none && change.facts.lossReason == .refunded
                && !change.notices.contains { $0.reason == .refunded }
                && known.facts.access != .none && !known.facts.holdings.isEmpty
                && (known.facts.state != .refunded || known.facts.access == .held)
        }

        /// The end of what is lost: its own, where the purchase goes on, or ends, as something else
        /// than that.
        func end(ofLost holding: Holding?) -> Timestamp? {
            guard let holding, isOther(holding) else { return purchase.facts.expiresAt }
            return holding.expiresAt
        }

        /// When another product than the purchase's own, or a part of what is sold together, has
        /// run out; nil where it is lost now.
        func timeOfLeaving(_ holding: Holding) -> Timestamp? {
            let isPart = purchase.facts.kind != .autoRenewable
            guard isOther(holding), isPart || holding.product != purchase.facts.product,
                let end = holding.expiresAt, end <= now
            else { return nil }
            return end
        }

        private func isOther(_ holding: Holding) -> Bool {
            let given = purchase.facts.holdings.map(\.entitlement)
            guard !given.contains(holding.entitlement) else { return false }
            return purchase.facts.access == .granted
                || change.reasons.losses[holding.entitlement] != nil
                || change.reasons.loss == .productChanged
                    && holding.product != purchase.facts.product
        }
    }
}
