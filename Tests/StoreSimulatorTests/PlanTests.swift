import Foundation
import Testing

@testable import StoreSimulator

@Suite("Plans, offers and changes of product")
struct PlanTests {
    private func pass(_ stage: Stage, _ period: String) {
        _ = stage.control("POST", "/clock", #"{"advance":"\#(period)"}"#)
    }

    private func replacement(_ stage: Stage, _ reply: Reply) throws -> Purchase {
        let made = try #require(reply.object["replacement"] as? [String: Any])
        let number = try #require(made["id"] as? Int)
        return stage.purchase(number)
    }

    private func items(_ reply: Reply) throws -> [[String: Any]] {
        try #require(reply.object["lineItems"] as? [[String: Any]])
    }

    private func truth(_ stage: Stage, _ purchase: Purchase) -> [String] {
        stage.control("GET", "/purchases/\(purchase.number)").object["entitled_products"]
            as? [String] ?? []
    }

    @Test("Google: a deferred change has two items until it comes, and access to the old product")
    func defers() throws {
        let stage = try Stage()
        let old = try stage.buy(.google)
        pass(stage, "P5D")
        let body = #"{"product":"mini","when":"renewal"}"#
        let new = try replacement(stage, stage.act("change_product", old, body))
        let waiting = try items(stage.google(new.token))
        let next = waiting.first?["deferredItemReplacement"] as? [String: String]
        #expect(waiting.map { $0["productId"] as? String } == ["pro.monthly", "mini"])
        #expect(next == ["productId": "mini"])
        #expect(waiting.last?["expiryTime"] == nil)
        #expect(waiting.last?["latestSuccessfulOrderId"] == nil)
        #expect(truth(stage, new) == ["pro.monthly"] && truth(stage, old).isEmpty)
        pass(stage, "P32D")
        let changed = try items(stage.google(new.token))
        #expect(changed.map { $0["productId"] as? String } == ["pro.monthly", "mini"])
        #expect(changed.first?["deferredItemReplacement"] == nil)
        #expect(changed.last?["latestSuccessfulOrderId"] as? String == new.order + "..0")
        #expect(truth(stage, new) == ["mini"])
    }

    @Test("Google: prepaid time ends, or is added to by a top-up with a token of its own")
    func toppedUp() throws {
        let stage = try Stage()
        let first = try stage.buy(.google, #","plan":"prepaid","period":"P30D""#)
        #expect(stage.act("cancel", first).status == 409)
        pass(stage, "P20D")
        let second = try replacement(stage, stage.act("top_up", first))
        pass(stage, "P25D")
        let answer = try stage.google(second.token)
        #expect(answer.object["linkedPurchaseToken"] as? String == first.token)
        #expect(answer.object["subscriptionState"] as? String == "SUBSCRIPTION_STATE_ACTIVE")
        #expect(try items(answer).first?["prepaidPlan"] is [String: Any])
        #expect(try items(answer).first?["autoRenewingPlan"] == nil)
        pass(stage, "P16D")
        let later = try stage.google(second.token).object
        #expect(later["subscriptionState"] as? String == "SUBSCRIPTION_STATE_EXPIRED")
        #expect(later["canceledStateContext"] == nil)
    }

    @Test("Google: who owes instalments cannot leave before they are paid")
    func owes() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google, #","plan":"installments","payments":3"#)
        _ = stage.act("cancel", purchase)
        let plan = try items(stage.google(purchase.token)).first?["autoRenewingPlan"]
        let details = (plan as? [String: Any])?["installmentDetails"] as? [String: Any]
        #expect(details?["remainingCommittedPaymentsCount"] as? Int == 2)
        #expect(details?["pendingCancellation"] != nil)
        pass(stage, "P64D")
        let last = try stage.google(purchase.token).object
        #expect(last["subscriptionState"] as? String == "SUBSCRIPTION_STATE_CANCELED")
        pass(stage, "P32D")
        #expect(truth(stage, purchase).isEmpty)
    }

    @Test("Google: add-ons come, leave at the renewal, or go at once")
    func addOns() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google, #","add_ons":["maps","music"]"#)
        _ = stage.act("add_item", purchase, #"{"product":"voices"}"#)
        _ = stage.act("remove_item", purchase, #"{"product":"maps"}"#)
        _ = stage.act("revoke_item", purchase, #"{"product":"music"}"#)
        #expect(stage.act("remove_item", purchase, #"{"product":"none"}"#).status == 409)
        let now = try items(stage.google(purchase.token))
        #expect(
            now.map { $0["productId"] as? String } == ["pro.monthly", "maps", "music", "voices"])
        #expect(now[1]["deferredItemRemoval"] != nil && now[3]["deferredItemRemoval"] == nil)
        #expect(truth(stage, purchase) == ["pro.monthly", "maps", "voices"])
        pass(stage, "P33D")
        #expect(truth(stage, purchase) == ["pro.monthly", "voices"])
    }

    @Test("Google: bought again in Play, the owner is told by the expired token until acknowledged")
    func resubscribes() throws {
        let stage = try Stage()
        let old = try stage.buy(.google, #","user":"u-1""#)
        #expect(stage.act("resubscribe", old).status == 409)
        _ = stage.act("expire", old)
        let new = try replacement(stage, stage.act("resubscribe", old))
        let before = try stage.google(new.token).object
        let context = before["outOfAppPurchaseContext"] as? [String: Any]
        #expect(context?["expiredPurchaseToken"] as? String == old.token)
        #expect(before["linkedPurchaseToken"] == nil)
        #expect(before["externalAccountIdentifiers"] == nil)
        _ = stage.act("acknowledge", new)
        #expect(try stage.google(new.token).object["outOfAppPurchaseContext"] == nil)
    }

    @Test("Google: while the new purchase is pending the old one stays in force")
    func pends() throws {
        let stage = try Stage()
        let old = try stage.buy(.google)
        let new = try stage.buy(.google, #","replaces":\#(old.number),"pending":true"#)
        #expect(truth(stage, old) == ["pro.monthly"] && truth(stage, new).isEmpty)
        _ = stage.act("complete", new)
        #expect(truth(stage, old).isEmpty && truth(stage, new) == ["pro.monthly"])
    }

    /// Offer type, discount and what the first three charges say of it.
    static let offers = rows(
        """
        kind          discount       cycles  type  charges
        introductory  free_trial     1       1     FREE_TRIAL -
        introductory  pay_as_you_go  2       1     PAY_AS_YOU_GO PAY_AS_YOU_GO -
        promotional   pay_up_front   3       2     PAY_UP_FRONT -
        code          free_trial     1       3     FREE_TRIAL -
        win_back      pay_as_you_go  1       4     PAY_AS_YOU_GO -
        """)

    @Test("Apple: offers are told by type and discount as long as they last", arguments: offers)
    func tellsOffers(_ row: [String]) throws {
        let stage = try Stage()
        let offer = #"{"kind":"\#(row[0])","discount":"\#(row[1])","cycles":\#(row[2]),"id":"x"}"#
        let purchase = try stage.buy(.apple, #","offer":\#(offer)"#)
        pass(stage, "P5M")
        let bearer = try stage.appleToken()
        let history = stage.get("/inApps/v2/history/\(purchase.token)", bearer: bearer).object
        let payloads = try #require(history["signedTransactions"] as? [String]).map {
            try Signed($0).payload
        }
        let words = row[4].split(separator: " ").map(String.init)
        for (payload, word) in zip(payloads, words) {
            #expect((payload["offerDiscountType"] as? String ?? "-") == word)
            #expect((payload["offerType"] as? Int).map(String.init) == (word == "-" ? nil : row[3]))
        }
        #expect(payloads.count >= words.count)
    }

    @Test("Apple: a downgrade waits for the renewal, with its own period")
    func downgrades() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple)
        let body = #"{"product":"mini","when":"renewal","period":"P1W"}"#
        _ = stage.act("change_product", purchase, body)
        #expect(truth(stage, purchase) == ["pro.monthly"])
        pass(stage, "P32D")
        let charges = stage.control("GET", "/purchases/\(purchase.number)").object["charges"]
        let last = try #require((charges as? [[String: Any]])?.last)
        let start = try #require(Instant(text: last["start"] as? String ?? ""))
        let end = try #require(Instant(text: last["end"] as? String ?? ""))
        #expect(end - start == 7 * Instant.day)
        #expect(truth(stage, purchase) == ["mini"])
    }

    @Test("Apple: what the family shares is marked so and names no account")
    func shares() throws {
        let stage = try Stage()
        let user = "0b7e0c52-7c0a-4c1e-9d61-3a5f4f0c9a11"
        let purchase = try stage.buy(.apple, #","ownership":"family_shared","user":"\#(user)""#)
        let bearer = try stage.appleToken()
        let reply = stage.get("/inApps/v1/transactions/\(purchase.token)", bearer: bearer)
        let payload = try Signed(#require(reply.object["signedTransactionInfo"] as? String)).payload
        #expect(payload["inAppOwnershipType"] as? String == "FAMILY_SHARED")
        #expect(payload["appAccountToken"] == nil)
    }

    @Test("Amazon: a change of plan waits for the renewal, and then is the plan")
    func waits() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.amazon)
        let body = #"{"product":"pro.yearly","when":"renewal","period":"P1Y"}"#
        #expect(stage.act("change_product", purchase, body).status == 200)
        let before = stage.amazon(purchase).object
        #expect(before["deferredSku"] as? String == "pro.yearly")
        #expect(before["deferredDate"] as? Int64 == before["renewalDate"] as? Int64)
        pass(stage, "P32D")
        let after = stage.amazon(purchase).object
        #expect(after["deferredSku"] is NSNull && after["termSku"] as? String == "pro.yearly")
        #expect(after["term"] as? String == "1 Year")
    }

    @Test("Amazon: quantity, promotions, beta and the sandbox's artefact are as published")
    func fields() throws {
        let stage = try Stage()
        let entitled = stage.amazon(try stage.buy(.amazon, #","kind":"non_consumable""#)).object
        #expect(entitled["quantity"] is NSNull)
        let offer = #","beta":true,"offer":{"discount":"pay_as_you_go"}"#
        let introduced = stage.amazon(try stage.buy(.amazon, offer)).object
        let promotion = (introduced["promotions"] as? [[String: String]])?.first
        #expect(promotion?["promotionStatus"] == "InProgress")
        #expect(introduced["betaProduct"] as? Bool == true)
        let sandbox = try stage.buy(.amazon, #","environment":"sandbox""#)
        let answer = stage.amazon(sandbox, at: .sandbox).object
        #expect(answer["gracePeriodEndDate"] as? Int64 == answer["renewalDate"] as? Int64)
        #expect(answer["autoRenewing"] as? Bool == false)
    }

    @Test("a closed account is gone in each store's own way")
    func closes() throws {
        for (store, status) in [(StoreName.apple, 404), (.google, 410), (.amazon, 410)] {
            let stage = try Stage()
            let purchase = try stage.buy(store)
            #expect(stage.act("close_account", purchase).status == 200)
            #expect(try stage.ask(purchase).status == status)
            #expect(truth(stage, purchase).isEmpty)
        }
    }
}
