import Renewal

// Whether what is shown of a subscription is its present (design rule 11). Apple signs a record
// when it answers, so a copy of its data that lags behind is as new as any by its date.
extension AppleEnquiry {
    /// The latest period that is known, where an earlier one may be shown: one call, in that case
    /// alone. What gives counts where Apple does not tell of the known one.
    ///
    /// - Returns: nil where what is shown is the present.
    /// - Throws: `.mismatch` where the known period runs, or is not shown; and why Apple does not
    ///   tell of it.
    mutating func knownPeriod(
        after own: AppleSubscription, _ statuses: inout AppleStatuses, _ reader: AppleReader
    ) async throws(StoreFailure) -> AppleSubscription? {
        guard let order = facts.orderID, own.transaction.mayComeBefore(facts),
            await !statuses.shows(order)
        else { return nil }
        let known: AppleTransaction
        do throws(StoreFailure) {
            guard let shown = try await transaction(order, besides: own, &statuses, reader)
            else { return nil }
            known = shown
        } catch {
            // What gives is not held up by a question that fails; what takes is asked about again.
            guard !own.gives(facts), own.transaction.endsBefore(facts) || options.mayBeAhead
            else { return nil }
            throw error
        }
        guard known.transactionId == order else { throw .mismatch(what: "purchase") }
        let runs = known.isInForce(at: reader.time(of: known).instant)
        guard known.originalTransactionId == own.transaction.originalTransactionId else {
            let mayRun = runs || known.isUpgraded == true && options.mayBeAhead
            if mayRun, try await isHidden(known, of: own, &statuses) { throw Self.older }
            return nil
        }
        let isFurtherSeat = known.mayPayWithOthers && known.paysSamePeriod(as: own.transaction)
        guard !isFurtherSeat, known.purchaseDate ?? 0 > own.transaction.purchaseDate ?? 0
        else { return nil }
        // What has replaced it is missing as well.
        if known.isUpgraded == true {
            guard !options.mayBeAhead else { throw Self.older }
            return nil
        }
        if known.isTakenBack { return try takenBack(known, after: own, reader) }
        if runs, own.isUpgraded { return reader.subscription(1, known, nil) }
        guard !runs else { throw Self.older }
        return own.isUpgraded ? nil : reader.subscription(own.status, known, own.renewal)
    }

    /// The known transaction.
    ///
    /// - Returns: nil where Apple does not know it, or something else may be shown in its place.
    private mutating func transaction(
        _ order: OrderID, besides own: AppleSubscription, _ statuses: inout AppleStatuses,
        _ reader: AppleReader
    ) async throws(StoreFailure) -> AppleTransaction? {
        switch try await calls.reply(to: .transaction(order), from: reader.environment) {
        case .answer(let body): return try await reader.transaction(body.bytes)
        // It may be one of what was in force in its place.
        case .notFound where await statuses.mayShowHeir(of: own, knowing: facts): return nil
        // Apple has lost it, or a family's member does not share it any more.
        case .notFound where !options.mayBeAhead: return nil
        case .notFound: throw Self.older
        // It is no transaction of Apple's.
        case .invalidIdentifier: return nil
        case .unauthorized: throw Self.refused
        case .failed(let failure): throw failure
        }
    }

    /// Whether a running period by which the purchase is in force is missing from the statuses, and
    /// no other user's.
    private func isHidden(
        _ heir: AppleTransaction, of own: AppleSubscription, _ statuses: inout AppleStatuses
    ) async throws(StoreFailure) -> Bool {
        guard heir.subscriptionGroupIdentifier == own.transaction.subscriptionGroupIdentifier,
            let id = heir.originalTransactionId,
            await !statuses.shows(id, boughtSince: heir.purchaseDate ?? 0)
        else { return false }
        return try await !customer.isAnothers(
            id, named: heir.appAccountToken, beside: own.transaction.appAccountToken)
    }

