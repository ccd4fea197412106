// A fleet that moves in is known by what its first sight finds: that is stored and not told, as
// nothing has happened. What changes from then on is told.

extension Outcome {
    /// Whether what was found is stored and not told.
    var isFirstSight: Bool { claim.purchase.facts.isBaseline }

    /// What a store has told, and what it has twice said not to know, is the baseline; before that
    /// there is none.
    mutating func endBaseline() {
        guard isFirstSight, isVerdict || facts.state == .invalid else { return }
        rule += "; found at the first sight after the import, and not told"
        switch decision {
        case .unchanged:
            var facts = claim.purchase.facts
            facts.isBaseline = false
            decision = .changed(Change(facts: facts, effectiveAt: claim.claimedAt))
        case .changed(var change):
            change.endBaseline()
            decision = .changed(change)
        case .handed(let user, var change):
            change.endBaseline()
            decision = .handed(to: user, change)
        case .shared(var change):
            change.endBaseline()
            decision = .shared(change)
        }
    }
}

extension Change {
    /// What was paid before it moved in gave access then: what comes back was not bought now.
    fileprivate mutating func endBaseline() {
        facts.isBaseline = false
        guard !facts.wasGranted else { return }
        switch facts.state {
        case .grace, .hold, .paused, .refunded, .revoked: facts.lossReason = reasons.loss
        case .expired:
            // What has no end may never have been paid.
            if facts.wasPaid { facts.lossReason = reasons.loss }
        case .new, .pending, .active, .superseded, .invalid: break
        }
    }
}

extension Settlement {
    /// At first sight nothing has begun. What a user loses all the same was known before, by
    /// another purchase that this one replaces: somebody may have been told that they had it.
    mutating func keepQuietAboutTheFirstSight() {
        events.removeAll { event in
            switch event.kind {
            case .grant, .notice: true
            case .revoke: false
            }
        }
    }
}
