import Foundation
import Testing

@testable import StoreSimulator

/// What Apple added in 2025 and 2026, against the vendor's pages: what its clients do not know yet.
@Suite("Apple's seats, commitments and items")
struct AppleNewsTests {
    private func pass(_ stage: Stage, _ period: String) {
        _ = stage.control("POST", "/clock", #"{"advance":"\#(period)"}"#)
    }

    private struct Told {
        let status: Int
        let transaction: [String: Any]
        let renewal: [String: Any]

        func info(_ name: String) -> [String: Any] { transaction[name] as? [String: Any] ?? [:] }
    }

    private func told(_ stage: Stage, _ purchase: Purchase) throws -> Told {
        let groups = try #require(
            stage.apple(purchase.token).object["data"] as? [[String: Any]])
        let last = try #require((groups.first?["lastTransactions"] as? [[String: Any]])?.first)
        return Told(
            status: try #require(last["status"] as? Int),
            transaction: try Signed(#require(last["signedTransactionInfo"] as? String)).payload,
            renewal: try Signed(#require(last["signedRenewalInfo"] as? String)).payload)
    }

    private func history(_ stage: Stage, _ purchase: Purchase) throws -> [[String: Any]] {
        let reply = stage.get(
            "/inApps/v2/history/\(purchase.token)", bearer: try stage.appleToken())
        return try #require(reply.object["signedTransactions"] as? [String])
            .map { try Signed($0).payload }
    }

    private func notifications(_ purchase: Purchase, _ stage: Stage) -> [String] {
        let life = purchase.timeline.life(
            at: stage.responder.world.withLock { $0.now(SimulatedClock.machineNow) })
        return AppleNotification.all(purchase, life).map { one in
            [one.type, one.subtype].compactMap { $0 }.joined(separator: "/")
        }
    }

    /// The members as the vendor's pages have them, with the JSON of their values.
    /// `multiSeatInfo`: /documentation/appstoreserverapi/transactionmultiseatinfo;
    /// `commitmentInfo`: /documentation/appstoreserverapi/transactioncommitmentinfo, and for the
    /// renewal /documentation/appstoreserverapi/renewalcommitmentinfo.
    static let documented = rows(
        """
        terms                                part         member           json
        ,"seats":5                           transaction  quantity         5
        ,"seats":5                           transaction  multiSeatInfo    {"invitationManagement":"APPLE","priceTiers":[{"price":4990,"quantity":5}]}
        ,"seats":5                           transaction  additionalTransactionReason  -
        ,"plan":"commitment"                 transaction  billingPlanType  "MONTHLY"
        ,"plan":"commitment"                 transaction  commitmentInfo   {"billingPeriodNumber":1,"commitmentExpiresDate":1798761600000,"commitmentPrice":59880,"totalBillingPeriods":12}
        ,"plan":"commitment"                 renewal      renewalBillingPlanType  "MONTHLY"
        ,"plan":"commitment"                 renewal      commitmentInfo   {"commitmentAutoRenewProductId":"pro.monthly","commitmentAutoRenewStatus":1,"commitmentRenewalBillingPlanType":"MONTHLY","commitmentRenewalDate":1798761600000,"commitmentRenewalPrice":59880}
        ,"ownership":"assigned"              transaction  inAppOwnershipType  "ASSIGNED"
        ,"type":"Suite Subscription"         transaction  type             "Suite Subscription"
        ,"offer":{"kind":"retention"}        transaction  offerType        5
        ,"offer":{"discount":"one_time"}     transaction  offerDiscountType  "ONE_TIME"
        """)

    @Test("have the members of the vendor's pages", arguments: documented)
    func hasTheMembers(_ row: [String]) throws {
        let stage = try Stage()
        _ = stage.control("POST", "/clock", #"{"set":"2026-01-01T00:00:00Z","speed":0}"#)
        let told = try told(stage, stage.buy(.apple, row[0]))
        let value = (row[1] == "renewal" ? told.renewal : told.transaction)[row[2]]
        let json = try value.map { value in
            String(
                decoding: try JSONSerialization.data(
                    withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys]),
                as: UTF8.self)
        }
        #expect(json ?? "-" == row[3])
    }

    @Test("seats go back one by one, and the last ends it")
    func refundsSeats() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple, #","seats":5"#)
        pass(stage, "P1D")
        #expect(stage.act("refund_seats", purchase, #"{"quantity":6}"#).status == 409)
        #expect(stage.act("refund_seats", purchase, #"{"quantity":2}"#).status == 200)
        let some = try told(stage, purchase)
        #expect(some.status == 1 && some.transaction["revocationDate"] == nil)
        #expect(some.info("multiSeatInfo")["revokedSeatQuantity"] as? Int == 2)
        pass(stage, "P1D")
        #expect(stage.act("refund_seats", purchase, #"{"quantity":3}"#).status == 200)
        let all = try told(stage, purchase)
        #expect(all.status == 5 && all.transaction["revocationDate"] != nil)
        #expect(all.info("multiSeatInfo")["revokedSeatQuantity"] as? Int == 5)
        #expect(
            notifications(stage.purchase(purchase.number), stage)
                == ["SUBSCRIBED/INITIAL_BUY", "REFUND/SEATS", "REFUND"])
    }

    @Test("added seats are a transaction of their own, in the same period")
    func addsSeats() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple, #","seats":2"#)
        pass(stage, "P1D")
        _ = stage.act("add_seats", purchase, #"{"quantity":3}"#)
        let both = try history(stage, purchase)
        #expect(both.map { $0["quantity"] as? Int } == [2, 3])
        #expect(
            both.allSatisfy { $0["additionalTransactionReason"] as? String == "SEAT_ADDITION" })
        #expect(Set(both.compactMap { $0["expiresDate"] as? Int64 }).count == 1)
        _ = stage.act("refund_seats", purchase, #"{"quantity":4}"#)
        let left = try history(stage, purchase)
        #expect(left.map { $0["revocationDate"] == nil }.sorted { !$0 && $1 } == [false, true])
        let shown = try told(stage, purchase)
        #expect(shown.status == 1 && shown.transaction["revocationDate"] == nil)
        pass(stage, "P32D")
        #expect(try told(stage, purchase).transaction["quantity"] as? Int == 1)
    }

    @Test("a commitment that is cancelled in month two is charged to its end")
    func commits() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple, #","plan":"commitment","payments":3"#)
        pass(stage, "P35D")
        _ = stage.act("cancel", purchase)
        let second = try told(stage, purchase)
        #expect(second.info("commitmentInfo")["billingPeriodNumber"] as? Int == 2)
        #expect(second.renewal["autoRenewStatus"] as? Int == 1)
        let info = second.renewal["commitmentInfo"] as? [String: Any]
        #expect(info?["commitmentAutoRenewStatus"] as? Int == 0)
        pass(stage, "P31D")
        let third = try told(stage, purchase)
        #expect(third.status == 1 && third.renewal["autoRenewStatus"] as? Int == 0)
        #expect(
            third.info("commitmentInfo")["commitmentExpiresDate"] as? Int64
                == third.transaction["expiresDate"] as? Int64)
        pass(stage, "P31D")
        let over = try told(stage, purchase)
        #expect(over.status == 2 && over.renewal["expirationIntent"] as? Int == 1)
    }

    @Test("items go back by themselves and are not renewed")
    func refundsItems() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple, #","skus":["a","b"]"#)
        _ = stage.act("refund_item", purchase, #"{"product":"a"}"#)
        func items() throws -> [String] {
            let info = try told(stage, purchase).info("advancedCommerceInfo")
            return (info["items"] as? [[String: Any]] ?? []).map { item in
                "\(item["SKU"] ?? "-")" + (item["revocationDate"] == nil ? "" : "!")
            }
        }
        #expect(try items() == ["a!", "b"])
        #expect(stage.act("refund_item", purchase, #"{"product":"a"}"#).status == 409)
        pass(stage, "P32D")
        #expect(try items() == ["b"])
        _ = stage.act("refund_item", purchase, #"{"product":"b"}"#)
        #expect(try told(stage, purchase).status == 5)
    }

    @Test("a migrated subscription answers by both ids, with the old one beside the new one")
    func migrates() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple)
        _ = stage.act("migrate", purchase)
        let first = try told(stage, purchase).transaction
        let new = try #require(first["originalTransactionId"] as? String)
        #expect(new != purchase.token)
        #expect(first["previousOriginalTransactionId"] as? String == purchase.token)
        #expect(try stage.apple(new).status == 200)
        #expect(notifications(stage.purchase(purchase.number), stage).last == "MIGRATION")
        #expect(stage.act("migrate", purchase).status == 409)
    }

    @Test(
        "what only Apple sells is refused elsewhere",
        arguments: [
            (StoreName.google, #","seats":2"#), (.amazon, #","skus":["a"]"#),
            (.google, #","plan":"commitment""#), (.apple, #","plan":"installments","payments":3"#),
            (.apple, #","seats":0"#), (.apple, #","kind":"consumable","seats":2"#),
        ])
    func refuses(_ store: StoreName, _ more: String) throws {
        let stage = try Stage()
        let reply = stage.control(
            "POST", "/purchases",
            "{\"store\":\"\(store.rawValue)\",\"product\":\"pro.monthly\"\(more)}")
        #expect(reply.status == 400)
    }
}
