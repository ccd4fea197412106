/// The same purchase, submitted in two forms: a receipt and the transaction id that is in it. The
/// store tells so by its original id, which only one purchase of an app may have.
extension Outcome {
    /// The original id that is to be this purchase's alone from now on; nil when there is none, or
    /// when it has it already. Elsewhere than at Apple the token itself is the identity.
    package var claimedOriginalID: OrderID? {
        let facts = decision.facts
        guard claim.purchase.app.store == .apple,
            facts.originalID != claim.purchase.facts.originalID
        else { return nil }
        return facts.originalID
    }

    /// What is decided of a purchase that was submitted before in another form: that one is asked
    /// about, this one gives nothing, tells nothing and is never asked about again. Nil when it
    /// gives access already: what somebody holds is not taken for this.
    package func foldedIntoItsTwin() -> Outcome? {
        guard claim.purchase.facts.access == .none else { return nil }
        var folded = Decision(
            facts: claim.purchase.facts, effectiveAt: decision.effectiveAt,
            rule: "the same purchase was submitted before in another form")
        folded.facts.state = .superseded
        folded.facts.doubt = nil
        folded.facts.product = decision.facts.product
        folded.facts.kind = decision.facts.kind
        folded.facts.environment = decision.facts.environment
        folded.facts.originalID = decision.facts.originalID
        folded.keepsOffers = decision.keepsOffers
        folded.isVerdict = decision.isVerdict
        return Outcome(claim: claim, decision: folded, evidence: evidence)
    }
}
