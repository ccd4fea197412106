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
        case .abandoned, .ended: json.raw("1")
        case .running, .silent, .grace, .hold, .paused: json.raw("0")
        }
        json.raw(",\"consumptionState\":0,\"developerPayload\":\"\",\"orderId\":")
        json.plain(purchase.order)
        if purchase.environment == .sandbox { json.raw(",\"purchaseType\":0") }
        json.raw(",\"acknowledgementState\":1")
        if let user = purchase.user {
            json.raw(",\"obfuscatedExternalAccountId\":")
            json.string(user)
        }
        json.raw(",\"regionCode\":\"PT\"}")
        return json
    }

    /// The body of a 200 of `purchases.productsv2.getproductpurchasev2`.
    static func productVersion2(_ purchase: Purchase, _ life: Life) -> JSONText {
        var json = JSONText()
        json.raw("{\"kind\":\"androidpublisher#productPurchaseV2\",\"productLineItem\":[")
        json.raw("{\"productId\":")
        json.string(purchase.timeline.product)
        json.raw(",\"productOfferDetails\":{\"purchaseOptionId\":\"buy\",\"quantity\":1")
        json.raw(",\"consumptionState\":\"CONSUMPTION_STATE_YET_TO_BE_CONSUMED\"}}]")
        json.raw(",\"purchaseStateContext\":{\"purchaseState\":\"")
        switch life.phase {
        case .pending: json.raw("PENDING")
        case .abandoned, .ended: json.raw("CANCELLED")
        case .running, .silent, .grace, .hold, .paused: json.raw("PURCHASED")
        }
        json.raw("\"},\"orderId\":")
        json.plain(purchase.order)
        json.raw(",\"regionCode\":\"PT\"")
        if let first = life.charges.first {
            json.raw(",\"purchaseCompletionTime\":")
            json.time(first.start)
        }
        if purchase.environment == .sandbox {
            json.raw(",\"testPurchaseContext\":{\"fopType\":\"TEST\"}")
        }
        json.raw(",\"acknowledgementState\":\"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED\"}")
        return json
    }
}
