/// The decision about a verdict: rules 3 to 10.
struct Judgement {
    let claim: Claim
    let observation: Observation
    let moment: Moment
    let rules: Rules
    let known: Facts
    var facts: Facts

    init(
        of claim: Claim, hearing observation: Observation, at moment: Moment, under rules: Rules
    ) {
        self.claim = claim
        self.observation = observation
        self.moment = moment
        self.rules = rules
        known = claim.purchase.facts
        facts = known
    }

    var policy: Policy { rules.policy }
    var catalog: Catalog { rules.catalog }

    func outcome() -> Outcome {
        var judgement = self
        let verdict = judgement.judge()
        return Outcome(
            claim: claim, decision: judgement.decision(by: verdict),
            schedule: judgement.schedule(after: verdict), rule: verdict.rule, rules: rules,
            kept: KeptObservation(observation))
    }

    /// Makes the facts what the answer says, and what that means for access.
    private mutating func judge() -> Verdict {
        learn()
        var verdict = verdict()
        facts.state = verdict.state
        if verdict.givesAccess, isStale { verdict = staleVerdict }
        // Whatever it runs on by: leniency, the end of a refunded period, a successor to come. No
        // store has taken away what the configuration leaves out.
        if isIgnoredSandbox, verdict.givesAccess || [.active, .grace].contains(verdict.state) {
            (verdict.givesAccess, verdict.loss) = (false, .manual)
            (verdict.at, verdict.askAgainAt) = (nil, nil)
            verdict.rule = "sandbox purchases are ignored"
        }
        facts.doubt = verdict.doubt
        if let end = endOfRunningOut {
            facts.expiresAt = end
            if facts.kind == .autoRenewable { facts.paidThrough = end }
        }
        if verdict.givesAccess {
            facts.access = .granted
            facts.lossReason = nil
            facts.holdings = holdings()
        } else {
            facts.loseAccess(verdict.loss)
        }
        // What lasts for ever has no end that the watch after a refund could be counted from.
        if facts.state == .refunded || facts.state == .revoked, facts.expiresAt == nil,
            observation.status.endedAt == nil
        {
            let seenBefore = known.state == facts.state ? known.expiresAt : nil
            facts.expiresAt = seenBefore ?? moment.now
        }
        // A consumable never is an entitlement, and an ignored sandbox purchase gives none.
        if facts.holdings.isEmpty, facts.access == .granted {
            facts.access = .none
            // What gave anything was given back, or its product gives nothing any more.
            if known.access == .granted {
                verdict.loss = lossWhileGoingOn
            }
            facts.lossReason = known.access == .granted ? verdict.loss : known.lossReason
        }
        noteClaim()
        // That the same was stated again, later, is nothing to store; up to when refunds have been
        // told is.
        var restated = facts
        restated.statedAt = known.statedAt
        if restated == known, observation.pastRefunds.isEmpty { facts = known }
        return verdict
    }

    private func decision(by verdict: Verdict) -> Decision {
        let isInForce = facts.access == .granted
        var detail = Detail(
            heard: observation.words.isEmpty ? nil : observation.words,
            previousProduct: known.product != facts.product && known.wasGranted
                ? known.product : nil,
            durationChanged: hasMovedByConfiguration ? true : nil)
        detail.sale = observation.notes
        detail.refund = refundNotes(of: facts.orderID)
        // What is lost of what goes on is lost now, whenever the store has ended the rest.
        let endedAt = verdict.givesAccess ? nil : verdict.at
        let change = Change(
            facts: facts, notices: notices(detail), reasons: reasons(of: verdict),
            effectiveAt: endedAt ?? moment.now, isDated: endedAt != nil, detail: detail,
            predecessorToken: isInForce ? observation.predecessorToken : nil,
            olderLink: olderLink, nextToken: nextToken)
        if let heir { return .handed(to: heir, change) }
        return isShared ? .shared(change) : Decision(change, of: known)
    }

    var nextToken: StoreToken? {
        observation.nextToken == claim.purchase.token ? nil : observation.nextToken
    }

    private func holdings() -> [Holding] {
        guard !observation.items.isEmpty else { return known.holdings.map(extended) }
        if areSoldTogether, !observation.isSubstitute { return holdingsOfParts() }
        // What is held already stays held, whatever a substitute gives.
        var holdings = observation.isSubstitute ? known.holdings.map(extended) : []
        var seen = Set(holdings.map(\.entitlement))
        for item in observation.items where mayGive(item) {
            for entitlement in catalog.entitlements(named: item.names, kind: kind(of: item))
            where seen.insert(entitlement).inserted {
                holdings.append(
                    Holding(
                        entitlement: entitlement, product: item.names.last ?? facts.product,
                        expiresAt: endOfRunningOut ?? item.expiresAt ?? facts.expiresAt))
            }
        }
        holdings.add(partsRunningOut)
        holdings.add(lenientParts)
        return holdings
    }

