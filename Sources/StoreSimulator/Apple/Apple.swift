/// Apple's App Store Server API: what it says of a subscription, before it is signed.
///
/// https://developer.apple.com/documentation/appstoreserverapi
enum Apple {
    static let appID: Int64 = 1_599_012_345

    /// The two payloads of a status answer, and what stands around them.
    struct Status {
        var original: String
        var status: Int64
        var transaction: JSON
        var renewal: JSON
    }

    /// A status answer about one subscription, signed.
    struct SignedStatus {
        var purchase: Purchase
        var original: String
        var status: Int64
        var transaction: [UInt8]
        var renewal: [UInt8]
    }

    /// What `GET /inApps/v1/subscriptions/{id}` says; nil while there is no transaction.
    static func status(_ purchase: Purchase, _ life: Life, signedAt now: Instant) -> Status? {
        guard let latest = life.shown, life.isRenewable else { return nil }
        return Status(
            original: original(purchase, latest), status: code(life.phase),
            transaction: transaction(purchase, latest, signedAt: now),
            renewal: renewal(purchase, life, latest, signedAt: now))
    }

    /// The members that begin an answer about a purchase's customer.
    static func appMembers(
        _ app: String, _ environment: Purchase.Environment, to json: inout JSONWriter
    ) {
        json.member("environment", name(environment))
        json.member("appAppleId", environment == .production ? appID : nil)
        json.member("bundleId", app)
    }

    /// StatusResponse, once all payloads are signed: a list for each subscription group.
    static func body(_ asked: Purchase, _ entries: [SignedStatus]) -> JSON {
        let size = entries.reduce(300) { $0 + $1.transaction.count + $1.renewal.count + 200 }
        var groups: [String] = []
        for entry in entries where !groups.contains(entry.purchase.group) {
            groups.append(entry.purchase.group)
        }
        return .object(capacity: size) { json in
            appMembers(asked.app, asked.environment, to: &json)
            json.objects("data", groups) { json, group in
                json.member("subscriptionGroupIdentifier", group)
                let ofGroup = entries.filter { $0.purchase.group == group }
                json.objects("lastTransactions", ofGroup) { json, entry in
                    json.member("originalTransactionId", entry.original)
                    json.member("status", entry.status)
                    json.member("signedTransactionInfo", plain: entry.transaction)
                    json.member("signedRenewalInfo", plain: entry.renewal)
                }
            }
        }
    }

    /// HistoryResponse, or RefundHistoryResponse, which says nothing of the app.
    static func body(
        _ asked: Purchase, _ page: AppleHistory.Page, _ signed: [[UInt8]], isRefunds: Bool
    ) -> JSON {
        .object(capacity: signed.reduce(300) { $0 + $1.count + 3 }) { json in
            json.member("revision", page.revision)
            json.member("hasMore", page.hasMore)
            if !isRefunds { appMembers(asked.app, asked.environment, to: &json) }
            json.array("signedTransactions", plain: signed)
        }
    }

    /// TransactionInfoResponse.
    static func body(_ signed: [UInt8]) -> JSON {
        .object(capacity: signed.count + 40) { $0.member("signedTransactionInfo", plain: signed) }
    }

    /// OrderLookupResponse.
    static func order(_ signed: [[UInt8]]) -> JSON {
        .object(capacity: signed.reduce(60) { $0 + $1.count + 3 }) { json in
            json.member("status", 0)
            json.array("signedTransactions", plain: signed)
        }
    }

    /// The same for an order id that is none.
    static let noOrder = JSON.object { $0.member("status", 1) }

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

    private static func name(_ environment: Purchase.Environment) -> String {
        environment == .production ? "Production" : "Sandbox"
    }

