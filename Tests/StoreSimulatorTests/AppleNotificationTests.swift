import Foundation
import Synchronization
import Testing

@testable import StoreSimulator

@Suite("Apple's orders and notifications")
struct AppleNotificationTests {
    private func send(
        _ stage: Stage, _ method: String, _ path: String, _ body: String = "",
        at host: StoreHost = .production
    ) throws -> Reply {
        stage.responder.answer(
            Request(
                method: method, target: "/inApps/v1/" + path,
                authorization: "Bearer \(try stage.appleToken())", body: Array(body.utf8)),
            at: host)
    }

    private func pass(_ stage: Stage, _ period: String) {
        _ = stage.control("POST", "/clock", #"{"advance":"\#(period)"}"#)
    }

    private func now(_ stage: Stage) -> Instant {
        let machine = SimulatedClock.machineNow
        return stage.responder.world.withLock { $0.now(machine) }
    }

    private func history(
        _ stage: Stage, _ more: String = "", days: Int64 = 100, page: String? = nil
    ) throws -> Reply {
        let end = now(stage)
        let body = """
            {"startDate":\((end + -days * Instant.day).milliseconds),\
            "endDate":\(end.milliseconds)\(more)}
            """
        let query = page.map { "?paginationToken=\($0)" } ?? ""
        return try send(stage, "POST", "notifications/history" + query, body)
    }

    private func payloads(_ reply: Reply) throws -> [[String: Any]] {
        try #require(reply.object["notificationHistory"] as? [[String: Any]]).map { entry in
            try Signed(#require(entry["signedPayload"] as? String)).payload
        }
    }

    @Test("an order is looked up by what the customer's mail says")
    func looksUp() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple)
        let described = stage.control("GET", "/purchases/\(purchase.number)").object
        let charge = try #require((described["charges"] as? [[String: Any]])?.first)
        let order = try #require(charge["order_id"] as? String)
        let found = try send(stage, "GET", "lookup/\(order)").object
        #expect(found["status"] as? Int == 0)
        let text = try #require((found["signedTransactions"] as? [String])?.first)
        #expect(try Signed(text).payload["transactionId"] as? String == purchase.token)
        #expect(try send(stage, "GET", "lookup/MX1").object["status"] as? Int == 1)
        #expect(try send(stage, "GET", "lookup/\(order)", at: .sandbox).text.isEmpty)
        #expect(stage.get("/inApps/v1/lookup/\(order)").status == 401)
    }

    /// All that is told of a purchase, after the purchase itself.
    static let stories = rows(
        """
        deed            days  told
        -               32    DID_RENEW
        cancel          32    DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED EXPIRED/VOLUNTARY
        fail_payment    40    DID_FAIL_TO_RENEW/GRACE_PERIOD GRACE_PERIOD_EXPIRED
        refund          1     REFUND
        revoke          1     REVOKE
        ask_price       32    PRICE_INCREASE/PENDING EXPIRED/PRICE_INCREASE
        withdraw        32    EXPIRED/PRODUCT_NOT_FOR_SALE
        extend          1     RENEWAL_EXTENDED
        """)

    @Test("tell the life of a purchase as the table says", arguments: stories)
    func tellsStories(_ row: [String]) throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple, #","grace":"P6D""#)
        if row[0] != "-" { #expect(stage.act(row[0], purchase).status == 200) }
        pass(stage, "P\(row[1])D")
        let payloads = try payloads(history(stage))
        let words = payloads.map { payload in
            ["notificationType", "subtype"].compactMap { payload[$0] as? String }
                .joined(separator: "/")
        }
        #expect(words.first == "SUBSCRIBED/INITIAL_BUY")
        #expect(words.dropFirst().joined(separator: " ") == row[2])
        let ids = payloads.compactMap { $0["notificationUUID"] as? String }
        #expect(Set(ids).count == payloads.count)
        let data = try #require(payloads.last?["data"] as? [String: Any])
        let inner = try Signed(#require(data["signedTransactionInfo"] as? String))
        #expect(inner.payload["originalTransactionId"] as? String == purchase.token)
        #expect(data["status"] is Int)
    }

    @Test("come in pages of twenty with a token that belongs to its request")
    func pages() throws {
        let stage = try Stage()
        for _ in 1...25 { _ = try stage.buy(.apple) }
        pass(stage, "P1D")
        let end = now(stage)
        let body = { (type: String) in
            """
            {"startDate":\((end + -2 * Instant.day).milliseconds),\
            "endDate":\(end.milliseconds)\(type)}
            """
        }
        let first = try send(stage, "POST", "notifications/history", body(""))
        let page = try #require(first.object["paginationToken"] as? String)
        #expect(first.object["hasMore"] as? Bool == true)
        let path = "notifications/history?paginationToken=\(page)"
        let second = try send(stage, "POST", path, body(""))
        #expect(try payloads(first).count == 20 && payloads(second).count == 5)
        #expect(second.object["hasMore"] as? Bool == false)
        let other = try send(stage, "POST", path, body(#","notificationType":"REFUND""#))
        #expect(other.object["errorCode"] as? Int == 4_000_014)
    }

    @Test(
        "filter and refuse as they are told",
        arguments: [
            (#","notificationType":"SUBSCRIBED""#, 100, 0), (#","notificationType":"NO""#, 100, 18),
            (#","transactionId":"1","notificationType":"TEST""#, 100, 19),
            (#","transactionId":"""#, 100, 4_000_006), ("", 181, 12),
            (#","transactionId":"1""#, 100, 4_040_010), (#","onlyFailures":true"#, 100, 0),
        ] as [(String, Int64, Int)])
    func filters(_ more: String, _ days: Int64, _ code: Int) throws {
        let stage = try Stage()
        _ = try stage.buy(.apple)
        pass(stage, "P1D")
        let reply = try history(stage, more, days: days)
        let wanted = code == 0 ? nil : code < 100 ? 4_000_000 + code : code
        #expect(reply.object["errorCode"] as? Int == wanted)
        if code == 0 { #expect(try payloads(reply).count == (more.contains("only") ? 0 : 1)) }
    }

    @Test("dates that are missing, broken or the wrong way round are refused")
    func refusesDates() throws {
        let stage = try Stage()
        let end = now(stage).milliseconds
        for (body, code) in [
            ("{\"endDate\":\(end)}", 4_000_015), ("{\"startDate\":\(end - 9)}", 4_000_016),
            ("{\"startDate\":1.5,\"endDate\":\(end)}", 4_000_015),
            ("{\"startDate\":\(end),\"endDate\":\(end - 9)}", 4_000_013), ("[", 4_000_000),
        ] {
            let reply = try send(stage, "POST", "notifications/history", body)
            #expect(reply.object["errorCode"] as? Int == code)
        }
    }

    @Test("a test notification can be asked for and read")
    func tests() throws {
        let stage = try Stage()
        let asked = try send(stage, "POST", "notifications/test").object
        let token = try #require(asked["testNotificationToken"] as? String)
        let reply = try send(stage, "GET", "notifications/test/\(token)").object
        let signed = try Signed(#require(reply["signedPayload"] as? String))
        #expect(signed.payload["notificationType"] as? String == "TEST")
        let code = { (path: String) throws in
            try send(stage, "GET", path).object["errorCode"] as? Int
        }
        #expect(try code("notifications/test/short") == 4_000_020)
        #expect(try code("notifications/test/\(String(repeating: "a", count: 36))_1") == 4_040_008)
    }
}
