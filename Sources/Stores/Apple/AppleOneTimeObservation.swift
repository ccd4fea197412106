import Renewal

extension AppleTransaction {
    var isSubscription: Bool {
        switch type {
        case "Auto-Renewable Subscription": true
        case "Non-Renewing Subscription", "Non-Consumable", "Consumable": false
        default: expiresDate != nil
        }
    }

    /// What a transaction of a one-time product comes to: it is in force unless it was taken
    /// back. How long a non-renewing one lasts is the operator's to say.
    ///
    /// - Throws: `.malformed` for what cannot be.
    func oneTimeObservation(by reader: AppleReader) throws(StoreFailure) -> Observation {
        let window = DateWindow(now: reader.time.now)
        let outer = "signedTransactionInfo"
        let revoked =
            try window.date(
                milliseconds: revocationDate, field: "\(outer).revocationDate")
            ?? itemsRevokedAt
        let purchased = try window.date(
            milliseconds: firstPurchase, field: "\(outer).purchaseDate")
        guard let product = productId, !product.isEmpty else {
            throw .malformed(field: "\(outer).productId")
        }
        guard type != nil else { throw .malformed(field: "\(outer).type") }
        let status: SubscriptionStatus =
            revoked == nil
            ? .active : isFamilyRemoval ? .removedFromFamily(at: revoked) : .refunded(at: revoked)
        var observation = Observation(
            environment: reader.environment, kind: kind, status: status,
            items: items(of: product, until: nil), originalID: originalTransactionId,
            orderID: transactionId, period: oneTimePeriod, willRenew: false, phase: .regular,
            purchasedAt: purchased,
            statedAt: try window.date(
                milliseconds: signedDate, field: "\(outer).signedDate") ?? reader.time.told,
            words: oneTimeWords(purchased, revoked))
        observation.lostParts = lostParts
        observation.accountToken = appAccountToken.map(UserID.init)
        observation.ownership = Ownership(appleName: inAppOwnershipType)
        return observation
    }

    /// Of several consumables some may be refunded, and later some more: each time is told.
    private var oneTimePeriod: OrderID? {
        guard type == "Consumable", revocationDate != nil, let share = revocationPercentage,
            share < 100_000
        else { return transactionId }
        return transactionId.map { OrderID("\($0) refunded \(share)") }
    }

    /// A restored transaction was bought with its original.
    private var firstPurchase: Int64? {
        transactionId == originalTransactionId
            ? purchaseDate ?? originalPurchaseDate : originalPurchaseDate ?? purchaseDate
    }

    private func oneTimeWords(_ purchased: Timestamp?, _ revoked: Timestamp?) -> String {
        var words = [type ?? "-"]
        if let purchased { words.append("purchaseDate \(purchased.text)") }
        if let revoked { words.append("revocationDate \(revoked.text)") }
        if let share = revocationPercentage, share < 100_000 {
            words.append("revocationPercentage \(share)")
        }
        return words.joined(separator: ", ")
    }
}
