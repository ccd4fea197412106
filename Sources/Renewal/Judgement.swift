/// The decision about a verdict: rules 3 to 10.
struct Judgement {
    private let claim: Claim
    private let observation: Observation
    private let moment: Moment
    private let policy: Policy
    private let catalog: Catalog
    private let known: Facts
    private var facts: Facts

    init(
        of claim: Claim, hearing observation: Observation, at moment: Moment, under rules: Rules
    ) {
        self.claim = claim
        self.observation = observation
        self.moment = moment
        policy = rules.policy
        catalog = rules.catalog
        known = claim.purchase.facts
        facts = known
    }

    func decision() -> Decision {
        var judgement = self
        return judgement.judge()
    }

    private mutating func judge() -> Decision {
        learn()
        let verdict = verdict()
        facts.state = verdict.state
        facts.doubt = verdict.doubt
        if verdict.givesAccess {
            facts.access = .granted
            facts.lapse = nil
            facts.holdings = holdings()
        } else {
            facts.loseAccess(verdict.loss)
        }
        // What lasts for ever has no end that the watch after a refund could be counted from.
        if facts.state == .refunded || facts.state == .revoked, facts.expiresAt == nil,
            observation.standing.endedAt == nil
        {
            let seenBefore = known.state == facts.state ? known.expiresAt : nil
            facts.expiresAt = seenBefore ?? moment.now
        }
        // A consumable never is an entitlement, and an ignored sandbox purchase gives none.
        if facts.holdings.isEmpty, facts.access == .granted { facts.access = .none }
        // That the same was stated again, later, is nothing to store.
        var restated = facts
        restated.statedAt = known.statedAt
        if restated == known { facts = known }
        var detail = Detail(heard: observation.words.isEmpty ? nil : observation.words)
        if known.product != facts.product, known.wasGranted {
            detail.previousProduct = known.product
        }
        var decision = Decision(
            facts: facts, gain: gain(),
            loss: facts.access == .granted ? .productChanged : verdict.loss,
            effectiveAt: verdict.at ?? moment.now, detail: detail, isVerdict: true,
            rule: verdict.rule)
        if hasMovedByConfiguration { decision.detail.durationChanged = true }
        if let next = observation.nextToken, next != claim.purchase.token {
            decision.nextToken = next
        }
        decision.notices = notices(decision)
        if facts.access == .granted { decision.predecessorToken = observation.predecessorToken }
        decision.settledClues = observation.settledClues.union(
            observation.pastRefunds.map(Clue.refund))
        share(&decision)
        // Of a consumable nobody knows here whether the app has given what was bought: the app says
        // so by consuming it, and until then the store's refund protects the user.
        decision.awaitsAcknowledgement =
            facts.access == .granted && observation.awaitsAcknowledgement
        let rhythm = nextCheck(
            of: claim.purchase.app.store, facts, observation, at: moment,
            createdAt: claim.purchase.createdAt)
        // A long wait of ours still is within the sweep.
        let ours = verdict.askAgainAt.map {
            min($0, sweep(of: claim.purchase.app.store, at: moment))
        }
        let limit = observation.askAgainBy.map { $0 + .seconds(5 + 25 * moment.jitter) }
        decision.nextCheckAt = max(
            min(ours ?? rhythm, limit ?? .never), moment.now + .seconds(1))
        if facts.signals.contains(.unacknowledged) {
            decision.problem = Problem(
                .unacknowledged, "not acknowledged a day after the purchase; Google refunds it")
            // It is refunded within days unless somebody acts: soon there is other news.
            decision.nextCheckAt = min(
                decision.nextCheckAt, moment.now + .hours(6) * (0.9 + 0.2 * moment.jitter))
        }
        return decision
    }

    /// What becomes of a purchase that another user has claimed. With `keep` the first one has it.
    private func share(_ decision: inout Decision) {
        guard let claimant = claim.purchase.claimant, facts.state != .superseded else { return }
        switch policy.shared {
        case .keep: break
        case .move: decision.handsTo = claimant
        case .allow: decision.sharesWithClaimants = true
        }
    }

    /// What the answer says beside the standing.
    private mutating func learn() {
        facts.environment = known.environment ?? observation.environment
        if let product = observation.items.first?.names.last { facts.product = product }
        facts.kind = catalog.product(named: names)?.kind ?? observation.kind
        facts.paidThrough = observation.paidThrough ?? known.paidThrough
        facts.expiresAt = observation.expiresAt ?? ownEnd ?? facts.paidThrough
        facts.autoRenew = observation.willRenew ?? known.autoRenew
        facts.orderID = observation.orderID ?? known.orderID
        facts.originalID = observation.originalID ?? known.originalID
        facts.period = observation.period ?? known.period
        facts.phase = observation.phase ?? known.phase
        facts.group = observation.group ?? known.group
        facts.usedIntroductory = usedIntroductory
        facts.statedAt = observation.statedAt ?? known.statedAt
        facts.signals = observation.signals.union(
            known.signals.intersection([.environmentChanged, .pastPeriodRefunded]))
        if facts.environment != observation.environment {
            facts.signals.insert(.environmentChanged)
        }
        if claim.purchase.isClaimedByOthers, policy.shared == .keep {
            facts.signals.insert(.sharedReceipt)
        }
    }

