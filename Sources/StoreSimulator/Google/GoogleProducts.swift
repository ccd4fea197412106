/// Google's one-time products, in both versions.
///
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.products
extension Google {
    /// The body of a 200 of `purchases.products.get`.
    static func product(_ purchase: Purchase, _ life: Life) -> JSON {
        let quantity = purchase.timeline.terms.quantity
        return .object { json in
            json.member("kind", "androidpublisher#productPurchase")
            json.member("purchaseTimeMillis", quoted: purchase.timeline.start.milliseconds)
            json.member("purchaseState", state(life.phase).number)
            json.member("consumptionState", life.isConsumed ? 1 : 0)
            json.member("developerPayload", purchase.developerPayload)
            json.member("orderId", purchase.order)
            if purchase.environment == .sandbox { json.member("purchaseType", 0) }
            json.member("acknowledgementState", isAcknowledged(life) ? 1 : 0)
            if quantity > 1 {
                json.member("quantity", quantity)
                json.member("refundableQuantity", refundable(quantity, life))
            }
            json.member("obfuscatedExternalAccountId", purchase.user)
            json.member(
                "obfuscatedExternalProfileId", purchase.timeline.terms.sale.profile)
            json.member("regionCode", purchase.country)
        }
    }

    private static func state(_ phase: Phase) -> (number: Int, name: String) {
        switch phase {
        case .pending: (2, "PENDING")
        case .abandoned: (1, "CANCELLED")
        case .ended(_, .expired): (0, "PURCHASED")
        case .ended: (1, "CANCELLED")
        case .running, .silent, .grace, .hold, .paused: (0, "PURCHASED")
        }
    }

    private static func isAcknowledged(_ life: Life) -> Bool {
        life.latest != nil && life.isAcknowledged
    }

    private static func refundable(_ quantity: Int, _ life: Life) -> Int64 {
        guard let latest = life.latest, latest.givenBack == nil else { return 0 }
        return Int64(max(0, quantity - (latest.moneyBackQuantity ?? 0)))
    }

    /// The body of a 200 of `purchases.productsv2.getproductpurchasev2`.
    static func productVersion2(_ purchase: Purchase, _ life: Life) -> JSON {
        let quantity = purchase.timeline.terms.quantity
        return .object { json in
            json.member("kind", "androidpublisher#productPurchaseV2")
            json.objects("productLineItem", [purchase.timeline.product]) { json, product in
                json.member("productId", product)
                json.object("productOfferDetails") { json in
                    json.member("purchaseOptionId", "buy")
                    let tags = purchase.timeline.terms.sale.offerTags
                    if !tags.isEmpty { json.array("offerTags", tags) }
                    json.member("quantity", quantity)
                    json.member("refundableQuantity", refundable(quantity, life))
                    json.member(
                        "consumptionState",
                        life.isConsumed
                            ? "CONSUMPTION_STATE_CONSUMED" : "CONSUMPTION_STATE_YET_TO_BE_CONSUMED")
                }
            }
            json.object("purchaseStateContext") { json in
                json.member("purchaseState", state(life.phase).name)
            }
            json.member("orderId", purchase.order)
            json.member("obfuscatedExternalAccountId", purchase.user)
            json.member(
                "obfuscatedExternalProfileId", purchase.timeline.terms.sale.profile)
            json.member("regionCode", purchase.country)
            json.member("purchaseCompletionTime", life.charges.first?.start)
            if purchase.environment == .sandbox {
                json.object("testPurchaseContext") { $0.member("fopType", "TEST") }
            }
            json.member(
                "acknowledgementState",
                isAcknowledged(life)
                    ? "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" : "ACKNOWLEDGEMENT_STATE_PENDING")
        }
    }
}
