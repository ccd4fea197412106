/// How long a store has been asked in vain about a purchase: what the limit of staleness counts
/// (design rule 3).
package struct Vain: Hashable, Sendable {
    /// When it began. It moves on by the time in which we did not ask.
    package let since: Timestamp
    package let lastAskedAt: Timestamp

    package init(since: Timestamp, lastAskedAt: Timestamp) {
        self.since = since
        self.lastAskedAt = lastAskedAt
    }

    /// The longest that we wait between two questions: a day, with its spread. What lies beyond it
    /// is time in which we were down, were paused or had no quota.
    package static let longestWait = Duration.hours(27)

    func askedAgain(at now: Timestamp) -> Vain {
        let gap = now - lastAskedAt
        // Asked in the future, before the clock was set back: what has been counted counts on.
        if gap < .zero - .days(1) {
            return Vain(since: now - max(.zero, lastAskedAt - since), lastAskedAt: now)
        }
        guard gap > .zero else { return Vain(since: min(since, now), lastAskedAt: now) }
        return Vain(since: since + max(.zero, gap - Self.longestWait), lastAskedAt: now)
    }
}

extension Claim {
    /// As it is when the store is asked in vain this time too.
    func inVain(at now: Timestamp) -> Vain {
        inVain?.askedAgain(at: now) ?? Vain(since: now, lastAskedAt: now)
    }

    /// Whether it was asked about in vain for longer than may be.
    func isStale(at now: Timestamp, under policy: Policy) -> Bool {
        now - inVain(at: now).since > policy.maxStaleness
    }

    /// When it is over at the latest. No store sells a period of more than a year: that is the
    /// limit of what will not renew and was never seen with an end, or whose last renewal was not,
    /// as Amazon shows it. Nil for what may last for ever.
    func latestEnd(by facts: Facts) -> Timestamp? {
        if let end = facts.expiresAt { return end }
        guard facts.kind == .autoRenewable, facts.autoRenew == false else {
            return facts.paidThrough
        }
        return (facts.paidThrough ?? purchase.createdAt) + .days(366)
    }
}

extension Judgement {
    /// Whether the answer leaves a period open that is over, and has not moved its end since the
    /// last answer: it says in force, but not until when. Such an answer is as good as none
    /// (design rule 3).
    var leavesOpen: Bool {
        guard facts.kind == .autoRenewable, let end = claim.latestEnd(by: facts),
            end <= moment.earliest, known.wasGranted
        else { return false }
        switch observation.status {
        case .active, .grace: return end <= claim.latestEnd(by: known) ?? end
        case .pending, .hold, .paused, .ended, .refunded, .removedFromFamily, .replaced:
            return false
        }
    }

    /// At the limit access ends, and does not come back by the same answer.
    var isStale: Bool {
        guard leavesOpen else { return false }
        return known.lossReason == .unverifiable || claim.isStale(at: moment.now, under: policy)
    }

    var staleVerdict: Verdict {
        Verdict(
            state: facts.state, givesAccess: false, loss: .unverifiable, at: facts.expiresAt,
            rule: "the store leaves a period open that has long been over")
    }
}

/// Rule 11: whether an answer is older than what is known.
struct Age {
    let claim: Claim
    let observation: Observation
    let moment: Moment

    private var facts: Facts { claim.purchase.facts }

    /// The newest time at which the store stated anything of this purchase, also where that changed
    /// nothing.
    var newestKnown: Timestamp? {
        guard let first = facts.statedAt, let second = claim.statedAt else {
            return facts.statedAt ?? claim.statedAt
        }
        return max(first, second)
    }

    var newest: Timestamp? {
        guard let stated = observation.statedAt, let known = newestKnown else {
            return observation.statedAt ?? newestKnown
        }
        return max(stated, known)
    }

    /// Said at a time that has not come: nonsense, which must not silence what comes later.
    var isFromTheFuture: Bool {
        observation.statedAt.map(moment.isFuture) ?? false
    }