    /// Once used is used for ever: the phase alone is forgotten with the next paid period.
    private var usedIntroductory: Bool? {
        let isInOne = facts.phase == .trial || facts.phase == .introductory
        if isInOne || known.usedIntroductory == true { return true }
        return observation.usedIntroductory ?? known.usedIntroductory
    }

    /// Whether the end is another one though the store has said nothing new: the duration in the
    /// configuration was changed since the last check.
    private var hasMovedByConfiguration: Bool {
        facts.kind != .autoRenewable && known.access == .granted
            && observation.expiresAt == nil && observation.paidThrough == nil
            && facts.expiresAt != known.expiresAt && facts.expiresAt == ownEnd
            && facts.product == known.product && facts.orderID == known.orderID
    }

    private var names: [String] { observation.items.first?.names ?? [known.product] }

    /// The end of a product that its store gives no end for: bought at, plus the configured
    /// duration (design section 4, product kinds).
    private var ownEnd: Timestamp? {
        guard let duration = catalog.product(named: names)?.duration,
            let bought = observation.purchasedAt
        else { return nil }
        return bought + duration
    }

    /// What the standing means.
    private struct Verdict {
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

    private func verdict() -> Verdict {
        // One subscription can never grant twice, whatever the replaced link still looks like.
        if known.state == .superseded {
            return Verdict(
                state: .superseded, givesAccess: false, loss: .productChanged,
                rule: "a newer link of its chain has taken over")
        }
        return switch observation.standing {
        case .pending:
            Verdict(
                state: .pending, givesAccess: false, loss: .paymentPending,
                rule: "not paid yet")
        case .active:
            activeVerdict()
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
    private var graceEnd: Timestamp? {
        let granted = known.state == .grace ? known.expiresAt : nil
        return (granted ?? facts.paidThrough).map { min($0, moment.now) }
    }

    private var isIgnoredSandbox: Bool {
        facts.environment == .sandbox && policy.sandbox == .ignore
    }

    private func activeVerdict() -> Verdict {
        if facts.kind != .autoRenewable, let end = ownEnd, end <= moment.now {
            return Verdict(
                state: .expired, givesAccess: false, loss: .expired, at: end,
                rule: "the configured duration is over")
        }
        return Verdict(
            state: .active, givesAccess: !isIgnoredSandbox,
            rule: isIgnoredSandbox ? "sandbox purchases are ignored" : "in force and paid")
    }

    private func graceVerdict(expiryMovedUnpaid: Bool) -> Verdict {
        let revokes =
            policy.grace == .revoke || (expiryMovedUnpaid && policy.paymentPending == .revoke)
        return Verdict(
            state: .grace, givesAccess: !revokes && !isIgnoredSandbox, loss: .paymentPending,
            rule: revokes
                ? "payment failed; the policy ends access at once"
                : "payment failed, the store lets access go on")
    }

    private func endedVerdict(_ cause: EndCause, at: Timestamp?) -> Verdict {
        let loss: RevokeReason =
            switch cause {
            case .periodEnded: .expired
            case .userCancelled: .cancelled
            case .paymentFailed: .paymentFailed
            case .priceIncreaseDeclined: .priceIncreaseDeclined
            case .productUnavailable: .productUnavailable
            }
        let lenient = loss == .expired || loss == .cancelled
        let end = min(at ?? facts.expiresAt ?? moment.now, moment.now)
        if lenient, known.access == .granted, moment.now < end + policy.leniency {
            return Verdict(
                state: .expired, givesAccess: true, at: end, askAgainAt: end + policy.leniency,
                rule: "over; the policy's leniency still runs")
        }
        return Verdict(
            state: .expired, givesAccess: false, loss: loss, at: end,
            rule: "the store says that it is over")
    }

    private func refundedVerdict(at: Timestamp?) -> Verdict {
        if policy.refund == .periodEnd, known.access == .granted,
            let end = facts.paidThrough, moment.now < end
        {
            return Verdict(
                state: .refunded, givesAccess: true, at: at, askAgainAt: end,
                rule: "refunded; the policy lets the paid period run out")
        }
        return Verdict(
            state: .refunded, givesAccess: false, loss: .refunded, at: at, rule: "refunded")
    }

    /// Rule 8: the replaced link never revokes its successor. It keeps access until the successor
    /// has been submitted, for `successor_wait` at most.
    private func replacedVerdict(at: Timestamp?) -> Verdict {
        let told = known.doubt?.doubt == .replaced ? known.doubt?.since : nil
        let since = at ?? told ?? moment.now
        let end = since + policy.successorWait
        if known.access == .granted, moment.now < end {
            return Verdict(
                state: known.state, givesAccess: true, at: at, askAgainAt: end,
                doubt: PendingDoubt(doubt: .replaced, since: since),
                rule: "replaced; its successor has not been submitted yet")
        }
        return Verdict(
            state: .superseded, givesAccess: false, loss: .productChanged, at: at,
            rule: "replaced by a newer link of its chain")
    }

    private func holdings() -> [Holding] {
        guard !observation.items.isEmpty else { return known.holdings }
        var seen: Set<String> = []
        var holdings: [Holding] = []
        for item in observation.items {
            let kind = catalog.product(named: item.names)?.kind ?? observation.kind
            for entitlement in catalog.entitlements(named: item.names, kind: kind)
            where seen.insert(entitlement).inserted {
                holdings.append(
                    Holding(
                        entitlement: entitlement, product: item.names.last ?? facts.product,
                        expiresAt: item.expiresAt ?? facts.expiresAt))
            }
        }
        return holdings
    }

    /// Why the user gains, should he gain.
    private func gain() -> GrantReason {
        guard known.wasGranted else { return .purchased }
        if known.access == .granted { return .productChanged }
        if known.lapse == .unverifiable || known.lapse == .invalid { return .restored }
        if facts.kind != .autoRenewable, known.state == .expired, known.orderID == facts.orderID,
            ownEnd != known.expiresAt
        {
            return .manual
        }
        return switch known.state {
        case .hold, .grace: .recovered
        case .paused: .resumed
        case .refunded: isSamePeriod ? .refundReversed : .resubscribed
        case .new, .pending, .active, .expired, .revoked, .superseded, .invalid: .resubscribed
        }
    }

    /// Where the store does not name periods, the date tells.
    private var isSamePeriod: Bool {
        known.period == facts.period
            && (facts.period != nil || known.paidThrough == facts.paidThrough)
    }

    private var isReplaced: Bool {
        if case .replaced = observation.standing { true } else { false }
    }

    private func notices(_ decision: Decision) -> [Decision.Notice] {
        var reasons = facts.signals.subtracting(known.signals).map(\.notice)
            .sorted { $0.rawValue < $1.rawValue }
        // Each is told by itself.
        if !observation.pastRefunds.isEmpty { reasons.removeAll { $0 == .refundOfPastPeriod } }
        let wasInForce = known.access == .granted
        let isInForce = facts.access == .granted
        if isInForce, facts.state == .grace, known.state != .grace {
            reasons.append(.paymentPending)
        }
        if wasInForce, isInForce, facts.state == .active {
            if known.state == .grace { reasons.append(.paymentRecovered) }
            if known.state != .grace { reasons += periodNotices() }
        }
        // What is replaced does not renew, but nobody has turned that off.
        if wasInForce, isInForce, facts.state == .active || facts.state == .grace, !isReplaced {
            if known.autoRenew == true, facts.autoRenew == false { reasons.append(.autoRenewOff) }
            if known.autoRenew == false, facts.autoRenew == true { reasons.append(.autoRenewOn) }
        }
        if facts.state == .refunded, known.state != .refunded, !wasInForce {
            if facts.kind == .consumable {
                reasons.append(.refunded)
            } else if known.wasGranted, !reasons.contains(.refundOfPastPeriod) {
                reasons.append(.refundOfPastPeriod)
            }
        }
        if wasInForce, isInForce, hasMovedByConfiguration { reasons.append(.extended) }
        if decision.nextToken != nil, observation.isMigrated { reasons.append(.migrated) }
        let refunds = observation.pastRefunds.sorted().map { order in
            var own = decision.detail
            own.refundedOrder = order
            return Decision.Notice(.refundOfPastPeriod, detail: own)
        }
        return refunds
            + reasons.map { reason in
                var own = decision.detail
                if reason == .paymentPending, case .grace(let moved) = observation.standing {
                    own.falseRenewal = moved
                }
                return Decision.Notice(reason, detail: own)
            }
    }

    /// Renewed, or only extended: a renewal is another paid period, not a later date (rule 4).
    private func periodNotices() -> [NoticeReason] {
        guard let paid = facts.paidThrough, let before = known.paidThrough, paid > before else {
            return []
        }
        if let period = facts.period, period == known.period { return [.extended] }
        // An upgrade in the middle of a period is a product change, not a renewal.
        if facts.product != known.product, !known.signals.contains(.productChangeScheduled) {
            return []
        }
        let converted = known.phase == .trial && facts.phase != .trial
        return converted ? [.renewed, .trialConverted] : [.renewed]
    }
}
