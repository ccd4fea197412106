import Renewal

// Several transactions may pay one period, one for each time that seats were bought (design rule
// 16): it is refunded when all of them are.

extension AppleTransaction {
    /// Taken back as a whole; what an upgrade has replaced is not.
    var isTakenBack: Bool {
        revocationDate != nil && isUpgraded != true && refundedSeats == nil
    }

    /// Whether other transactions may pay its period too.
    var mayPayWithOthers: Bool {
        multiSeatInfo != nil || isAdditional || quantity ?? 1 > 1
    }

    /// How many of its seats were refunded, where some are left; nil where none was, or all.
    var refundedSeats: Int? {
        guard let seats = quantity, seats > 1 else { return nil }
        // A refund of some leaves the transaction without a date of revocation.
        if let refunded = multiSeatInfo?.revokedSeatQuantity {
            return (1..<seats).contains(refunded) ? refunded : nil
        }
        guard revocationDate != nil, let share = revocationPercentage, share < 100_000,
            revocationType != "REFUND_PRORATED"
        else { return nil }
        return max(1, seats * share / 100_000)
    }

    /// Whether it pays the same period as another of its subscription.
    func paysSamePeriod(as other: AppleTransaction) -> Bool {
        originalTransactionId == other.originalTransactionId && expiresDate != nil
            && expiresDate.isAbout(other.expiresDate)
    }
}

/// A period of which some seats were refunded, and others are paid.
struct AppleSeats: Sendable {
    /// The latest transaction that is paid.
    let paid: AppleTransaction
    /// How many were refunded.
    let refunded: Int

    var period: OrderID? { paid.period(refunding: refunded) }
}

extension AppleTransaction {
    /// Names the period that was paid.
    var period: OrderID? { period(refunding: refundedSeats ?? 0) }

    fileprivate func period(refunding seats: Int) -> OrderID? {
        (webOrderLineItemId ?? transactionId)?.refunding(seats: seats)
    }
}

extension OrderID {
    /// The name of a period, and how many seats were refunded in it: some more are news.
    func refunding(seats: Int) -> OrderID {
        seats == 0 ? self : OrderID("\(self)\(Self.refunded)\(seats)")
    }

    /// Whether it names a period in which seats were refunded.
    fileprivate var refundsSeats: Bool { text.contains(Self.refunded) }

    private static let refunded = ", seats refunded: "
}

extension AppleEnquiry {
    /// What still pays the period of a transaction that was taken back.
    ///
    /// - Throws: why the history cannot be read. Without it nobody knows whether all were refunded.
    mutating func seats(
        besides own: AppleTransaction, _ reader: AppleReader
    ) async throws(StoreFailure) -> AppleSeats? {
        guard own.isTakenBack, own.mayPayWithOthers else { return nil }
        let all = try await transactions(of: own, reader)
        let refunded = all.count { $0.isTakenBack && $0.paysSamePeriod(as: own) }
        return all.latest { $0.isInForce(at: reader.time(of: own).instant) }
            .map { AppleSeats(paid: $0, refunded: max(refunded, 1)) }
    }

    /// The refund that the history signs, of what only the unsigned status says is taken back.
    ///
    /// - Throws: `.mismatch` when the history says that it is paid: nothing is known for certain;
    ///   and why the history cannot be read: twice unread would confirm what nobody has signed.
    mutating func signedRefund(
        of own: AppleSubscription, _ reader: AppleReader
    ) async throws(StoreFailure) -> AppleSubscription? {
        guard own.status == 5, own.transaction.revocationDate == nil, !own.isUpgraded,
            own.transaction.itemsRevokedAt == nil
        else { return nil }
        let all: [AppleTransaction]
        do throws(StoreFailure) {
            all = try await transactions(of: own.transaction, reader)
        } catch {
            guard error == Self.missingHistory else { throw error }
            return nil
        }
        if all.contains(where: { $0.isInForce(at: own.time.instant) }) {
            throw .mismatch(what: "status, by the history")
        }
        return all.latest { $0.isTakenBack && $0.paysSamePeriod(as: own.transaction) }
            .map { reader.subscription(5, $0, own.renewal) }
    }

    private mutating func transactions(
        of own: AppleTransaction, _ reader: AppleReader
    ) async throws(StoreFailure) -> [AppleTransaction] {
        guard let group = own.subscriptionGroupIdentifier else { return [] }
        var all: [AppleTransaction] = []
        _ = try await history(.group(group), reader) { other in
            if other.originalTransactionId == own.originalTransactionId { all.append(other) }
            return false
        }
        return all
    }
}

extension Observation {
    /// Some seats more were refunded than when it was last asked about.
    mutating func noteSeats(since facts: Facts) {
        guard facts.access == .granted, status == .active, let period, period != facts.period,
            period.refundsSeats
        else { return }
        isRefundedInPart = true
    }
}

extension [AppleTransaction] {
    fileprivate func latest(where isMeant: (AppleTransaction) -> Bool) -> AppleTransaction? {
        filter(isMeant).max { ($0.purchaseDate ?? 0) < ($1.purchaseDate ?? 0) }
    }
}