    /// Of several items that were given back those run out that were held: no refund gives
    /// anything. Where none was, what was held has changed before the refund was seen.
    private func mayGive(_ item: Item) -> Bool {
        guard facts.state == .refunded else { return true }
        let products = Set(known.holdings.map(\.product))
        func isHeld(_ item: Item) -> Bool { item.names.last.map(products.contains) ?? false }
        return isHeld(item) || !observation.items.contains(where: isHeld)
    }

    /// What has run out beside what the answer shows, and gives access for a while, where the
    /// policy says so.
    var lenientParts: [Holding] {
        // What was given back runs to its end already, and may not be told as that any more.
        guard leniency > .zero, policy.refund != .periodEnd, !isSoldOnce else { return [] }
        return known.holdings.compactMap { holding in
            // In grace an end had only been moved on; and it may have been renewed unseen.
            guard !isShown(holding),
                let end = observation.lostParts[holding.product]?.endedAt ?? holding.expiresAt,
                end <= moment.latest, moment.proven < end + leniency
            else { return nil }
            let isLenient =
                switch lossOfPart(holding) {
                case .expired, .cancelled: true
                case nil: holding.product != known.product
                default: false
                }
            guard isLenient else { return nil }
            return Holding(
                entitlement: holding.entitlement, product: holding.product, expiresAt: end)
        }
    }

    /// What was given back beside what the answer shows, by itself or with all the rest, where the
    /// policy lets what was paid run out.
    var partsRunningOut: [Holding] {
        guard policy.refund == .periodEnd, known.access == .granted else { return [] }
        return known.holdings.filter { holding in
            isRunningOut(holding) && holding.expiresAt.map { $0 > moment.proven } ?? false
        }
    }

    private func isRunningOut(_ holding: Holding) -> Bool {
        guard facts.state == .refunded else { return lossOfPart(holding) == .refunded }
        // What the main product has been changed for was given back, and not that.
        let isChanged = holding.product == known.product && facts.product != known.product
        return isSoldOnce || !isShown(holding) && !isChanged
    }

    private func extended(_ holding: Holding) -> Holding {
        guard let end = holding.expiresAt else { return holding }
        // Each part of what is sold together has its own end.
        if isSoldOnce, known.holdings.contains(where: { $0.product != holding.product }) {
            return holding
        }
        return Holding(
            entitlement: holding.entitlement, product: holding.product,
            expiresAt: facts.expiresAt.map { max($0, end) })
    }

    /// Why the user gains, should he gain.
    func gain() -> GrantReason {
        guard known.wasGranted else { return .purchased }
        if known.access == .granted { return isPartGivenBack ? .refundReversed : .productChanged }
        // Left out by the configuration while it ran on, and taken in again.
        if known.lossReason == .manual, known.state == .active || known.state == .grace {
            return .manual
        }
        // Still unpaid: it is the policy that does not end access any more.
        if known.lossReason == .paymentPending, known.state == .grace, facts.state == .grace {
            return .manual
        }
        // Of what was sold together the part that gave anything, while the rest went on.
        if isSoldOnce, known.state == .active, known.lossReason == .refunded {
            return .refundReversed
        }
        // Not what its store has called over since, and was bought anew.
        let isOver = [.expired, .refunded, .revoked].contains(known.state) && !isSamePeriod
        if !isOver, known.lossReason == .unverifiable || known.lossReason == .invalid {
            return .restored
        }
        // Apple's replaced transaction, whose successor is shown at last; a product that gave
        // nothing for a while.
        if known.lossReason == .productChanged,
            [.expired, .active, .grace].contains(known.state)
        {
            return .productChanged
        }
        if facts.kind != .autoRenewable, known.state == .expired, known.orderID == facts.orderID,
            ownEnd != known.expiresAt
        {
            return .manual
        }
        return switch known.state {
        case .hold, .grace: .recovered
        case .paused: .resumed
        case .refunded:
            isSamePeriod || isSoldOnce && known.orderID == facts.orderID
                ? .refundReversed : .resubscribed
        case .new, .pending, .active, .expired, .revoked, .superseded, .invalid: .resubscribed
        }
    }

    /// Whether more is left of what was sold together than was.
    private var isPartGivenBack: Bool {
        areSoldTogether && known.period != nil && known.period != facts.period
    }

    /// Where the store does not name periods, the date tells.
    var isSamePeriod: Bool {
        known.period == facts.period
            && (facts.period != nil || known.paidThrough == facts.paidThrough)
    }
}
