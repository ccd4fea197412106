import Renewal
import Testing

@testable import Stores

/// What Google says of products that are sold once, in both versions: `v1` and `v2` are put over a
/// product bought on 10 February 2026, and come to the same. It is the 20th, noon; the other keys
/// are those of `GoogleRead`.
struct GoogleProductTests {
    static let legacyBase = #"""
        {"kind":"androidpublisher#productPurchase","purchaseTimeMillis":"1770706800000",
        "purchaseState":0,"consumptionState":0,"developerPayload":"","orderId":"GPA.3344-7000",
        "acknowledgementState":1,"regionCode":"PT"}
        """#
    static let base = #"""
        {"kind":"androidpublisher#productPurchaseV2","productLineItem":[{"productId":"plus",
        "productOfferDetails":{"purchaseOptionId":"buy","quantity":1,
        "consumptionState":"CONSUMPTION_STATE_YET_TO_BE_CONSUMED"}}],
        "purchaseStateContext":{"purchaseState":"PURCHASED"},"orderId":"GPA.3344-7000",
        "regionCode":"PT","purchaseCompletionTime":"2026-02-10T07:00:00Z",
        "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"}
        """#

    static let cases = Case.all(
        #"""
        case: purchased
        v1: {}
        v2: {}
        hear: active, production, plus -, paid -, until -, renews -, -, non_consumable

        case: purchased, quantities told
        v1: {"quantity":1,"refundableQuantity":1,"unheardOf":[{}]}
        v2: {"productLineItem":[{"productId":"plus","productOfferDetails":{"quantity":1,
            "refundableQuantity":1}}],"unheardOf":[{}]}
        hear: active, production, plus -, paid -, until -, renews -, -, non_consumable

        case: pending
        v1: {"purchaseState":2,"acknowledgementState":0,"orderId":null}
        v2: {"purchaseStateContext":{"purchaseState":"PENDING"},"purchaseCompletionTime":null,
            "acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING","orderId":null}
        hear: pending, production, plus -, paid -, until -, renews -, -, non_consumable

        case: a pending payment never came
        was: pending
        v1: {"purchaseState":1}
        v2: {"purchaseStateContext":{"purchaseState":"CANCELLED"},"purchaseCompletionTime":null}
        hear: ended periodEnded -, production, plus -, paid -, until -, renews -, -, non_consumable

        case: refunded
        was: active
        access: yes
        v1: {"purchaseState":1,"refundableQuantity":0}
        v2: {"purchaseStateContext":{"purchaseState":"CANCELLED"},"productLineItem":[
            {"productId":"plus","productOfferDetails":{"refundableQuantity":0}}]}
        hear: refunded -, production, plus -, paid -, until -, renews -, -, non_consumable

        case: refunded, in the other spelling
        was: active
        v1: {"purchaseState":"1"}
        v2: {"purchaseStateContext":{"purchaseState":"CANCELED"}}
        hear: refunded -, production, plus -, paid -, until -, renews -, -, non_consumable

        case: refunded though the state says purchased
        was: active
        access: yes
        v1: {"refundableQuantity":0}
        v2: {"productLineItem":[{"productId":"plus","productOfferDetails":{
            "refundableQuantity":0}}]}
        hear: refunded -, production, plus -, paid -, until -, renews -, -, non_consumable

        case: fewer than none are left
        was: active
        access: yes
        v1: {"refundableQuantity":-1}
        v2: {"productLineItem":[{"productId":"plus","productOfferDetails":{
            "refundableQuantity":-1}}]}
        hear: malformed refundableQuantity

        case: two of three refunded
        kind: consumable
        v1: {"quantity":3,"refundableQuantity":1}
        v2: {"productLineItem":[{"productId":"plus","productOfferDetails":{"quantity":3,
            "refundableQuantity":1}}]}
        hear: active, production, plus -, paid -, until -, renews -, -, consumable
        more: refunded in part

        case: consumed, and so acknowledged
        kind: consumable
        v1: {"consumptionState":1,"acknowledgementState":0}
        v2: {"productLineItem":[{"productId":"plus","productOfferDetails":{
            "consumptionState":"CONSUMPTION_STATE_CONSUMED"}}],
            "acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING"}
        hear: active, production, plus -, paid -, until -, renews -, -, consumable

        case: not acknowledged
        v1: {"acknowledgementState":0}
        v2: {"acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING"}
        hear: active, production, plus -, paid -, until -, renews -, -, non_consumable,
            unacknowledged
        more: awaits

        case: not acknowledged yet
        now: 2026-02-10T09:00:00Z
        v1: {"acknowledgementState":0}
        v2: {"acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING"}
        hear: active, production, plus -, paid -, until -, renews -, -, non_consumable
        more: awaits, again 26-02-11T07:00

        case: a tester's
        kind: non_renewing
        v1: {"purchaseType":0}
        v2: {"testPurchaseContext":{"fopType":"TEST"}}
        hear: active, sandbox, plus -, paid -, until -, renews -, -, non_renewing

