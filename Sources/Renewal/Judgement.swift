/// The decision about a verdict: rules 3 to 10.
struct Judgement {
    let claim: Claim
    let observation: Observation
    let moment: Moment
    let policy: Policy
    let catalog: Catalog
    let known: Facts
    var facts: Facts

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

    mutating func judge() -> Decision {
        learn()
        var verdict = verdict()
        facts.state = verdict.state
        if verdict.givesAccess, isStale { verdict = staleVerdict }
        facts.doubt = verdict.doubt
        if verdict.givesAccess {
            facts.access = .granted
            facts.lossReason = nil
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
        noteClaim()
        // That the same was stated again, later, is nothing to store; up to when refunds have been
        // told is.
        var restated = facts
        restated.statedAt = known.statedAt
        if restated == known, observation.pastRefunds.isEmpty { facts = known }
        var detail = Detail(heard: observation.words.isEmpty ? nil : observation.words)
        if known.product != facts.product, known.wasGranted {
            detail.previousProduct = known.product
        }
        var decision = Decision(
            facts: facts, gain: gain(),
            loss: facts.access == .granted
                ? observation.lossOfPart ?? .productChanged : verdict.loss,
            effectiveAt: verdict.at ?? moment.now, detail: detail, isVerdict: true,
            rule: verdict.rule)
        if leavesOpen { decision.inVain = claim.inVain(at: moment.now) }
        if hasMovedByConfiguration { decision.detail.durationChanged = true }
        if let next = observation.nextToken, next != claim.purchase.token {
            decision.nextToken = next
        }
        decision.notices = notices(decision)
        decision.olderLink = olderLink
        if facts.access == .granted { decision.predecessorToken = observation.predecessorToken }
        decision.settledClues = observation.settledClues.union(
            observation.pastRefunds.map(Clue.refund))
        if decision.loss == .productChanged { decision.losses = losses() }
        share(&decision)
        // Of a consumable nobody knows here whether the app has given what was bought: the app says
        // so by consuming it, and until then the store's refund protects the user.
        decision.awaitsAcknowledgement =
            facts.access == .granted && observation.awaitsAcknowledgement
        let rhythm = moment.dueAt(
            nextCheck(
                of: claim.purchase.app.store, facts, observation, at: moment.atTheStore,
                createdAt: claim.purchase.createdAt))
        // A long wait of ours still is within the sweep.
        let ours = verdict.askAgainAt.map {
            min($0, sweep(of: claim.purchase.app.store, at: moment))
        }
        let limit = observation.askAgainBy.map {
            moment.dueAt($0) + .seconds(5 + 25 * moment.jitter)
        }
        decision.nextCheckAt = max(
            min(ours ?? rhythm, limit ?? .never), moment.now + .seconds(1))
        lookForRefunds(&decision)
        if facts.kind == .nonRenewing, facts.access == .granted,
            catalog.product(named: names)?.duration == nil
        {
            decision.problem = Problem(.unsupported, "no duration is configured")
        }
        if facts.signals.contains(.unacknowledged) {
            decision.problem = Problem(
                .unacknowledged, "not acknowledged a day after the purchase; Google refunds it")
            // It is refunded within days unless somebody acts: soon there is other news.
            decision.nextCheckAt = min(
                decision.nextCheckAt, moment.now + .hours(6) * (0.9 + 0.2 * moment.jitter))
        }
        return decision
    }

    func holdings() -> [Holding] {
        guard !observation.items.isEmpty else { return known.holdings }
        // What is held already stays held, whatever a substitute gives.
        var holdings = observation.isSubstitute ? known.holdings.map(extended) : []
        var seen = Set(holdings.map(\.entitlement))
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

    func extended(_ holding: Holding) -> Holding {
        guard let end = holding.expiresAt else { return holding }
        return Holding(
            entitlement: holding.entitlement, product: holding.product,
            expiresAt: facts.expiresAt.map { max($0, end) })
    }

    /// Why an entitlement is lost by itself, where the purchase goes on and the answer gives no
    /// reason: what was beside the main product and has run out has expired.
    func losses() -> [Decision.Loss] {
        guard facts.access == .granted else { return [] }
        let kept = Set(facts.holdings.map(\.entitlement))
        return known.holdings.compactMap { holding in
            guard !kept.contains(holding.entitlement) else { return nil }
            // The main product was changed, or an add-on is gone before its time.
            guard holding.product != known.product, let end = holding.expiresAt,
                end <= moment.now
            else { return nil }
            return Decision.Loss(of: holding.entitlement, because: .expired)
        }
    }

    /// Why the user gains, should he gain.
    func gain() -> GrantReason {
        guard known.wasGranted else { return .purchased }
        if known.access == .granted { return .productChanged }
        if known.lossReason == .unverifiable || known.lossReason == .invalid { return .restored }
        // Apple's replaced transaction, whose successor is shown at last.
        if known.state == .expired, known.lossReason == .productChanged { return .productChanged }
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
    var isSamePeriod: Bool {
        known.period == facts.period
            && (facts.period != nil || known.paidThrough == facts.paidThrough)
    }
}
