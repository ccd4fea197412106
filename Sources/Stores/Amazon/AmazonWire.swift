import Renewal

/// A receipt as Receipt Verification Service answers. Dates are milliseconds since 1970; absent
/// and null mean the same.
///
/// <https://developer.amazon.com/docs/in-app-purchasing/iap-rvs-for-android-apps.html>
struct AmazonReceipt: Decodable, Sendable {
    let receiptId: OrderID?
    /// The parent SKU of a subscription.
    let productId: ProductID?
    /// The SKU of the term that was chosen.
    let termSku: ProductID?
    /// `CONSUMABLE`, `ENTITLED` or `SUBSCRIPTION`.
    let productType: String?
    let purchaseDate: Int64?
    /// End of the paid term; null when renewal is off.
    let renewalDate: Int64?
    /// When access ended, or is to end; null while the receipt is good.
    let cancelDate: Int64?
    /// 0 not known yet, 1 customer, 2 Amazon's systems, 4 replaced by another plan.
    let cancelReason: Int64?
    let autoRenewing: Bool?
    let freeTrialEndDate: Int64?
    let gracePeriodEndDate: Int64?
    let deferredSku: ProductID?
    let promotions: [Promotion]?
    let betaProduct: Bool?
    let testTransaction: Bool?

    /// Texts whose letter case differs between sources.
    struct Promotion: Decodable, Sendable {
        let promotionType: String?
        let promotionStatus: String?
    }

    init(from decoder: any Decoder) throws {
        let members = try Members(decoder)
        receiptId = try members.value("receiptId")
        productId = try members.value("productId")
        termSku = try members.value("termSku")
        productType = try members.value("productType")
        purchaseDate = try members.integer("purchaseDate")
        renewalDate = try members.integer("renewalDate")
        cancelDate = try members.integer("cancelDate")
        cancelReason = try members.integer("cancelReason")
        autoRenewing = try members.value("autoRenewing")
        freeTrialEndDate = try members.integer("freeTrialEndDate")
        gracePeriodEndDate = try members.integer("gracePeriodEndDate")
        deferredSku = try members.value("deferredSku")
        promotions = try members.value("promotions")
        betaProduct = try members.value("betaProduct")
        testTransaction = try members.value("testTransaction")
    }
}

/// Members under their name or, as older answers have it, the name with a capital first letter.
private struct Members {
    private let container: KeyedDecodingContainer<Key>

    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(_ decoder: any Decoder) throws {
        container = try decoder.container(keyedBy: Key.self)
    }

    func value<Value: Decodable>(_ name: String) throws -> Value? {
        if let value = try container.decodeIfPresent(Value.self, forKey: Key(stringValue: name)) {
            return value
        }
        let capitalised = name.prefix(1).uppercased() + name.dropFirst()
        return try container.decodeIfPresent(Value.self, forKey: Key(stringValue: capitalised))
    }

    func integer(_ name: String) throws -> Int64? {
        let found: LenientInteger? = try value(name)
        return found?.value
    }
}
