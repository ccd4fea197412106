import Renewal

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
    let gracePeriodExpiresDate: Int64?
    /// 0 when the customer has not answered yet.
    let priceIncreaseStatus: Int?
    /// How the next period is billed: as `billingPlanType` of a transaction.
    let renewalBillingPlanType: String?
    let commitmentInfo: CommitmentInfo?
    let signedDate: Int64?
    let environment: String?
}

extension AppleRenewal {
    /// What follows the commitment, against the billing period that follows the current one.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/renewalcommitmentinfo>
    struct CommitmentInfo: Hashable, Sendable {
        let commitmentAutoRenewProductId: ProductID?
        /// 0 where the user has cancelled: what is owed until its end is charged all the same.
        let commitmentAutoRenewStatus: Int64?
        /// When the commitment ends.
        let commitmentRenewalDate: Int64?
    }
    init(_ json: JSONObject) throws(StoreFailure) {
        originalTransactionId = try json.id("originalTransactionId")
        productId = try json.id("productId")
        autoRenewProductId = try json.id("autoRenewProductId")
        autoRenewStatus = try json.integer("autoRenewStatus").map(Int.init)
        expirationIntent = try json.integer("expirationIntent").map(Int.init)
        isInBillingRetryPeriod = try json.flag("isInBillingRetryPeriod")
        gracePeriodExpiresDate = try json.integer("gracePeriodExpiresDate")
        priceIncreaseStatus = try json.integer("priceIncreaseStatus").map(Int.init)
        renewalBillingPlanType = try? json.text("renewalBillingPlanType")
        commitmentInfo = (try? json.object("commitmentInfo")).map(CommitmentInfo.init)
        signedDate = try json.integer("signedDate")
        environment = try json.text("environment")
    }
}

extension AppleRenewal.CommitmentInfo {
    fileprivate init(_ json: JSONObject) {
        commitmentAutoRenewProductId = try? json.id("commitmentAutoRenewProductId")
        commitmentAutoRenewStatus = try? json.integer("commitmentAutoRenewStatus")
        commitmentRenewalDate = try? json.integer("commitmentRenewalDate")
    }
}
