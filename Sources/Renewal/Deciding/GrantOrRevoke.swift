// What the status means for state and access: here it is decided that a purchase gives nothing any
// more, and why. Without a status that is decided in `Decide.swift`: a second answer agrees with a
// doubt, or the store has not answered for too long. `Staleness.swift` ends a period that the store
// leaves open; the breaker may hold a revoke (`RevocationHold.swift`). The user is told where no
// other purchase gives the same (`UserPurchases`, rule 10).
extension Judgement {
    /// What the status means.
    struct Verdict {
        var state: PurchaseState
        var givesAccess: Bool
        var loss = RevokeReason.expired
        var at: Timestamp?
        /// Set where a rule of ours, not the store's rhythm, says when to ask again.
        var askAgainAt: Timestamp?
        /// What the next answer is compared with.
        var doubt: PendingDoubt?
        var rule: String
    }

    func verdict() -> Verdict {
        // One subscription can never grant twice, whatever the replaced link still looks like.
        if known.state == .superseded, !isReopened {
            return Verdict(
                state: .superseded, givesAccess: false, loss: .productChanged,
                doubt: known.doubt, rule: "a newer link of its chain has taken over")
        }
        if observation.isSubstitute, known.access == .granted {
            // What is sold once ends by its duration, whatever the store says of it.
            if let over = overVerdict(at: facts.expiresAt) { return over }
            return Verdict(
                state: known.state, givesAccess: true,
                rule: "what stands in for it is in force; its own record was not shown")
        }
        if let voidedAt {
            var verdict = refundedVerdict(at: voidedAt)
            verdict.doubt = PendingDoubt(doubt: .voided, since: voidedAt)
            verdict.rule = "voided three days ago by the store's list, whatever the product reads"
            return verdict
        }
        if staysTakenBack {
            return Verdict(
                state: .refunded, givesAccess: false, loss: .refunded, at: known.expiresAt,
                rule: "refunded before; what reads as bought again is an older copy")
        }
        return switch observation.status {
        case .pending:
            Verdict(
                state: .pending, givesAccess: false, loss: .paymentPending,
                rule: "not paid yet")
        case .active:
            isStillUnpaid ? unpaidVerdict : activeVerdict()
        case .grace(let expiryMovedUnpaid):
            graceVerdict(expiryMovedUnpaid: expiryMovedUnpaid)
        case .hold:
            Verdict(
                state: .hold, givesAccess: false, loss: .paymentFailed, at: graceEnd,
                rule: "payment failed and the store suspends access while it collects")
        case .paused:
            Verdict(
                state: .paused, givesAccess: false, loss: .paused, at: facts.paidThrough,
                rule: "the user has paused it")
        case .ended(let cause, let at):
            endedVerdict(cause, at: at)
        case .refunded(let at):
            refundedVerdict(at: at)
        case .removedFromFamily(let at):
            Verdict(
                state: .revoked, givesAccess: false, loss: .familyRemoved, at: at,
                rule: "family sharing has ended")
        case .replaced(let at):
            replacedVerdict(at: at)
        }
    }

    /// When access ended after a failed payment: with the grace that was known, else with the
    /// paid period.
    var graceEnd: Timestamp? {
        let granted = known.state == .grace ? known.expiresAt : nil
        return (granted ?? facts.paidThrough).map { min($0, moment.now) }
    }

    /// A consumable gives no access that a reversed refund could give back. Where its store does
    /// not date what it says, one that was taken back stays so: or its refund would be told again.
    private var staysTakenBack: Bool {
        facts.kind == .consumable && known.kind == .consumable && known.state == .refunded
            && observation.items.allSatisfy { kind(of: $0) == .consumable }
            && observation.status == .active && observation.statedAt == nil
            && !observation.isSubstitute && facts.orderID == known.orderID
    }

    var isIgnoredSandbox: Bool {
        facts.environment == .sandbox && policy.sandbox == .ignore
    }

    func activeVerdict() -> Verdict {
        overVerdict(at: ownEnd)
            ?? Verdict(state: .active, givesAccess: true, rule: "in force and paid")
    }

