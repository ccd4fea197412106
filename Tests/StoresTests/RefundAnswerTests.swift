import Curl
import Foundation
import Renewal
import Testing

@testable import Stores

/// What is sent to a store that asks about a refund, and what is made of its answer.
struct RefundAnswerTests {
    static let reply = RefundReply(
        app: AppKey(store: .apple, id: "com.example.reader"),
        question: RefundQuestion(
            id: "q", originalID: "1001", order: "1002", environment: .production,
            token: "prt/1", reason: nil, askedAt: AppleFixture.now,
            answerBy: AppleFixture.now + .hours(12)),
        answer: answer())

    static func answer(
        _ preference: RefundPreference = .decline, consumed: Int? = 30_000,
        isDelivered: Bool = true, hasSample: Bool = false, isConsented: Bool = true
    ) -> RefundAnswer {
        RefundAnswer(
            preference: preference, consumedMilliPercent: consumed, isDelivered: isDelivered,
            hasSample: hasSample, isConsented: isConsented)
    }

    static func reply(
        _ answer: RefundAnswer, environment: StoreEnvironment = .production,
        order: OrderID = "1002", token: StoreToken? = "prt/1"
    ) -> RefundReply {
        RefundReply(
            app: reply.app,
            question: RefundQuestion(
                id: "q", originalID: "1001", order: order, environment: environment,
                token: token, reason: nil, askedAt: AppleFixture.now,
                answerBy: AppleFixture.now + .hours(12)),
            answer: answer)
    }

    static func body(_ world: FakeWorld) -> String {
        String(decoding: world.requests.last?.body ?? [], as: UTF8.self)
    }

    private static func apple(
        _ script: @escaping @Sendable () throws(CurlError) -> HTTPResponse = {
            HTTPResponse(status: 202)
        }
    ) -> FakeWorld {
        FakeWorld(clock: AppleFixture.now) { _ async throws(CurlError) in try script() }
    }

    /// Each row: preference, consumed, delivered, sample → what Apple's constraints allow.
    static let bodies: [(RefundAnswer, String)] = [
        (
            answer(.grant, consumed: 0, hasSample: true),
            #""consumptionPercentage":0,"customerConsented":true,"deliveryStatus":"DELIVERED","#
                + #""refundPreference":"GRANT_FULL","sampleContentProvided":true"#
        ),
        (
            answer(.decline, consumed: 67_932),
            #""consumptionPercentage":67932,"customerConsented":true,"#
                + #""deliveryStatus":"DELIVERED","refundPreference":"DECLINE","#
                + #""sampleContentProvided":false"#
        ),
        (
            answer(.prorate, consumed: 15),
            #""consumptionPercentage":15,"customerConsented":true,"deliveryStatus":"DELIVERED","#
                + #""refundPreference":"GRANT_PRORATED","sampleContentProvided":false"#
        ),
        // What renews by itself has no percentage.
        (
            answer(.prorate, consumed: nil),
            #""customerConsented":true,"deliveryStatus":"DELIVERED","#
                + #""refundPreference":"GRANT_PRORATED","sampleContentProvided":false"#
        ),
        (
            answer(.neutral, consumed: 40_000),
            #""consumptionPercentage":40000,"customerConsented":true,"#
                + #""deliveryStatus":"DELIVERED","sampleContentProvided":false"#
        ),
        // Of what never arrived nothing was used.
        (
            answer(.grant, consumed: 40_000, isDelivered: false),
            #""consumptionPercentage":0,"customerConsented":true,"#
                + #""deliveryStatus":"UNDELIVERED_OTHER","refundPreference":"GRANT_FULL","#
                + #""sampleContentProvided":false"#
        ),
        // A share of everything or of nothing is no share that Apple takes.
        (
            answer(.prorate, consumed: 0),
            #""consumptionPercentage":0,"customerConsented":true,"deliveryStatus":"DELIVERED","#
                + #""refundPreference":"GRANT_FULL","sampleContentProvided":false"#
        ),
        (
            answer(.prorate, consumed: 100_000),
            #""consumptionPercentage":100000,"customerConsented":true,"#
                + #""deliveryStatus":"DELIVERED","refundPreference":"DECLINE","#
                + #""sampleContentProvided":false"#
        ),
    ]

