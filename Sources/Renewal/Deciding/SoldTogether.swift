// Products that are sold once and together, in one order: each gives what it gives to its own end.
extension Judgement {
    /// What is sold once, of which the store names no end.
    var isSoldOnce: Bool {
        facts.kind != .autoRenewable && observation.expiresAt == nil
            && observation.paidThrough == nil
    }

    /// Whether there is more than one product, or was, as far as it still gives anything.
    var areSoldTogether: Bool {
        isSoldOnce
            && (observation.items.count > 1
                || !observation.items.isEmpty && !known.holdings.allSatisfy(isShown))
    }

    /// Whether the answer shows the product by which it is held as one that was not given back.
    func isShown(_ holding: Holding) -> Bool {
        observation.items.contains { $0.names.last == holding.product }
    }

    /// What the parts give; of two that give the same, the one that lasts longer.
    func holdingsOfParts() -> [Holding] {
        // All was given back, and what was paid may run out.
        guard facts.state != .refunded else { return partsRunningOut }
        var holdings: [Holding] = []
        for item in observation.items where !isOver(item) {
            let given = catalog.entitlements(named: item.names, kind: kind(of: item))
            holdings.add(
                given.map { entitlement in
                    Holding(
                        entitlement: entitlement, product: item.names.last ?? facts.product,
                        expiresAt: ownEnd(of: item))
                })
        }
        holdings.add(partsRunningOut)
        return holdings
    }

    /// Whether a part is over by the configured duration. What is not held any more does not begin
    /// again for want of a proof.
    private func isOver(_ item: Item) -> Bool {
        guard let end = ownEnd(of: item) else { return false }
        let isHeld = known.holdings.contains { $0.product == item.names.last }
        return isHeld ? end + leniency <= moment.proven : end <= moment.earliest
    }

    /// When a part ends by itself.
    var endsOfParts: [Timestamp] {
        guard areSoldTogether else { return [] }
        return facts.holdings.compactMap(\.expiresAt).map { end in
            end <= moment.proven ? end + leniency : end
        }
    }

    /// When what is held ends, of what was given back with all its parts or is the rest of them:
    /// each part runs out by itself, where the policy lets it. What lasts for ever has no end to
    /// run to.
    var endsOfRefundedParts: [Timestamp] {
        known.holdings.compactMap(\.expiresAt).filter { $0 > moment.proven }
    }

    /// Whether what was given back is what was left: the other parts are over.
    var isRestRefunded: Bool {
        guard observation.lostParts.contains(.refunded), observation.status == .active,
            facts.kind != .autoRenewable
        else { return false }
        return known.state == .refunded
            || known.access == .granted
                && known.holdings.contains { holding in
                    lossOfPart(holding) == .refunded
                        && holding.expiresAt.map { $0 > moment.proven } ?? true
                }
    }

    /// Whether what is held was given back, and not only runs to its end.
    func isGivenBack(_ holding: Holding) -> Bool {
        if case .refunded = observation.status { return true }
        if voidedAt != nil { return true }
        return lossOfPart(holding) == .refunded
    }

    /// Whether a part that was given back runs out with what has expired.
    var isExpiredWithARefund: Bool {
        facts.state == .expired && areSoldTogether && known.holdings.contains(where: isGivenBack)
    }

    /// Whether the configuration gives a part that is held another end.
    var hasPartMovedByConfiguration: Bool {
        observation.items.contains { item in
            let end = ownEnd(of: item)
            return known.holdings.contains {
                $0.product == item.names.last && $0.expiresAt != end
            }
        }
    }

    /// Whether what was held has run out: what it was held to is over, or what the configuration
    /// gives it now.
    func hasRunOut(_ holding: Holding) -> Bool {
        if let end = holding.expiresAt, end <= moment.now { return true }
        return areSoldTogether
            && observation.items.contains { item in
                item.names.last == holding.product
                    && ownEnd(of: item).map { $0 <= moment.earliest } ?? false
            }
    }
}

extension [Holding] {
    /// Of two that give the same the one that lasts longer counts.
    mutating func add(_ others: [Holding]) {
        for other in others {
            guard let place = firstIndex(where: { $0.entitlement == other.entitlement }) else {
                append(other)
                continue
            }
            if other.outlasts(self[place]) { self[place] = other }
        }
    }
}

extension Holding {
    fileprivate func outlasts(_ other: Holding) -> Bool {
        guard let end = other.expiresAt else { return false }
        return expiresAt.map { $0 > end } ?? true
    }
}