    var isOlderThanKnown: Bool {
        if isUnpaidAgain { return true }
        if let stated = observation.statedAt {
            return newestKnown.map { stated < $0 && $0 <= moment.now + Self.clockLimit } ?? false
        }
        return isReopenedWithoutAPeriod || isFromBeforeItWasOver || isFromBeforeItStopped
            || isAnEarlierPeriod
    }

    /// Whether it was in force a day or longer after the end that is named now. Where the store
    /// neither dates what it says nor names periods, that is an older copy, or what it learned
    /// late: not believed by itself. News of an end that the store has not shown yet bears it out.
    var isOverBeforeItWasSeen: Bool {
        guard claim.purchase.app.store.traits.namesPeriodsByEnd, facts.access == .granted,
            !claim.purchase.clues.contains(where: \.isRevocation),
            [.active, .grace].contains(facts.state), facts.doubt?.doubt != .replaced,
            let end = observation.status.endedAt, let checkedAt = claim.checkedAt
        else { return false }
        // In grace it was known that it may end where it was paid to.
        if facts.state == .grace, let paid = facts.paidThrough, end >= paid - .days(1) {
            return false
        }
        return end < checkedAt - .days(1)
    }

    /// What was stored from further in the future than this silences nothing. A database whose
    /// clock is behind, and an answer that tells an old time, make no nonsense of what is known.
    private static let clockLimit = Duration.days(1)

    /// What was granted was paid.
    private var isUnpaidAgain: Bool {
        observation.status == .pending && facts.access == .granted
    }

    /// What had ended comes back by a period that still runs, or by a later one.
    private var isReopenedWithoutAPeriod: Bool {
        guard observation.kind == .autoRenewable, facts.access == .none, isInForce,
            [.expired, .refunded, .revoked].contains(facts.state),
            let known = facts.expiresAt ?? facts.paidThrough
        else { return false }
        // Of what is given back and names no end, what was paid may still run.
        let end =
            observation.expiresAt ?? observation.paidThrough
            ?? max(known, facts.paidThrough ?? known)
        return end <= moment.now && end <= known
    }

    /// Where the store neither dates what it says nor numbers periods, what it has just called over
    /// and what comes back with nothing new is an older copy, for a day: later it was given back.
    private var isFromBeforeItWasOver: Bool {
        guard claim.purchase.app.store.traits.namesPeriodsByEnd, isInForce, facts.wasGranted,
            facts.access == .none, facts.environment == .production,
            [.expired, .refunded, .superseded].contains(facts.state),
            let checkedAt = claim.checkedAt,
            moment.now - checkedAt < .days(1)
        else { return false }
        // What is sold once is not sold again under its receipt; a pass ends by itself.
        guard observation.kind == .autoRenewable else {
            return facts.kind != .consumable && facts.state == .refunded
        }
        return facts.expiresAt.map { $0 <= checkedAt } ?? false
            && !observation.isPaidAnew(since: facts)
    }

    /// A hold begins where grace ends, and a pause where the paid period does: what still calls it
    /// in force, to an end that has passed, is how it stood before. Who pays or resumes gets a
    /// period to come.
    private var isFromBeforeItStopped: Bool {
        guard observation.kind == .autoRenewable, [.hold, .paused].contains(facts.state),
            facts.access == .none, isInForce,
            let end = observation.expiresAt ?? observation.paidThrough
        else { return false }
        return end <= moment.now
    }

    /// Where periods are named by their end alone a term never gets shorter: an end to come is a
    /// date of its own, and no end of a term.
    private var isAnEarlierPeriod: Bool {
        guard claim.purchase.app.store.traits.namesPeriodsByEnd, isInForce,
            facts.access == .granted, facts.environment == .production,
            let paid = observation.paidThrough,
            let known = facts.paidThrough
        else { return false }
        return paid < known
    }

    private var isInForce: Bool {
        switch observation.status {
        case .active, .grace: true
        case .pending, .hold, .paused, .ended, .refunded, .removedFromFamily, .replaced: false
        }
    }
}