    @Test(arguments: bodies)
    func tellsApple(answer: RefundAnswer, body: String) async throws {
        let world = Self.apple()
        let sent = await (try AppleNotificationHistoryTests.store(world)).answer(
            Self.reply(answer), at: AppleFixture.now)
        #expect(sent == .taken)
        let request = try #require(world.requests.last)
        #expect(request.method == .put && request.isSentOnce)
        #expect(
            request.url == "https://apple.example/inApps/v2/transactions/consumption/1002")
        #expect(Self.body(world) == "{\(body)}")
        #expect(world.extraCalls == 1)
    }

    /// Apple takes a percentage for nothing that renews, and of what nobody has submitted it is not
    /// known whether it does.
    @Test func sendsAppleNoPercentageThatItHasRefused() async throws {
        let world = FakeWorld(clock: AppleFixture.now) { request async throws(CurlError) in
            let body = String(decoding: request.body ?? [], as: UTF8.self)
            return body.contains("consumptionPercentage")
                ? .json(#"{"errorCode":4000047}"#, status: 400) : HTTPResponse(status: 202)
        }
        let store = try AppleNotificationHistoryTests.store(world)
        #expect(await store.answer(Self.reply, at: AppleFixture.now) == .taken)
        #expect(world.requests.count == 2)
        #expect(Self.body(world).contains(#""refundPreference":"DECLINE""#))
    }

    @Test func tellsTheSandboxOfItsOwn() async throws {
        let world = Self.apple()
        let reply = Self.reply(Self.answer(), environment: .sandbox)
        #expect(
            await (try AppleNotificationHistoryTests.store(world)).answer(
                reply, at: AppleFixture.now) == .taken)
        #expect(world.requests.last?.url.hasPrefix("https://sandbox.example/") == true)
    }

    /// Nobody but the customer can consent.
    @Test func sendsAppleNothingWithoutConsent() async throws {
        let world = Self.apple()
        let sent = await (try AppleNotificationHistoryTests.store(world)).answer(
            Self.reply(Self.answer(isConsented: false)), at: AppleFixture.now)
        #expect(sent == .refused(reason: "the customer has not consented"))
        #expect(world.requests.isEmpty)
    }

    private static func sending(_ sending: RefundSending) -> String {
        switch sending {
        case .taken: "taken"
        case .refused(let reason): "refused: \(reason)"
        case .notSent(let failure): "not sent: \(summary(failure))"
        case .unknown(let failure): "unknown: \(summary(failure))"
        }
    }

    @Test(arguments: [
        (202, "", "taken"), (200, "<html>", "unknown: malformed status 200"),
        (400, #"{"errorCode":4000035}"#, "refused: errorCode 4000035"),
        (400, #"{"errorCode":4000047}"#, "refused: errorCode 4000047"),
        (400, #"{"errorCode":4000006}"#, "refused: errorCode 4000006"),
        (400, #"{"errorCode":4000999}"#, "refused: errorCode 4000999"),
        (400, #"{"errorCode":4000002}"#, "not sent: refused"),
        (400, "<html>", "not sent: malformed status 400 without an errorCode"),
        (401, "", "not sent: refused"), (403, "", "not sent: refused"),
        (404, #"{"errorCode":4040010}"#, "not sent: rejected"),
        (404, #"{"errorCode":4040004}"#, "not sent: unreachable"),
        (429, "", "not sent: throttled -"), (302, "", "not sent: malformed redirect, status 302"),
        (500, #"{"errorCode":5000001}"#, "unknown: unreachable"), (503, "", "unknown: unreachable"),
        (408, "", "unknown: unreachable"),
    ])
    func hearsWhatAppleMakesOfIt(status: Int, body: String, sent: String) async throws {
        let world = Self.apple { HTTPResponse(status: status, body: Array(body.utf8)) }
        let came = await (try AppleNotificationHistoryTests.store(world)).answer(
            Self.reply, at: AppleFixture.now)
        #expect(Self.sending(came) == sent)
        // A new token, or no percentage.
        let isAskedAgain = status == 401 || sent.hasPrefix("refused")
        #expect(world.requests.count == (isAskedAgain ? 2 : 1))
    }

    static let troubles: [(CurlError, String)] = [
        (.unreachable(reason: "connection refused", isUnsent: true), "not sent: unreachable"),
        (.refusedURL(reason: "not https"), "not sent: unreachable"),
        (.unreachable(reason: "timed out"), "unknown: unreachable"),
        (.tooLarge(limitBytes: 1), "unknown: malformed body over 1 bytes"),
        (.cancelled, "unknown: unreachable"),
    ]

    /// Only of what never left it is certain that it was not taken.
    @Test(arguments: troubles)
    func knowsWhatMayHaveBeenTaken(error: CurlError, sent: String) async throws {
        let apple = Self.apple { () throws(CurlError) in throw error }
        let came = await (try AppleNotificationHistoryTests.store(apple)).answer(
            Self.reply, at: AppleFixture.now)
        #expect(Self.sending(came) == sent)
        let google = GoogleFixture.world { _ throws(CurlError) in throw error }
        let told = await (try GoogleFixture.store(google)).answer(
            Self.reply, at: GoogleFixture.now)
        #expect(Self.sending(told) == sent)
        #expect(google.calls.count == 1)
    }

    /// Google has no share of a refund.
    @Test(arguments: [
        (
            answer(.grant, consumed: 0, hasSample: true, isConsented: false),
            #""consumptionPercentageMilliunits":0,"pendingRefundToken":"prt/1","#
                + #""refundPreference":"APPROVE","sampleContentProvided":true"#
        ),
        (
            answer(.prorate, consumed: 45_200),
            #""consumptionPercentageMilliunits":45200,"pendingRefundToken":"prt/1","#
                + #""refundPreference":"APPROVE","sampleContentProvided":false"#
        ),
        (
            answer(.decline, consumed: 100_000),
            #""consumptionPercentageMilliunits":100000,"pendingRefundToken":"prt/1","#
                + #""refundPreference":"DECLINE","sampleContentProvided":false"#
        ),
        (
            answer(.neutral, consumed: nil),
            #""pendingRefundToken":"prt/1","refundPreference":"NEUTRAL","#
                + #""sampleContentProvided":false"#
        ),
    ])
    func tellsGoogle(answer: RefundAnswer, body: String) async throws {
        let world = GoogleFixture.world { _ in HTTPResponse(status: 200) }
        let reply = Self.reply(answer, order: "GPA.1..2")
        let sent = await (try GoogleFixture.store(world)).answer(reply, at: GoogleFixture.now)
        #expect(sent == .taken)
        #expect(
            world.calls == [
                "POST /androidpublisher/v3/applications/com.example.reader"
                    + "/orders/GPA.1..2:reviewrefund"
            ])
        #expect(Self.body(world) == "{\(body)}")
        #expect(world.requests.last?.isSentOnce == true && world.extraCalls == 1)
    }

    @Test(arguments: [
        (200, "", "taken", 1), (200, "{}", "taken", 1), (204, "", "taken", 1),
        (200, "<html>", "unknown: malformed body", 1),
        (400, "", "refused: status 400", 1), (404, "", "refused: status 404", 1),
        (410, "", "refused: status 410", 1), (401, "", "not sent: refused", 2),
        (403, #"{"error":{"status":"PERMISSION_DENIED"}}"#, "not sent: refused", 1),
        (403, #"{"error":{"errors":[{"reason":"quotaExceeded"}]}}"#, "not sent: throttled -", 1),
        (429, "", "not sent: throttled -", 1),
        (302, "", "not sent: malformed redirect, status 302", 1),
        (409, "", "unknown: unreachable", 1), (500, "", "unknown: unreachable", 1),
        (503, "", "unknown: unreachable", 1), (408, "", "unknown: unreachable", 1),
    ])
    func hearsWhatGoogleMakesOfIt(
        status: Int, body: String, sent: String, calls: Int
    ) async throws {
        let world = GoogleFixture.world { _ in
            HTTPResponse(status: status, body: Array(body.utf8))
        }
        let came = await (try GoogleFixture.store(world)).answer(
            Self.reply, at: GoogleFixture.now)
        #expect(Self.sending(came) == sent)
        #expect(world.calls.count == calls)
    }

    /// The token endpoint is asked before anything is sent.
    @Test func sendsGoogleNothingWithoutAnAccessToken() async throws {
        let world = FakeWorld(clock: GoogleFixture.now) { request async throws(CurlError) in
            HTTPResponse(status: request.url.contains("tokens.example") ? 503 : 200)
        }
        let came = await (try GoogleFixture.store(world)).answer(
            Self.reply, at: GoogleFixture.now)
        #expect(Self.sending(came) == "not sent: unreachable")
        #expect(world.calls.isEmpty)
    }

    @Test(arguments: [("1002", nil), ("", "p"), ("..", "p"), ("1002", "")])
    func refusesWhatCannotBeSent(order: String, token: String?) async throws {
        let world = GoogleFixture.world { _ in HTTPResponse(status: 200) }
        let reply = Self.reply(
            Self.answer(), order: OrderID(order), token: token.map(StoreToken.init))
        let came = await (try GoogleFixture.store(world)).answer(reply, at: GoogleFixture.now)
        guard case .refused = came else {
            Issue.record("\(came)")
            return
        }
        #expect(world.requests.isEmpty)
    }
}
