import Curl
import Foundation
import Renewal
import StoreFixtures
import TestSupport

@testable import Stores

// What is pulled for an app as a whole: hints, orders, access tokens.
extension FuzzTargets {
    static func pages() throws -> [FuzzTarget] {
        try [voided(), orders(), pubSub(), accessTokens(), notifications()]
    }

    private static func voided() throws -> FuzzTarget {
        let scene = try GoogleScene(Words(""))
        let page = """
            {"pageInfo":{"totalResults":2},"voidedPurchases":[
            {"kind":"androidpublisher#voidedPurchase","purchaseToken":"token-A","orderId":"GPA.1..0",
            "purchaseTimeMillis":"1767225600000","voidedTimeMillis":"1767312000000",
            "voidedReason":1,"voidedSource":0,"voidedQuantity":1}],
            "tokenPagination":{"nextPageToken":"next"}}
            """
        return FuzzTarget(name: "google voided purchases", seeds: [Array(page.utf8)]) { input, _ in
            scene.prepare(body: input, at: day)
            let pulled = try? await scene.store.voidedHints(after: nil, at: day)
            return pulled != nil
        }
    }

    private static func orders() throws -> FuzzTarget {
        let scene = try GoogleScene(Words(""))
        let order = """
            {"orderId":"GPA.1..0","purchaseToken":"token-A","state":"REFUNDED",
            "createTime":"2026-01-05T10:20:28.912Z","orderHistory":{"refundEvent":{
            "eventTime":"2026-01-06T10:20:28Z","refundDetails":{}}},
            "lineItems":[{"productId":"plus"}]}
            """
        return FuzzTarget(name: "google orders", seeds: [Array(order.utf8)]) { input, _ in
            scene.wire.answer(at: day) { request throws(CurlError) in
                request.url.hasPrefix("https://tokens.example")
                    ? .json(GoogleScene.accessToken) : .json(input)
            }
            let found = try? await scene.store.lookUp(orderID: "GPA.1..0", at: day)
            if let found, found.id != "GPA.1..0" {
                throw FuzzTarget.Broken(description: "another order")
            }
            return found != nil
        }
    }

    private static func pubSub() throws -> FuzzTarget {
        let wire = Wire()
        let source = try GooglePubSub(
            credentials: GoogleScene.credentials(), subscription: "renewald",
            host: GoogleScene.host(), transport: wire.transport)
        let notification = """
            {"version":"1.0","packageName":"\(Shop.bundle)","eventTimeMillis":"1767312000000",
            "subscriptionNotification":{"version":"1.0","notificationType":2,
            "purchaseToken":"token-A"}}
            """
        let data = Data(notification.utf8).base64EncodedString()
        let pull = """
            {"receivedMessages":[{"ackId":"a1","message":{"data":"\(data)","messageId":"136969",
            "publishTime":"2026-01-06T10:20:28.912Z"},"deliveryAttempt":1}]}
            """
        let inner = Array(notification.utf8)
        let seeds = [Array(pull.utf8), inner]
        return FuzzTarget(name: "google Pub/Sub", seeds: seeds) { input, seed in
            var body = input
            if seed == inner {
                let data = Data(input).base64EncodedString()
                body = Array(
                    #"{"receivedMessages":[{"message":{"data":"\#(data)","messageId":"1"}}]}"#.utf8)
            }
            let answer = body
            wire.answer(at: day) { request throws(CurlError) in
                request.url.hasPrefix("https://tokens.example")
                    ? .json(GoogleScene.accessToken) : .json(answer)
            }
            let page = try? await source.pull(isWaiting: false, at: day)
            return page?.hints.isEmpty == false
        }
    }

    private static func accessTokens() throws -> FuzzTarget {
        let seeds = [
            GoogleScene.accessToken, #"{"error":"invalid_grant","error_description":"x"}"#,
        ]
        let purchase = Purchase(
            id: 1, userID: "ada", app: AppKey(store: .google, id: Shop.bundle), token: "token-A",
            createdAt: TestCalendar.start, facts: Facts(product: "plus"))
        let body = try GoogleScene.body("ACTIVE 30")
        return FuzzTarget(
            name: "google access tokens", seeds: seeds.map { Array($0.utf8) }
        ) { input, _ in
            let scene = try GoogleScene(Words(""))
            scene.wire.answer(at: day) { request throws(CurlError) in
                request.url.hasPrefix("https://tokens.example") ? .json(input) : .json(body)
            }
            if case .verdict = await scene.store.ask(purchase, at: day) { return true }
            return false
        }
    }

    private static func notifications() throws -> FuzzTarget {
        let scene = try AppleScene(Words(""))
        let entry = try AppleEntry("5:30 revoked=9", in: "Production", at: day)
        var data = JSONText()
        data["bundleId"] = Shop.bundle.text
        data["environment"] = "Production"
        data["signedTransactionInfo"] = try entry.signedTransaction()
        var payload = JSONText()
        payload["notificationType"] = "REFUND"
        payload["notificationUUID"] = "9a1d6c0e-4f7b-4c2d-8e5a-1b2c3d4e5f60"
        payload["data"] = data.members
        payload["signedDate"] = day.milliseconds
        let signed = try AppleAuthority.trusted.get().sign(try payload.bytes)
        let page = """
            {"paginationToken":"next","hasMore":false,"notificationHistory":[
            {"signedPayload":"\(signed)","sendAttempts":[]}]}
            """
        return FuzzTarget(name: "apple notifications", seeds: [Array(page.utf8)]) { input, _ in
            scene.prepare(body: input, at: day)
            guard let page = try? await scene.store.hints(after: nil, at: day) else { return false }
            // Both environments are given the same bytes, which can be of one only.
            let ids = page.hints.map(\.subject)
            guard ids.allSatisfy({ $0 == .originalID("420001010101001") }) else {
                throw FuzzTarget.Broken(description: "a hint that nobody has signed")
            }
            return !ids.isEmpty
        }
    }
}
