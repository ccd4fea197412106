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
    /// Its length in words, such as `1 Month`.
    let term: String?
    /// `CONSUMABLE`, `ENTITLED` or `SUBSCRIPTION`.
    let productType: String?
    let purchaseDate: Int64?
    /// End of the paid term; null when renewal is off.
    let renewalDate: Int64?
    /// When access ended, or is to end; null while the receipt is good.
    let cancelDate: Int64?
    /// 0 not known yet, 1 customer, 2 Amazon's systems, 4 replaced by another plan. Nil also where
    /// it is no number: `cancelDate` alone says that access is over.
    let cancelReason: Int64?
    let autoRenewing: Bool?
    let freeTrialEndDate: Int64?
    let gracePeriodEndDate: Int64?
    let deferredSku: ProductID?
    /// When the change of plan takes place.
    let deferredDate: Int64?
    /// The receipts of the subscriptions that this one is an add-on of.
    let baseReceipts: [StoreToken]
    /// Of the customer, ISO 3166-1 alpha-2; only newer answers have it.
    let countryCode: String?
    /// Whether nobody has told Amazon what became of the purchase. Answers of the sandbox do not
    /// have the members that tell it, and say nothing of it.
    let isUnfulfilled: Bool
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
        let length: Tolerant<String>? = try members.value("term")
        term = length?.value
        productType = try members.value("productType")
        purchaseDate = try members.date("purchaseDate")
        renewalDate = try members.date("renewalDate")
        cancelDate = try members.date("cancelDate")
        let reason: LooseInteger? = try members.value("cancelReason")
        cancelReason = reason?.value
        autoRenewing = try members.flag("autoRenewing")
        freeTrialEndDate = try members.date("freeTrialEndDate")
        gracePeriodEndDate = try members.date("gracePeriodEndDate")
        deferredSku = try members.value("deferredSku")
        deferredDate = try? members.date("deferredDate")
        let bases: Tolerant<[String]>? = try members.value("baseReceipts")
        baseReceipts = (bases?.value ?? []).filter { !$0.isEmpty }.map(StoreToken.init)
        let country: Tolerant<String>? = try members.value("countryCode")
        countryCode = RegionCode.checked(country?.value)
        let fulfilment = ["fulfillmentResult", "fulfillmentDate"].filter(members.has)
        isUnfulfilled = !fulfilment.isEmpty && fulfilment.allSatisfy(members.isNone)
        promotions = try members.value("promotions")
        betaProduct = try members.flag("betaProduct")
        testTransaction = try members.flag("testTransaction")
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

    func has(_ name: String) -> Bool { container.contains(Key(stringValue: name)) }

    /// Whether a member that is there says nothing: null, or nought.
    func isNone(_ name: String) -> Bool {
        let key = Key(stringValue: name)
        if (try? container.decodeNil(forKey: key)) == true { return true }
        return (try? container.decode(LenientInteger.self, forKey: key))?.value == 0
    }

    func value<Value: Decodable>(_ name: String) throws -> Value? {
        if let value = try container.decodeIfPresent(Value.self, forKey: Key(stringValue: name)) {
            return value
        }
        let capitalised = name.prefix(1).uppercased() + name.dropFirst()
        return try container.decodeIfPresent(Value.self, forKey: Key(stringValue: capitalised))
    }

    /// Nought is how some writers say that there is none.
    func date(_ name: String) throws -> Int64? {
        let found: LenientInteger? = try value(name)
        return found?.value == 0 ? nil : found?.value
    }

    func flag(_ name: String) throws -> Bool? {
        let found: LenientFlag? = try value(name)
        return found?.value
    }
}
