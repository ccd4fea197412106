/// Apple's App Store Server API: what it says of a subscription, before it is signed.
///
/// https://developer.apple.com/documentation/appstoreserverapi
enum Apple {
    static let appID: Int64 = 1_599_012_345

    /// The two payloads of a status answer, and what stands around them.
    struct Status {
        var status: Int64
        var transaction: JSONText
        var renewal: JSONText
    }

    /// A status answer about one subscription, signed.
    struct SignedStatus {
        var purchase: Purchase
        var status: Int64
        var transaction: [UInt8]
        var renewal: [UInt8]
    }

    /// What `GET /inApps/v1/subscriptions/{id}` says; nil while there is no transaction.
    static func status(_ purchase: Purchase, _ life: Life, signedAt now: Instant) -> Status? {
        guard let latest = life.latest, life.isRenewable else { return nil }
        return Status(
            status: code(life.phase), transaction: transaction(purchase, latest, signedAt: now),
            renewal: renewal(purchase, life, latest, signedAt: now))
    }

    /// The members that begin an answer about a purchase's customer.
    static func appendApp(_ purchase: Purchase, to json: inout JSONText) {
        json.raw("\"environment\":")
        json.plain(environment(purchase))
        if purchase.environment == .production {
            json.raw(",\"appAppleId\":")
            json.number(appID)
        }
        json.raw(",\"bundleId\":")
        json.string(purchase.app)
    }

    /// StatusResponse, once all payloads are signed: a list for each subscription group.
    static func body(_ asked: Purchase, _ entries: [SignedStatus]) -> JSONText {
        let size = entries.reduce(0) { $0 + $1.transaction.count + $1.renewal.count + 200 }
        var json = JSONText(capacity: size + 300)
        json.raw("{")
        appendApp(asked, to: &json)
        json.raw(",\"data\":[")
        var groups: [String] = []
        for entry in entries where !groups.contains(entry.purchase.group) {
            groups.append(entry.purchase.group)
        }
        for (index, group) in groups.enumerated() {
            json.raw(
                index > 0
                    ? ",{\"subscriptionGroupIdentifier\":" : "{\"subscriptionGroupIdentifier\":")
            json.string(group)
            json.raw(",\"lastTransactions\":[")
            for (place, entry) in entries.filter({ $0.purchase.group == group }).enumerated() {
                if place > 0 { json.raw(",") }
                append(entry, to: &json)
            }
            json.raw("]}")
        }
        json.raw("]}")
        return json
    }

    private static func append(_ entry: SignedStatus, to json: inout JSONText) {
        json.raw("{\"originalTransactionId\":")
        json.plain(entry.purchase.token)
        json.raw(",\"status\":")
        json.number(entry.status)
        json.raw(",\"signedTransactionInfo\":\"")
        json.ready(entry.transaction)
        json.raw("\",\"signedRenewalInfo\":\"")
        json.ready(entry.renewal)
        json.raw("\"}")
    }

    /// HistoryResponse, or RefundHistoryResponse, which says nothing of the app.
    static func body(
        _ asked: Purchase, _ page: AppleHistory.Page, _ signed: [[UInt8]], isRefunds: Bool
    ) -> JSONText {
        var json = JSONText(capacity: signed.reduce(300) { $0 + $1.count + 3 })
        json.raw("{\"revision\":")
        json.plain(page.revision)
        json.raw(",\"hasMore\":")
        json.boolean(page.hasMore)
        if !isRefunds {
            json.raw(",")
            appendApp(asked, to: &json)
        }
        json.raw(",\"signedTransactions\":[")
        for (index, text) in signed.enumerated() {
            json.raw(index > 0 ? ",\"" : "\"")
            json.ready(text)
            json.raw("\"")
        }
        json.raw("]}")
        return json
    }

    /// TransactionInfoResponse.
    static func body(_ signed: [UInt8]) -> JSONText {
        var json = JSONText(capacity: signed.count + 40)
        json.raw("{\"signedTransactionInfo\":\"")
        json.ready(signed)
        json.raw("\"}")
        return json
    }

    /// OrderLookupResponse: 0 valid, 1 invalid.
    static func order(_ signed: [[UInt8]]) -> JSONText {
        var json = JSONText(capacity: signed.reduce(60) { $0 + $1.count + 3 })
        json.raw("{\"status\":0,\"signedTransactions\":[")
        for (index, text) in signed.enumerated() {
            json.raw(index > 0 ? ",\"" : "\"")
            json.ready(text)
            json.raw("\"")
        }
        json.raw("]}")
        return json
    }

    static var noOrder: JSONText {
        var json = JSONText(capacity: 20)
        json.raw("{\"status\":1}")
        return json
    }

