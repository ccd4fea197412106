// Products that are sold once and together, in one order: each gives what it gives to its own end.
extension Judgement {
    /// What is sold once, of which the store names no end.
    var isSoldOnce: Bool {
        facts.kind != .autoRenewable && observation.expiresAt == nil
            && observation.paidThrough == nil
    }

    var areSoldTogether: Bool { isSoldOnce && observation.items.count > 1 }

    /// What the parts give; of two that give the same, the one that lasts longer.
    func holdingsOfParts() -> [Holding] {
        // All was given back, and what was paid may run out.
        guard facts.state != .refunded else { return partsRunningOut }
        var holdings: [Holding] = []
        for item in observation.items where !isOver(item) {
            for entitlement in catalog.entitlements(named: item.names, kind: kind(of: item)) {
                let holding = Holding(
                    entitlement: entitlement, product: item.names.last ?? facts.product,
                    expiresAt: ownEnd(of: item))
                guard let place = holdings.firstIndex(where: { $0.entitlement == entitlement })
                else {
                    holdings.append(holding)
                    continue
                }
                if holding.outlasts(holdings[place]) { holdings[place] = holding }
            }
        }
        let given = Set(holdings.map(\.entitlement))
        return holdings + partsRunningOut.filter { !given.contains($0.entitlement) }
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

    /// Whether what was given back is what was left: the other parts are over.
    var isRestRefunded: Bool {
        guard observation.lossOfPart == .refunded, facts.kind != .autoRenewable
        else { return false }
        return known.state == .refunded
            || known.access == .granted
                && known.holdings.contains { holding in
                    holding.expiresAt.map { $0 > moment.proven } ?? true
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

extension Holding {
    fileprivate func outlasts(_ other: Holding) -> Bool {
        guard let end = other.expiresAt else { return false }
        return expiresAt.map { $0 > end } ?? true
    }
}
