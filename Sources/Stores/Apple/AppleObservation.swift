import Renewal

/// One subscription of an answer, its signatures verified.
struct AppleSubscription: Sendable {
    let status: Int
    let transaction: AppleTransaction
    let renewal: AppleRenewal?
}

extension AppleSubscription {
    /// Best first: running, then what may run again, then the latest to expire; a transaction
    /// that an upgrade has replaced comes last.
    static func precedes(_ left: AppleSubscription, _ right: AppleSubscription) -> Bool {
        left.rank != right.rank
            ? left.rank < right.rank
            : left.expiry > right.expiry
    }

    private var expiry: Int64 { transaction.expiresDate?.value ?? 0 }

    var isRunning: Bool { (status == 1 || status == 4) && !isUpgraded }
    var isUpgraded: Bool { transaction.isUpgraded == true }
    var isFamilyShared: Bool { transaction.inAppOwnershipType == "FAMILY_SHARED" }

    private var rank: Int {
        guard !isUpgraded else { return 4 }
        return switch status {
        case 1: 0
        case 4: 1
        case 3: 2
        default: 3
        }
    }

    /// In our words.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/status>
    ///
    /// - Throws: `.malformed` for a status that is not known or contradicts the dates.
    func observation(
        in environment: StoreEnvironment, at now: Timestamp
    ) throws(StoreFailure) -> Observation {
        let dates = try Dates(self, window: DateWindow(now: now))
        try refuseContradiction(dates)
        let standing = try standing(dates)
        guard let product = transaction.productId, !product.isEmpty else {
            throw .malformed(field: "signedTransactionInfo.productId")
        }
        return Observation(
            environment: environment, kind: try transaction.kind(), standing: standing,
            items: [Item(names: [product], expiresAt: dates.end)],
            originalID: transaction.originalTransactionId, orderID: transaction.transactionId,
            period: transaction.webOrderLineItemId ?? transaction.transactionId,
            paidThrough: dates.expires, expiresAt: dates.end,
            willRenew: renewal?.autoRenewStatus.map { $0 == 1 }, phase: transaction.phase,
            purchasedAt: dates.purchased, signals: signals,
            group: transaction.subscriptionGroupIdentifier,
            usedIntroductory: transaction.offerType == 1 ? true : nil, statedAt: dates.stated,
            words: words(dates))
    }

    private func standing(_ dates: Dates) throws(StoreFailure) -> Standing {
        if status == 5 || dates.revoked != nil {
            return transaction.isFamilyRemoval
                ? .removedFromFamily(at: dates.revoked) : .refunded(at: dates.revoked)
        }
        if isUpgraded { return .replaced(at: nil) }
        return switch status {
        case 1: .active
        case 2: .ended(endCause, at: dates.expires)
        case 3: .hold
        case 4: .grace(expiryMovedUnpaid: false)
        default: throw .malformed(field: "status")
        }
    }

    /// The status is not signed, but the dates are: what they rule out is no verdict.
    private func refuseContradiction(_ dates: Dates) throws(StoreFailure) {
        guard status == 2 || status == 3, dates.revoked == nil, !isUpgraded,
            let expires = dates.expires, let stated = dates.stated
        else { return }
        guard expires <= stated + .days(1) else {
            throw .malformed(field: "status contradicts expiresDate")
        }
    }

    private var endCause: EndCause {
        switch renewal?.expirationIntent {
        case 1: .userCancelled
        case 2: .paymentFailed
        case 3: .priceIncreaseDeclined
        case 4: .productUnavailable
        default: .periodEnded
        }
    }

    private var signals: Set<Signal> {
        guard isRunning, let renewal else { return [] }
        var signals: Set<Signal> = []
        if renewal.priceIncreaseStatus == 0 { signals.insert(.priceIncreasePending) }
        if renewal.autoRenewStatus == 1, let next = renewal.autoRenewProductId,
            next != transaction.productId
        {
            signals.insert(.productChangeScheduled)
        }
        return signals
    }

    private func words(_ dates: Dates) -> String {
        var words = ["status \(status)"]
        if let intent = renewal?.expirationIntent { words.append("expirationIntent \(intent)") }
        if let renews = renewal?.autoRenewStatus { words.append("autoRenewStatus \(renews)") }
        if isUpgraded { words.append("isUpgraded") }
        for (name, date) in [
            ("expiresDate", dates.expires), ("gracePeriodExpiresDate", dates.grace),
            ("revocationDate", dates.revoked),
        ] {
            if let date { words.append("\(name) \(CalendarTime.text(date))") }
        }
        return words.joined(separator: ", ")
    }
}

/// The dates of a subscription, each checked to be one.
private struct Dates {
    /// End of the paid period; nil where a product has none.
    let expires: Timestamp?
    let grace: Timestamp?
    let revoked: Timestamp?
    let purchased: Timestamp?
    let stated: Timestamp?
    /// End of access.
    let end: Timestamp?

    init(_ subscription: AppleSubscription, window: DateWindow) throws(StoreFailure) {
        let transaction = subscription.transaction
        let outer = "signedTransactionInfo"
        expires = try window.date(
            milliseconds: transaction.expiresDate?.value, field: "\(outer).expiresDate")
        revoked = try window.date(
            milliseconds: transaction.revocationDate?.value, field: "\(outer).revocationDate")
        purchased = try window.date(
            milliseconds: transaction.originalPurchaseDate?.value,
            field: "\(outer).originalPurchaseDate")
        grace = try window.date(
            milliseconds: subscription.renewal?.gracePeriodExpiresDate?.value,
            field: "signedRenewalInfo.gracePeriodExpiresDate")
        let signed = [transaction.signedDate, subscription.renewal?.signedDate]
            .compactMap { $0?.value }
        stated = try window.date(milliseconds: signed.max(), field: "signedDate")
        guard expires != nil || revoked != nil else {
            throw .malformed(field: "\(outer).expiresDate")
        }
        end = subscription.status == 4 ? grace ?? expires : expires
    }
}

extension AppleTransaction {
    /// <https://developer.apple.com/documentation/appstoreserverapi/type>
    func kind() throws(StoreFailure) -> ProductKind {
        switch type {
        // It has an expiry date and a subscription status, so it can be nothing else.
        case "Auto-Renewable Subscription", nil: .autoRenewable
        case "Non-Renewing Subscription": .nonRenewing
        case "Non-Consumable": .nonConsumable
        case "Consumable": .consumable
        default: throw .malformed(field: "signedTransactionInfo.type")
        }
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/offertype>
    var phase: Phase {
        guard offerType == 1 else { return .regular }
        return offerDiscountType == "FREE_TRIAL" ? .trial : .introductory
    }

    var isFamilyRemoval: Bool {
        revocationType == "FAMILY_REVOKE" || inAppOwnershipType == "FAMILY_SHARED"
    }
}

extension StoreEnvironment {
    /// As Apple writes it. Xcode's environments, whose data nobody has signed, have no case here.
    var appleName: String {
        switch self {
        case .production: "Production"
        case .sandbox: "Sandbox"
        }
    }

    var other: StoreEnvironment {
        switch self {
        case .production: .sandbox
        case .sandbox: .production
        }
    }
}
