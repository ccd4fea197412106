/// The same purchase, submitted in two forms: a receipt and the transaction id that is in it. The
/// store tells so by its original id, which only one purchase of an app may have.
extension Outcome {
    /// The original id that is to be this purchase's alone from now on; nil when there is none, or
    /// when it has it already. Elsewhere the token itself is the identity.
    package var claimedOriginalID: OrderID? {
        let facts = decision.facts
        guard claim.purchase.app.store.traits.identity == .originalID,
            facts.originalID != claim.purchase.facts.originalID
        else { return nil }
        return facts.originalID
    }

    /// Whether access would be given where none was, or the purchase be given up: a newer link of
    /// its chain may have been handed in before. Only where a token names another.
    package var mayComeLate: Bool {
        let known = claim.purchase.facts
        guard claim.purchase.app.store.traits.linksTokens, known.access == .none else {
            return false
        }
        return decision.facts.access != .none
            || decision.facts.state == .invalid && known.state != .invalid
    }

    /// What is decided of a purchase of which a newer link of its chain was handed in before:
    /// whatever it still looks like, it gives nothing. Nil where nothing would be given, or is
    /// given already.
    package func superseded(by successor: Int64) -> Outcome? {
        guard mayComeLate, successor != claim.purchase.id else { return nil }
        var merged = decision
        merged.facts.state = .superseded
        merged.facts.access = .none
        merged.facts.lossReason = claim.purchase.facts.lossReason
        merged.facts.holdings = []
        merged.facts.doubt = nil
        merged.facts.signals = claim.purchase.facts.signals
        merged.notices = []
        merged.problem = nil
        merged.nextCheckAt = .never
        merged.handsTo = nil
        merged.sharesWithClaimants = false
        merged.predecessorToken = nil
        merged.awaitsAcknowledgement = false
        merged.rule = "a newer link of its chain, purchase \(successor), has taken over"
        return Outcome(claim: claim, decision: merged, evidence: evidence)
    }

    /// What is decided of a purchase that was submitted before in another form: that one is asked
    /// about, this one gives nothing, tells nothing and is never asked about again. Nil when it
    /// gives access already: what somebody holds is not taken for this.
    package func mergedIntoItsDuplicate() -> Outcome? {
        guard claim.purchase.facts.access == .none else { return nil }
        var merged = Decision(
            facts: claim.purchase.facts, effectiveAt: decision.effectiveAt,
            rule: "the same purchase was submitted before in another form")
        merged.facts.state = .superseded
        merged.facts.doubt = nil
        merged.facts.product = decision.facts.product
        merged.facts.kind = decision.facts.kind
        merged.facts.environment = decision.facts.environment
        merged.facts.originalID = decision.facts.originalID
        merged.keepsOffers = decision.keepsOffers
        merged.isVerdict = decision.isVerdict
        return Outcome(claim: claim, decision: merged, evidence: evidence)
    }
}
