// Revocations that the breaker holds (design rule 13).

extension Outcome {
    /// How what it takes away counts; nil where it takes nothing, or gives it to another.
    package func loss(at now: Timestamp) -> Loss? {
        guard case .changed(let change) = decision else { return nil }
        guard claim.purchase.facts.access == .granted else { return nil }
        switch change.reasons.loss {
        case .transferred: return nil
        // What a person takes away by hand is no decision of ours; this is a configuration, and may
        // be a mistaken one.
        case .manual: break
        case .expired, .cancelled, .paymentFailed, .paymentPending, .refunded, .familyRemoved,
            .paused, .priceIncreaseDeclined, .productUnavailable, .productChanged, .invalid,
            .unverifiable:
            break
        }
        return Loss(
            from: claim.purchase.facts, to: change.facts, at: now, seenAt: claim.checkedAt)
    }

    /// The known end of what was to renew and goes on beyond it.
    package var survivedEnd: Timestamp? {
        guard case .changed(let change) = decision else { return nil }
        let known = claim.purchase.facts
        guard known.access == .granted, known.kind == .autoRenewable, known.willRenew != false,
            let end = known.knownEnd, change.facts.access == .granted,
            let next = change.facts.knownEnd, next > end
        else { return nil }
        return end
    }

    /// The same, with the revocation held: the user keeps what would be lost.
    package func held(at now: Timestamp) -> Outcome {
        var held = self
        guard case .changed(var change) = decision else { return held }
        change.hold(whatGave: claim.purchase.facts, since: now)
        held.decision = .changed(change)
        held.schedule.askAgain(of: claim, heldSince: now, at: now)
        held.sayThatItIsHeld(for: change)
        return held
    }

    private mutating func sayThatItIsHeld(for change: Change) {
        let reasons = Set(change.heldLosses.values.map(\.rawValue)).sorted()
        let why = reasons.isEmpty ? "" : " as " + reasons.joined(separator: " and ")
        rule += "; decided to revoke\(why), and the breaker holds it"
    }

    /// What becomes of a purchase whose revocation is held already and that was judged as granted:
    /// in force again, or held on, or let go: where this answer takes the same away as before, or
    /// by hand whatever it takes.
    func goingOn(
        with claim: Claim, lettingGo: Bool, byHand: Bool = false, at now: Timestamp
    ) -> Outcome {
        var outcome = Outcome(
            claim: claim, decision: decision, schedule: schedule, rule: rule, rules: rules,
            evidence: evidence, kept: kept)
        var change: Change
        switch decision {
        case .handed, .shared: return outcome
        case .changed(let decided): change = decided
        // A verdict by which all is as it was before the revocation.
        case .unchanged where isVerdict: change = Change(facts: facts, effectiveAt: now)
        case .unchanged: return outcome
        }
        let known = claim.purchase.facts
        if isVerdict || change.facts.access != .granted {
            let isSame = change.takes(from: known, as: known.lossReason)
            if !byHand, !lettingGo || !isSame {
                change.hold(whatGave: known, since: isSame ? known.heldSince ?? now : now)
            }
            if let since = change.facts.heldSince {
                outcome.schedule.askAgain(of: claim, heldSince: since, at: now)
            }
        } else {
            // Nothing was decided.
            change.facts.access = .held
            change.facts.lossReason = known.lossReason
            change.facts.heldSince = known.heldSince
        }
        if change.facts.access == .held { outcome.sayThatItIsHeld(for: change) }
        outcome.decision = Decision(change, of: known)
        return outcome
    }
}

extension UserPurchases {
    /// How it counts that older links of the chain give way to what was decided: those that lose
    /// something by it. They have no outcome of their own. `settlement` is what has become of it
    /// for this user, where that is known: what another purchase gives as well is not lost.
    package func losses(
        byTakingOver outcome: Outcome, in settlement: Settlement? = nil, at now: Timestamp
    ) -> [(link: Int64, loss: Loss)] {
        guard let change = outcome.change, change.facts.access == .granted,
            let token = change.predecessorToken
        else { return [] }
        let revoked = settlement?.revoked
        return olderLinks(of: outcome.claim.purchase, token).compactMap { older in
            if let revoked {
                let lost = older.facts.given(beyond: change.facts).map(\.entitlement)
                guard !revoked.isDisjoint(with: lost) else { return nil }
            }
            return Loss(from: older.facts, to: change.facts, at: now).map { (older.id, $0) }
        }
    }

    /// Likewise of an older link that is another user's: what the newer one gives goes over to it.
    package func loss(of id: Int64, yieldedTo outcome: Outcome, at now: Timestamp) -> Loss? {
        guard let older = purchases[id]?.purchase, older.facts.state != .superseded,
            let change = outcome.change, change.facts.access == .granted
        else { return nil }
        return Loss(from: older.facts, to: change.facts, at: now)
    }
}

extension Loss {
    /// How it counts that one gives way to the other; nil where nothing is lost by it.
    ///
    /// - Parameters:
    ///   - known: what was known.
    ///   - facts: what is known now.
    ///   - now: when that is.
    ///   - seenAt: when the store was heard last before.
    fileprivate init?(
        from known: Facts, to facts: Facts, at now: Timestamp, seenAt: Timestamp? = nil
    ) {
        let lost = known.access == .none ? [] : known.given(beyond: facts)
        guard !lost.isEmpty else { return nil }
        // What lasts for ever has no end that could have come, and what was paid for no earlier one
        // than that: the answers that take it away may have moved the end before.
        let ends = lost.map { holding in
            let paid = holding.product == known.product ? known.paidThrough : nil
            return max(holding.expiresAt ?? .never, paid ?? holding.expiresAt ?? .never)
        }
        guard let end = ends.max(), end <= now else {
            self = .early
            return
        }
        let wasToRenew =
            known.kind == .autoRenewable && known.willRenew != false
            && !known.isToLeave(lost, keeping: facts, seenAt: seenAt)
        self = wasToRenew ? .atItsEnd(end) : .expected
    }
}

