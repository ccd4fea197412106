package import Renewal

/// One check of a purchase, from the claim to what is to be committed: ask, then decide. Everybody
/// who checks does it by this: a queue, whoever clears what a crash has left, and `check USER`.
package struct Pass: Sendable {
    private let stores: any EngineStores
    private let rules: Rules

    package init(_ stores: any EngineStores, under rules: Rules) {
        self.stores = stores
        self.rules = rules
    }

    /// Asks the store of the claim's app. `began` is when the check began: what was awaited before
    /// the call counts. The permit is for the calls beyond the first.
    package func ask(
        _ claim: Claim, _ permit: CallPermit, since began: ContinuousClock.Instant = .now
    ) async -> AnsweredCheck {
        AnsweredCheck(of: claim, await stores.ask(claim, permit), since: began)
    }

    /// Decides what the answer means. With `keepsEvidence` evidence is kept also of a check that
    /// changed nothing.
    /// With `isReleasing` a revocation that the breaker holds is let go where the answer confirms
    /// it.
    package func decide(
        _ check: AnsweredCheck, keepsEvidence: Bool = false, isReleasing: Bool = false
    ) -> Outcome {
        var outcome = Renewal.decide(
            check.claim, hearing: check.call.answer, at: check.moment, under: rules,
            isReleasing: isReleasing)
        if keepsEvidence || outcome.matters {
            var evidence = stores.evidence(of: check.call)
            evidence?.record = DecisionRecord(
                of: outcome, hearing: check.call.answer, at: check.moment, isReleasing: isReleasing)
            outcome.evidence = evidence
        }
        return outcome
    }
}

/// What a store has answered about a claim, and when.
package struct AnsweredCheck: Sendable {
    package let claim: Claim
    package let call: AnsweredCall
    package let moment: Moment

    package init(of claim: Claim, _ answered: AnsweredCall, since began: ContinuousClock.Instant) {
        self.claim = claim
        call = answered
        moment = claim.moment(
            of: answered, after: ContinuousClock.now - began, jitter: .random(in: 0..<1))
    }

    /// Whether there is something to decide: the app may have been taken out of the configuration
    /// meanwhile, or be paused. Such a purchase stays due, so that it is asked about as soon as the
    /// app is back.
    package var isToBeDecided: Bool {
        call.answer != .failure(.notConfigured) && call.answer != .failure(.paused)
    }
}
