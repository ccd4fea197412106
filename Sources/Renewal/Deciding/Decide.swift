/// The rules of judgement (design section 4): a pure function of what was known, what was heard,
/// the time and the policy.
///
/// With `isReleasing` a revocation that the breaker holds is let go where this answer confirms it.
package func decide(
    _ claim: Claim, hearing answer: Answer, at moment: Moment, under rules: Rules,
    isReleasing: Bool = false
) -> Outcome {
    let deciding = Deciding(
        claim: claim.judged, moment: moment, rules: rules,
        isHeld: claim.purchase.facts.heldSince != nil)
    var outcome = deciding.outcome(of: answer)
    if let since = claim.purchase.facts.heldSince {
        let isSecond =
            rules.policy.breaker.release == .confirmed
            && moment.now - since >= BreakerPolicy.secondAnswerAfter
        outcome = outcome.goingOn(
            with: claim, lettingGo: answer.isAboutThePurchase && isSecond,
            byHand: answer.isAboutThePurchase && isReleasing, at: moment.now)
    }
    outcome.endBaseline()
    // What is graver is told first; the verdict stands.
    outcome.schedule.problem = outcome.schedule.problem ?? moment.problem(of: outcome)
    outcome.schedule.bound(rules.longestWait, at: moment)
    return outcome
}

/// The decision about an answer. What a verdict comes to is a `Judgement`.
private struct Deciding {
    let claim: Claim
    let moment: Moment
    let rules: Rules
    /// A revocation that was decided before waits.
    let isHeld: Bool

    private var known: Facts { claim.purchase.facts }

    func outcome(of answer: Answer) -> Outcome {
        switch answer {
        case .failure(let failure): withoutVerdict(failure)
        case .doubt(let doubt): doubted(doubt, problem: doubt.problem)
        case .contested(let contested): heard(contested.observation, isContested: true)
        case .verdict(let observation): heard(observation, isContested: false)
        }
    }

    private func withoutVerdict(_ failure: StoreFailure) -> Outcome {
        switch failure {
        case .rejected where known.isUnconfirmed:
            doubted(.rejected, problem: failure.problem)
        case .mismatch(what: StoreFailure.environment) where known.environment != nil:
            foreignEnvironment()
        case .unreachable, .throttled, .refused, .malformed, .signature, .mismatch, .rejected,
            .unsupported:
            unanswered(failure)
        }
    }

    /// What an observation comes to, unless it is older than what is known or of another
    /// environment.
    private func heard(_ observation: Observation, isContested: Bool) -> Outcome {
        let age = Age(claim: claim, observation: observation, moment: moment)
        if age.isFromTheFuture {
            return unanswered(.malformed(field: "a time of statement in the future"))
        }
        if rules.catalog.contradicts(known, observation) {
            return unanswered(.mismatch(what: "type of product"))
        }
        if age.isOlderThanKnown { return dropped() }
        let isForeign = known.environment.map { $0 != observation.environment } ?? false
        // Good news of production for what was learned as a tester's is of somebody who pays.
        if isForeign, known.environment == .production || !observation.givesAccess {
            return foreignEnvironment()
        }
        let isOld = age.isOverBeforeItWasSeen && !isHeld
        // A copy may be behind for hours.
        let apart = max(rules.policy.confirmAfter(of: known), isOld ? .days(1) : .zero)
        if isContested || isOld, !isSecondOpinion(.unproven, apart) {
            return doubted(.unproven, apart, problem: Doubt.unproven.problem)
        }
        return Judgement(of: claim, hearing: observation, at: moment, under: rules).outcome()
    }

    /// So many times an older answer is no more than a copy that lags behind: for some two days.
    private static let copyLimit = 100

    /// Rule 11: an answer older than the one already used changes nothing; ask again soon.
    private func dropped() -> Outcome {
        let soon = retryDelay(attempts: claim.attempts + 1, jitter: moment.jitter)
        // A copy that lags behind is so for hours, not for weeks.
        let isLate = claim.attempts >= Self.copyLimit
        return unjudged(
            unchanged, after: isLate ? .days(1) * (0.9 + 0.2 * moment.jitter) : soon,
            rule: "the answer is older than the one already used")
    }

    /// Rule 9: a sandbox answer for a production purchase is a notice, never a verdict; and so is
    /// bad news of production for a purchase of the sandbox.
    private func foreignEnvironment() -> Outcome {
        var change = unchanged
        if change.facts.signals.insert(.environmentChanged).inserted {
            change.notices = [.init(.environmentChanged)]
        }
        return unanswered(.mismatch(what: StoreFailure.environment), noting: change)
    }

    /// Rule 1: no verdict, no change.
    private func unanswered(_ failure: StoreFailure, noting change: Change? = nil) -> Outcome {
        unjudged(
            change ?? unchanged,
            after: failure.delay(attempts: claim.attempts + 1, jitter: moment.jitter),
            problem: failure.problem, rule: "no verdict, no change")
    }

    /// Only at the limit of staleness, with the paid time over, does access end (rule 3).
    private func unjudged(
        _ change: Change, after delay: Duration, problem: Problem? = nil, rule: String
    ) -> Outcome {
        let next = moment.now + delay
        guard known.access == .granted, let end = claim.latestEnd(by: known),
            end < moment.now, claim.isStale(at: moment.now, under: rules.policy)
        else { return outcome(change, next: next, problem: problem, rule: rule) }
        var change = change
        change.facts.loseAccess(.unverifiable)
        change.reasons.loss = .unverifiable
        change.effectiveAt = end
        change.isDated = true
        return outcome(
            change, next: next, problem: problem,
            rule: "no verdict for longer than max_staleness, and the paid time is over")
    }

