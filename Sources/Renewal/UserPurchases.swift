/// All that is known of one user: what the union of design rule 10 is taken over. `move` writes the
/// grants and revokes, after what `GrantOrRevoke.swift` has decided of one purchase.
package struct UserPurchases: Hashable, Sendable {
    package let userID: UserID
    /// Compared at the commit, so that no union is taken over facts that have moved.
    package let version: Int64
    package private(set) var purchases: [Int64: Entry]
    package private(set) var entitlements: [EntitlementID: Entitlement]
    package internal(set) var offers: [OfferID: Offer]
    private(set) var tallies = UserTallies()

    /// One purchase in the book.
    package struct Entry: Hashable, Sendable {
        // A book may have thousands, and is copied at each step.
        @Boxed package private(set) var purchase: Purchase
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
        for entry in self.purchases.values { tallies.move(from: nil, to: entry.purchase) }
    }
}

extension UserPurchases {
    /// Enters what was decided: moves the facts, takes the union anew, and tells what has changed
    /// for the user. Events are written only where the union changes (design rule 10).
    /// `older` is the older link of the chain, where that was another user's. `holding`: the older
    /// links of which the breaker holds what they gave and this one does not.
    package mutating func settle(
        _ outcome: Outcome, continuing older: OlderLink? = nil, holding: Set<Int64> = [],
        at now: Timestamp
    ) -> Settlement {
        var change = outcome.change ?? Change(facts: outcome.facts, effectiveAt: now)
        var purchase = outcome.claim.purchase
        if hasLiveSuccessor(of: purchase) { change.leave(purchase) }
        purchase.facts = change.facts
        var step = Step(change: change, purchase: purchase, of: outcome, now: now)
        step.heldLinks = holding
        let siblings = siblings(of: outcome.claim.purchase.facts, after: purchase)
        return take(step) { book, settlement in
            settlement.siblings = siblings
            var reasons = change.reasons
            book.takeOver(step, &reasons, &settlement)
            if let older { reasons.inherit(older) }
            let known = book.purchases[purchase.id]?.purchase
            if reasons.gain == .purchased, book.tallies.hasLapsedTwin(of: purchase, known: known) {
                reasons.gain = .resubscribed
            }
            purchase.facts.noteGain(reasons, since: outcome.claim.purchase.facts)
            book.enter(purchase, &settlement)
            return reasons
        }
    }

    /// Enters what was decided of a purchase that goes to another user: this one loses what it
    /// gave, the other one gains it, and what else there is to tell is told to the other one.
    /// `holding` as in `settle`.
    ///
    /// - Returns: what changes for this user, and what for the other one. The purchase itself is
    ///   in the second.
    package mutating func handOver(
        _ outcome: Outcome, to other: inout UserPurchases, holding: Set<Int64> = [],
        at now: Timestamp
    ) -> (Settlement, Settlement) {
        guard case .handed(_, let change) = outcome.decision else {
            return (settle(outcome, holding: holding, at: now), Settlement())
        }
        let known = outcome.claim.purchase
        var leaving = known
        leaving.facts = change.facts
        var mine = Step(change: change.quiet, purchase: leaving, of: outcome, now: now)
        mine.heldLinks = holding
        let lost = take(mine) { book, settlement in
            var reasons = Reasons(gain: change.reasons.gain, loss: change.reasons.loss)
            if change.facts.access == .granted { reasons.loss = .transferred }
            book.takeOver(mine, &reasons, &settlement)
            book.remove(known.id)
            return reasons
        }
        var arriving = known.handed(to: other.userID, with: change.facts)
        var theirs = Step(change: change, purchase: arriving, of: outcome, now: now)
        theirs.heldLinks = holding
        let gained = other.take(theirs) { book, settlement in
            var reasons = Reasons(gain: change.reasons.gain, loss: change.reasons.loss)
            if known.facts.access != .none { reasons.gain = .transferred }
            book.takeOver(theirs, &reasons, &settlement)
            arriving.facts.noteGain(reasons, since: nil)
            book.enter(arriving, &settlement)
            return reasons
        }
        return (lost, gained)
    }

