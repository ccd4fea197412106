/// Apple's App Store Server API: what it says of a subscription, before it is signed.
///
/// https://developer.apple.com/documentation/appstoreserverapi
enum Apple {
    static let appID: Int64 = 1_599_012_345
    static let group = "21098765"

    /// The two payloads of a status answer, and what stands around them.
    struct Status {
        var status: Int64
        var transaction: JSONText
        var renewal: JSONText
    }

    /// What `GET /inApps/v1/subscriptions/{id}` says; nil while there is no transaction.
    static func status(_ purchase: Purchase, _ life: Life, signedAt now: Instant) -> Status? {
        guard let latest = life.latest else { return nil }
        return Status(
            status: code(life.phase), transaction: transaction(purchase, latest, signedAt: now),
            renewal: renewal(purchase, life, latest, signedAt: now))
    }

    /// The whole answer, once both payloads are signed.
    static func body(
        _ purchase: Purchase, status: Int64, transaction: [UInt8], renewal: [UInt8]
    ) -> [UInt8] {
        var json = JSONText(capacity: transaction.count + renewal.count + 400)
        json.raw("{\"environment\":")
        json.plain(environment(purchase))
        if purchase.environment == .production {
            json.raw(",\"appAppleId\":")
            json.number(appID)
        }
        json.raw(",\"bundleId\":")
        json.string(purchase.app)
        json.raw(",\"data\":[{\"subscriptionGroupIdentifier\":")
        json.plain(group)
        json.raw(",\"lastTransactions\":[{\"originalTransactionId\":")
        json.plain(purchase.token)
        json.raw(",\"status\":")
        json.number(status)
        json.raw(",\"signedTransactionInfo\":\"")
        json.ready(transaction)
        json.raw("\",\"signedRenewalInfo\":\"")
        json.ready(renewal)
        json.raw("\"}]}]}")
        return json.bytes
    }

    /// 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked.
    private static func code(_ phase: Phase) -> Int64 {
        switch phase {
        case .running, .silent: 1
        case .pending, .abandoned, .paused: 2
        case .hold: 3
        case .grace: 4
        case .ended(_, .refunded), .ended(_, .revoked): 5
        case .ended(_, .cancelled), .ended(_, .paymentFailed), .ended(_, .replaced),
            .ended(_, .expired):
            2
        }
    }

    private static func environment(_ purchase: Purchase) -> String {
        purchase.environment == .production ? "Production" : "Sandbox"
    }

    /// JWSTransactionDecodedPayload of one charge.
    static func transaction(
        _ purchase: Purchase, _ charge: Charge, signedAt now: Instant
    ) -> JSONText {
        var json = JSONText()
        json.raw("{\"transactionId\":")
        json.quoted(AppleNumbers.transaction(purchase, charge: charge.number))
        json.raw(",\"originalTransactionId\":")
        json.plain(purchase.token)
        json.raw(",\"webOrderLineItemId\":")
        json.quoted(AppleNumbers.lineItem(purchase, charge: charge.number))
        json.raw(",\"bundleId\":")
        json.string(purchase.app)
        json.raw(",\"productId\":")
        json.string(charge.product)
        json.raw(",\"subscriptionGroupIdentifier\":")
        json.plain(group)
        json.raw(",\"purchaseDate\":")
        json.milliseconds(charge.start)
        json.raw(",\"originalPurchaseDate\":")
        json.milliseconds(purchase.timeline.start)
        json.raw(",\"expiresDate\":")
        json.milliseconds(charge.end)
        json.raw(",\"quantity\":1,\"type\":\"Auto-Renewable Subscription\"")
        let isFamily = charge.givenBack?.cause == .revoke
        if let user = purchase.user, !isFamily, isUUID(user) {
            json.raw(",\"appAccountToken\":")
            json.string(user)
        }
        json.raw(",\"inAppOwnershipType\":")
        json.plain(isFamily ? "FAMILY_SHARED" : "PURCHASED")
        json.raw(",\"signedDate\":")
        json.milliseconds(now)
        appendGivenBack(charge, to: &json)
        if charge.isUpgraded { json.raw(",\"isUpgraded\":true") }
        if charge.isTrial {
            json.raw(",\"offerType\":1,\"offerDiscountType\":\"FREE_TRIAL\",\"offerPeriod\":")
            json.plain((purchase.timeline.terms.trial ?? .none).text)
        }
        json.raw(",\"environment\":")
        json.plain(environment(purchase))
        json.raw(",\"transactionReason\":")
        json.plain(charge.isPurchase ? "PURCHASE" : "RENEWAL")
        json.raw(",\"storefront\":\"DEU\",\"storefrontId\":\"143443\",\"price\":")
        json.number(charge.isTrial ? 0 : 4990)
        json.raw(",\"currency\":\"EUR\",\"appTransactionId\":")
        json.quoted(appTransaction(purchase))
        json.raw("}")
        return json
    }

