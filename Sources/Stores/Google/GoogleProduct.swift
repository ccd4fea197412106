import Renewal

/// The answer of `purchases.products.get`, version 1: one product that is sold once.
///
/// <https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.products>
struct GoogleLegacyProduct: Decodable, Sendable {
    let kind: LooseText?
    let purchaseTimeMillis: LenientInteger?
    /// 0 purchased, 1 cancelled, 2 pending.
    let purchaseState: LenientInteger?
    /// 0 not yet, 1 consumed.
    let consumptionState: LenientInteger?
    let orderId: OrderID?
    /// 0 a licence tester's, 1 by a promotion code, 2 rewarded.
    let purchaseType: LenientInteger?
    /// 0 not yet, 1 done.
    let acknowledgementState: LenientInteger?
    /// May be missing.
    let purchaseToken: StoreToken?
    let productId: ProductID?
    /// Missing is one.
    let quantity: LenientInteger?
    let refundableQuantity: LenientInteger?
    let obfuscatedExternalAccountId: LooseText?
    let obfuscatedExternalProfileId: LooseText?
    let regionCode: LooseText?
}

extension GoogleLegacyProduct {
    /// - Throws: `.malformed` with the wrong field; `.mismatch` when it names another purchase.
    func sale(of purchase: Purchase, at now: Timestamp) throws(StoreFailure) -> GoogleSale {
        try GoogleKind.legacyProduct.require(kind?.value)
        if let purchaseToken, !purchaseToken.isEmpty, purchaseToken != purchase.token {
            throw .mismatch(what: "purchase")
        }
        if let productId, !productId.isEmpty, productId != purchase.facts.product {
            throw .mismatch(what: "product")
        }
        let state: GoogleSale.State =
            switch purchaseState?.value {
            case 0: .purchased
            case 1: .cancelled
            case 2: .pending
            default: throw .malformed(field: "purchaseState")
            }
        let item = try GoogleSale.Item(
            product: purchase.facts.product, quantity: quantity?.value ?? 1,
            refundableQuantity: refundableQuantity?.value,
            isConsumed: consumptionState?.value == 1)
        var sale = GoogleSale(state: state, items: [item])
        sale.order = orderId
        sale.accountToken = obfuscatedExternalAccountId?.value.map(UserID.init)
        sale.boughtAt = try DateWindow(now: now).past(
            milliseconds: purchaseTimeMillis?.value, field: "purchaseTimeMillis")
        sale.isTest = purchaseType?.value == 0
        sale.awaitsAcknowledgement = acknowledgementState?.value == 0
        sale.notes.region = RegionCode.checked(regionCode?.value)
        sale.notes.profileToken = SaleNotes.word(obfuscatedExternalProfileId?.value)
        return sale
    }
}

/// The answer of `purchases.productsv2.getproductpurchasev2`.
///
/// <https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2>
struct GoogleProduct: Decodable, Sendable {
    let kind: LooseText?
    let productLineItem: [LineItem]?
    let purchaseStateContext: StateContext?
    let testPurchaseContext: Presence?
    let orderId: OrderID?
    /// RFC 3339; missing until it is paid.
    let purchaseCompletionTime: String?
    let acknowledgementState: String?
    let obfuscatedExternalAccountId: LooseText?
    let obfuscatedExternalProfileId: LooseText?
    let regionCode: LooseText?

    struct StateContext: Decodable, Sendable {
        /// `PURCHASED`, `CANCELLED` or `PENDING`.
        let purchaseState: String?
    }

    struct LineItem: Decodable, Sendable {
        let productId: ProductID?
        let productOfferDetails: Offer?
    }

    struct Offer: Decodable, Sendable {
        let quantity: LenientInteger?
        let refundableQuantity: LenientInteger?
        let consumptionState: String?
        let preorderOfferDetails: Preorder?
        let offerId: LooseText?
        let offerTags: Tolerant<[String]>?
    }

    struct Preorder: Decodable, Sendable {
        /// RFC 3339.
        let preorderReleaseTime: String?
    }
}

extension GoogleProduct {
    /// - Throws: `.malformed` with the field that is missing or makes no sense; `.mismatch` for the
    ///   answer to another question.
    func sale(
        at now: Timestamp, provenUpTo proven: Timestamp? = nil
    ) throws(StoreFailure) -> GoogleSale {
        try GoogleKind.product.require(kind?.value)
        let window = DateWindow(now: now)
        var items: [GoogleSale.Item] = []
        var releasedAt: Timestamp?
        for item in productLineItem ?? [] {
            guard let product = item.productId, !product.isEmpty else {
                throw .malformed(field: "productLineItem.productId")
            }
            let offer = item.productOfferDetails
            items.append(
                try GoogleSale.Item(
                    product: product, quantity: offer?.quantity?.value ?? 1,
                    refundableQuantity: offer?.refundableQuantity?.value,
                    isConsumed: offer?.consumptionState == "CONSUMPTION_STATE_CONSUMED"))
            let released = try window.date(
                rfc3339: offer?.preorderOfferDetails?.preorderReleaseTime,
                field: "preorderReleaseTime")
            releasedAt = [releasedAt, released].compactMap(\.self).max()
        }
        guard !items.isEmpty else { throw .malformed(field: "productLineItem") }
        var sale = GoogleSale(state: try state(), items: items)
        sale.order = orderId
        sale.accountToken = obfuscatedExternalAccountId?.value.map(UserID.init)
        sale.boughtAt = try window.past(
            rfc3339: purchaseCompletionTime, field: "purchaseCompletionTime")
        sale.wasCompleted = sale.boughtAt != nil
        sale.isTest = testPurchaseContext != nil
        sale.awaitsAcknowledgement =
            acknowledgementState == "ACKNOWLEDGEMENT_STATE_PENDING"
        sale.notes.region = RegionCode.checked(regionCode?.value)
        sale.notes.profileToken = SaleNotes.word(obfuscatedExternalProfileId?.value)
        let offer = productLineItem?.first?.productOfferDetails
        sale.notes.offer = SaleNotes.word(offer?.offerId?.value)
        sale.notes.offerTags = SaleNotes.words(offer?.offerTags?.value)
        // Ordered ahead: paid when it is released.
        if sale.state == .purchased, sale.boughtAt == nil, let releasedAt,
            releasedAt > proven ?? now
        {
            sale.state = .pending
        }
        return sale
    }

    /// One L or two.
    private func state() throws(StoreFailure) -> GoogleSale.State {
        switch purchaseStateContext?.purchaseState {
        case "PURCHASED": .purchased
        case "CANCELLED", "CANCELED": .cancelled
        case "PENDING": .pending
        default: throw .malformed(field: "purchaseStateContext.purchaseState")
        }
    }
}
