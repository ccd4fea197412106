/// What an answer means for access: what to store, what to tell, when to ask again.
package struct Decision: Hashable, Sendable {
    /// The facts as they shall be; equal to the known ones when nothing changes but the schedule.
    package var facts: Facts
    /// Told whatever the user's other purchases give.
    package var notices: [Notice] = []
    /// The reason, should the user gain an entitlement by this.
    package var gain = GrantReason.purchased
    /// The reason, should the user lose one.
    package var loss = RevokeReason.expired
    /// Other reasons, of entitlements that are lost by themselves.
    package var losses: [Loss] = []
    /// When the change took effect.
    package var effectiveAt: Timestamp
    package var detail = Detail()
    /// The purchase that this one has taken over from.
    package var predecessorToken: StoreToken?
    /// The older link of the chain that a paid purchase continues: handed in later, it gives
    /// nothing.
    package var olderLink: StoreToken?
    /// What the store shall be asked with from now on; nil when that stays as it is. A secret.
    package var nextToken: StoreToken?
    /// The user who gets the purchase with this decision: it moves with all that belongs to it.
    package var handsTo: UserID?
    /// Every user who has claimed the purchase gets one of his own, to be asked about by itself.
    package var sharesWithClaimants = false
    /// Whether it is worked out anew what the user may be offered.
    package var keepsOffers = true
    /// The store still waits for somebody to acknowledge the purchase.
    package var awaitsAcknowledgement = false
    /// Clues that need no further look: remembered, so that the same is no news any more.
    package var settledClues: Set<Clue> = []
    package var nextCheckAt = Timestamp.never
    package var problem: Problem?
    /// Checks without a verdict in a row, this one included.
    package var attempts = 0
    /// The newest time at which the store stated anything of the purchase, also where that changed
    /// nothing.
    package var statedAt: Timestamp?
    /// Since when the store has been asked in vain; nil where it has just told the state.
    package var inVain: Vain?
    /// Whether the store told the state.
    package var isVerdict = false
    /// The rule that was applied, as a sentence for people.
    package var rule: String

    /// Why one entitlement is lost.
    package struct Loss: Hashable, Sendable {
        package let entitlement: EntitlementID
        package let reason: RevokeReason

        package init(of entitlement: EntitlementID, because reason: RevokeReason) {
            self.entitlement = entitlement
            self.reason = reason
        }
    }

    package struct Notice: Hashable, Sendable {
        package let reason: NoticeReason
        package let detail: Detail

        package init(_ reason: NoticeReason, detail: Detail) {
            self.reason = reason
            self.detail = detail
        }
    }
}

/// Everything a decision depends on beside the purchase and the answer.
package struct Rules: Hashable, Sendable {
    package var policy: Policy
    package var catalog: Catalog

    package init(policy: Policy = Policy(), catalog: Catalog = Catalog()) {
        self.policy = policy
        self.catalog = catalog
    }
}

/// The rules of judgement (design section 4): a pure function of what was known, what was heard,
/// the time and the policy.
package func decide(
    _ claim: Claim, hearing answer: Answer, at moment: Moment, under rules: Rules
) -> Decision {
    var decision = judged(claim, hearing: answer, at: moment, under: rules)
    if !decision.isVerdict {
        decision.statedAt = claim.statedAt
        decision.inVain = claim.inVain(at: moment.now)
    }
    decision.keepsOffers = rules.policy.keepsOffers
    // What is graver is told first; the verdict stands.
    decision.problem = decision.problem ?? moment.problem
    return decision
}

