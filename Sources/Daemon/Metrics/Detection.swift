import Engine
package import Renewal

/// A change at a store that is known now, and how long the store knew before we did.
package struct Detection: Hashable, Sendable {
    package let change: Change
    package let lag: Duration

    /// As `renewald plan` forecasts them.
    package enum Change: String, Hashable, Sendable, CaseIterable {
        /// From the submission to the first grant.
        case purchase
        /// From the end of the old period to the notice of the new one; a store that renews before
        /// that end is not counted.
        case renewal
        /// Of a payment that was overdue no store gives the date: from the check before, at most.
        case recovery
        case expiry
        case refund
        case paymentFailure = "payment_failure"
        /// Access that ended for another reason.
        case other
    }
}

extension CommitReport {
    /// Of each event, in their order, what was detected by it; nil where the store's time of it is
    /// not known.
    func detections(at clock: DatabaseClock) -> [Detection?] {
        guard !events.isEmpty else { return [] }
        let told = Set(events.map(\.purchaseID))
        var outcomes: [Int64: Outcome] = [:]
        for outcome in committed where told.contains(outcome.claim.purchaseID) {
            outcomes[outcome.claim.purchaseID] = outcome
        }
        return events.map { event in
            outcomes[event.purchaseID].flatMap { outcome in
                event.detection(
                    by: outcome.claim, under: outcome.rules.policy,
                    at: clock.now ?? outcome.claim.claimedAt)
            }
        }
    }
}

extension Event {
    /// What a check has detected by which this came to be told. What was found at first sight is
    /// history, but for the grant that somebody waits for.
    ///
    /// - Parameters:
    ///   - claim: of the check.
    ///   - policy: what its `leniency` gives after an end is no lag.
    ///   - now: the database's time of the commit.
    /// - Returns: nil where the store's time of it is not known.
    package func detection(
        by claim: Claim, under policy: Policy = Policy(), at now: Timestamp
    ) -> Detection? {
        guard let (change, since) = detected(by: claim), since >= claim.purchase.createdAt else {
            return nil
        }
        let isLenient = change == .expiry && now >= since + policy.leniency
        let lag = now - (isLenient ? since + policy.leniency : since)
        return Detection(change: change, lag: max(lag, .zero))
    }

    private func detected(by claim: Claim) -> (Detection.Change, since: Timestamp)? {
        let known = claim.purchase.facts
        switch kind {
        case .grant(.purchased):
            guard claim.checkedAt == nil, !claim.isBackfill else { return nil }
            return (.purchase, claim.purchase.createdAt)
        case .notice(.renewed):
            guard let end = known.paidThrough, end <= claim.claimedAt else { return nil }
            return (.renewal, end)
        case .grant(.recovered), .notice(.paymentRecovered):
            return claim.checkedAt.map { (.recovery, $0) }
        case .notice(.paymentPending):
            guard let end = known.paidThrough, end <= claim.claimedAt else { return nil }
            return (.paymentFailure, end)
        case .revoke(let reason):
            return Detection.Change(reason).map { ($0, effectiveAt) }
        case .grant, .notice:
            return nil
        }
    }
}

extension Detection.Change {
    /// Nil for what no store has done.
    fileprivate init?(_ reason: RevokeReason) {
        switch reason {
        case .invalid, .unverifiable, .manual, .transferred: return nil
        case .expired, .cancelled: self = .expiry
        case .refunded: self = .refund
        case .paymentFailed, .paymentPending: self = .paymentFailure
        case .familyRemoved, .paused, .priceIncreaseDeclined, .productUnavailable,
            .productChanged:
            self = .other
        }
    }
}
