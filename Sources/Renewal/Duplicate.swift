/// The same purchase, submitted in two forms: a receipt and the transaction id that is in it. The
/// store tells so by its original id, which only one purchase of an app may have.
extension Outcome {
    /// The original id that is to be this purchase's alone from now on; nil when there is none, or
    /// when it has it already. Elsewhere the token itself is the identity.
    package var claimedOriginalID: OrderID? {
        guard claim.purchase.app.store.traits.identity == .originalID,
            facts.originalID != claim.purchase.facts.originalID
        else { return nil }
        return facts.originalID
    }

    /// The original id of what gives nothing as something has taken its place, which another
    /// purchase may have: this one may be a further form of that.
    package var sharedOriginalID: OrderID? {
        let known = claim.purchase.facts
        guard claim.purchase.app.store.traits.identity == .originalID, known.state == .superseded,
            known.access == .none
        else { return nil }
        return known.originalID
    }

    /// Whether access would be given where none was, or the purchase be given up: a newer link of
    /// its chain may have been handed in before. Only where a token names another.
    package var mayComeLate: Bool {
        let known = claim.purchase.facts
        guard claim.purchase.app.store.traits.linksTokens, known.access == .none else {
            return false
        }
        return facts.access != .none || facts.state == .invalid && known.state != .invalid
    }

    /// What is decided of a purchase of which a newer link of its chain was handed in before:
    /// whatever it still looks like, it gives nothing. Nil where nothing would be given, or is
    /// given already.
    package func superseded(by successor: Int64) -> Outcome? {
        guard mayComeLate, successor != claim.purchaseID, var change else { return nil }
        let known = claim.purchase.facts
        change.facts.state = .superseded
        change.facts.access = .none
        change.facts.lossReason = known.lossReason
        change.facts.holdings = []
        change.facts.doubt = nil
        change.facts.signals = known.signals
        change.notices = []
        change.predecessorToken = nil
        var late = self
        late.decision = Decision(change, of: known)
        late.kept = nil
        late.schedule.nextCheckAt = .never
        late.schedule.problem = nil
        late.schedule.awaitsAcknowledgement = false
        late.rule = "a newer link of its chain, purchase \(successor), has taken over"
        return late
    }

    /// What is decided of a purchase that was submitted before in another form: that one is asked
    /// about, this one gives nothing, tells nothing and is never asked about again. Nil when it
    /// gives access already: what somebody holds is not taken for this.
    package func mergedIntoItsDuplicate() -> Outcome? {
        let known = claim.purchase.facts
        guard known.access == .none, let change else { return nil }
        var merged = Change(facts: known, effectiveAt: change.effectiveAt)
        merged.facts.state = .superseded
        merged.facts.doubt = nil
        merged.facts.product = facts.product
        merged.facts.kind = facts.kind
        merged.facts.environment = facts.environment
        merged.facts.originalID = facts.originalID
        return Outcome(
            claim: claim, decision: Decision(merged, of: known),
            schedule: Schedule(nextCheckAt: .never),
            rule: "the same purchase was submitted before in another form", rules: rules,
            evidence: evidence)
    }
}