    /// Of what is sold once and has come to the end that the configuration gives it.
    private func overVerdict(at end: Timestamp?) -> Verdict? {
        guard facts.kind != .autoRenewable, let end, end <= moment.proven else { return nil }
        let isShownHeld = known.holdings.contains(where: isShown)
        if isRestRefunded {
            return (isShownHeld ? lenientVerdict(since: end) : nil) ?? refundedVerdict(at: nil)
        }
        return lenientVerdict(since: end)
            ?? Verdict(
                state: .expired, givesAccess: false, loss: .expired, at: end,
                rule: "the configured duration is over")
    }

    /// Rule 4: whether what was in trouble runs on and still is unpaid, as when renewal is turned
    /// off in grace. Payment shows itself by another period, or by a later end that nobody has
    /// turned off.
    var isStillUnpaid: Bool {
        guard known.state == .grace, observation.status == .active, !observation.isSubstitute,
            observation.kind == .autoRenewable
        else { return false }
        if let period = observation.period, let before = known.period, period != before {
            return false
        }
        // What runs without a paid period of its own, and whose it is the store says, is another
        // purchase, as a family's copy: that one is paid.
        guard let paid = observation.paidThrough else { return observation.ownership == nil }
        // Nothing was known to be paid, as of what was first seen in trouble.
        guard let before = known.paidThrough else { return observation.willRenew == false }
        if wasTroubleOfAnother { return false }
        return paid <= before || observation.period != nil && observation.willRenew == false
    }

    /// Whether what failed to be paid was another product of the purchase: the main one has been
    /// paid all along, for a period that still runs. What is turned off may be so in its own grace,
    /// unless there are several products.
    var wasTroubleOfAnother: Bool {
        guard known.state == .grace, observation.status == .active, !observation.isSubstitute,
            let before = known.paidThrough, observation.paidThrough == before,
            before > moment.latest
        else { return false }
        return observation.willRenew == true || observation.items.count > 1
            || known.holdings.contains { $0.product != known.product }
    }

    private var unpaidVerdict: Verdict {
        Verdict(
            state: .grace,
            givesAccess: known.access == .granted && policy.grace == .keep, loss: .paymentPending,
            rule: "it runs on, and what failed to be paid still is unpaid")
    }

    /// Rule 8: a replaced link is no link any more when its store says that it is in force itself,
    /// in another period than the one that was replaced. Where periods have no names but their end,
    /// the replacement was taken back: older copies are told by their age (`Staleness.swift`).
    var isReopened: Bool {
        guard observation.status == .active, !observation.isSubstitute,
            let paid = observation.paidThrough, paid > moment.now
        else { return false }
        if claim.purchase.app.store.traits.namesPeriodsByEnd { return true }
        if let period = observation.period, let before = known.period { return period != before }
        return known.paidThrough.map { paid > $0 } ?? (known.doubt?.doubt == .replaced)
    }

    func graceVerdict(expiryMovedUnpaid: Bool) -> Verdict {
        let revokes =
            policy.grace == .revoke || (expiryMovedUnpaid && policy.paymentPending == .revoke)
        return Verdict(
            state: .grace, givesAccess: !revokes, loss: .paymentPending,
            rule: revokes
                ? "payment failed; the policy ends access at once"
                : "payment failed, the store lets access go on")
    }

    func endedVerdict(_ cause: EndCause, at: Timestamp?) -> Verdict {
        // Refunded, it was left to run out.
        if known.state == .refunded, known.access == .granted {
            return Verdict(
                state: .refunded, givesAccess: false, loss: .refunded, at: endOfRefunded(at: at),
                rule: "refunded, and the paid period has run out")
        }
        // The answer does not tell, and it was known that nothing would be renewed.
        let isUserEnded =
            cause == .periodEnded && observation.willRenew == nil && known.state == .active
            && known.willRenew == false
        let loss = isUserEnded ? .cancelled : cause.reason
        let end = min(at ?? facts.expiresAt ?? moment.now, moment.now)
        if loss == .expired || loss == .cancelled, let verdict = lenientVerdict(since: end) {
            return verdict
        }
        return Verdict(
            state: .expired, givesAccess: false, loss: loss, at: end,
            rule: "the store says that it is over")
    }