    /// What runs beside a known period that was given back is the present, as after the refund of
    /// an upgrade; but not a day after that refund was told.
    private func takenBack(
        _ known: AppleTransaction, after own: AppleSubscription, _ reader: AppleReader
    ) throws(StoreFailure) -> AppleSubscription? {
        guard own.isRunning else { return reader.subscription(5, known, own.renewal) }
        if facts.state == .refunded, isOfToday { throw Self.older }
        return nil
    }

    /// Whether a verdict was heard within a day: what contradicts it may be from before it.
    private var isOfToday: Bool { options.checkedAt.map { now - $0 < .days(1) } ?? false }

    private static let older = StoreFailure.mismatch(what: "period, an older one")

    /// What was given back, or whose sharing has ended, and reads as in force again: the history of
    /// refunds, or Get Transaction Info, tells whether that is an older copy. A day later it is
    /// believed, as nobody has said that a refund which was reversed leaves that history.
    ///
    /// - Throws: `.mismatch` where the refund is still listed, or the sharing shown as ended; and
    ///   why Apple does not tell.
    mutating func requireReversal(
        of shown: AppleTransaction, _ reader: AppleReader
    ) async throws(StoreFailure) {
        guard let order = shown.transactionId, isOfToday else { return }
        switch facts.state {
        case .refunded where order == facts.orderID:
            guard try await isRefunded(order, of: shown, reader) else { return }
            throw .mismatch(what: "time, before it was refunded")
        case .revoked where shown.isShared:
            guard try await isShownAsTakenBack(order, reader) else { return }
            throw .mismatch(what: "time, before its sharing ended")
        default: return
        }
    }

    private mutating func isShownAsTakenBack(
        _ order: OrderID, _ reader: AppleReader
    ) async throws(StoreFailure) -> Bool {
        let reply = try await calls.reply(to: .transaction(order), from: reader.environment)
        guard let body = try Self.body(of: reply) else { return false }
        let transaction = try await reader.transaction(body)
        return transaction.transactionId == order && transaction.isTakenBack
    }
}

extension AppleSubscription {
    /// Whether it runs, for as long as is known or longer, and takes nothing else away.
    fileprivate func gives(_ facts: Facts) -> Bool {
        isRunning && !transaction.endsBefore(facts)
            && (facts.access == .none || transaction.productId == facts.product)
    }
}

extension AppleTransaction {
    /// Whether it is another one than the latest that is known, and may have been bought before
    /// that. It may end later all the same, as a year that was given back, or changed for a month.
    fileprivate func mayComeBefore(_ facts: Facts) -> Bool {
        guard let known = facts.latestEnd, transactionId != facts.orderID, expiresDate != nil
        else { return false }
        // Of a further seat of the known period the history tells.
        let isSeat =
            mayPayWithOthers && expiresDate.isAbout(known.microsecondsSinceEpoch / 1000)
        return !isSeat && !facts.areFromBefore(purchaseDate)
    }

    fileprivate func endsBefore(_ facts: Facts) -> Bool {
        guard let known = facts.latestEnd,
            let end = expiresDate.flatMap({ Timestamp(millisecondsSinceEpoch: $0) })
        else { return false }
        return end < known - .minutes(1)
    }
}

extension Facts {
    /// Up to when it is known to be paid, by itself or by what is in force in its place: of that,
    /// what was paid is not kept where a family shares one of the two.
    var latestEnd: Timestamp? {
        [paidThrough, state == .active ? expiresAt : nil].compactMap(\.self).max()
    }

    /// Whether something was bought after a store had last told something new. The date is in
    /// milliseconds since 1970.
    fileprivate func areFromBefore(_ purchase: Int64?) -> Bool {
        guard let statedAt, let bought = purchase.flatMap(Timestamp.init(millisecondsSinceEpoch:))
        else { return false }
        return bought > statedAt
    }
}
