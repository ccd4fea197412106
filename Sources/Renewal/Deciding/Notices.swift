// What is told beside a change of access.
extension Judgement {
    var isReplaced: Bool {
        if case .replaced = observation.status { true } else { false }
    }

    /// Conditions that have begun. What a newer link has replaced has no future of its own.
    private var newSignals: Set<Signal> {
        let new = facts.signals.subtracting(known.signals)
        guard facts.state == .superseded else { return new }
        return new.subtracting([.pauseScheduled, .priceIncreasePending, .productChangeScheduled])
    }

    func notices(_ detail: Detail) -> [Change.Notice] {
        var reasons = newSignals.map(\.notice).sorted { $0.rawValue < $1.rawValue }
        // Each is told by itself.
        if !observation.pastRefunds.isEmpty { reasons.removeAll { $0 == .refundOfPastPeriod } }
        let wasInForce = known.access == .granted
        let isInForce = facts.access == .granted
        if isInForce, facts.state == .grace, known.state != .grace {
            reasons.append(.paymentPending)
        }
        // What a substitute shows has been paid for something else.
        if wasInForce, isInForce, facts.state == .active, !observation.isSubstitute {
            if known.state == .grace, !isWithoutWhatFailed { reasons.append(.paymentRecovered) }
            if known.state != .grace { reasons += periodNotices() }
        }
        let wasInTrouble = known.state == .grace || known.state == .hold
        if isInForce, facts.state == .active, wasInTrouble, convertsTrial {
            reasons.append(.trialConverted)
        }
        // What is replaced does not renew, but nobody has turned that off.
        if wasInForce, isInForce, facts.state == .active || facts.state == .grace, !isReplaced {
            if known.autoRenew == true, facts.autoRenew == false { reasons.append(.autoRenewOff) }
            if known.autoRenew == false, facts.autoRenew == true { reasons.append(.autoRenewOn) }
        }
        // Either it ends no access, or not yet.
        var lastOrder: OrderID?
        // What was given back of several was told as such.
        if facts.state == .refunded, known.state != .refunded, wasInForce == isInForce,
            !isRestRefunded
        {
            if facts.kind == .consumable || isInForce {
                reasons.append(.refunded)
            } else if known.wasGranted, !reasons.contains(.refundOfPastPeriod) {
                reasons.append(.refundOfPastPeriod)
                lastOrder = facts.orderID
            }
        }
        if isRefundedInPart, !reasons.contains(.refunded) { reasons.append(.refunded) }
        if wasInForce, isInForce, hasMovedByConfiguration,
            facts.expiresAt ?? .never > known.expiresAt ?? .never
        {
            reasons.append(.extended)
        }
        if nextToken != nil, observation.isMigrated { reasons.append(.migrated) }
        let refunds = observation.pastRefunds.sorted().map { order in
            var own = detail
            own.refundedOrder = order
            own.refund = refundNotes(of: order)
            return Change.Notice(.refundOfPastPeriod, detail: own)
        }
        return refunds
            + reasons.map { reason in
                var own = detail
                if reason == .paymentPending, case .grace(let moved) = observation.status {
                    own.falseRenewal = moved
                }
                if reason == .autoRenewOff || reason == .autoRenewOn {
                    own.commitmentEndsAt = facts.commitmentEndsAt
                }
                if reason == .refundOfPastPeriod { own.refundedOrder = lastOrder }
                if reason == .sharedReceipt { own.claimedBy = claim.purchase.claimant }
                if reason == .refunded, isRefundedInPart, own.refund?.part == nil {
                    own.refund = own.refund ?? RefundNotes()
                    own.refund?.part = RefundedPart()
                }
                return Change.Notice(reason, detail: own)
            }
    }

    /// Whether a part of what is in force was given back since the last answer.
    private var isRefundedInPart: Bool {
        observation.isRefundedInPart
            || facts.orderID.map { order in
                observation.refundedParts[order] != nil && !observation.pastRefunds.contains(order)
            } ?? false
    }

    /// Whether it goes on without the product that was not paid: that one is gone, or will be.
    private var isWithoutWhatFailed: Bool {
        let hasLost = !observation.lostParts.isEmpty
        if isLeftOver, hasLost { return true }
        return wasTroubleOfAnother && (hasLost || observation.willRenew == false)
    }

    /// Whether what was free until now is paid.
    private var convertsTrial: Bool {
        known.phase == .trial && facts.phase != .trial && !observation.isSubstitute
    }

    /// Renewed, or only extended: a renewal is another paid period, not a later date (rule 4).
    func periodNotices() -> [NoticeReason] {
        guard let paid = facts.paidThrough else { return [] }
        // Where no end was ever seen nobody knows whether this one is another.
        guard let before = known.paidThrough else { return convertsTrial ? [.trialConverted] : [] }
        guard paid > before, !isLeftOver else { return [] }
        if let period = facts.period, period == known.period { return [.extended] }
        // An upgrade in the middle of a period is a product change, not a renewal, whatever change
        // was to come with the next one. No store renews more than a day before the end.
        let isDue = moment.now >= before - .days(1)
        if facts.product != known.product,
            !isDue || !known.signals.contains(.productChangeScheduled)
        {
            return []
        }
        return convertsTrial ? [.renewed, .trialConverted] : [.renewed]
    }

    /// Whether the main product is one that was held beside the former one, and so was paid before,
    /// or was paid with it.
    private var isLeftOver: Bool {
        guard facts.product != known.product else { return false }
        return facts.period != nil && facts.period == known.period
            || known.holdings.contains { $0.product == facts.product }
    }
}
