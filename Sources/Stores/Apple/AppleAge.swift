import Renewal

// Whether what is shown of a subscription is its present (design rule 11). Apple signs a record
// when it answers, so a copy of its data that lags behind is as new as any by its date.
extension AppleEnquiry {
    /// The latest period that is known, where an earlier one of the same subscription is shown:
    /// one call, in that case alone.
    ///
    /// - Returns: nil where what is shown is the present, as after the refund of an upgrade.
    /// - Throws: `.mismatch` where the known period runs, or is not shown; and why Apple does not
    ///   tell of it.
    mutating func knownPeriod(
        after own: AppleSubscription, _ statuses: inout AppleStatuses, _ reader: AppleReader
    ) async throws(StoreFailure) -> AppleSubscription? {
        guard let order = facts.orderID, own.transaction.endsBefore(facts), !own.isUpgraded,
            await !statuses.shows(order)
        else { return nil }
        let older = StoreFailure.mismatch(what: "period, an older one")
        let known: AppleTransaction
        switch try await calls.reply(to: .transaction(order), from: reader.environment) {
        case .answer(let body): known = try await reader.transaction(body.bytes)
        // It may be one of what was in force in its place.
        case .notFound where await statuses.showsMore(than: own): return nil
        case .notFound: throw older
        // It is no transaction of Apple's.
        case .invalidIdentifier: return nil
        case .unauthorized: throw Self.refused
        case .failed(let failure): throw failure
        }
        guard known.transactionId == order else { throw .mismatch(what: "purchase") }
        guard known.originalTransactionId == own.transaction.originalTransactionId,
            known.isUpgraded != true, !known.mayPayWithOthers,
            known.purchaseDate ?? 0 > own.transaction.purchaseDate ?? 0
        else { return nil }
        if known.isTakenBack {
            return own.isRunning ? nil : reader.subscription(5, known, own.renewal)
        }
        guard !known.isInForce(at: reader.time(of: known).instant) else { throw older }
        return reader.subscription(own.status, known, own.renewal)
    }

    /// What was given back and reads as in force again: the history of refunds tells whether that
    /// is an older copy. A day later it is believed, as nobody has said that a refund which was
    /// reversed leaves that history.
    ///
    /// - Throws: `.mismatch` where the refund is still listed; and why Apple does not tell.
    mutating func requireReversal(
        of shown: AppleTransaction, _ reader: AppleReader
    ) async throws(StoreFailure) {
        guard facts.state == .refunded, facts.kind != .consumable, let order = facts.orderID,
            shown.transactionId == order, let learned = facts.statedAt,
            reader.time(of: shown).instant - learned < .days(1)
        else { return }
        guard try await isRefunded(order, of: shown, reader) else { return }
        throw .mismatch(what: "time, before it was refunded")
    }
}

extension AppleTransaction {
    /// Whether it is another one than the latest that is known, and paid for a shorter time.
    fileprivate func endsBefore(_ facts: Facts) -> Bool {
        guard let paid = facts.paidThrough, transactionId != facts.orderID,
            let end = expiresDate.flatMap({ Timestamp(millisecondsSinceEpoch: $0) })
        else { return false }
        return end < paid - .minutes(1)
    }
}
