import Renewal
import TestSupport

/// `purchases.productsv2`, or with `old` `purchases.products`: `product PURCHASED bought=1`. With
/// `with=book` that was sold together with it, so much of that is left: `with_left=0`.
enum GoogleProductWire {
    static func body(_ cell: String) throws -> String {
        let words = Words(cell)
        let states = ["PURCHASED", "CANCELLED", "PENDING"]
        try words.require(
            plain: Set(states).union(["product", "old", "consumed", "unacknowledged", "test"]),
            keys: [
                "bought", "order", "product", "quantity", "left", "proof", "kind", "orders", "part",
                "with", "with_left",
            ])
        guard let state = states.firstIndex(where: words.has) else {
            throw UnreadableCell(cell: cell)
        }
        let order = words["order"] == "-" ? nil : GoogleScene.order(words["order"] ?? "1")
        let bought = try words.time("bought")
        let quantity = words["quantity"].flatMap { Int($0) } ?? 1
        let left = words["left"].flatMap { Int($0) }
        var json = JSONText()
        json["orderId"] = order
        json["regionCode"] = "DE"
        if words.has("old") {
            json["kind"] = "androidpublisher#productPurchase"
            json["purchaseState"] = state
            json["purchaseTimeMillis"] = bought.map { String($0.milliseconds) }
            json["consumptionState"] = words.has("consumed") ? 1 : 0
            json["acknowledgementState"] = words.has("unacknowledged") ? 0 : 1
            json["quantity"] = quantity
            json["refundableQuantity"] = left
            if words.has("test") { json["purchaseType"] = 0 }
            return try json.text
        }
        var offer = JSONText()
        offer["quantity"] = quantity
        offer["refundableQuantity"] = left
        offer["consumptionState"] =
            "CONSUMPTION_STATE_" + (words.has("consumed") ? "CONSUMED" : "YET_TO_BE_CONSUMED")
        json["kind"] = "androidpublisher#" + (words["kind"] ?? "productPurchaseV2")
        var items: [[String: Any]] = [
            ["productId": words["product"] ?? "lifetime", "productOfferDetails": offer.members]
        ]
        if let other = words["with"] {
            offer["refundableQuantity"] = words["with_left"].flatMap { Int($0) }
            items.append(["productId": other, "productOfferDetails": offer.members])
        }
        json["productLineItem"] = items
        json["purchaseStateContext"] = ["purchaseState": states[state]]
        json["purchaseCompletionTime"] = bought?.rfc3339
        json["acknowledgementState"] =
            "ACKNOWLEDGEMENT_STATE_" + (words.has("unacknowledged") ? "PENDING" : "ACKNOWLEDGED")
        if words.has("test") { json["testPurchaseContext"] = ["fopType": "TEST"] }
        return try json.text
    }
}
