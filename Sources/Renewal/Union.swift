/// All that is known of one user: what the union of design rule 10 is taken over.
package struct UserPurchases: Hashable, Sendable {
    package let userID: UserID
    /// Compared at the commit, so that no union is taken over facts that have moved.
    package let version: Int64
    package private(set) var purchases: [Int64: Entry]
    package private(set) var entitlements: [EntitlementID: Entitlement]
    package internal(set) var offers: [OfferID: Offer]

    /// One purchase in the book.
    package struct Entry: Hashable, Sendable {
        package let purchase: Purchase
        package let version: Int64

        package init(purchase: Purchase, version: Int64) {
            self.purchase = purchase
            self.version = version
        }
    }

    package init(
        userID: UserID, version: Int64, purchases: [Entry], entitlements: [Entitlement],
        offers: [OfferID: Offer] = [:]
    ) {
        self.userID = userID
        self.version = version
        self.purchases = Dictionary(
            purchases.map { ($0.purchase.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.entitlements = Dictionary(
            entitlements.map { ($0.entitlement, $0) }, uniquingKeysWith: { first, _ in first })
        self.offers = offers
    }
}

/// What a user holds or held: a row of `renewald.entitlements`.
package struct Entitlement: Hashable, Sendable {
    package let entitlement: EntitlementID
    package var active: Bool
    /// Nil is for ever.
    package var expiresAt: Timestamp?
    package var willRenew: Bool?
    package var inGrace: Bool
    /// The reason of the last grant or revoke.
    package var reason: String
    package var store: Store
    package var product: ProductID
    package var purchaseID: Int64
    package var environment: StoreEnvironment?

    package init(
        entitlement: EntitlementID, active: Bool, expiresAt: Timestamp?, willRenew: Bool?,
        inGrace: Bool, reason: String, store: Store, product: ProductID, purchaseID: Int64,
        environment: StoreEnvironment? = nil
    ) {
        self.entitlement = entitlement
        self.active = active
        self.expiresAt = expiresAt
        self.willRenew = willRenew
        self.inGrace = inGrace
        self.reason = reason
        self.store = store
        self.product = product
        self.purchaseID = purchaseID
        self.environment = environment
    }
}

/// What one decision changes for its user, to be committed whole.
package struct Settlement: Hashable, Sendable {
    /// Purchases to store: the one decided about, and those it has taken over from.
    package var purchases: [Purchase] = []
    package var entitlements: [Entitlement] = []
    package var events: [Event] = []
    /// What the user may be offered from now on, where that has changed. Nil is no longer kept.
    package var offers: [OfferID: Offer?] = [:]

    package init() {}
}

extension UserPurchases {
    /// Enters a decision: moves the facts, takes the union anew, and tells what has changed for
    /// the user. Events are written only where the union changes (design rule 10).
    /// `older` is the older link of the chain, where that was another user's.
    package mutating func settle(
        _ purchase: Purchase, _ decided: Decision, continuing older: OlderLink? = nil,
        at now: Timestamp
    ) -> Settlement {
        let decision = hasLiveSuccessor(of: purchase) ? decided.leaving(purchase) : decided
        var reasons = Reasons(
            gain: decision.gain, loss: decision.loss, losses: decision.losses)
        var decided = purchase
        decided.facts = decision.facts
        return change(by: decision, about: decided, at: now) { book, settlement in
            book.takeOver(for: decided, decision, &reasons, &settlement)
            if let older { reasons.inherit(older) }
            if reasons.gain == .purchased, book.hasLapsedTwin(of: decided) {
                reasons.gain = .resubscribed
            }
            book.enter(decided)
            settlement.purchases.append(decided)
            return reasons
        }
    }

    /// Enters a decision by which the purchase goes to another user: this one loses what it gave,
    /// the other one gains it, and what else there is to tell is told to the other one.
    ///
    /// - Returns: what changes for this user, and what for the other one. The purchase itself is
    ///   in the second.
    package mutating func handOver(
        _ purchase: Purchase, _ decision: Decision, to other: inout UserPurchases, at now: Timestamp
    ) -> (Settlement, Settlement) {
        let stays = decision.facts.access == .granted
        var leaving = purchase
        leaving.facts = decision.facts
        var quiet = decision
        quiet.notices = []
        let lost = change(by: quiet, about: leaving, at: now) { book, settlement in
            var reasons = Reasons(
                gain: decision.gain, loss: stays ? .transferred : decision.loss)
            book.takeOver(for: leaving, decision, &reasons, &settlement)
            book.purchases[purchase.id] = nil
            return reasons
        }
        let arriving = purchase.handed(to: other.userID, with: decision.facts)
        let hadAccess = purchase.facts.access == .granted
        let gained = other.change(by: decision, about: arriving, at: now) { book, settlement in
            var reasons = Reasons(
                gain: hadAccess ? .transferred : decision.gain, loss: decision.loss)
            book.takeOver(for: arriving, decision, &reasons, &settlement)
            book.enter(arriving)
            settlement.purchases.append(arriving)
            return reasons
        }
        return (lost, gained)
    }

    /// Rule 8 over two users: a newer link of the chain is another user's, and what the older one
    /// gave goes there in the same step.
    ///
    /// - Returns: what changes for this user, and the older link; nil where it is not here, or has
    /// been   taken over before.
    package mutating func yield(
        _ id: Int64, _ decision: Decision, at now: Timestamp
    ) -> (Settlement, OlderLink)? {
        guard let entry = purchases[id], decision.facts.access == .granted else { return nil }
        var older = entry.purchase
        let link = OlderLink(older.facts)
        guard older.facts.state != .superseded else { return (Settlement(), link) }
        older.facts.state = .superseded
        older.facts.loseAccess(.transferred)
        var quiet = decision
        quiet.notices = []
        let lost = change(by: quiet, about: older, at: now) { book, settlement in
            book.enter(older)
            settlement.purchases.append(older)
            var reasons = Reasons(gain: decision.gain, loss: .productChanged)
            reasons.transferred = Set(decision.facts.holdings.map(\.entitlement))
            return reasons
        }
        return (lost, link)
    }

    /// Makes a change to the purchases, and tells what it has changed for the user.
    private mutating func change(
        by decision: Decision, about decided: Purchase, at now: Timestamp,
        _ body: (inout UserPurchases, inout Settlement) -> Reasons
    ) -> Settlement {
        var settlement = Settlement()
        let before = holders()
        let reasons = body(&self, &settlement)
        for notice in decision.notices {
            settlement.events.append(
                event(.notice(notice.reason), decided, nil, now, decision, notice.detail))
        }
        let after = holders()
        for name in Set(before.keys).union(after.keys).sorted() {
            move(
                name, from: before[name] ?? [], to: after[name] ?? [], because: reasons, decided,
                decision, now, into: &settlement)
        }
        settlement.offers = reviseOffers(keeping: decision.keepsOffers, at: now)
        return settlement
    }

    private struct Reasons {
        var gain: GrantReason
        var loss: RevokeReason
        var losses: [Decision.Loss] = []
        /// What goes from one user to another.
        var transferred: Set<EntitlementID> = []

        func gain(of entitlement: EntitlementID) -> GrantReason {
            transferred.contains(entitlement) ? .transferred : gain
        }

        func loss(of entitlement: EntitlementID) -> RevokeReason {
            transferred.contains(entitlement)
                ? .transferred : losses.first { $0.entitlement == entitlement }?.reason ?? loss
        }

        mutating func inherit(_ older: OlderLink) {
            transferred = older.gave
            guard gain == .purchased else { return }
            if older.wasInForce {
                gain = .productChanged
            } else if let lossReason = older.lossReason {
                gain = lossReason == .productChanged ? .productChanged : .resubscribed
            }
        }
    }

    /// Whether a link of the chain that has replaced this one still gives what it gave: the
    /// replaced one does not grant beside it.
    private func hasLiveSuccessor(of purchase: Purchase) -> Bool {
        guard purchase.facts.state == .superseded else { return false }
        return purchases.values.contains { entry in
            let other = entry.purchase
            return other.id != purchase.id && other.app == purchase.app
                && other.facts.access == .granted && other.facts.kind == .autoRenewable
                && (other.facts.group ?? other.facts.product.group)
                    == (purchase.facts.group ?? purchase.facts.product.group)
        }
    }

    private mutating func enter(_ purchase: Purchase) {
        purchases[purchase.id] = Entry(
            purchase: purchase, version: purchases[purchase.id]?.version ?? 0)
    }

    /// Rule 8: in one step the newer link of a chain takes over, the older one gives nothing more.
    private mutating func takeOver(
        for decided: Purchase, _ decision: Decision, _ reasons: inout Reasons,
        _ settlement: inout Settlement
    ) {
        guard decision.facts.access == .granted, let token = decision.predecessorToken else {
            return
        }
        for entry in purchases.values.sorted(by: { $0.purchase.id < $1.purchase.id })
        where entry.purchase.token == token && entry.purchase.app == decided.app
            && entry.purchase.id != decided.id && entry.purchase.facts.state != .superseded
        {
            var predecessor = entry.purchase
            predecessor.facts.state = .superseded
            predecessor.facts.loseAccess(.productChanged)
            enter(predecessor)
            settlement.purchases.append(predecessor)
        }
        if reasons.gain == .purchased, let lossReason = lossReason(of: token, app: decided.app) {
            reasons.gain = lossReason == .productChanged ? .productChanged : .resubscribed
        }
    }

    /// Why the older link of a chain no longer gives access; nil when it never did.
    private func lossReason(of token: StoreToken, app: AppKey) -> RevokeReason? {
        purchases.values.lazy.map(\.purchase)
            .first { $0.token == token && $0.app == app }?.facts.lossReason
    }

    /// Whether the same product of the same app was held before by another token and has lapsed.
    private func hasLapsedTwin(of purchase: Purchase) -> Bool {
        purchases.values.contains { entry in
            let other = entry.purchase
            return other.id != purchase.id && other.app == purchase.app
                && other.facts.product == purchase.facts.product && other.facts.lossReason != nil
                && other.facts.state != .superseded
        }
    }

    /// Which purchases give each entitlement, the longest lasting first.
    private func holders() -> [EntitlementID: [(purchase: Purchase, holding: Holding)]] {
        var holders: [EntitlementID: [(purchase: Purchase, holding: Holding)]] = [:]
        for entry in purchases.values where entry.purchase.facts.access != .none {
            for holding in entry.purchase.facts.holdings {
                holders[holding.entitlement, default: []].append((entry.purchase, holding))
            }
        }
        return holders.mapValues { holders in
            holders.sorted { left, right in
                let (leftEnd, rightEnd) = (
                    left.holding.expiresAt ?? .never, right.holding.expiresAt ?? .never
                )
                guard leftEnd == rightEnd else { return leftEnd > rightEnd }
                // Of two that last as long the one that says the best of the user.
                return left.purchase.standsBefore(right.purchase)
            }
        }
    }

    // One entitlement's step from what held it before to what holds it now.
    // swift-format-ignore: one call passes all that an event is made of.
    private mutating func move(
        _ name: EntitlementID, from before: [(purchase: Purchase, holding: Holding)],
        to after: [(purchase: Purchase, holding: Holding)], because reasons: Reasons,
        _ decided: Purchase, _ decision: Decision, _ now: Timestamp,
        into settlement: inout Settlement
    ) {
        let known = entitlements[name]
        var row: Entitlement
        if let best = after.first {
            let gained = before.isEmpty
            let gain = reasons.gain(of: name)
            if gained {
                settlement.events.append(
                    event(
                        .grant(gain), decided, name, now, decision, decision.detail,
                        best.holding))
            }
            row = Entitlement(
                entitlement: name, active: true, expiresAt: best.holding.expiresAt,
                willRenew: best.purchase.facts.autoRenew,
                inGrace: best.purchase.facts.state == .grace,
                reason: gained ? gain.rawValue : known?.reason ?? gain.rawValue,
                store: best.purchase.app.store, product: best.holding.product,
                purchaseID: best.purchase.id, environment: best.purchase.facts.environment)
        } else if let lost = before.first {
            let loss = reasons.loss(of: name)
            settlement.events.append(
                event(.revoke(loss), decided, name, now, decision, decision.detail, lost.holding))
            row = Entitlement(
                entitlement: name, active: false, expiresAt: decided.facts.expiresAt,
                willRenew: decided.facts.autoRenew, inGrace: false, reason: loss.rawValue,
                store: decided.app.store, product: lost.holding.product, purchaseID: decided.id,
                environment: decided.facts.environment)
        } else {
            return
        }
        guard row != known else { return }
        entitlements[name] = row
        settlement.entitlements.append(row)
    }

    // swift-format-ignore: one call passes all that an event is made of.
    private func event(
        _ kind: EventKind, _ purchase: Purchase, _ entitlement: EntitlementID?, _ now: Timestamp,
        _ decision: Decision, _ detail: Detail, _ holding: Holding? = nil
    ) -> Event {
        let isRevoke = if case .revoke = kind { true } else { false }
        return Event(
            kind, userID: userID, entitlement: entitlement, purchaseID: purchase.id,
            app: purchase.app, environment: purchase.facts.environment,
            product: holding?.product ?? purchase.facts.product,
            orderID: purchase.facts.orderID, effectiveAt: isRevoke ? decision.effectiveAt : now,
            expiresAt: isRevoke
                ? purchase.facts.expiresAt : holding?.expiresAt ?? purchase.facts.expiresAt,
            detail: detail)
    }
}

/// The older link of a chain, as it was before a newer one of another user has taken over.
package struct OlderLink: Hashable, Sendable {
    /// What it gave.
    let gave: Set<EntitlementID>
    let lossReason: RevokeReason?

    var wasInForce: Bool { !gave.isEmpty }

    init(_ facts: Facts) {
        gave = Set(facts.holdings.map(\.entitlement))
        lossReason = facts.lossReason
    }
}

extension Purchase {
    /// The order of those that last equally long: production before sandbox, paid before unpaid,
    /// what renews before what does not.
    fileprivate func standsBefore(_ other: Purchase) -> Bool {
        let (left, right) = (rank, other.rank)
        return left == right ? id < other.id : left > right
    }

    private var rank: Int {
        (facts.environment == .sandbox ? 0 : 4) + (facts.state == .grace ? 0 : 2)
            + (facts.autoRenew == true ? 1 : 0)
    }
}

extension Decision {
    /// The same check, by which nothing becomes of the purchase.
    fileprivate func leaving(_ purchase: Purchase) -> Decision {
        guard facts.access == .granted else { return self }
        var decision = self
        decision.facts = purchase.facts
        decision.notices = []
        decision.predecessorToken = nil
        return decision
    }
}