    /// JWSTransactionDecodedPayload of one charge.
    static func transaction(_ purchase: Purchase, _ charge: Charge, signedAt now: Instant) -> JSON {
        let kind = purchase.timeline.terms.kind
        let isRenewable = kind == .autoRenewable
        let isTakenAway = charge.givenBack?.cause == .revoke && !purchase.buyer.isAssigned
        let isFamily = purchase.isFamilyShared || isTakenAway
        let lineItem = AppleNumbers.lineItem(purchase, charge: charge.number)
        return .object { json in
            json.member(
                "transactionId", quoted: AppleNumbers.transaction(purchase, charge: charge.number))
            json.member("originalTransactionId", original(purchase, charge))
            json.member("webOrderLineItemId", quoted: isRenewable ? lineItem : nil)
            json.member("bundleId", purchase.app)
            json.member("productId", charge.product)
            json.member("subscriptionGroupIdentifier", isRenewable ? purchase.group : nil)
            json.member("purchaseDate", charge.start.milliseconds)
            json.member("originalPurchaseDate", purchase.timeline.start.milliseconds)
            json.member("expiresDate", isRenewable ? charge.end.milliseconds : nil)
            json.member("quantity", charge.quantity)
            json.member("type", purchase.timeline.terms.typeName ?? typeName(kind))
            if let user = purchase.user, !isFamily, !purchase.buyer.isAssigned, isUUID(user) {
                json.member("appAccountToken", user)
            }
            json.member(
                "inAppOwnershipType",
                purchase.buyer.isAssigned ? "ASSIGNED" : isFamily ? "FAMILY_SHARED" : "PURCHASED")
            json.member("signedDate", now.milliseconds)
            revocation(charge, to: &json)
            if charge.isUpgraded { json.member("isUpgraded", true) }
            if let offer = charge.offer { members(of: offer, to: &json) }
            json.member("environment", name(purchase.environment))
            json.member("transactionReason", charge.isPurchase ? "PURCHASE" : "RENEWAL")
            json.member("storefront", "DEU")
            json.member("storefrontId", "143443")
            json.member("price", charge.isTrial ? 0 : charge.offer == nil ? 4990 : 990)
            json.member("currency", "EUR")
            json.member("appTransactionId", quoted: appTransaction(purchase))
            news(purchase, charge, to: &json)
        }
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
    private static func members(of offer: Offer, to json: inout JSONWriter) {
        json.member("offerType", number(offer.kind))
        json.member("offerIdentifier", offer.id)
        json.member("offerDiscountType", name(offer.discount))
        json.member("offerPeriod", offer.period.text)
    }

    private static func number(_ kind: Offer.Kind) -> Int {
        switch kind {
        case .introductory: 1
        case .promotional: 2
        case .code: 3
        case .winBack: 4
        case .retention: 5
        }
    }

    private static func name(_ discount: Offer.Discount) -> String {
        switch discount {
        case .freeTrial: "FREE_TRIAL"
        case .payAsYouGo: "PAY_AS_YOU_GO"
        case .payUpFront: "PAY_UP_FRONT"
        case .oneTime: "ONE_TIME"
        }
    }

    /// What went back, and when; of several consumables it may be the money of some.
    private static func revocation(_ charge: Charge, to json: inout JSONWriter) {
        if let givenBack = charge.givenBack {
            json.member("revocationReason", givenBack.reason ?? 0)
            json.member("revocationDate", givenBack.at.milliseconds)
            let isFamily = givenBack.cause == .revoke
            json.member("revocationType", isFamily ? "FAMILY_REVOKE" : "REFUND_FULL")
            json.member("revocationPercentage", isFamily ? nil : 100_000)
        } else if let instant = charge.moneyBackAt, let count = charge.moneyBackQuantity {
            json.member("revocationReason", 0)
            json.member("revocationDate", instant.milliseconds)
            json.member("revocationType", "REFUND_PRORATED")
            json.member("revocationPercentage", 100_000 * count / max(1, charge.quantity))
        }
    }

    /// JWSRenewalInfoDecodedPayload.
    private static func renewal(
        _ purchase: Purchase, _ life: Life, _ latest: Charge, signedAt now: Instant
    ) -> JSON {
        .object { json in
            json.member("originalTransactionId", original(purchase, latest))
            json.member("autoRenewProductId", life.productAtRenewal ?? latest.product)
            json.member("productId", latest.product)
            json.member("autoRenewStatus", life.autoRenews ? 1 : 0)
            if let expiration = expiration(life.phase) {
                json.member("expirationIntent", expiration.intent)
                json.member("isInBillingRetryPeriod", expiration.isRetrying)
            }
            if case .grace(_, let until) = life.phase {
                json.member("gracePeriodExpiresDate", until.milliseconds)
            }
            json.member("priceIncreaseStatus", life.priceIncrease.map { $0 == .asked ? 0 : 1 })
            if let offer = purchase.timeline.terms.firstOffer, offer.discount == .payAsYouGo,
                life.charges.count < offer.cycles
            {
                members(of: offer, to: &json)
            }
            json.member("renewalPrice", life.priceIncrease == nil ? 4990 : 5990)
            json.member("currency", "EUR")
            json.member("signedDate", now.milliseconds)
            json.member("environment", name(purchase.environment))
            json.member("recentSubscriptionStartDate", life.runStart.milliseconds)
            if case .ended = life.phase {
            } else if life.autoRenews {
                json.member("renewalDate", latest.end.milliseconds)
            }
            json.member("appTransactionId", quoted: appTransaction(purchase))
            newsOfRenewal(life, latest, to: &json)
        }
    }

    /// Why it expired or is about to, and whether Apple still tries to collect.
    static func expiration(_ phase: Phase) -> (intent: Int64, isRetrying: Bool)? {
        switch phase {
        case .pending, .abandoned, .running, .silent, .paused: nil
        case .grace, .hold: (2, true)
        case .ended(_, .paymentFailed): (2, false)
        case .ended(_, .priceDeclined): (3, false)
        case .ended(_, .unavailable): (4, false)
        case .ended(_, .expired): (5, false)
        case .ended: (1, false)
        }
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

    static func failure(_ code: Int64, _ message: String) -> JSON {
        .object(capacity: 120) { json in
            json.member("errorCode", code)
            json.member("errorMessage", message)
        }
    }
}