extension Facts {
    /// Whether what is lost was beside the main product, and known not to be renewed: a change had
    /// been announced that takes it out, or the store had been heard since its end, and leniency
    /// went on. The renewal that is known is that of what goes on.
    fileprivate func isToLeave(
        _ lost: [Holding], keeping facts: Facts, seenAt: Timestamp?
    ) -> Bool {
        guard facts.access == .granted, facts.product == product,
            lost.allSatisfy({ $0.product != product })
        else { return false }
        if signals.contains(.productChangeScheduled) { return true }
        guard let seenAt else { return false }
        return lost.allSatisfy { holding in
            holding.expiresAt.map { $0 < seenAt - .minutes(1) } ?? false
        }
    }
}

extension Schedule {
    /// What is held is asked about again, also where nothing would be asked any more: after an hour
    /// at first, then after as long as it has been held, daily in the end.
    fileprivate mutating func askAgain(
        of claim: Claim, heldSince since: Timestamp, at now: Timestamp
    ) {
        // So that what was held together is not asked about together.
        let spread = 0.9 + 0.2 * Double(claim.purchaseID % 100) / 100
        let soon = now + (now - since).clamped(.hours(1), .hours(24)) * spread
        let second = since + BreakerPolicy.secondAnswerAfter + .minutes(10) * spread
        nextCheckAt = min(nextCheckAt, soon, second > now ? second : soon)
    }
}

extension Claim {
    /// As a purchase is judged whose revocation is held: its user has it.
    var judged: Claim {
        guard purchase.facts.access == .held else { return self }
        var claim = self
        claim.purchase = purchase.judged
        return claim
    }
}

extension Purchase {
    /// The same, for whoever reads an answer about it: whether that is old, or contradicts what is
    /// known, does not hang on who holds what.
    package var judged: Purchase {
        guard facts.access == .held else { return self }
        var purchase = self
        purchase.facts.access = .granted
        purchase.facts.lossReason = nil
        purchase.facts.heldSince = nil
        return purchase
    }
}

extension Facts {
    /// When access was to end, or to be renewed.
    fileprivate var knownEnd: Timestamp? { expiresAt ?? paidThrough }

    /// What these give and the others do not.
    func given(beyond others: Facts) -> [Holding] {
        let kept = Set(others.holdings.map(\.entitlement))
        return holdings.filter { !kept.contains($0.entitlement) }
    }

    /// An older link of a chain goes on giving what the newer one does not.
    ///
    /// - Returns: what would be lost, and why; empty where nothing would, and nothing is changed.
    mutating func holdOn(beyond newer: Facts, since now: Timestamp) -> [EntitlementID: RevokeReason]
    {
        let lost = access == .none ? [] : given(beyond: newer)
        guard !lost.isEmpty else { return [:] }
        holdings = lost
        access = .held
        heldSince = heldSince ?? now
        lossReason = .productChanged
        doubt = PendingDoubt(doubt: .replaced, since: now)
        return Dictionary(
            lost.map { ($0.entitlement, .productChanged) }, uniquingKeysWith: { first, _ in first })
    }
}

extension Change {
    /// Whether it takes nothing, or for the reason by which it would be listed.
    fileprivate func takes(from known: Facts, as reason: RevokeReason?) -> Bool {
        let lost = known.given(beyond: facts).map(\.entitlement).min()
        return lost.map { reasons.loss(of: $0) == reason } ?? true
    }

    /// Goes on giving what the known facts gave. Where all is lost, nothing of the answer is
    /// believed but that: what it says beside may be as wrong.
    fileprivate mutating func hold(whatGave known: Facts, since: Timestamp) {
        let lost = known.given(beyond: facts)
        guard !lost.isEmpty else { return }
        for holding in lost {
            heldLosses[holding.entitlement] = reasons.loss(of: holding.entitlement)
        }
        if facts.access == .none {
            var held = Change(facts: known, effectiveAt: effectiveAt)
            held.heldLosses = heldLosses
            self = held
        } else {
            facts.holdings += lost
        }
        facts.access = .held
        facts.heldSince = since
        // The list of what is held says why: another reason is a change.
        facts.lossReason = heldLosses.min { $0.key < $1.key }?.value
    }
}

/// What becomes of a purchase whose held revocation a person has dropped: it gives what it gave,
/// and its store is asked about it soon.
package func discardHold(of claim: Claim, at now: Timestamp, under rules: Rules) -> Outcome {
    var schedule = Schedule(nextCheckAt: min(claim.dueAt, now + .hours(1)))
    schedule.attempts = claim.attempts
    schedule.statedAt = claim.statedAt
    schedule.inVain = claim.inVain
    let change = Change(facts: claim.judged.purchase.facts, effectiveAt: now)
    return Outcome(
        claim: claim, decision: Decision(change, of: claim.purchase.facts), schedule: schedule,
        rule: "a person has dropped the held revoke", rules: rules)
}
