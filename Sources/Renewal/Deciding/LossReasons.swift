// Why what is lost is lost, each entitlement by itself: a part of a purchase may go for a reason of
// its own, before the rest or with it.
extension Judgement {
    func reasons(of verdict: Verdict) -> Reasons {
        let goesOn = verdict.givesAccess
        let loss = goesOn ? lossWhileGoingOn : isExpiredWithARefund ? .refunded : verdict.loss
        var reasons = Reasons(gain: gain(), loss: loss)
        let kept = Set(facts.holdings.map(\.entitlement))
        for holding in known.holdings where !kept.contains(holding.entitlement) {
            let own = goesOn ? ownLoss(of: holding) : ownLoss(of: holding, before: verdict.at)
            reasons.losses[holding.entitlement] = own
        }
        return reasons
    }

    /// Why something is lost while the purchase goes on, though it may give nothing any more.
    var lossWhileGoingOn: RevokeReason {
        if isSoldOnce, facts.state == .refunded { return .refunded }
        return known.holdings.lazy.compactMap(lossOfPart).first ?? .productChanged
    }

    /// Why what was held is not in force any more, where the answer tells that of it alone.
    func lossOfPart(_ holding: Holding) -> RevokeReason? {
        isShown(holding) ? nil : observation.lostParts[holding.product]?.reason
    }

    /// While the purchase goes on. Where the answer gives no reason, what was beside the main
    /// product and has run out has expired; the main product was changed, or something is gone
    /// before its time. What goes of a product that is shown goes by the configuration.
    private func ownLoss(of holding: Holding) -> RevokeReason {
        if isSoldOnce {
            if hasRunOutByItself(holding) { return .expired }
            if facts.state == .refunded { return .refunded }
        }
        if let loss = lossOfPart(holding) { return loss }
        return holding.product != known.product && hasRunOut(holding) ? .expired : .productChanged
    }

    /// With the whole purchase; nil where that tells. `end` is when the purchase has ended.
    private func ownLoss(of holding: Holding, before end: Timestamp?) -> RevokeReason? {
        guard !areSoldTogether else { return hasRunOutByItself(holding) ? .expired : nil }
        guard [.expired, .refunded, .revoked].contains(facts.state),
            holding.product != known.product, !isShown(holding)
        else { return nil }
        let part = observation.lostParts[holding.product]
        guard let own = part?.endedAt ?? holding.expiresAt,
            own < (end ?? moment.now) - .minutes(1)
        else { return nil }
        return part?.reason ?? .expired
    }

    /// Of what is sold once, whether it has run out and was not given back.
    private func hasRunOutByItself(_ holding: Holding) -> Bool {
        hasRunOut(holding) && !isGivenBack(holding)
    }
}
