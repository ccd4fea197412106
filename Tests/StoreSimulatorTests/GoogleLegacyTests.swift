import Foundation
import Synchronization
import Testing

@testable import StoreSimulator

@Suite("Google's version 1 and its voided purchases")
struct GoogleLegacyTests {
    /// Expiry in days; `-` is an absent member.
    static let table = rows(
        """
        deeds                        day   expiry  renews  payment  cancel  order
        -                            5     31      true    1        -       -
        -                            40    59      true    1        -       ..0
        failPayment@5                31.5  32      true    0        -       ..0
        failPayment@5                33.5  34      true    0        -       ..0
        failPayment@5                40    31      true    0        -       ..0
        failPayment@5                68    31      false   -        1       ..0
        failPayment@5 fixPayment@41  41    69      true    1        -       ..0
        cancel@5                     6     31      false   -        0       -
        cancel@5                     31    31      false   -        0       -
        pause@5                      31    31      true    1        -       -
        replaced@5                   6     5       false   -        2       -
        revoke@5                     6     5       false   -        3       -
        """)

    @Test("tell payment, cancellation and order as the table says", arguments: table)
    func tellsPayment(_ row: [String]) throws {
        let purchase = try Scene.purchase(.google, row[0])
        let now = Days.instant(try #require(Double(row[1])))
        let life = purchase.timeline.life(at: now)
        let answer = Google.legacySubscription(purchase, life, at: now).object
        let expiry = try #require(Int64(answer["expiryTimeMillis"] as? String ?? ""))
        let order = try #require(answer["orderId"] as? String).dropFirst(purchase.order.count)
        #expect(Days.day(Instant(milliseconds: expiry)) == Double(row[2]))
        #expect(answer["autoRenewing"] as? Bool == Bool(row[3]))
        #expect(answer["paymentState"] as? Int == Int(row[4]))
        #expect(answer["cancelReason"] as? Int == Int(row[5]))
        #expect((order.isEmpty ? "-" : order) == row[6])
        #expect((answer["autoResumeTimeMillis"] != nil) == row[0].hasPrefix("pause"))
        #expect((answer["userCancellationTimeMillis"] != nil) == (row[5] == "0"))
    }

    @Test("version 1 is asked for by product, and a wrong product is an error")
    func wantsTheProduct() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google)
        let bearer = try stage.googleBearer()
        let path = { (product: String) in
            "/androidpublisher/v3/applications/com.example.reader/purchases/subscriptions/"
                + product + "/tokens/" + purchase.token
        }
        #expect(stage.get(path("pro.monthly"), bearer: bearer).object["paymentState"] as? Int == 1)
        #expect(stage.get(path("other"), bearer: bearer).status == 400)
    }

    @Test("a client cancels and revokes by POST")
    func writes() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google)
        let bearer = "Bearer " + (try stage.googleBearer())
        let post = { (verb: String) in
            stage.responder.answer(
                Request(
                    method: "POST", target: Stage.googlePath(purchase.token) + ":" + verb,
                    authorization: bearer), at: .production)
        }
        #expect(post("cancel").status == 200)
        #expect(try stage.google(purchase.token).text.contains("STATE_CANCELED"))
        #expect(post("revoke").status == 200)
        #expect(try stage.google(purchase.token).text.contains("STATE_EXPIRED"))
        #expect(post("revoke").status == 400)
    }

    private func voided(_ stage: Stage, _ query: String) throws -> [String: Any] {
        let path = "/androidpublisher/v3/applications/com.example.reader/purchases/voidedpurchases"
        let reply = stage.get(path + query, bearer: try stage.googleBearer())
        try #require(reply.status == 200)
        return reply.object
    }

    @Test("voided purchases are listed by order, in pages, for thirty days")
    func listsVoids() throws {
        let stage = try Stage()
        #expect(try voided(stage, "?type=1").isEmpty)
        let start = #","start":"2026-01-01T00:00:00Z""#
        _ = stage.control("POST", "/clock", #"{"set":"2026-02-10T00:00:00Z"}"#)
        let purchases = try (0..<3).map { _ in try stage.buy(.google, start) }
        _ = stage.act("refund", purchases[0])
        _ = stage.act("refund_past", purchases[1])
        _ = stage.act("revoke", purchases[2])
        var orders: [String] = []
        var query = "?type=1&maxResults=2"
        for _ in 0..<2 {
            let page = try voided(stage, query)
            let list = try #require(page["voidedPurchases"] as? [[String: Any]])
            orders += list.compactMap { $0["orderId"] as? String }
            let next = (page["tokenPagination"] as? [String: Any])?["nextPageToken"] as? String
            query = "?maxResults=2&token=" + (next ?? "")
        }
        #expect(
            orders.sorted()
                == [purchases[0].order + "..0", purchases[1].order, purchases[2].order + "..0"]
                .sorted())
        #expect(try voided(stage, "").isEmpty)
        _ = stage.control("POST", "/clock", #"{"advance":"P31D"}"#)
        #expect(try voided(stage, "?type=1").isEmpty)
    }
}
