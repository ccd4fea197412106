import Renewal

/// The answer of Get All Subscription Statuses: every subscription of the customer in the app.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/statusresponse>
struct AppleStatusResponse: Decodable, Sendable {
    let environment: String?
    let bundleId: AppID?
    let data: [Group]

    /// App Store Server API, *SubscriptionGroupIdentifierItem*.
    struct Group: Decodable, Sendable {
        let subscriptionGroupIdentifier: GroupID?
        let lastTransactions: [Entry]?
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/lasttransactionsitem>
    struct Entry: Decodable, Sendable {
        let originalTransactionId: OrderID?
        /// 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked; others are kept as they are.
        let status: Int
        let signedTransactionInfo: String
        let signedRenewalInfo: String?
    }
}

/// The answer of Get Transaction Info.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/transactioninforesponse>
struct AppleTransactionResponse: Decodable, Sendable {
    let signedTransactionInfo: String
}

/// A page of the transaction history or of the refund history: at most 20 transactions.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/historyresponse>
/// <https://developer.apple.com/documentation/appstoreserverapi/refundhistoryresponse>
struct AppleHistoryResponse: Decodable, Sendable {
    /// Opaque; asks for the next page.
    let revision: String?
    let hasMore: Bool?
    let bundleId: AppID?
    let environment: String?
    let signedTransactions: [String]?
}

/// The answer of Look Up Order ID.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/orderlookupresponse>
struct AppleOrderResponse: Decodable, Sendable {
    /// 0 for an order of the app, 1 for none.
    let status: Int
    let signedTransactions: [String]?
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
    let purchaseDate: LenientInteger?
    let originalPurchaseDate: LenientInteger?
    let expiresDate: LenientInteger?
    let signedDate: LenientInteger?
    /// Such as `Auto-Renewable Subscription`.
    let type: String?
    let inAppOwnershipType: String?
    /// What the app named the buyer with; never on a family's copy.
    let appAccountToken: String?
    let revocationDate: LenientInteger?
    let revocationType: String?
    /// In thousandths of a percent; less than 100000 where only some of several were refunded.
    let revocationPercentage: Int?
    let quantity: Tolerant<Int>?
    let multiSeatInfo: Tolerant<MultiSeatInfo>?
    /// Such as `SEAT_ADDITION`: another transaction in a period that is paid already.
    let additionalTransactionReason: Tolerant<String>?
    let advancedCommerceInfo: Tolerant<AdvancedCommerceInfo>?
    /// `MONTHLY` where the buyer pays a longer commitment month by month, or `BILLED_UPFRONT`.
    let billingPlanType: Tolerant<String>?
    let commitmentInfo: Tolerant<CommitmentInfo>?
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
    struct MultiSeatInfo: Decodable, Hashable, Sendable {
        let revokedSeatQuantity: Int?
    }

    /// Where in its commitment the transaction is. Each member for itself: none spoils another.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/transactioncommitmentinfo>
    struct CommitmentInfo: Decodable, Hashable, Sendable {
        /// From 1 to `totalBillingPeriods`.
        let billingPeriodNumber: LooseInteger?
        let totalBillingPeriods: LooseInteger?
        let commitmentExpiresDate: LooseInteger?
    }

    /// What was bought in one transaction of the Advanced Commerce API: App Store Server API,
    /// *advancedCommerceTransactionInfo*.
    struct AdvancedCommerceInfo: Decodable, Hashable, Sendable {
        let items: [Item]?

        struct Item: Decodable, Hashable, Sendable {
            let sku: ProductID?
            let revocationDate: LenientInteger?

            private enum CodingKeys: String, CodingKey {
                case sku = "SKU"
                case revocationDate
            }
        }
    }
}

/// The payload of `signedRenewalInfo`. It names no bundle id: it counts only beside a verified
/// transaction with the same original transaction id.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload>
struct AppleRenewal: AppleSignedPayload, Hashable {
    let originalTransactionId: OrderID?
    let productId: ProductID?
    let autoRenewProductId: ProductID?
    let autoRenewStatus: Int?
    /// 1 customer, 2 billing, 3 price increase, 4 product not available, 5 other.
    let expirationIntent: Int?
    /// Absent is not false.
    let isInBillingRetryPeriod: Bool?
    let gracePeriodExpiresDate: LenientInteger?
    /// 0 when the customer has not answered yet.
    let priceIncreaseStatus: Int?
    /// How the next period is billed: as `billingPlanType` of a transaction.
    let renewalBillingPlanType: Tolerant<String>?
    let commitmentInfo: Tolerant<CommitmentInfo>?
    let signedDate: LenientInteger?
    let environment: String?
}

extension AppleRenewal {
    /// What follows the commitment, against the billing period that follows the current one.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/renewalcommitmentinfo>
    struct CommitmentInfo: Decodable, Hashable, Sendable {
        let commitmentAutoRenewProductId: Tolerant<ProductID>?
        /// 0 where the user has cancelled: what is owed until its end is charged all the same.
        let commitmentAutoRenewStatus: LooseInteger?
        /// When the commitment ends.
        let commitmentRenewalDate: LooseInteger?
    }
}

/// <https://developer.apple.com/documentation/appstoreserverapi/error-codes>
struct AppleErrorBody: Decodable, Sendable {
    let errorCode: Int64
}
