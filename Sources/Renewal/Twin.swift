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
        var folded = decision
        folded.facts.state = .superseded
        folded.facts.access = .none
        folded.facts.lapse = claim.purchase.facts.lapse
        folded.facts.holdings = []
        folded.facts.doubt = nil
        folded.facts.signals = claim.purchase.facts.signals
        folded.notices = []
        folded.problem = nil
        folded.nextCheckAt = .never
        folded.handsTo = nil
        folded.sharesWithClaimants = false
        folded.predecessorToken = nil
        folded.awaitsAcknowledgement = false
        folded.rule = "a newer link of its chain, purchase \(successor), has taken over"
        return Outcome(claim: claim, decision: folded, evidence: evidence)
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
