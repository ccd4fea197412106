import Renewal

/// A payload that Apple signs, which says when it was signed.
protocol AppleSignedPayload: Sendable {
    /// Milliseconds since 1970.
    var signedDate: Int64? { get }

    /// Throws `.malformed` with the member that is of another type.
    init(_ json: JSONObject) throws(StoreFailure)
}

/// The payload of `signedTransactionInfo`. Dates are milliseconds since 1970.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload>
struct AppleTransaction: AppleSignedPayload, Hashable {
    let transactionId: OrderID?
    let originalTransactionId: OrderID?
    let webOrderLineItemId: OrderID?
    /// Missing on a few old non-consumables.
    let bundleId: AppID?
    let productId: ProductID?
    let subscriptionGroupIdentifier: GroupID?
    let purchaseDate: Int64?
    let originalPurchaseDate: Int64?
    let expiresDate: Int64?
    let signedDate: Int64?
    /// Such as `Auto-Renewable Subscription`.
    let type: String?
    let inAppOwnershipType: String?
    /// What the app named the buyer with; never on a family's copy.
    let appAccountToken: String?
    let revocationDate: Int64?
    let revocationType: String?
    /// In thousandths of a percent; less than 100000 where only some of several were refunded.
    let revocationPercentage: Int?
    let quantity: Int?
    let multiSeatInfo: MultiSeatInfo?
    /// Whether it names an `additionalTransactionReason`, such as `SEAT_ADDITION`: it is another
    /// transaction in a period that is paid already.
    let isAdditional: Bool
    let advancedCommerceInfo: AdvancedCommerceInfo?
    /// `MONTHLY` where the buyer pays a longer commitment month by month, or `BILLED_UPFRONT`.
    let billingPlanType: String?
    let commitmentInfo: CommitmentInfo?
    /// The name that the subscription had before a migration.
    let previousOriginalTransactionId: OrderID?
    /// True only on a transaction that an upgrade has replaced.
    let isUpgraded: Bool?
    let offerType: Int?
    let offerDiscountType: String?
    let environment: String?
}

extension AppleTransaction {
    /// Seats of a subscription that is bought for several people (sandbox only, 1.23).
    struct MultiSeatInfo: Hashable, Sendable {
        let revokedSeatQuantity: Int?
    }

    /// Where in its commitment the transaction is. Each member for itself: none spoils another.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/transactioncommitmentinfo>
    struct CommitmentInfo: Hashable, Sendable {
        /// From 1 to `totalBillingPeriods`.
        let billingPeriodNumber: Int64?
        let totalBillingPeriods: Int64?
        let commitmentExpiresDate: Int64?
    }

    /// What was bought in one transaction of the Advanced Commerce API: App Store Server API,
    /// *advancedCommerceTransactionInfo*.
    struct AdvancedCommerceInfo: Hashable, Sendable {
        /// Nil where one of them cannot be read.
        let items: [Item]?

        struct Item: Hashable, Sendable {
            let sku: ProductID?
            let revocationDate: Int64?
        }
    }

    init(_ json: JSONObject) throws(StoreFailure) {
        transactionId = try json.id("transactionId")
        originalTransactionId = try json.id("originalTransactionId")
        webOrderLineItemId = try json.id("webOrderLineItemId")
        bundleId = try json.id("bundleId")
        productId = try json.id("productId")
        subscriptionGroupIdentifier = try json.id("subscriptionGroupIdentifier")
        purchaseDate = try json.integer("purchaseDate")
        originalPurchaseDate = try json.integer("originalPurchaseDate")
        expiresDate = try json.integer("expiresDate")
        signedDate = try json.integer("signedDate")
        type = try json.text("type")
        inAppOwnershipType = try json.text("inAppOwnershipType")
        appAccountToken = try json.text("appAccountToken")
        revocationDate = try json.integer("revocationDate")
        revocationType = try json.text("revocationType")
        revocationPercentage = try json.integer("revocationPercentage").map(Int.init)
        quantity = (try? json.integer("quantity")).map(Int.init)
        multiSeatInfo = try json.has("multiSeatInfo") ? MultiSeatInfo(json) : nil
        isAdditional = try json.has("additionalTransactionReason")
        advancedCommerceInfo =
            try json.has("advancedCommerceInfo") ? AdvancedCommerceInfo(json) : nil
        billingPlanType = try? json.text("billingPlanType")
        commitmentInfo = (try? json.object("commitmentInfo")).map(CommitmentInfo.init)
        previousOriginalTransactionId = try json.id("previousOriginalTransactionId")
        isUpgraded = try json.flag("isUpgraded")
        offerType = try json.integer("offerType").map(Int.init)
        offerDiscountType = try json.text("offerDiscountType")
        environment = try json.text("environment")
    }
}

extension AppleTransaction.MultiSeatInfo {
    /// What cannot be read is as if it were not said.
    fileprivate init(_ transaction: JSONObject) {
        let info = try? transaction.object("multiSeatInfo")
        revokedSeatQuantity = (try? info?.integer("revokedSeatQuantity")).map(Int.init)
    }
}

extension AppleTransaction.CommitmentInfo {
    fileprivate init(_ json: JSONObject) {
        billingPeriodNumber = try? json.integer("billingPeriodNumber")
        totalBillingPeriods = try? json.integer("totalBillingPeriods")
        commitmentExpiresDate = try? json.integer("commitmentExpiresDate")
    }
}

extension AppleTransaction.AdvancedCommerceInfo {
    fileprivate init(_ transaction: JSONObject) {
        items = try? Self.items(transaction)
    }

    private static func items(_ transaction: JSONObject) throws(StoreFailure) -> [Item]? {
        guard let list = try transaction.object("advancedCommerceInfo")?.objects("items") else {
            return nil
        }
        var items: [Item] = []
        for item in list {
            items.append(
                Item(
                    sku: try item.id("SKU"),
                    revocationDate: try item.integer("revocationDate")))
        }
        return items
    }
}