    /// 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked.
    static func code(_ phase: Phase) -> Int64 {
        switch phase {
        case .running, .silent: 1
        case .pending, .abandoned, .paused: 2
        case .hold: 3
        case .grace: 4
        case .ended(_, .refunded), .ended(_, .revoked): 5
        case .ended(_, .cancelled), .ended(_, .paymentFailed), .ended(_, .replaced),
            .ended(_, .expired), .ended(_, .priceDeclined), .ended(_, .unavailable):
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
        let kind = purchase.timeline.terms.kind
        if kind == .autoRenewable {
            json.raw(",\"webOrderLineItemId\":")
            json.quoted(AppleNumbers.lineItem(purchase, charge: charge.number))
        }
        json.raw(",\"bundleId\":")
        json.string(purchase.app)
        json.raw(",\"productId\":")
        json.string(charge.product)
        if kind == .autoRenewable {
            json.raw(",\"subscriptionGroupIdentifier\":")
            json.string(purchase.group)
        }
        json.raw(",\"purchaseDate\":")
        json.milliseconds(charge.start)
        json.raw(",\"originalPurchaseDate\":")
        json.milliseconds(purchase.timeline.start)
        if kind == .autoRenewable {
            json.raw(",\"expiresDate\":")
            json.milliseconds(charge.end)
        }
        json.raw(",\"quantity\":")
        json.number(Int64(charge.quantity))
        json.raw(",\"type\":")
        json.plain(typeName(kind))
        let isFamily = purchase.isFamilyShared || charge.givenBack?.cause == .revoke
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
        if let offer = charge.offer { append(offer, to: &json) }
        json.raw(",\"environment\":")
        json.plain(environment(purchase))
        json.raw(",\"transactionReason\":")
        json.plain(charge.isPurchase ? "PURCHASE" : "RENEWAL")
        json.raw(",\"storefront\":\"DEU\",\"storefrontId\":\"143443\",\"price\":")
        json.number(charge.isTrial ? 0 : charge.offer == nil ? 4990 : 990)
        json.raw(",\"currency\":\"EUR\",\"appTransactionId\":")
        json.quoted(appTransaction(purchase))
        json.raw("}")
        return json
    }

    private static func typeName(_ kind: Terms.Kind) -> String {
        switch kind {
        case .autoRenewable: "Auto-Renewable Subscription"
        case .nonRenewing: "Non-Renewing Subscription"
        case .nonConsumable: "Non-Consumable"
        case .consumable: "Consumable"
        }
    }

    /// The name of a kind in the queries of the history.
    static func filterName(_ kind: Terms.Kind) -> String {
        switch kind {
        case .autoRenewable: "AUTO_RENEWABLE"
        case .nonRenewing: "NON_RENEWABLE"
        case .nonConsumable: "NON_CONSUMABLE"
        case .consumable: "CONSUMABLE"
        }
    }

    /// The offer of this period, or of the next one.
    private static func append(_ offer: Offer, to json: inout JSONText) {
        json.raw(",\"offerType\":")
        switch offer.kind {
        case .introductory: json.raw("1")
        case .promotional: json.raw("2")
        case .code: json.raw("3")
        case .winBack: json.raw("4")
        }
        if let id = offer.id {
            json.raw(",\"offerIdentifier\":")
            json.string(id)
        }
        json.raw(",\"offerDiscountType\":\"")
        switch offer.discount {
        case .freeTrial: json.raw("FREE_TRIAL")
        case .payAsYouGo: json.raw("PAY_AS_YOU_GO")
        case .payUpFront: json.raw("PAY_UP_FRONT")
        }
        json.raw("\",\"offerPeriod\":")
        json.plain(offer.period.text)
    }

    private static func appendGivenBack(_ charge: Charge, to json: inout JSONText) {
        guard let givenBack = charge.givenBack else {
            return appendPartGivenBack(charge, to: &json)
        }
        json.raw(",\"revocationReason\":")
        json.number(givenBack.reason ?? 0)
        json.raw(",\"revocationDate\":")
        json.milliseconds(givenBack.at)
        switch givenBack.cause {
        case .refund, .chargeBack, .unacknowledged:
            json.raw(",\"revocationType\":\"REFUND_FULL\",\"revocationPercentage\":100000")
        case .revoke:
            json.raw(",\"revocationType\":\"FAMILY_REVOKE\"")
        }
    }

    /// Of several consumables the money of some went back.
    private static func appendPartGivenBack(_ charge: Charge, to json: inout JSONText) {
        guard let instant = charge.moneyBackAt, let count = charge.moneyBackQuantity else { return }
        json.raw(",\"revocationReason\":0,\"revocationDate\":")
        json.milliseconds(instant)
        json.raw(",\"revocationType\":\"REFUND_PRORATED\",\"revocationPercentage\":")
        json.number(Int64(100_000 * count / max(1, charge.quantity)))
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
        case .ended(_, .expired):
            json.raw(",\"expirationIntent\":5,\"isInBillingRetryPeriod\":false")
        case .ended(_, .priceDeclined):
            json.raw(",\"expirationIntent\":3,\"isInBillingRetryPeriod\":false")
        case .ended(_, .unavailable):
            json.raw(",\"expirationIntent\":4,\"isInBillingRetryPeriod\":false")
        case .ended:
            json.raw(",\"expirationIntent\":1,\"isInBillingRetryPeriod\":false")
        }
        switch life.priceIncrease {
        case .asked: json.raw(",\"priceIncreaseStatus\":0")
        case .accepted: json.raw(",\"priceIncreaseStatus\":1")
        case nil: break
        }
        if let offer = purchase.timeline.terms.firstOffer, offer.discount == .payAsYouGo,
            life.charges.count < offer.cycles
        {
            append(offer, to: &json)
        }
        json.raw(",\"renewalPrice\":")
        json.number(life.priceIncrease == nil ? 4990 : 5990)
        json.raw(",\"currency\":\"EUR\",\"signedDate\":")
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
    static func isUUID(_ text: String) -> Bool {
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
