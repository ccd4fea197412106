import LedgerModel
import Renewal

/// Lies of the store that have ended somebody's access.
struct BelievedLies: Sendable {
    /// Before the known end, when they were committed.
    private var early: [Timestamp] = []
    /// By purchase, the latest, by the true time.
    private(set) var last: [Int64: Timestamp] = [:]

    /// - Returns: how many came before their known end in the window that ends now.
    mutating func note(
        _ loss: Loss?, of id: Int64, at now: Timestamp, in window: Duration
    ) -> Int {
        last[id] = World.now
        if loss == .early { early.append(now) }
        early.removeAll { $0 <= now - window }
        return early.count
    }
}

extension Judge {
    /// A lie has ended access: so it may be below the limit.
    func believe(_ outcome: Outcome, at now: Timestamp, of one: Subscription) {
        tally.count(.believed)
        let policy = plan.breaker
        let count = note {
            $0.note(
                outcome.loss(at: now), of: outcome.claim.purchaseID, at: now, in: policy.window)
        }
        let limit = max(policy.floor, Int(policy.share * Double(sold.count)))
        // Where the clock goes back, what was counted by it is in the future.
        if count > limit, !plan.features.has(.clockSteps) {
            accuse(
                "an avalanche is held", "\(one.token.text): \(count) of \(limit) in a window",
                of: one.token)
        }
    }

    /// What is held waits for a person, or for a second answer a day later: a day by the clock that
    /// was read with the claim, which may have been set back until the commit, and the answer comes
    /// up to a minute after that.
    func judge(_ step: Step, of claim: Claim, _ one: Subscription, at now: Timestamp) {
        guard let heldSince = claim.purchase.facts.heldSince, step.isLoss,
            step.after.state != .superseded
        else { return }
        let held = max(now, claim.claimedAt + .minutes(1)) - heldSince
        if plan.breaker.release == .person || held < BreakerPolicy.secondAnswerAfter {
            accuse(
                "what is held does not leak",
                "\(one.token.text): \(step), held for \(held.text)", of: one.token)
        }
    }

    func lookForHeld(_ row: ModelRow, _ one: Subscription, _ now: Timestamp) {
        let isPaid = one.grants(at: now)
        if !isPaid, plan.breaker.release == .person { return }
        let heldSince = row.purchase.facts.heldSince ?? now
        let since = max(one.changed(before: now), row.purchase.createdAt, heldSince)
        // What a newer link has taken over keeps its turn: nobody has asked about it.
        let isReplaced = one.state(at: now)?.standing == .replaced
        let turn: Duration = isReplaced ? .days(8) : .hours(27)
        let bound =
            (isPaid ? turn : turn + BreakerPolicy.secondAnswerAfter)
            + plan.poll * 3 + .hours(2) + spoiled(from: since, to: now)
        if now - since > bound {
            accuse(
                isPaid ? "who pays is held no longer" : "what is confirmed is let go",
                "\(one.token.text): held for \((now - since).text), bound \(bound.text), "
                    + "next check \(row.dueAt.day), \(row.problem ?? "no problem")",
                of: one.token)
        }
    }
}
