import Renewal

/// A receipt as Receipt Verification Service answers. Dates are milliseconds since 1970; absent
/// and null mean the same.
///
/// <https://developer.amazon.com/docs/in-app-purchasing/iap-rvs-for-android-apps.html>
struct AmazonReceipt: Sendable {
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

    /// Texts whose letter case differs between sources. They say whether an introductory price is
    /// used, and nothing of access.
    struct Promotion: Sendable {
        let promotionType: String?
        let promotionStatus: String?
    }

    /// - Throws: `.malformed` with the member that is of another type.
    init(_ body: [UInt8]) throws(StoreFailure) {
        let members = Members(try JSONObject(body))
        receiptId = try members.id("receiptId")
        productId = try members.id("productId")
        termSku = try members.id("termSku")
        term = try? members.text("term")
        productType = try members.text("productType")
        purchaseDate = try members.date("purchaseDate")
        renewalDate = try members.date("renewalDate")
        cancelDate = try members.date("cancelDate")
        cancelReason = try? members.integer("cancelReason")
        autoRenewing = try members.flag("autoRenewing")
        freeTrialEndDate = try members.date("freeTrialEndDate")
        gracePeriodEndDate = try members.date("gracePeriodEndDate")
        deferredSku = (try? members.id("deferredSku")).flatMap { $0.isEmpty ? nil : $0 }
        deferredDate = try? members.date("deferredDate")
        baseReceipts = ((try? members.texts("baseReceipts")) ?? [])
            .filter { !$0.isEmpty }.map(StoreToken.init)
        countryCode = RegionCode.checked(try? members.text("countryCode"))
        isUnfulfilled = members.areAllNone(of: ["fulfillmentResult", "fulfillmentDate"])
        promotions = try? members.promotions()
        betaProduct = try members.flag("betaProduct")
        testTransaction = try members.flag("testTransaction")
    }
}

/// Members under their name or, as older answers have it, the name with a capital first letter.
private struct Members {
    private let json: JSONObject
    private let hasCapitals: Bool

    init(_ json: JSONObject) {
        self.json = json
        hasCapitals = json.hasCapitalisedNames
    }

    func id<ID: Identity>(_ name: String) throws(StoreFailure) -> ID? {
        try json.id(spelled(name))
    }

    func text(_ name: String) throws(StoreFailure) -> String? { try json.text(spelled(name)) }

    func texts(_ name: String) throws(StoreFailure) -> [String]? { try json.texts(spelled(name)) }

    func integer(_ name: String) throws(StoreFailure) -> Int64? {
        try json.integer(spelled(name))
    }

    func flag(_ name: String) throws(StoreFailure) -> Bool? {
        try json.lenientFlag(spelled(name))
    }

    /// Nought is how some writers say that there is none.
    func date(_ name: String) throws(StoreFailure) -> Int64? {
        let date = try integer(name)
        return date == 0 ? nil : date
    }

    func promotions() throws(StoreFailure) -> [AmazonReceipt.Promotion]? {
        guard let list = try json.objects(spelled("promotions")) else { return nil }
        var promotions: [AmazonReceipt.Promotion] = []
        for promotion in list {
            promotions.append(
                AmazonReceipt.Promotion(
                    promotionType: try promotion.text("promotionType"),
                    promotionStatus: try promotion.text("promotionStatus")))
        }
        return promotions
    }

    /// Whether some of the members are there and each of these says nothing: null, or nought.
    func areAllNone(of names: [String]) -> Bool {
        let there = names.filter { (try? json.names($0)) == true }
        return !there.isEmpty
            && there.allSatisfy { (try? json.has($0)) == false || (try? json.integer($0)) == 0 }
    }

    private func spelled(_ name: String) throws(StoreFailure) -> String {
        guard hasCapitals, try !json.has(name) else { return name }
        return name.prefix(1).uppercased() + name.dropFirst()
    }
}
