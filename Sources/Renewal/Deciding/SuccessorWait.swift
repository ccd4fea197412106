// Rule 8, where what has replaced a purchase may be known, and its store has not told of it yet.
extension Outcome {
    /// Nobody has taken access over yet, and who has paid for the successor must not lose it
    /// because its store is down or it is asked about later: while the same user has submitted what
    /// may be the successor, a replaced purchase goes on giving what it gave.
    ///
    /// - Parameters:
    ///   - book: the user's purchases.
    ///   - now: the database's time.
    /// - Returns: the same, where nothing is waited for, or it was for too long.
    package func awaitingSuccessor(in book: UserPurchases, at now: Timestamp) -> Outcome {
        let known = claim.purchase.facts
        guard case .changed(let change) = decision, change.endsAsReplaced, known.access == .granted,
            let longest = book.longestWait(besides: claim.purchase, under: rules.policy)
        else { return self }
        let since = known.doubt.flatMap { $0.doubt == .replaced ? $0.since : nil } ?? now
        guard now < since + longest else { return self }
        var facts = known
        facts.doubt = PendingDoubt(doubt: .replaced, since: since)
        var waiting = self
        waiting.decision = Decision(Change(facts: facts, effectiveAt: now), of: known)
        // Not by this answer does it stand as it does.
        waiting.kept = nil
        waiting.schedule.nextCheckAt = min(since + longest, now + .hours(1))
        waiting.rule = "replaced; its successor was submitted, and no store has told of it yet"
        return waiting
    }
}

extension Change {
    fileprivate var endsAsReplaced: Bool {
        facts.access == .none && reasons.loss == .productChanged
            && (facts.state == .superseded || facts.state == .expired)
    }
}

extension UserPurchases {
    /// How long the successor of a purchase is waited for: as long as without any verdict; where
    /// its store does not accept what was submitted, as for a second opinion; and where it waited
    /// for its payment, until it is asked about again, as it is paid when it replaces anything.
    /// Nil where nothing was submitted that may be it.
    fileprivate func longestWait(besides replaced: Purchase, under policy: Policy) -> Duration? {
        let waits = purchases.values.compactMap { entry -> Duration? in
            let other = entry.purchase
            guard other.id != replaced.id, other.app == replaced.app else { return nil }
            return switch other.facts.state {
            case .new: policy.maxStaleness
            case .pending where (other.facts.kind ?? .autoRenewable) == .autoRenewable:
                Vain.longestWait
            case .invalid where !other.facts.wasGranted: policy.confirmAfter
            default: nil
            }
        }
        return waits.max()
    }
}
