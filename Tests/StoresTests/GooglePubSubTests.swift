import Curl
import Foundation
import Renewal
import Synchronization
import Testing

@testable import Stores

/// Notifications of Google, pulled from Pub/Sub.
struct GooglePubSubTests {
    private static let now = GoogleFixture.now
    private static let path = "POST /v1/projects/reader-7/subscriptions/news"

    /// Each row is a notification; what it comes to is a token, `nothing` or `unusable`.
    static let notifications = Case.all(
        #"""
        case: subscription
        data: {"version":"1.0","packageName":"com.example.reader",
            "eventTimeMillis":"1771151100100","subscriptionNotification":{"version":"1.0",
            "notificationType":6,"purchaseToken":"a"}}
        hear: a

        case: a kind of another age
        data: {"packageName":"com.example.reader","subscriptionNotification":
            {"notificationType":2100,"subscriptionId":"plus","purchaseToken":"a","more":[1]}}
        hear: a

        case: the schedule of a pause
        data: {"packageName":"com.example.reader","subscriptionNotification":
            {"notificationType":11,"purchaseToken":"a"}}
        hear: a
        clue: pause 77

        case: a kind that is no number
        data: {"packageName":"com.example.reader","subscriptionNotification":
            {"notificationType":{},"purchaseToken":"a"}}
        hear: a

        case: one-time product
        data: {"packageName":"com.example.reader","oneTimeProductNotification":
            {"notificationType":1,"purchaseToken":"b","sku":"coins"}}
        hear: b

        case: voided
        data: {"packageName":"com.example.reader","voidedPurchaseNotification":
            {"purchaseToken":"c","orderId":"GPA.1","productType":1,"refundType":1}}
        hear: c
        clue: refund GPA.1

        case: a part of the quantity voided
        data: {"packageName":"com.example.reader","voidedPurchaseNotification":
            {"purchaseToken":"c","orderId":"GPA.1","productType":2,"refundType":"2"}}
        hear: c
        clue: revoked 77

        case: voided, and the order is not named
        data: {"packageName":"com.example.reader","voidedPurchaseNotification":
            {"purchaseToken":"c","orderId":""}}
        hear: c
        clue: revoked 77

        case: revoked
        data: {"packageName":"com.example.reader","subscriptionNotification":
            {"notificationType":12,"purchaseToken":"a"}}
        hear: a
        clue: revoked 77

        case: one-time product cancelled
        data: {"packageName":"com.example.reader","oneTimeProductNotification":
            {"notificationType":2,"purchaseToken":"b","sku":"lifetime"}}
        hear: b
        clue: revoked 77

        case: test
        data: {"packageName":"com.example.reader","testNotification":{"version":"1.0"}}
        hear: nothing

        case: charge-back under review
        data: {"packageName":"com.example.reader","pendingRefundReviewNotification":
            {"pendingRefundToken":"p","orderId":"GPA.1","refundReason":7}}
        hear: nothing

        case: a notification of another age
        data: {"packageName":"com.example.reader","dreamNotification":{}}
        hear: nothing

        case: another app
        data: {"packageName":"com.example.other","subscriptionNotification":
            {"purchaseToken":"a"}}
        hear: unusable

        case: no app
        data: {"subscriptionNotification":{"purchaseToken":"a"}}
        hear: unusable

        case: no token
        data: {"packageName":"com.example.reader","subscriptionNotification":{}}
        hear: unusable

        case: an empty token
        data: {"packageName":"com.example.reader","subscriptionNotification":
            {"purchaseToken":""}}
        hear: unusable

        case: a token with a NUL
        data: {"packageName":"com.example.reader","subscriptionNotification":
            {"notificationType":2,"purchaseToken":"a\u0000b"}}
        hear: unusable

        case: a void of a token with a NUL
        data: {"packageName":"com.example.reader","voidedPurchaseNotification":
            {"purchaseToken":"\u0000","orderId":"GPA.1"}}
        hear: unusable

        case: a voided order with a NUL
        data: {"packageName":"com.example.reader","voidedPurchaseNotification":
            {"purchaseToken":"c","orderId":"GPA.\u00001"}}
        hear: c
        clue: revoked 77

        case: no JSON
        data: <html>
        hear: unusable
        """#)

    @Test(arguments: notifications)
    func makesAHintOfANotification(_ row: Case) async throws {
        let data = Data((row["data"] ?? "").utf8).base64EncodedString()
        let world = GoogleFixture.world { _ in
            .json(
                #"{"receivedMessages":[{"ackId":"r1","message":{"data":"\#(data)","#
                    + #""messageId":"77","publishTime":"2026-02-15T10:25:00.512Z"}}]}"#)
        }
        let page = try await GoogleFixture.pubsub(world).pull(isWaiting: false, at: Self.now)
        #expect(page.receipts == ["r1"])
        let hear = row["hear"]
        #expect(page.skipped == (hear == "unusable" ? 1 : 0))
        #expect((hear == "unusable") == page.unhandled.contains { $0.type == "unreadable" })
        let token = hear == "unusable" || hear == "nothing" ? nil : hear
        #expect(
            page.hints
                == (token.map {
                    [
                        Hint(
                            id: "google notification 77", subject: .token(StoreToken($0)),
                            clue: row["clue"].flatMap(Clue.init(text:)))
                    ]
                } ?? []))
    }

    @Test func readsEitherAlphabetOfBase64() async throws {
        let text =
            #"{"packageName":"com.example.reader","x":"??>>~~","#
            + #""subscriptionNotification":{"purchaseToken":"a"}}"#
        let standard = Data(text.utf8).base64EncodedString()
        let safe = Base64.encodeURLSafe(text.utf8)
        #expect(standard.contains("+") || standard.contains("/"))
        let world = GoogleFixture.world { _ in
            .json(
                #"{"receivedMessages":[{"ackId":"1","message":{"data":"\#(standard)","#
                    + #""messageId":"1"}},{"ackId":"2","message":{"data":"\#(safe)","#
                    + #""message_id":"2"}},{"ackId":"3","message":{"data":"%%"}},"#
                    + #"{"ackId":"4","message":{"attributes":{}}},{"ackId":"5"},null,"#
                    + #"{"ackId":"7","message":{"data":7}},{"ackId":8},"#
                    + #"{"message":{"data":"\#(safe)","messageId":"6"}}]}"#)
        }
        let page = try await GoogleFixture.pubsub(world).pull(isWaiting: false, at: Self.now)
        #expect(page.hints.map(\.id) == [1, 2, 6].map { "google notification \($0)" })
        #expect(page.receipts == ["1", "2", "3", "4", "5", "7"])
        #expect(page.skipped == 6)
    }

    @Test(arguments: [(false, 15), (true, 100)])
    func waitsForNewsOnlyWhenAsked(isWaiting: Bool, seconds: Int64) async throws {
        let world = GoogleFixture.world { _ in .json("{}") }
        let page = try await GoogleFixture.pubsub(world).pull(
            atMost: 5000, isWaiting: isWaiting, at: Self.now)
        #expect(page == HintPage(hints: []))
        #expect(world.calls == [Self.path + ":pull"])
        let request = try #require(world.requests.last)
        #expect(request.deadline == .seconds(seconds))
        #expect(
            String(decoding: request.body ?? [], as: UTF8.self)
                == #"{"maxMessages":1000,"returnImmediately":\#(!isWaiting)}"#)
        #expect(request.header("Authorization") == "Bearer ya29.x")
    }

    /// What is too large once would be so each time: one message always fits.
    @Test func asksForFewerAfterAnAnswerThatIsTooLarge() async throws {
        let isTooLarge = Mutex(true)
        let world = GoogleFixture.world { request throws(CurlError) in
            guard !isTooLarge.withLock(\.self) else {
                throw .tooLarge(limitBytes: request.bodyLimitBytes)
            }
            return .json("{}")
        }
        let pubsub = try GoogleFixture.pubsub(world)
        await #expect(throws: StoreFailure.malformed(field: "body over 16777216 bytes")) {
            try await pubsub.pull(isWaiting: false, at: Self.now)
        }
        isTooLarge.withLock { $0 = false }
        for _ in 0..<9 {
            let session = CallSession()
            _ = try await pubsub.within(session).pull(isWaiting: false, at: Self.now)
        }
        let asked = world.requests.compactMap { request in
            String(decoding: request.body ?? [], as: UTF8.self).split(separator: ",").first
        }
        #expect(
            asked.filter { $0.hasPrefix("{\"max") }
                == [100, 1, 2, 4, 8, 16, 32, 64, 100, 100].map { "{\"maxMessages\":\($0)" })
    }

    @Test(arguments: [String(repeating: "a", count: 9000), "7\\u00007"])
    func countsWhatHasNoUsableName(_ name: String) async throws {
        let messages = [(name, "77"), ("a", name)].enumerated().map { number, names in
            let data = Data(
                (#"{"packageName":"com.example.reader","subscriptionNotification":"#
                    + #"{"purchaseToken":"\#(names.0)"}}"#).utf8)
            return #"{"ackId":"\#(number + 1)","message":{"messageId":"\#(names.1)","#
                + #""data":"\#(data.base64EncodedString())"}}"#
        }
        let world = GoogleFixture.world { _ in
            .json(#"{"receivedMessages":[\#(messages.joined(separator: ","))]}"#)
        }
        let page = try await GoogleFixture.pubsub(world).pull(isWaiting: false, at: Self.now)
        #expect(page.hints.isEmpty && page.receipts == ["1", "2"] && page.skipped == 2)
        #expect(page.unhandled.map(\.type) == ["unreadable", "unreadable"])
    }

    @Test func hasMoreWhenThePageIsFull() async throws {
        let world = GoogleFixture.world { _ in
            .json(#"{"receivedMessages":[{"ackId":"1"},{"ackId":"2"}]}"#)
        }
        let pubsub = try GoogleFixture.pubsub(world)
        #expect(try await pubsub.pull(atMost: 2, isWaiting: false, at: Self.now).hasMore)
        #expect(try await !pubsub.pull(atMost: 3, isWaiting: false, at: Self.now).hasMore)
    }

    @Test func asksForATokenOfItsOwnScope() async throws {
        let world = GoogleFixture.world { _ in .json("{}") }
        _ = try await GoogleFixture.pubsub(world).pull(isWaiting: false, at: Self.now)
        let body = String(decoding: world.requests.first?.body ?? [], as: UTF8.self)
        let assertion = try #require(body.split(separator: "=").last)
        let payload = try #require(CompactJWS(String(assertion))?.payload)
        #expect(
            String(decoding: payload, as: UTF8.self)
                .contains(#""scope":"https://www.googleapis.com/auth/pubsub""#))
    }

    @Test func givesReceiptsBackInBatches() async throws {
        let world = GoogleFixture.world { _ in .json("{}") }
        let pubsub = try GoogleFixture.pubsub(world)
        try await pubsub.acknowledge([], at: Self.now)
        #expect(world.calls.isEmpty)
        try await pubsub.acknowledge((0..<2001).map { "r\($0)" }, at: Self.now)
        #expect(world.calls == Array(repeating: Self.path + ":acknowledge", count: 3))
        #expect(world.requests.last?.body == Array(#"{"ackIds":["r2000"]}"#.utf8))
    }

    @Test(arguments: [
        ("news", "/v1/projects/reader-7/subscriptions/news:pull"),
        ("projects/p/subscriptions/a b", "/v1/projects/p/subscriptions/a%20b:pull"),
    ])
    func findsTheSubscription(name: String, path: String) async throws {
        let world = GoogleFixture.world { _ in .json("{}") }
        _ = try await GoogleFixture.pubsub(world, subscription: name)
            .pull(isWaiting: false, at: Self.now)
        #expect(world.calls == ["POST " + path])
    }

    @Test(arguments: [
        "", "/", "projects/p/topics/t", "projects//subscriptions/s", "projects/p/subscriptions/",
        "projects/p/subscriptions/..", "/projects/p/subscriptions/s",
    ])
    func refusesWhatIsNoSubscription(name: String) throws {
        let world = GoogleFixture.world { _ in .json("{}") }
        #expect {
            try GoogleFixture.pubsub(world, subscription: name)
        } throws: { error in
            (error as? CredentialFault)?.field == "pubsub_subscription"
        }
    }

    @Test(arguments: [
        (404, #"{"error":{"status":"NOT_FOUND"}}"#, "refused"), (403, "", "refused"),
        (429, "", "throttled -"), (500, "", "unreachable"), (200, "[]", "malformed body"),
    ])
    func saysWhyThereIsNoNews(status: Int, body: String, heard: String) async throws {
        let world = GoogleFixture.world { _ in .json(body, status: status) }
        let pubsub = try GoogleFixture.pubsub(world)
        do throws(StoreFailure) {
            _ = try await pubsub.pull(isWaiting: true, at: Self.now)
            Issue.record("no failure")
        } catch {
            #expect(summary(error) == heard)
        }
    }
}