    private static func appendGivenBack(_ charge: Charge, to json: inout JSONText) {
        guard let givenBack = charge.givenBack else { return }
        json.raw(",\"revocationReason\":0,\"revocationDate\":")
        json.milliseconds(givenBack.at)
        switch givenBack.cause {
        case .refund:
            json.raw(",\"revocationType\":\"REFUND_FULL\",\"revocationPercentage\":100000")
        case .revoke:
            json.raw(",\"revocationType\":\"FAMILY_REVOKE\"")
        }
    }

    /// JWSRenewalInfoDecodedPayload.
    private static func renewal(
        _ purchase: Purchase, _ life: Life, _ latest: Charge, signedAt now: Instant
    ) -> JSONText {
        var json = JSONText()
        json.raw("{\"originalTransactionId\":")
        json.plain(purchase.token)
        json.raw(",\"autoRenewProductId\":")
        json.string(life.productAtRenewal ?? latest.product)
        json.raw(",\"productId\":")
        json.string(latest.product)
        json.raw(",\"autoRenewStatus\":")
        json.number(life.autoRenews ? 1 : 0)
        switch life.phase {
        case .pending, .abandoned, .running, .silent, .paused: break
        case .grace(_, let until):
            json.raw(",\"expirationIntent\":2,\"isInBillingRetryPeriod\":true")
            json.raw(",\"gracePeriodExpiresDate\":")
            json.milliseconds(until)
        case .hold: json.raw(",\"expirationIntent\":2,\"isInBillingRetryPeriod\":true")
        case .ended(_, .paymentFailed):
            json.raw(",\"expirationIntent\":2,\"isInBillingRetryPeriod\":false")
        case .ended:
            json.raw(",\"expirationIntent\":1,\"isInBillingRetryPeriod\":false")
        }
        json.raw(",\"renewalPrice\":4990,\"currency\":\"EUR\",\"signedDate\":")
        json.milliseconds(now)
        json.raw(",\"environment\":")
        json.plain(environment(purchase))
        json.raw(",\"recentSubscriptionStartDate\":")
        json.milliseconds(life.runStart)
        if case .ended = life.phase {
        } else if life.autoRenews {
            json.raw(",\"renewalDate\":")
            json.milliseconds(latest.end)
        }
        json.raw(",\"appTransactionId\":")
        json.quoted(appTransaction(purchase))
        json.raw("}")
        return json
    }

    private static func appTransaction(_ purchase: Purchase) -> Int64 {
        704_000_123_000_000_000 + Int64(purchase.number)
    }

    /// Apple takes only UUIDs as an account token.
    private static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }

    static func failure(_ code: Int64, _ message: StaticString) -> JSONText {
        var json = JSONText(capacity: 120)
        json.raw("{\"errorCode\":")
        json.number(code)
        json.raw(",\"errorMessage\":\"")
        json.raw(message)
        json.raw("\"}")
        return json
    }
}