    /// Rule 8 over two users: a newer link of the chain is another user's, and what the older one
    /// gave goes there in the same step.
    ///
    /// - Returns: what changes for this user, and the older link; nil where it is not here, or has
    ///   been taken over before.
    package mutating func yield(
        _ id: Int64, to outcome: Outcome, holding: Bool = false, at now: Timestamp
    ) -> (Settlement, OlderLink)? {
        guard var older = purchases[id]?.purchase, let change = outcome.change,
            change.facts.access == .granted
        else { return nil }
        let link = OlderLink(older.facts)
        guard older.facts.state != .superseded else { return (Settlement(), link) }
        let held = holding ? older.facts.holdOn(beyond: change.facts, since: now) : [:]
        if held.isEmpty {
            older.facts.state = .superseded
            older.facts.loseAccess(.transferred)
        }
        let step = Step(change: change.quiet, purchase: older, of: outcome, now: now)
        let lost = take(step) { book, settlement in
            settlement.heldLosses[id] = held
            book.enter(older, &settlement)
            return Reasons(
                gain: change.reasons.gain, loss: .productChanged,
                transferred: Set(change.facts.holdings.map(\.entitlement)))
        }
        return (lost, link)
    }

    /// Does something to the purchases, and tells what that has changed for the user.
    private mutating func take(
        _ step: Step, _ body: (inout UserPurchases, inout Settlement) -> Reasons
    ) -> Settlement {
        var settlement = Settlement()
        let (before, known) = (holders, purchases[step.purchase.id]?.purchase)
        let reasons = body(&self, &settlement)
        for notice in step.change.notices {
            settlement.events.append(
                event(.notice(notice.reason), by: step, with: notice.detail))
        }
        let after = holders
        for name in Set(before.keys).union(after.keys).sorted() {
            move(
                name, from: before[name], to: after[name], because: reasons, by: step, &settlement)
        }
        if !settlement.revokes, let known, step.isUntoldRefund(of: known) {
            settlement.events.append(event(.notice(.refunded), by: step, with: step.change.detail))
        }
        if step.isFirstSight { settlement.keepQuietAboutTheFirstSight() }
        settlement.offers = reviseOffers(
            keeping: step.rules.policy.keepsOffers, at: step.now)
        return settlement
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

    private mutating func enter(_ purchase: Purchase, _ settlement: inout Settlement) {
        let known = purchases[purchase.id]
        purchases[purchase.id] = Entry(purchase: purchase, version: known?.version ?? 0)
        tallies.move(from: known?.purchase, to: purchase)
        settlement.purchases.append(purchase)
    }

    private mutating func remove(_ id: Int64) {
        tallies.move(from: purchases.removeValue(forKey: id)?.purchase, to: nil)
    }

    /// Rule 8: in one step the newer link of a chain takes over, the older one gives nothing more.
    private mutating func takeOver(
        _ step: Step, _ reasons: inout Reasons, _ settlement: inout Settlement
    ) {
        guard step.change.facts.access == .granted, let token = step.change.predecessorToken
        else { return }
        let newer = step.purchase
        for older in olderLinks(of: newer, token) {
            var predecessor = older
            let held =
                step.heldLinks.contains(older.id)
                ? predecessor.facts.holdOn(beyond: newer.facts, since: step.now) : [:]
            if held.isEmpty {
                predecessor.facts.state = .superseded
                predecessor.facts.loseAccess(.productChanged)
            }
            settlement.heldLosses[older.id] = held
            enter(predecessor, &settlement)
        }
        if reasons.gain == .purchased, let lossReason = lossReason(of: token, app: newer.app) {
            reasons.gain = lossReason == .productChanged ? .productChanged : .resubscribed
        }
    }

    /// Those that a newer link of the chain takes over from, in order.
    func olderLinks(of newer: Purchase, _ token: StoreToken) -> [Purchase] {
        purchases.values.map(\.purchase).filter { older in
            older.token == token && older.app == newer.app && older.id != newer.id
                && older.facts.state != .superseded
        }.sorted(on: \.id)
    }

    /// Why the older link of a chain no longer gives access; nil when it never did.
    private func lossReason(of token: StoreToken, app: AppKey) -> RevokeReason? {
        purchases.values.lazy.map(\.purchase)
            .first { $0.token == token && $0.app == app }?.facts.lossReason
    }

    private typealias Holder = (purchase: Purchase, holding: Holding)

    /// Which purchase gives each entitlement for the longest time.
    private var holders: [EntitlementID: Holder] {
        tallies.best.compactMapValues { giver in
            purchases[giver.purchaseID].map { entry in
                (entry.purchase, entry.purchase.facts.holdings[giver.place])
            }
        }
    }

    /// One entitlement's way from what held it before to what holds it now.
    private mutating func move(
        _ name: EntitlementID, from before: Holder?, to after: Holder?,
        because reasons: Reasons, by step: Step, _ settlement: inout Settlement
    ) {
        let known = entitlements[name]
        let row: Entitlement
        if let best = after {
            let gain = reasons.gain(of: name)
            if before == nil {
                settlement.events.append(
                    event(.grant(gain), of: name, best.holding, by: step, with: step.change.detail))
            }
            row = Entitlement(
                entitlement: name, active: true, expiresAt: best.holding.expiresAt,
                willRenew: best.purchase.facts.willRenew,
                inGrace: best.purchase.facts.state == .grace,
                reason: before == nil ? gain.rawValue : known?.reason ?? gain.rawValue,
                store: best.purchase.app.store, product: best.holding.product,
                purchaseID: best.purchase.id, environment: best.purchase.facts.environment)
        } else if let lost = before {
            let (loss, purchase) = (reasons.loss(of: name), step.purchase)
            settlement.events.append(
                event(.revoke(loss), of: name, lost.holding, by: step, with: step.change.detail))
            row = Entitlement(
                entitlement: name, active: false,
                expiresAt: step.end(ofLost: lost.holding).map { min($0, step.change.effectiveAt) },
                willRenew: purchase.facts.willStillRenew, inGrace: false, reason: loss.rawValue,
                store: purchase.app.store, product: lost.holding.product, purchaseID: purchase.id,
                environment: purchase.facts.environment)
        } else {
            return
        }
        guard row != known else { return }
        entitlements[name] = row
        settlement.entitlements.append(row)
    }

    private func event(
        _ kind: EventKind, of entitlement: EntitlementID? = nil, _ holding: Holding? = nil,
        by step: Step, with detail: Detail
    ) -> Event {
        let (purchase, end) = (step.purchase, step.purchase.facts.expiresAt)
        let isRevoke = if case .revoke = kind { true } else { false }
        let left = isRevoke ? holding.flatMap(step.timeOfLeaving) : nil
        // Of a time of ours the key knows nothing, and it is made of the end.
        let latest = step.change.isDated ? step.change.effectiveAt : .never
        return Event(
            kind, userID: userID, entitlement: entitlement, purchaseID: purchase.id,
            app: purchase.app, environment: purchase.facts.environment,
            product: holding?.product ?? purchase.facts.product,
            orderID: purchase.facts.orderID,
            effectiveAt: left ?? (isRevoke ? step.change.effectiveAt : step.now),
            isDated: left != nil || isRevoke && step.change.isDated,
            expiresAt: isRevoke
                ? step.end(ofLost: holding).map { min($0, latest) } : holding?.expiresAt ?? end,
            detail: detail.told(with: kind))
    }
}

extension Facts {
    /// Keeps why access is given, where it gives what it did not give before.
    fileprivate mutating func noteGain(_ reasons: Reasons, since known: Facts?) {
        guard access == .granted else { return }
        let before = Set((known?.holdings ?? []).map(\.entitlement))
        guard let new = holdings.first(where: { !before.contains($0.entitlement) }) else { return }
        gainReason = reasons.gain(of: new.entitlement)
    }
}

extension Change {
    /// Without what there is to tell beside what the user gains and loses.
    fileprivate var quiet: Change {
        var quiet = self
        quiet.notices = []
        return quiet
    }

    /// Nothing becomes of the purchase where access would be given.
    fileprivate mutating func leave(_ purchase: Purchase) {
        guard facts.access == .granted else { return }
        facts = purchase.facts
        notices = []
        predecessorToken = nil
    }
}

extension Reasons {
    fileprivate mutating func inherit(_ older: OlderLink) {
        transferred = older.gave
        guard gain == .purchased else { return }
        if older.wasInForce {
            gain = .productChanged
        } else if let lossReason = older.lossReason {
            gain = lossReason == .productChanged ? .productChanged : .resubscribed
        }
    }
}