private func judged(
    _ claim: Claim, hearing answer: Answer, at moment: Moment, under rules: Rules
) -> Decision {
    let facts = claim.purchase.facts
    switch answer {
    case .failure(.rejected(let reason)) where facts.isUnconfirmed:
        return doubted(
            .rejected, problem: StoreFailure.rejected(reason: reason).problem, of: claim,
            at: moment, under: rules)
    case .failure(.mismatch(what: StoreFailure.environment)) where facts.environment != nil:
        return foreignEnvironment(claim, at: moment, under: rules)
    case .failure(let failure):
        return withoutVerdict(claim, problem: failure.problem, failure, at: moment, under: rules)
    case .doubt(let doubt):
        return doubted(doubt, problem: doubt.problem, of: claim, at: moment, under: rules)
    case .contested(let contested):
        return heard(contested.observation, of: claim, at: moment, under: rules) {
            let doubt = Doubt.unproven
            guard confirms(doubt, of: claim, at: moment, under: rules) else {
                return doubted(doubt, problem: doubt.problem, of: claim, at: moment, under: rules)
            }
            return $0.decision()
        }
    case .verdict(let observation):
        return heard(observation, of: claim, at: moment, under: rules) { $0.decision() }
    }
}

/// What an observation comes to, unless it is older than what is known or of another environment.
private func heard(
    _ observation: Observation, of claim: Claim, at moment: Moment, under rules: Rules,
    _ decision: (Judgement) -> Decision
) -> Decision {
    let facts = claim.purchase.facts
    let age = Age(claim: claim, observation: observation, moment: moment)
    if age.isFromTheFuture {
        let failure = StoreFailure.malformed(field: "a time of statement in the future")
        return withoutVerdict(
            claim, problem: failure.problem, failure, at: moment, under: rules)
    }
    if rules.catalog.contradicts(facts, observation) {
        let failure = StoreFailure.mismatch(what: "type of product")
        return withoutVerdict(
            claim, problem: failure.problem, failure, at: moment, under: rules)
    }
    if age.isOlderThanKnown { return dropped(claim, at: moment, under: rules) }
    let isForeign = facts.environment.map { $0 != observation.environment } ?? false
    // Good news of production for what was learned as a tester's is of somebody who pays.
    if isForeign, facts.environment == .production || !observation.givesAccess {
        return foreignEnvironment(claim, at: moment, under: rules)
    }
    var decision = decision(
        Judgement(of: claim, hearing: observation, at: moment, under: rules))
    if decision.isVerdict { decision.statedAt = age.newest }
    return decision
}

/// Rule 11: an answer older than the one already used changes nothing; ask again soon.
private func dropped(_ claim: Claim, at moment: Moment, under rules: Rules) -> Decision {
    var decision = Decision(
        facts: claim.purchase.facts, effectiveAt: moment.now,
        nextCheckAt: moment.now + retryDelay(attempts: claim.attempts + 1, jitter: moment.jitter),
        attempts: claim.attempts + 1, rule: "the answer is older than the one already used")
    decision.endIfStale(claim, at: moment, under: rules)
    return decision
}

/// Rule 9: a sandbox answer for a production purchase is a notice, never a verdict; and so is bad
/// news of production for a purchase of the sandbox.
private func foreignEnvironment(
    _ claim: Claim, at moment: Moment, under rules: Rules
) -> Decision {
    let failure = StoreFailure.mismatch(what: StoreFailure.environment)
    var decision = withoutVerdict(
        claim, problem: failure.problem, failure, at: moment, under: rules)
    if decision.facts.signals.insert(.environmentChanged).inserted {
        decision.notices.append(.init(.environmentChanged, detail: Detail()))
    }
    return decision
}

/// Rule 1: no verdict, no change. Only at the limit of staleness, with the paid time over, does
/// access end (rule 3).
private func withoutVerdict(
    _ claim: Claim, problem: Problem, _ failure: StoreFailure, at moment: Moment,
    under rules: Rules
) -> Decision {
    let attempts = claim.attempts + 1
    var decision = Decision(
        facts: claim.purchase.facts, effectiveAt: moment.now,
        nextCheckAt: moment.now + failure.delay(attempts: attempts, jitter: moment.jitter),
        problem: problem, attempts: attempts, rule: "no verdict, no change")
    decision.endIfStale(claim, at: moment, under: rules)
    return decision
}

/// Whether a doubt is the second opinion, late enough, of one that waits.
private func confirms(
    _ doubt: Doubt, of claim: Claim, at moment: Moment, under rules: Rules
) -> Bool {
    guard let first = claim.purchase.facts.doubt, first.doubt.agrees(with: doubt) else {
        return false
    }
    return moment.now - first.since >= rules.policy.confirmAfter(of: claim.purchase.facts)
}

