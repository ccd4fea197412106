import Foundation
import Testing

@testable import StoreSimulator

/// What is told of a sale and changes nothing in its course.
@Suite("What is told of a sale")
struct SaleTests {
    private static let root = "/androidpublisher/v3/applications/com.example.reader/"
    private static let more = """
        ,"user":"u-7","country":"AT","price":"12.5","currency":"CHF","base_plan":"yearly",
        "offer_tags":["winter","loyal"],"profile":"p-2","linked_account":"l-3"
        """

    private func pass(_ stage: Stage, _ period: String) {
        _ = stage.control("POST", "/clock", #"{"advance":"\#(period)"}"#)
    }

    private func google(_ stage: Stage, _ target: String) throws -> [String: Any] {
        stage.get(Self.root + target, bearer: try stage.googleBearer()).object
    }

    private func item(_ answer: [String: Any]) throws -> [String: Any] {
        try #require((answer["lineItems"] as? [[String: Any]])?.first)
    }

    /// The member at a path such as `a.b`.
    private func member(_ path: String, of object: [String: Any]) -> Any? {
        var value: Any? = object
        for name in path.split(separator: ".") {
            value = (value as? [String: Any])?[String(name)]
        }
        return value
    }

    @Test("Google tells region, price, plan, offer and accounts")
    func tellsASale() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google, Self.more)
        let answer = try stage.google(purchase.token).object
        let item = try item(answer)
        #expect(answer["regionCode"] as? String == "AT")
        let accounts = answer["externalAccountIdentifiers"] as? [String: String]
        #expect(
            accounts == [
                "externalAccountId": "l-3", "obfuscatedExternalAccountId": "u-7",
                "obfuscatedExternalProfileId": "p-2",
            ])
        let price = "autoRenewingPlan.recurringPrice."
        #expect(member(price + "currencyCode", of: item) as? String == "CHF")
        #expect(member(price + "units", of: item) as? String == "12")
        #expect(member(price + "nanos", of: item) as? Int == 500_000_000)
        #expect(member("offerDetails.basePlanId", of: item) as? String == "yearly")
        #expect(member("offerDetails.offerTags", of: item) as? [String] == ["winter", "loyal"])
        let old = try google(
            stage, "purchases/subscriptions/pro.monthly/tokens/\(purchase.token)")
        #expect(old["priceAmountMicros"] as? String == "12500000")
        #expect(old["priceCurrencyCode"] as? String == "CHF")
        #expect(old["countryCode"] as? String == "AT")
        #expect(old["obfuscatedExternalProfileId"] as? String == "p-2")
    }

    @Test("Google tells why renewal was turned off, until it is on again")
    func tellsASurvey() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google)
        #expect(stage.act("cancel", purchase, #"{"reason":0,"comment":"too loud"}"#).status == 200)
        let path = "canceledStateContext.userInitiatedCancellation.cancelSurveyResult"
        let survey = member(path, of: try stage.google(purchase.token).object)
        #expect(
            survey as? [String: String] == [
                "reason": "CANCEL_SURVEY_REASON_OTHERS", "reasonUserInput": "too loud",
            ])
        let old = try google(
            stage, "purchases/subscriptions/pro.monthly/tokens/\(purchase.token)")
        #expect(member("cancelSurveyResult.cancelSurveyReason", of: old) as? Int == 0)
        #expect(stage.act("uncancel", purchase).status == 200)
        #expect(stage.act("cancel", purchase).status == 200)
        #expect(member(path, of: try stage.google(purchase.token).object) == nil)
    }

    @Test("a part of an order goes back, and access stays")
    func tellsAPart() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google, #","price":"8""#)
        for share in ["0.25", "0.125"] {
            #expect(stage.act("refund_share", purchase, #"{"share":\#(share)}"#).status == 200)
        }
        let order = try google(stage, "orders/\(purchase.order)")
        #expect(order["state"] as? String == "PARTIALLY_REFUNDED")
        let events = member("orderHistory.partialRefundEvents", of: order) as? [[String: Any]]
        let totals = events?.map { event in
            member("refundDetails.total.units", of: event) as? String
        }
        #expect(totals == ["2", "1"])
        #expect(try item(stage.google(purchase.token).object)["expiryTime"] != nil)
        let told = stage.control("GET", "/purchases/\(purchase.number)").object
        #expect(told["entitled"] as? Bool == true)
        #expect(stage.act("refund_share", purchase, #"{"share":1.5}"#).status == 400)
        #expect(stage.act("refund_share", purchase, #"{"past":true}"#).status == 409)
        #expect(stage.act("refund_share", try stage.buy(.apple)).status == 409)
    }

    @Test("the list of voided purchases says who wanted it, and why")
    func tellsWhoWantedIt() throws {
        let stage = try Stage()
        for (action, body) in [
            ("refund", #"{"reason":2,"source":1}"#), ("charge_back", ""), ("refund", ""),
        ] {
            #expect(stage.act(action, try stage.buy(.google), body).status == 200)
        }
        _ = try stage.buy(.google, #","acknowledged":false"#)
        pass(stage, "P4D")
        let list = try google(stage, "purchases/voidedpurchases?type=1")
        let voids = list["voidedPurchases"] as? [[String: Any]] ?? []
        let words = voids.map { "\($0["voidedSource"] ?? "") \($0["voidedReason"] ?? "")" }
        #expect(words.sorted() == ["0 1", "1 2", "2 7", "2 8"])
    }

    @Test("an add-on of Amazon's names its base and ends with it, which its receipt does not tell")
    func tellsBases() throws {
        let stage = try Stage()
        let base = try stage.buy(.amazon)
        let addOn = try stage.buy(.amazon, #","bases":[\#(base.number)],"country":"FR""#)
        #expect(addOn.storeUser == base.storeUser)
        let receipt = stage.amazon(addOn).object
        #expect(receipt["baseReceipts"] as? [String] == [base.token])
        #expect(receipt["countryCode"] as? String == "FR")
        #expect(stage.amazon(base).object["baseReceipts"] is NSNull)
        let path = "/purchases/\(addOn.number)"
        #expect(stage.control("GET", path).object["entitled"] as? Bool == true)
        #expect(stage.act("refund", base).status == 200)
        #expect(stage.control("GET", path).object["entitled"] as? Bool == false)
        let truth = stage.control("GET", "/truth/summary").object
        #expect(member("entitled.amazon", of: truth) as? Int == 0)
        #expect(stage.amazon(addOn).object["cancelDate"] is NSNull)
        let strange = #"{"store":"amazon","product":"x","bases":[99]}"#
        #expect(stage.control("POST", "/purchases", strange).status == 404)
    }

    @Test("Amazon cancels what nobody has fulfilled, and refunds what cannot be delivered")
    func tellsFulfilment() throws {
        let stage = try Stage()
        let purchases = try (0..<3).map { _ in
            try stage.buy(.amazon, #","acknowledged":false"#)
        }
        for purchase in purchases {
            #expect(stage.amazon(purchase).object["fulfillmentResult"] is NSNull)
            #expect(stage.amazon(purchase).object["fulfillmentDate"] is NSNull)
        }
        #expect(stage.act("fulfil", purchases[0]).status == 200)
        #expect(stage.act("fulfil", purchases[1], #"{"result":"UNAVAILABLE"}"#).status == 200)
        let fulfilled = stage.amazon(purchases[0]).object
        #expect(fulfilled["fulfillmentResult"] as? String == "FULFILLED")
        #expect(fulfilled["fulfillmentDate"] as? Int64 != nil)
        #expect(stage.amazon(purchases[1]).object["cancelDate"] as? Int64 != nil)
        pass(stage, "P13D")
        #expect(stage.amazon(purchases[2]).object["cancelDate"] is NSNull)
        pass(stage, "P2D")
        #expect(stage.amazon(purchases[2]).object["cancelDate"] as? Int64 != nil)
        #expect(stage.amazon(purchases[2]).object["cancelReason"] as? Int == 2)
        #expect(stage.amazon(purchases[0]).object["cancelDate"] is NSNull)
    }

    /// Members of the documentation's pages that the pinned client does not know yet: paths, and
    /// what a made answer has there.
    @Test(
        "what Google's client does not know yet is as the documentation has it",
        arguments: [
            ("lineItems.itemReplacement.productId", "pro.monthly"),
            ("lineItems.itemReplacement.basePlanId", "standard"),
            ("lineItems.itemReplacement.replacementMode", "CHARGE_PRORATED_PRICE"),
            ("lineItems.offerPhase.prorationPeriod.originalOfferPhaseType", "BASE"),
            ("lineItems.latestSuccessfulOrderId", "GPA."),
        ])
    func tellsWhatIsNew(_ path: String, _ beginning: String) throws {
        let stage = try Stage()
        let old = try stage.buy(.google)
        let reply = stage.control(
            "POST", "/purchases",
            #"{"store":"google","product":"pro.yearly","replaces":\#(old.number)}"#)
        #expect(reply.status == 200)
        let answer = try stage.google(stage.purchase(2).token).object
        let rest = path.split(separator: ".").dropFirst().joined(separator: ".")
        let found = member(rest, of: try item(answer)) as? String
        #expect(found?.hasPrefix(beginning) == true, "\(found ?? "nothing")")
    }

    @Test("an add-on that will go is marked so")
    func tellsARemoval() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google, #","add_ons":["maps"]"#)
        #expect(stage.act("remove_item", purchase, #"{"product":"maps"}"#).status == 200)
        let items = try stage.google(purchase.token).object["lineItems"] as? [[String: Any]]
        #expect(items?.map { $0["deferredItemRemoval"] != nil } == [false, true])
    }
}