    private var unchanged: Change { Change(facts: known, effectiveAt: moment.now) }

    private func outcome(
        _ change: Change, next: Timestamp, problem: Problem?, rule: String
    ) -> Outcome {
        Outcome(
            claim: claim, decision: Decision(change, of: known),
            schedule: Schedule(unanswered: claim, at: moment.now, next: next, problem: problem),
            rule: rule, rules: rules)
    }
}

// Rule 2: ambiguous bad news is asked twice, `confirm_after` apart.
extension Deciding {
    private func doubted(
        _ doubt: Doubt, _ apart: Duration? = nil, problem: Problem
    ) -> Outcome {
        var change = unchanged
        // Submitted once more, what was invalid is watched from the beginning.
        let isWoken = known.state == .invalid && claim.attempts == 0
        let first = isWoken ? nil : firstOpinion(doubt)
        let apart = apart ?? rules.policy.confirmAfter(of: known)
        guard let first, moment.now - first.since >= apart else {
            let since = first?.since ?? moment.now
            change.facts.doubt = PendingDoubt(doubt: doubt, since: since)
            let waits = Problem(
                .secondOpinion, "bad news waits for its confirmation (\(doubt.rawValue))")
            var asked = outcome(
                change,
                next: firstHour(of: claim, at: moment)
                    ?? max(moment.now, since + apart) + .seconds(1 + 9 * moment.jitter),
                problem: known.access == .granted
                    ? waits : known.isForgotten(by: doubt) ? nil : problem,
                rule: "bad news that one answer does not prove: asked again")
            asked.isBelieved = known.isForgotten(by: doubt)
            return asked
        }
        change.reasons.loss = change.facts.believe(
            doubt, ofTokenWithLife: claim.purchase.app.store.traits.tokenLife, at: moment.now)
        if known.isUnconfirmed, known.state != .invalid, doubt != .unproven {
            change.notices = [.init(.rejected)]
        }
        var confirmed = outcome(
            change,
            next: nextCheckOfUnknown(
                change.facts, since: first.since, about: doubt, of: claim, at: moment),
            problem: change.facts.isForgotten(by: doubt) ? nil : problem,
            rule: "bad news, confirmed by a second answer")
        confirmed.isBelieved = true
        return confirmed
    }

    /// Nil as well for one of the future, from before the clock was set back: it would wait for as
    /// long as that.
    private func firstOpinion(_ doubt: Doubt) -> PendingDoubt? {
        guard let first = known.doubt, first.since <= moment.now + .minutes(1) else { return nil }
        return doubt.confirms(first.doubt) ? first : nil
    }

    /// Whether a doubt is the second opinion, late enough, of one that waits.
    private func isSecondOpinion(_ doubt: Doubt, _ apart: Duration) -> Bool {
        guard let first = firstOpinion(doubt) else { return false }
        return moment.now - first.since >= apart
    }
}

extension Facts {
    /// Whether a store that no longer tells of it says no more than is known: it is over.
    fileprivate func isForgotten(by doubt: Doubt) -> Bool {
        guard access == .none else { return false }
        return switch (state, doubt) {
        case (.expired, .gone), (.refunded, .gone), (.revoked, .gone), (.superseded, .gone),
            (.expired, .noLongerValid), (.refunded, .noLongerValid), (.revoked, .noLongerValid):
            true
        default: false
        }
    }

    /// What confirmed bad news makes of a purchase. What has ended by a clear word stays as it is:
    /// stores forget what is over.
    ///
    /// - Returns: why access is lost, if it was given.
    fileprivate mutating func believe(
        _ doubt: Doubt, ofTokenWithLife life: Duration?, at now: Timestamp
    ) -> RevokeReason {
        let end = expiresAt ?? paidThrough
        let isOver = end.map { $0 <= now } ?? false
        let lifeEnded = end.flatMap { end in life.map { end + $0 < now } } ?? false
        let ranOut: RevokeReason = autoRenew == false ? .cancelled : .expired
        let (believed, reason): (PurchaseState, RevokeReason) =
            switch (state, doubt) {
            case (.superseded, _): (state, .productChanged)
            case (.refunded, _): (state, .refunded)
            case (.revoked, _): (state, .familyRemoved)
            case (.expired, _): (state, ranOut)
            case (_, .gone) where lifeEnded: (.expired, .expired)
            // What has stood in for it has ended too, after the time that was paid.
            case (_, .unproven) where wasGranted && isOver: (.expired, ranOut)
            case (_, .noLongerValid) where wasGranted: (.expired, .cancelled)
            case (_, .gone), (_, .noLongerValid), (_, .notFound), (_, .unproven), (_, .rejected),
                (_, .replaced), (_, .voided):
                (.invalid, .invalid)
            }
        state = believed
        loseAccess(reason)
        return reason
    }

    /// Ends access. The reason is kept only where access was given.
    mutating func loseAccess(_ reason: RevokeReason) {
        if access != .none { lossReason = reason }
        access = .none
        heldSince = nil
        holdings = []
    }
}