    /// What is over gives access for a while, where the policy says so; what is first seen over
    /// does not.
    private func lenientVerdict(since end: Timestamp) -> Verdict? {
        guard leniency > .zero, moment.proven < end + leniency else { return nil }
        return Verdict(
            state: .expired, givesAccess: true, at: end,
            askAgainAt: moment.dueAt(end + leniency),
            rule: "over; the policy's leniency still runs")
    }

    /// How long what is over gives access.
    var leniency: Duration { known.access == .granted ? policy.leniency : .zero }

    func refundedVerdict(at: Timestamp?) -> Verdict {
        if policy.refund == .periodEnd, known.access == .granted,
            let end = areSoldTogether ? endsOfRefundedParts.min() : paidUntil,
            moment.proven < end
        {
            return Verdict(
                state: .refunded, givesAccess: true, at: at, askAgainAt: moment.dueAt(end),
                rule: "refunded; the policy lets the paid period run out")
        }
        return Verdict(
            state: .refunded, givesAccess: false, loss: .refunded, at: endOfRefunded(at: at),
            rule: "refunded")
    }

    /// What is refunded ends where it was paid to, where the policy lets it run out: a store that
    /// ends it at once names the day of the refund.
    private func endOfRefunded(at: Timestamp?) -> Timestamp? {
        guard policy.refund == .periodEnd, known.access == .granted, let end = paidUntil
        else { return at }
        return at.map { max($0, end) } ?? end
    }

    /// The end of what was refunded and runs out, or has; nil where the store's own holds.
    var endOfRunningOut: Timestamp? {
        guard policy.refund == .periodEnd, facts.state == .refunded, let end = paidUntil,
            known.access == .granted || known.state == .refunded && known.expiresAt == end
        else { return nil }
        return end
    }

    /// What is sold once was paid to the end that its duration gives it, or for ever.
    private var paidUntil: Timestamp? {
        guard facts.kind != .autoRenewable else {
            // Of what was changed or renewed unseen its own period counts.
            let isKnown = observation.period == nil || observation.period == known.period
            return isKnown ? latest(known.paidThrough, facts.paidThrough) : facts.paidThrough
        }
        let isKnown = known.access == .granted || known.state == .refunded
        let knownEnd = isKnown ? known.expiresAt : nil
        return areSoldTogether ? endsOfRefundedParts.max() ?? knownEnd : ownEnd ?? knownEnd
    }

    /// Rule 8: the replaced link never revokes its successor. It keeps access until the successor
    /// has been heard of, for `successor_wait` at most; where it was submitted,
    /// `SuccessorWait.swift` waits for it.
    func replacedVerdict(at: Timestamp?) -> Verdict {
        let told = known.doubt?.doubt == .replaced ? known.doubt?.since : nil
        let since = at ?? told ?? moment.now
        let end = since + policy.successorWait
        // What began by the store's clock ends by it.
        let now = at == nil ? moment.now : moment.proven
        if known.access == .granted, now < end {
            return Verdict(
                state: known.state, givesAccess: true, at: at,
                askAgainAt: at == nil ? end : moment.dueAt(end),
                doubt: PendingDoubt(doubt: .replaced, since: since),
                rule: "replaced; no store has told of its successor yet")
        }
        // A subscription that goes on under the same name: what has replaced it may only not be
        // shown yet, and gives access as soon as it is.
        let goesOn = claim.purchase.app.store.traits.resubscribesForEver
        return Verdict(
            state: goesOn ? .expired : .superseded, givesAccess: false, loss: .productChanged,
            at: at, doubt: goesOn ? nil : PendingDoubt(doubt: .replaced, since: since),
            rule: "replaced by a newer link of its chain")
    }
}