        case: by a promotion code, without an order
        v1: {"purchaseType":1,"orderId":null}
        v2: {"orderId":null}
        hear: active, production, plus -, paid -, until -, renews -, -, non_consumable

        case: another order than the known one
        original: GPA.1
        v1: {}
        v2: {}
        hear: active, production, plus -, paid -, until -, renews -, -, non_consumable
        more: foreign GPA.3344-7000

        case: several products, one of them given back
        v2: {"productLineItem":[{"productId":"maps","productOfferDetails":{
            "refundableQuantity":0}},{"productId":"plus"},{"productId":"gold"}]}
        hear: active, production, plus -, gold -, paid -, until -, renews -, -, non_consumable
        more: refunded in part

        case: ordered ahead
        v2: {"purchaseCompletionTime":null,"productLineItem":[{"productId":"plus",
            "productOfferDetails":{"preorderOfferDetails":{
            "preorderReleaseTime":"2026-04-01T00:00:00Z"}}}]}
        hear: pending, production, plus -, paid -, until -, renews -, -, non_consumable

        case: ordered ahead beside what is sold already
        v2: {"purchaseCompletionTime":null,"productLineItem":[{"productId":"plus",
            "productOfferDetails":{"preorderOfferDetails":{
            "preorderReleaseTime":"2026-04-01T00:00:00Z"}}},{"productId":"gold"}]}
        hear: pending, production, plus -, gold -, paid -, until -, renews -, -, non_consumable

        case: ordered ahead, and released
        v2: {"productLineItem":[{"productId":"plus",
            "productOfferDetails":{"preorderOfferDetails":{
            "preorderReleaseTime":"2026-02-10T00:00:00Z"}}}]}
        hear: active, production, plus -, paid -, until -, renews -, -, non_consumable

        case: another token
        v1: {"purchaseToken":"other"}
        hear: mismatch purchase

        case: another product
        v1: {"productId":"other"}
        hear: mismatch product

        case: itself
        v1: {"productId":"plus","purchaseToken":"t"}
        hear: active, production, plus -, paid -, until -, renews -, -, non_consumable

        case: a state of another age
        v1: {"purchaseState":3}
        hear: malformed purchaseState

        case: a state of another age
        v2: {"purchaseStateContext":{"purchaseState":"LENT"}}
        hear: malformed purchaseStateContext.purchaseState

        case: no state
        v1: {"purchaseState":null}
        hear: malformed purchaseState

        case: no state
        v2: {"purchaseStateContext":null}
        hear: malformed purchaseStateContext.purchaseState

        case: no product
        v2: {"productLineItem":[{}]}
        hear: malformed productLineItem.productId

        case: no items
        v2: {"productLineItem":[]}
        hear: malformed productLineItem

        case: a date that is none
        v2: {"purchaseCompletionTime":"soon"}
        hear: malformed purchaseCompletionTime
        """#)

    @Test(arguments: cases)
    func hears(_ row: Case) throws {
        let kind =
            try row["kind"].map { try #require(ProductKind(rawValue: $0)) } ?? .nonConsumable
        for version in ["v1", "v2"] {
            guard let change = row[version] else { continue }
            let read = try GoogleRead(row) { facts, now throws(StoreFailure) in
                let sale = try Self.sale(version, change, facts, at: now)
                let read = try GoogleOneTimeObservation(
                    sale: sale, facts: facts, kind: kind, at: now)
                return (read.observation, read.proof)
            }
            #expect(summary(read.answer) == row["hear"], "\(version)")
            #expect(read.more == (row["more"] ?? ""), "\(version)")
        }
    }

    /// Cancelled as a whole, whatever each line says: the main product stays the one it was.
    @Test func whatIsCancelledIsAllGone() throws {
        let facts = Facts(
            storedProduct: "plus", state: .active, access: .granted,
            holdings: [
                Holding(entitlement: "pro", product: "plus", expiresAt: nil),
                Holding(entitlement: "gold", product: "gold", expiresAt: nil),
            ])
        var sale = GoogleSale(
            state: .cancelled,
            items: try ["plus", "gold"].map { product in
                try GoogleSale.Item(
                    product: product, quantity: 1,
                    refundableQuantity: product == "plus" ? 0 : nil, isConsumed: false)
            })
        sale.order = "GPA.1"
        let heard = try GoogleOneTimeObservation(
            sale: sale, facts: facts, kind: .nonConsumable, at: GoogleFixture.now
        ).observation
        #expect(heard.status == .refunded(at: nil))
        #expect(heard.items.flatMap(\.names) == ["plus", "gold"])
    }

    private static func sale(
        _ version: String, _ change: String, _ facts: Facts, at now: Timestamp
    ) throws(StoreFailure) -> GoogleSale {
        if version == "v2" {
            return try JSON.decode(GoogleProduct.self, from: merged(orEmpty: base, change))
                .sale(at: now)
        }
        let purchase = purchase(.google, token: "t") { $0 = facts }
        return try JSON.decode(
            GoogleLegacyProduct.self, from: merged(orEmpty: legacyBase, change)
        ).sale(of: purchase, at: now)
    }
}
