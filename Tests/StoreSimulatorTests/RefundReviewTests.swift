import Foundation
import Testing

@testable import StoreSimulator

@Suite("Questions about refunds")
struct RefundReviewTests {
    private func apple(
        _ stage: Stage, _ method: String, _ path: String, _ body: String
    ) throws -> Reply {
        stage.responder.answer(
            Request(
                method: method, target: "/inApps/" + path,
                authorization: "Bearer \(try stage.appleToken())", body: Array(body.utf8)),
            at: .production)
    }

    /// What the notification history has, by type.
    private func told(_ stage: Stage) throws -> [[String: Any]] {
        let machine = SimulatedClock.machineNow
        let now = stage.responder.world.withLock { $0.now(machine) }
        let reply = try apple(
            stage, "POST", "v1/notifications/history",
            """
            {"startDate":\((now + -Instant.day).milliseconds),\
            "endDate":\((now + Instant.day).milliseconds)}
            """)
        return try #require(reply.object["notificationHistory"] as? [[String: Any]]).map { entry in
            try Signed(#require(entry["signedPayload"] as? String)).payload
        }
    }

    private func pass(_ stage: Stage) {
        _ = stage.control("POST", "/clock", #"{"advance":"PT1M"}"#)
    }

    @Test(
        "Apple asks up to three times and tells what came of it",
        arguments: [
            ("refunded", "REFUND"), ("declined", "REFUND_DECLINED"),
        ])
    func appleAsks(outcome: String, type: String) throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple)
        for count in 1...3 {
            let reply = stage.control(
                "POST", "/refunds", #"{"purchase":1,"reason":"UNINTENDED_PURCHASE"}"#)
            #expect(reply.object["asked"] as? Int == count)
            pass(stage)
        }
        #expect(stage.control("POST", "/refunds", #"{"purchase":1}"#).status == 409)
        let asked = try told(stage).filter {
            $0["notificationType"] as? String == "CONSUMPTION_REQUEST"
        }
        #expect(asked.count == 3)
        #expect(Set(asked.compactMap { $0["notificationUUID"] as? String }).count == 3)
        let data = try #require(asked.first?["data"] as? [String: Any])
        #expect(data["consumptionRequestReason"] as? String == "UNINTENDED_PURCHASE")
        let inner = try Signed(#require(data["signedTransactionInfo"] as? String)).payload
        #expect(inner["transactionId"] as? String == purchase.token)

        let decided = stage.control("POST", "/refunds/1/decide", #"{"outcome":"\#(outcome)"}"#)
        #expect(decided.status == 200)
        pass(stage)
        #expect(try told(stage).last?["notificationType"] as? String == type)
        #expect(
            stage.control("POST", "/refunds/1/decide", #"{"outcome":"declined"}"#).status == 409)
    }

    static let bodies = rows(
        """
        body                                                                       status  code
        {"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}  202  -
        {"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"refundPreference":"GRANT_PRORATED"}  202  -
        {"customerConsented":false,"deliveryStatus":"DELIVERED","sampleContentProvided":false}  400  4000035
        {"deliveryStatus":"DELIVERED","sampleContentProvided":false}  400  4000035
        {"customerConsented":true,"deliveryStatus":0,"sampleContentProvided":false}  400  4000036
        {"customerConsented":true,"deliveryStatus":"DELIVERED"}  400  4000041
        {"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"refundPreference":"NEUTRAL"}  400  4000000
        {"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":5}  400  4000000
        []  400  4000000
        """)

    @Test("Apple checks what it is told of a subscription", arguments: bodies)
    func appleChecks(_ row: [String]) throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple)
        _ = stage.control("POST", "/refunds", #"{"purchase":1}"#)
        let path = "v2/transactions/consumption/\(purchase.token)"
        let reply = try apple(stage, "PUT", path, row[0])
        #expect(reply.status == Int(row[1]))
        #expect(reply.object["errorCode"] as? Int == Int(row[2]))
        let shown = stage.control("GET", "/refunds").object["refunds"] as? [[String: Any]]
        let replies = shown?.first?["replies"] as? [[String: Any]] ?? []
        #expect(replies.compactMap { $0["body"] as? String } == (row[1] == "202" ? [row[0]] : []))
    }

    @Test(
        "a share of what is sold once is within nothing and all",
        arguments: [
            (#""consumptionPercentage":5"#, 202), (#""consumptionPercentage":100000"#, 202),
            (#""consumptionPercentage":100001"#, 400), (#""consumptionPercentage":-1"#, 400),
            (#""consumptionPercentage":0,"refundPreference":"GRANT_PRORATED""#, 400),
            (#""consumptionPercentage":100000,"refundPreference":"GRANT_PRORATED""#, 400),
            (#""consumptionPercentage":1,"refundPreference":"GRANT_PRORATED""#, 202),
        ])
    func sharesOfWhatIsSoldOnce(more: String, status: Int) throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple, #","kind":"consumable""#)
        let body = """
            {"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,\
            \(more)}
            """
        let path = "v2/transactions/consumption/\(purchase.token)"
        #expect(try apple(stage, "PUT", path, body).status == status)
        let undelivered = body.replacing("\"DELIVERED", with: "\"UNDELIVERED_OTHER")
        let expected = more.hasSuffix(":0") ? 202 : 400
        #expect(try apple(stage, "PUT", path, undelivered).status == expected)
    }

    private func review(_ stage: Stage, _ order: String, _ body: String) throws -> Reply {
        stage.responder.answer(
            Request(
                method: "POST",
                target: "/androidpublisher/v3/applications/com.example.reader/orders/\(order)"
                    + ":reviewrefund",
                authorization: "Bearer \(try stage.googleBearer())", body: Array(body.utf8)),
            at: .production)
    }

    @Test("Google keeps the first answer and says OK to all")
    func googleKeepsTheFirst() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google, #","user":"acct""#)
        let asked = stage.control("POST", "/refunds", #"{"purchase":1,"reason":"7"}"#).object
        let token = try #require(asked["token"] as? String)
        #expect(stage.control("POST", "/refunds", #"{"purchase":1}"#).status == 409)
        let message = try #require(stage.responder.world.withLock { $0.pubSub.messages.last })
        let content = try #require(
            message.data.object["pendingRefundReviewNotification"] as? [String: Any])
        #expect(content["pendingRefundToken"] as? String == token)
        #expect(content["orderId"] as? String == purchase.order)
        #expect(content["refundReason"] as? Int == 7)

        func answer(_ preference: String, token: String = token) throws -> Int {
            try review(
                stage, purchase.order,
                """
                {"pendingRefundToken":"\(token)","sampleContentProvided":false,\
                "refundPreference":"\(preference)"}
                """
            ).status
        }
        #expect(try answer("MAYBE") == 400)
        #expect(try answer("DECLINE", token: "other") == 400)
        #expect(try answer("DECLINE") == 200)
        #expect(try answer("APPROVE") == 200)
        let shown = stage.control("GET", "/refunds").object["refunds"] as? [[String: Any]]
        let replies = try #require(shown?.first?["replies"] as? [[String: Any]])
        #expect(replies.map { $0["kept"] as? Bool } == [true, false])
    }

    @Test(
        "what fails after it was sent was kept",
        arguments: [
            (#"{"kind":"hang","endpoint":"review_refund"}"#, 1),
            (#"{"kind":"status","status":503,"endpoint":"review_refund"}"#, 1),
            (#"{"kind":"throttle","endpoint":"review_refund"}"#, 0),
            (#"{"kind":"status","status":403,"endpoint":"review_refund"}"#, 0),
        ])
    func keepsWhatFails(fault: String, kept: Int) throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google)
        let asked = stage.control("POST", "/refunds", #"{"purchase":1}"#).object
        let token = try #require(asked["token"] as? String)
        #expect(stage.control("POST", "/faults", fault).status == 200)
        _ = try review(
            stage, purchase.order,
            #"{"pendingRefundToken":"\#(token)","sampleContentProvided":true,"#
                + #""refundPreference":"NEUTRAL"}"#)
        let replies = stage.responder.world.withLock { $0.desk.reviews[0].replies.count }
        #expect(replies == kept)
    }

    @Test(
        "notifications beside the lives have Apple's shapes",
        arguments: [
            ("RESCIND_CONSENT", "appData"), ("EXTERNAL_PURCHASE_TOKEN", "externalPurchaseToken"),
            ("OF_ANOTHER_AGE", "data"),
        ])
    func announces(type: String, member: String) throws {
        let stage = try Stage()
        #expect(
            stage.control("POST", "/announcements", #"{"store":"apple","type":"\#(type)"}"#).status
                == 200)
        pass(stage)
        let payload = try #require(try told(stage).first)
        #expect(payload["notificationType"] as? String == type)
        let content = try #require(payload[member] as? [String: Any])
        #expect(content["bundleId"] as? String == "com.example.reader")
        #expect(content["signedTransactionInfo"] == nil)
    }

    @Test("a message of an unknown kind is published")
    func publishesTheUnknown() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google)
        let body = #"{"store":"google","type":"dreamNotification","purchase":1}"#
        #expect(stage.control("POST", "/announcements", body).status == 200)
        let message = try #require(stage.responder.world.withLock { $0.pubSub.messages.last })
        let content = try #require(message.data.object["dreamNotification"] as? [String: Any])
        #expect(content["purchaseToken"] as? String == purchase.token)
    }
}
