import Foundation
import Testing

@testable import StoreSimulator

@Suite("Products that do not renew")
struct ProductKindTests {
    /// Bought on day 0 with a period of a month; the truth is `yes` for access.
    static let table = rows(
        """
        kind            deeds                       day   state     access
        non_renewing    -                           30    active    yes
        non_renewing    -                           31    expired   no
        non_renewing    refund@5                    6     refunded  no
        non_consumable  -                           9000  active    yes
        non_consumable  refund@5                    6     refunded  no
        non_consumable  refund@5 reverseRefund@7    8     active    yes
        consumable      -                           1     active    no
        consumable      cancel@5 renew@6            9     active    no
        """)

    @Test("are lived as the table says", arguments: table)
    func lives(_ row: [String]) throws {
        var terms = Terms(store: .apple, period: Period(months: 1))
        terms.kind = try #require(Terms.Kind(rawValue: row[0]))
        let timeline = try Days.timeline(.apple, row[1], terms)
        let now = Days.instant(try #require(Double(row[2])))
        #expect(timeline.life(at: now).phase.word == row[3])
        #expect(timeline.entitled(at: now) == (row[4] == "yes"))
    }

    @Test(
        "Apple names the kind and no expiry",
        arguments: [
            ("non_renewing", "Non-Renewing Subscription"), ("non_consumable", "Non-Consumable"),
            ("consumable", "Consumable"),
        ])
    func appleNames(_ kind: String, _ name: String) throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple, #","kind":"\#(kind)""#)
        let bearer = try stage.appleToken()
        let reply = stage.get("/inApps/v1/transactions/\(purchase.token)", bearer: bearer)
        let signed = try Signed(#require(reply.object["signedTransactionInfo"] as? String))
        #expect(signed.payload["type"] as? String == name)
        for absent in ["expiresDate", "subscriptionGroupIdentifier", "webOrderLineItemId"] {
            #expect(signed.payload[absent] == nil)
        }
        let status = try stage.apple(purchase.token)
        #expect((status.object["data"] as? [Any])?.isEmpty == true)
    }

    @Test("Google answers both versions of products, and voids of type 0")
    func googleAnswers() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google, #","kind":"non_consumable""#)
        let bearer = try stage.googleBearer()
        let root = "/androidpublisher/v3/applications/com.example.reader/purchases/"
        let read = { (path: String) in stage.get(root + path, bearer: bearer) }
        let first = "products/pro.monthly/tokens/\(purchase.token)"
        let second = "productsv2/tokens/\(purchase.token)"
        #expect(read(first).object["purchaseState"] as? Int == 0)
        #expect(read(second).text.contains("\"PURCHASED\""))
        #expect(read("subscriptionsv2/tokens/\(purchase.token)").status == 400)
        #expect(read("products/other/tokens/\(purchase.token)").status == 400)
        #expect(read("voidedpurchases").object.isEmpty)
        _ = stage.act("refund", purchase)
        #expect(read(first).object["purchaseState"] as? Int == 1)
        #expect(read(second).text.contains("\"CANCELLED\""))
        #expect(read("voidedpurchases").text.contains(purchase.order))
    }

    @Test("Amazon names the kind, with neither term nor renewal, and the refund as its end")
    func amazonAnswers() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.amazon, #","kind":"non_consumable""#)
        let answer = stage.amazon(purchase).object
        #expect(answer["productType"] as? String == "ENTITLED")
        #expect(answer["productId"] as? String == "pro.monthly")
        #expect(answer["termSku"] is NSNull && answer["renewalDate"] is NSNull)
        #expect(answer["cancelDate"] is NSNull)
        _ = stage.act("refund", purchase)
        #expect(stage.amazon(purchase).object["cancelReason"] as? Int == 1)
        #expect(stage.act("cancel", purchase).status == 409)
    }
}
