import Foundation
import Testing

@testable import StoreSimulator

@Suite("Google's orders, acknowledgement and notifications")
struct GoogleWriteTests {
    private static let root = "/androidpublisher/v3/applications/com.example.reader/"

    private struct Desk {
        let stage: Stage
        let bearer: String

        init(_ stage: Stage, scope: String = Bearer.publisherScope) throws {
            self.stage = stage
            var claims = stage.googleClaims()
            claims["scope"] = scope
            let reply = stage.postToken(try stage.assertion(claims))
            bearer = try #require(reply.object["access_token"] as? String)
        }

        func send(_ method: String, _ target: String, _ body: String = "") -> Reply {
            stage.responder.answer(
                Request(
                    method: method, target: target, authorization: "Bearer \(bearer)",
                    body: Array(body.utf8)), at: .production)
        }

        func read(_ purchase: Purchase) -> [String: Any] {
            send("GET", Stage.googlePath(purchase.token)).object
        }

        func pull(_ name: String = "play", limit: Int = 100) -> [[String: Any]] {
            let path = "/v1/projects/storesim/subscriptions/\(name):pull"
            let reply = send("POST", path, "{\"maxMessages\":\(limit)}")
            return reply.object["receivedMessages"] as? [[String: Any]] ?? []
        }
    }