extension Decision {
    /// Rule 3: at the limit of staleness, with the paid time over, access ends.
    fileprivate mutating func endIfStale(
        _ claim: Claim, at moment: Moment, under rules: Rules
    ) {
        guard facts.access == .granted, let end = facts.expiresAt ?? facts.paidThrough,
            end < moment.now, claim.isStale(at: moment.now, under: rules.policy)
        else { return }
        facts.loseAccess(.unverifiable)
        loss = .unverifiable
        effectiveAt = end
        rule = "no verdict for longer than max_staleness, and the paid time is over"
    }
}

/// Rule 2: ambiguous bad news is asked twice, `confirm_after` apart.
private func doubted(
    _ doubt: Doubt, problem: Problem, of claim: Claim, at moment: Moment, under rules: Rules
) -> Decision {
    var facts = claim.purchase.facts
    let known = facts.state
    var decision = Decision(
        facts: facts, effectiveAt: moment.now, problem: problem, attempts: claim.attempts + 1,
        rule: "bad news that one answer does not prove: asked again")
    // Submitted once more, what was invalid is watched from the beginning.
    let isWoken = known == .invalid && claim.attempts == 0
    let first = facts.doubt.flatMap { $0.doubt.agrees(with: doubt) && !isWoken ? $0 : nil }
    let apart = rules.policy.confirmAfter(of: facts)
    guard let first, moment.now - first.since >= apart else {
        let since = first?.since ?? moment.now
        facts.doubt = PendingDoubt(doubt: doubt, since: since)
        decision.facts = facts
        if facts.access == .granted {
            decision.problem = Problem(
                .secondOpinion, "bad news waits for its confirmation (\(doubt.rawValue))")
        }
        decision.nextCheckAt =
            firstHour(of: claim, at: moment)
            ?? max(moment.now, since + apart) + .seconds(1 + 9 * moment.jitter)
        return decision
    }
    facts.believe(
        doubt, ofTokenWithLife: claim.purchase.app.store.traits.tokenLife, at: moment.now,
        decision: &decision)
    if claim.purchase.facts.isUnconfirmed, known != .invalid, doubt != .unproven {
        decision.notices.append(.init(.rejected, detail: Detail()))
    }
    decision.facts = facts
    decision.rule = "bad news, confirmed by a second answer"
    decision.nextCheckAt = nextCheckOfUnknown(
        facts, since: first.since, about: doubt, of: claim, at: moment)
    return decision
}

extension Facts {
    /// What confirmed bad news makes of a purchase. What has ended by a clear word stays as it is:
    /// stores forget what is over.
    fileprivate mutating func believe(
        _ doubt: Doubt, ofTokenWithLife life: Duration?, at now: Timestamp,
        decision: inout Decision
    ) {
        let end = expiresAt ?? paidThrough
        let lifeEnded = end.flatMap { end in life.map { end + $0 < now } } ?? false
        switch (state, doubt) {
        case (.superseded, _):
            decision.loss = .productChanged
        case (.refunded, _):
            decision.loss = .refunded
        case (.revoked, _):
            decision.loss = .familyRemoved
        case (.expired, _):
            decision.loss = autoRenew == false ? .cancelled : .expired
        case (_, .gone) where lifeEnded:
            decision.loss = .expired
            state = .expired
        // What has stood in for it has ended too, after the time that was paid.
        case (_, .unproven) where wasGranted && end.map { $0 <= now } ?? false:
            decision.loss = autoRenew == false ? .cancelled : .expired
            state = .expired
        case (_, .noLongerValid) where wasGranted:
            decision.loss = .cancelled
            state = .expired
        case (_, .gone), (_, .noLongerValid), (_, .notFound), (_, .unproven), (_, .rejected),
            (_, .replaced), (_, .voided):
            decision.loss = .invalid
            state = .invalid
        }
        loseAccess(decision.loss)
    }
}

extension Facts {
    /// Ends access. The reason is kept only where access was given.
    package mutating func loseAccess(_ reason: RevokeReason) {
        if access != .none { lossReason = reason }
        access = .none
        holdings = []
    }
}
