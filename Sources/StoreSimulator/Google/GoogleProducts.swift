/// Google's one-time products, in both versions.
///
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.products
extension Google {
    /// The body of a 200 of `purchases.products.get`.
    static func product(_ purchase: Purchase, _ life: Life) -> JSONText {
        var json = JSONText()
        json.raw("{\"kind\":\"androidpublisher#productPurchase\",\"purchaseTimeMillis\":")
        json.quoted(purchase.timeline.start.milliseconds)
        json.raw(",\"purchaseState\":")
        switch life.phase {
        case .pending: json.raw("2")
        case .ended(_, .expired): json.raw("0")
        case .abandoned, .ended: json.raw("1")
        case .running, .silent, .grace, .hold, .paused: json.raw("0")
        }
        json.raw(",\"consumptionState\":")
        json.number(life.isConsumed ? 1 : 0)
        json.raw(",\"developerPayload\":")
        json.string(purchase.developerPayload)
        json.raw(",\"orderId\":")
        json.plain(purchase.order)
        if purchase.environment == .sandbox { json.raw(",\"purchaseType\":0") }
        json.raw(",\"acknowledgementState\":")
        json.number(isAcknowledged(life) ? 1 : 0)
        let quantity = purchase.timeline.terms.quantity
        if quantity > 1 {
            json.raw(",\"quantity\":")
            json.number(Int64(quantity))
            json.raw(",\"refundableQuantity\":")
            json.number(refundable(quantity, life))
        }
        if let user = purchase.user {
            json.raw(",\"obfuscatedExternalAccountId\":")
            json.string(user)
        }
        json.raw(",\"regionCode\":\"PT\"}")
        return json
    }

    private static func isAcknowledged(_ life: Life) -> Bool {
        life.latest != nil && life.isAcknowledged
    }

    private static func refundable(_ quantity: Int, _ life: Life) -> Int64 {
        guard let latest = life.latest, latest.givenBack == nil else { return 0 }
        return Int64(max(0, quantity - (latest.moneyBackQuantity ?? 0)))
    }

    /// The body of a 200 of `purchases.productsv2.getproductpurchasev2`.
    static func productVersion2(_ purchase: Purchase, _ life: Life) -> JSONText {
        var json = JSONText()
        json.raw("{\"kind\":\"androidpublisher#productPurchaseV2\",\"productLineItem\":[")
        json.raw("{\"productId\":")
        json.string(purchase.timeline.product)
        json.raw(",\"productOfferDetails\":{\"purchaseOptionId\":\"buy\",\"quantity\":")
        let quantity = purchase.timeline.terms.quantity
        json.number(Int64(quantity))
        json.raw(",\"refundableQuantity\":")
        json.number(refundable(quantity, life))
        json.raw(",\"consumptionState\":\"CONSUMPTION_STATE_")
        json.raw(life.isConsumed ? "CONSUMED" : "YET_TO_BE_CONSUMED")
        json.raw("\"}}],\"purchaseStateContext\":{\"purchaseState\":\"")
        switch life.phase {
        case .pending: json.raw("PENDING")
        case .ended(_, .expired): json.raw("PURCHASED")
        case .abandoned, .ended: json.raw("CANCELLED")
        case .running, .silent, .grace, .hold, .paused: json.raw("PURCHASED")
        }
        json.raw("\"},\"orderId\":")
        json.plain(purchase.order)
        if let user = purchase.user {
            json.raw(",\"obfuscatedExternalAccountId\":")
            json.string(user)
        }
        json.raw(",\"regionCode\":\"PT\"")
        if let first = life.charges.first {
            json.raw(",\"purchaseCompletionTime\":")
            json.time(first.start)
        }
        if purchase.environment == .sandbox {
            json.raw(",\"testPurchaseContext\":{\"fopType\":\"TEST\"}")
        }
        json.raw(",\"acknowledgementState\":\"ACKNOWLEDGEMENT_STATE_")
        json.raw(isAcknowledged(life) ? "ACKNOWLEDGED\"}" : "PENDING\"}")
        return json
    }
}