    private func pass(_ stage: Stage, _ period: String) {
        _ = stage.control("POST", "/clock", #"{"advance":"\#(period)"}"#)
    }

    @Test("an order names its token, what it paid for and what went back")
    func tellsOrders() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google)
        pass(stage, "P40D")
        var clients = try Desk(stage)
        let first = clients.send("GET", Self.root + "orders/\(purchase.order)").object
        #expect(first["purchaseToken"] as? String == purchase.token)
        #expect(first["state"] as? String == "PROCESSED")
        _ = stage.act("fail_payment", purchase)
        pass(stage, "P25D")
        clients = try Desk(stage)
        let pending = clients.send("GET", Self.root + "orders/\(purchase.order)..1").object
        #expect(pending["state"] as? String == "PENDING")
        let ids = "orderIds=\(purchase.order)&orderIds=\(purchase.order)..0"
        let both = clients.send("GET", Self.root + "orders:batchGet?\(ids)").object
        #expect((both["orders"] as? [Any])?.count == 2)
        let unknown = clients.send("GET", Self.root + "orders:batchGet?\(ids)&orderIds=GPA.0")
        #expect(unknown.status == 404)
        #expect(clients.send("GET", Self.root + "orders:batchGet").status == 400)
    }

    @Test("money that goes back leaves the access, unless it is revoked")
    func refunds() throws {
        let stage = try Stage()
        let clients = try Desk(stage)
        let kept = try stage.buy(.google)
        let lost = try stage.buy(.google)
        let path = { (purchase: Purchase) in Self.root + "orders/\(purchase.order):refund" }
        #expect(clients.send("POST", path(kept)).status == 200)
        #expect(clients.send("POST", path(lost) + "?revoke=true").status == 200)
        #expect(clients.send("POST", path(lost)).status == 400)
        #expect(clients.read(kept)["subscriptionState"] as? String == "SUBSCRIPTION_STATE_ACTIVE")
        #expect(clients.read(lost)["subscriptionState"] as? String == "SUBSCRIPTION_STATE_EXPIRED")
        let order = clients.send("GET", Self.root + "orders/\(kept.order)").object
        #expect(order["state"] as? String == "REFUNDED")
        let voids = clients.send("GET", Self.root + "purchases/voidedpurchases?type=1").text
        #expect(voids.contains(lost.order) && !voids.contains(kept.order))
    }

    @Test("what nobody acknowledges is given back after three days")
    func wantsAcknowledgement() throws {
        let stage = try Stage()
        let forgotten = try stage.buy(.google, #","acknowledged":false"#)
        let done = try stage.buy(.google, #","acknowledged":false"#)
        var clients = try Desk(stage)
        #expect(
            clients.read(forgotten)["acknowledgementState"] as? String
                == "ACKNOWLEDGEMENT_STATE_PENDING")
        let path = Self.root + "purchases/subscriptions/pro.monthly/tokens/\(done.token)"
        let body = #"{"developerPayload":"mine"}"#
        for _ in 1...2 { #expect(clients.send("POST", path + ":acknowledge", body).status == 204) }
        #expect(clients.send("GET", path).object["developerPayload"] as? String == "mine")
        pass(stage, "P3D")
        clients = try Desk(stage)
        let state = { (purchase: Purchase) in
            clients.read(purchase)["subscriptionState"] as? String ?? ""
        }
        #expect(state(forgotten) == "SUBSCRIPTION_STATE_EXPIRED")
        #expect(state(done) == "SUBSCRIPTION_STATE_ACTIVE")
        let voids = clients.send("GET", Self.root + "purchases/voidedpurchases?type=1").object
        let void = try #require((voids["voidedPurchases"] as? [[String: Any]])?.first)
        #expect(void["voidedReason"] as? Int == 8 && void["voidedSource"] as? Int == 2)
        let late = Self.root + "purchases/subscriptions/x/tokens/\(forgotten.token):acknowledge"
        #expect(clients.send("POST", late).status == 400)
    }

    @Test("a consumable is consumed once, and some of its quantity can be given back")
    func consumes() throws {
        let stage = try Stage()
        let clients = try Desk(stage)
        let purchase = try stage.buy(
            .google, #","kind":"consumable","quantity":3,"acknowledged":false"#)
        let path = Self.root + "purchases/products/pro.monthly/tokens/\(purchase.token)"
        #expect(clients.send("POST", path + ":consume").status == 204)
        #expect(clients.send("POST", path + ":consume").status == 400)
        #expect(stage.act("refund_part", purchase, #"{"quantity":2}"#).status == 200)
        let answer = clients.send("GET", path).object
        #expect(answer["consumptionState"] as? Int == 1)
        #expect(answer["acknowledgementState"] as? Int == 1)
        #expect(answer["quantity"] as? Int == 3 && answer["refundableQuantity"] as? Int == 1)
        let voids = Self.root + "purchases/voidedpurchases"
        #expect(clients.send("GET", voids).object.isEmpty)
        let parts = clients.send("GET", voids + "?includeQuantityBasedPartialRefund=true").text
        #expect(parts.contains("\"voidedQuantity\":2"))
    }

    @Test("the end of all items moves by a deferral with the right etag")
    func postpones() throws {
        let stage = try Stage()
        let clients = try Desk(stage)
        let purchase = try stage.buy(.google)
        let etag = try #require(clients.read(purchase)["etag"] as? String)
        let path = Stage.googlePath(purchase.token) + ":defer"
        let body = { (etag: String) in
            "{\"deferralContext\":{\"deferDuration\":\"604800s\",\"etag\":\"\(etag)\"}}"
        }
        #expect(clients.send("POST", path, body("old")).status == 409)
        #expect(clients.send("POST", path, body(etag)).status == 200)
        #expect(clients.read(purchase)["etag"] as? String != etag)
    }

    @Test("notifications follow the life, and come again until they are acknowledged")
    func notifies() throws {
        let stage = try Stage()
        _ = try stage.buy(.google)
        pass(stage, "PT1H")
        let clients = try Desk(stage, scope: "https://www.googleapis.com/auth/pubsub")
        let first = clients.pull()
        #expect(try types(first) == [4])
        #expect(clients.pull().isEmpty)
        pass(stage, "PT11S")
        let again = clients.pull()
        #expect(again.first?["deliveryAttempt"] as? Int == 2)
        let id = try #require(again.first?["ackId"] as? String)
        let path = "/v1/projects/storesim/subscriptions/play:"
        let body = "{\"ackIds\":[\"\(id)\"]}"
        #expect(clients.send("POST", path + "acknowledge", body).status == 200)
        #expect(clients.send("POST", path + "acknowledge", #"{"ackIds":["x"]}"#).status == 400)
        pass(stage, "PT11S")
        #expect(clients.pull().isEmpty)
        _ = stage.control("POST", "/notifications", #"{"redeliver":true,"test":"a.b"}"#)
        #expect(clients.pull().count == 2)
    }

    @Test("a subscription can be looked at, and says who may pull from it")
    func showsASubscription() throws {
        let clients = try Desk(try Stage(), scope: "https://www.googleapis.com/auth/pubsub")
        let path = "/v1/projects/storesim/subscriptions/"
        #expect(clients.send("GET", path + "play").object["ackDeadlineSeconds"] as? Int == 10)
        #expect(clients.send("GET", path + "none").status == 404)
        let wanted = #"{"permissions":["pubsub.subscriptions.consume"]}"#
        let held = clients.send("POST", path + "play:testIamPermissions", wanted)
        #expect(held.object["permissions"] as? [String] == ["pubsub.subscriptions.consume"])
        let none = clients.send("POST", path + "none:testIamPermissions", wanted)
        #expect(none.status == 200)
        #expect(none.object.isEmpty)
    }

    /// Notification types in their order, after the purchase itself.
    static let stories = rows(
        """
        deeds              days  types
        cancel             32    3 13
        fail_payment       40    6 5
        fail_payment       70    6 5 3 13
        refund             1     12 v
        pause              32    11 10
        ask_price          32    19 3 13
        """)

    @Test("name the change as the table says", arguments: stories)
    func tellsStories(_ row: [String]) throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google, #","grace":"P6D","hold":"P30D""#)
        _ = stage.act(row[0], purchase)
        var seen: [String] = []
        for _ in 0..<(Int(row[1]) ?? 0) {
            pass(stage, "P1D")
            let clients = try Desk(stage, scope: "https://www.googleapis.com/auth/pubsub")
            let messages = clients.pull()
            seen += try words(messages)
            let ids = messages.compactMap { $0["ackId"] as? String }.map { "\"\($0)\"" }
            let body = "{\"ackIds\":[\(ids.joined(separator: ","))]}"
            if !ids.isEmpty {
                let path = "/v1/projects/storesim/subscriptions/play:acknowledge"
                #expect(clients.send("POST", path, body).status == 200)
            }
        }
        #expect(seen.dropFirst().joined(separator: " ") == row[2])
    }

    private func data(_ message: [String: Any]) throws -> [String: Any] {
        let inner = try #require(message["message"] as? [String: Any])
        let bytes = try #require(Data(base64Encoded: inner["data"] as? String ?? ""))
        return try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    }

    private func types(_ messages: [[String: Any]]) throws -> [Int] {
        try messages.compactMap { message in
            let notification = try data(message)["subscriptionNotification"] as? [String: Any]
            return notification?["notificationType"] as? Int
        }
    }

    /// Types, and `v` for a voided purchase.
    private func words(_ messages: [[String: Any]]) throws -> [String] {
        try messages.map { message in
            try data(message)["voidedPurchaseNotification"] != nil
                ? "v" : try types([message]).map(String.init).joined()
        }
    }

    @Test("each kind of call wants its scope, and a subscription that exists")
    func wantsScopes() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google)
        let publisher = try Desk(stage)
        let pubSub = try Desk(stage, scope: "https://www.googleapis.com/auth/pubsub")
        let path = "/v1/projects/storesim/subscriptions/"
        let body = #"{"maxMessages":1}"#
        #expect(publisher.send("POST", path + "play:pull", body).status == 403)
        #expect(pubSub.send("GET", Stage.googlePath(purchase.token)).status == 403)
        #expect(pubSub.send("POST", path + "mine:pull", body).status == 404)
        #expect(pubSub.send("POST", path + "play:pull").status == 400)
        #expect(pubSub.send("PUT", path + "mine", "{}").status == 200)
        #expect(pubSub.pull("mine").isEmpty && pubSub.pull().count == 1)
        #expect(stage.get(path + "play:pull").status == 401)
    }

    @Test("what is no token is an invalid value")
    func refusesMistakes() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google)
        let clients = try Desk(stage)
        for mistake in [purchase.order, "%7B%22a%22%3A1%7D"] {
            let reply = clients.send("GET", Stage.googlePath(mistake))
            #expect(reply.status == 400 && reply.text.contains("\"invalid\""))
        }
    }
}
