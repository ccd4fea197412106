import Curl
import Foundation
import Renewal
import Synchronization
import Testing
import CryptoExtras

@testable import Stores

struct GoogleStoreTests {
    static let now = Timestamp(microsecondsSinceEpoch: 1_771_588_800_000_000)
    /// The token endpoint answers with a new token each time; the rest is the script's.
    private func world(
        tokens: @escaping @Sendable (Int) async throws(CurlError) -> HTTPResponse = {
            .json(#"{"access_token":"ya29.\#($0)","expires_in":3599,"token_type":"Bearer"}"#)
        },
        _ script: @escaping @Sendable (HTTPRequest) throws(CurlError) -> HTTPResponse
    ) -> FakeWorld {
        let counter = Counter()
        return FakeWorld(clock: Self.now) { request async throws(CurlError) in
            guard request.method == .get else { return try await tokens(counter.next()) }
            return try script(request)
        }
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)
        func next() -> Int {
            value.withLock { value in
                value += 1
                return value
            }
        }
    }

    private func store(_ world: FakeWorld, keyFile: String? = nil) throws -> GoogleStore {
        try GoogleStore(
            credentials: GoogleFixture.credentials(keyFile), host: GoogleFixture.host(),
            transport: world.transport)
    }

    private static let active = GoogleObservationTests.base

    @Test func asksOnThePathOfTheToken() async throws {
        let world = world { _ in .json(Self.active) }
        let answer = try await store(world).ask(
            purchase(.google, token: "kf/../b?x#\r\n\"ä"), at: Self.now)
        guard case .verdict = answer else {
            Issue.record("\(answer)")
            return
        }
        let request = try #require(world.requests.last)
        #expect(
            request.url == "https://play.example/androidpublisher/v3/applications/"
                + "com.example.reader/purchases/subscriptionsv2/tokens/"
                + "kf%2F..%2Fb%3Fx%23%0D%0A%22%C3%A4")
        #expect(request.header("Authorization") == "Bearer ya29.1")
    }

    @Test(arguments: [(".", 0), (".", 1), (".", 2), ("x", 8193), ("x", 10 << 20)])
    func refusesATokenWithoutAsking(letter: String, count: Int) async throws {
        let token = String(repeating: letter, count: count)
        let world = world { _ in .json(Self.active) }
        let answer = try await store(world).ask(purchase(.google, token: token), at: Self.now)
        #expect(summary(answer) == "rejected")
        #expect(world.requests.isEmpty)
    }

    @Test func signsAnAssertionThatTheTokenEndpointCanVerify() async throws {
        let world = world { _ in .json(Self.active) }
        _ = try await store(world).ask(purchase(.google, token: "t"), at: Self.now)
        let request = try #require(world.requests.first)
        #expect(request.url == "https://tokens.example/token")
        let body = String(decoding: request.body ?? [], as: UTF8.self)
        let prefix =
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        #expect(body.hasPrefix(prefix))
        let jws = try #require(CompactJWS(String(body.dropFirst(prefix.count))))
        let signature = _RSA.Signing.RSASignature(rawRepresentation: try #require(jws.signature))
        #expect(
            try GoogleFixture.key.get().publicKey.isValidSignature(
                signature, for: Data(jws.signed), padding: .insecurePKCS1v1_5))
        let claims = String(decoding: try #require(jws.payload), as: UTF8.self)
        #expect(
            claims == #"{"aud":"https://tokens.example/token","exp":1771592390,"iat":1771588790,"#
                + #""iss":"a@b.example","#
                + #""scope":"https://www.googleapis.com/auth/androidpublisher"}"#
        )
        let header = try #require(Base64.decodeURLSafe(jws.header))
        #expect(
            String(decoding: header, as: UTF8.self)
                == #"{"alg":"RS256","kid":"kid7","typ":"JWT"}"#)
    }

    /// The answer to each status and reason of an error.
    static let errors = Case.all(
        #"""
        case: 400
        body: {"error":{"code":400,"message":"Invalid Value","errors":[{"reason":"invalid"}]}}
        hear: rejected

        case: 400
        body: <html>
        hear: rejected

        case: 401
        body: {"error":{"errors":[{"domain":"androidpublisher","reason":"permissionDenied"}]}}
        hear: refused

        case: 401
        body: {"error":{"errors":[{"reason":"authError"}]}}
        hear: refused

        case: 403
        body: {"error":{"errors":[{"reason":"projectNotLinked"}]}}
        hear: refused

        case: 403
        body: <html>
        hear: refused

        case: 403
        body: {"error":{"errors":[{"domain":"usageLimits","reason":"rateLimitExceeded"}],
            "status":"PERMISSION_DENIED"}}
        hear: throttled -

        case: 429
        retry: 12
        body: {"error":{"status":"RESOURCE_EXHAUSTED"}}
        hear: throttled 12

        case: 404
        body: {"error":{"errors":[{"reason":"applicationNotFound"}]}}
        hear: refused

        case: 404
        body: {"error":{"errors":[{"reason":"purchaseTokenNotFound"}]}}
        hear: rejected

        case: 404
        body:
        hear: rejected

        case: 409
        body: {"error":{"errors":[{"reason":"concurrentUpdate"}]}}
        hear: unreachable

        case: 410
        body: {"error":{"errors":[{"reason":"subscriptionPurchaseNoLongerAvailable"}]}}
        hear: doubt gone

        case: 410
        body:
        hear: doubt gone

        case: 500
        body: {}
        hear: unreachable

        case: 503
        body: <html>
        hear: unreachable

        case: 302
        body:
        hear: malformed redirect, status 302

        case: 204
        body:
        hear: malformed body

        case: 418
        body:
        hear: malformed status 418

        case: 200
        body: <html><body>Welcome</body></html>
        hear: malformed body

        case: 200
        body:
        hear: malformed body

        case: 200
        body: {"subscriptionState":"SUBSCRIPTION_STATE_EXP
        hear: malformed body

        case: 200
        body: []
        hear: malformed body

        case: 200
        body: {"error":{"code":410}}
        hear: malformed subscriptionState
        """#)

    @Test(arguments: errors)
    func sortsErrorsByWhatMustBeDone(_ row: Case) async throws {
        let status = try #require(Int(row.name))
        let world = world { _ in
            HTTPResponse(
                status: status, retryAfter: row["retry"], body: Array((row["body"] ?? "").utf8))
        }
        let answer = try await store(world).ask(purchase(.google, token: "t"), at: Self.now)
        #expect(summary(answer) == row["hear"])
    }

    @Test func refusesDeepNesting() async throws {
        let deep = String(repeating: #"{"lineItems":["#, count: 50_000)
        let world = world { _ in .json(deep) }
        let answer = try await store(world).ask(purchase(.google, token: "t"), at: Self.now)
        #expect(summary(answer) == "malformed body")
    }

    @Test(arguments: [
        CurlError.unreachable(reason: "timed out"), .cancelled, .refusedURL(reason: "not https"),
    ])
    func hearsOfNetworkTrouble(error: CurlError) async throws {
        let world = world { _ throws(CurlError) in throw error }
        let answer = try await store(world).ask(purchase(.google, token: "t"), at: Self.now)
        #expect(summary(answer) == "unreachable")
    }

    @Test func takesANewTokenOnceWhenTheOldOneIsRefused() async throws {
        let world = world { request in
            request.header("Authorization") == "Bearer ya29.1"
                ? .json(#"{"error":{"errors":[{"reason":"authError"}]}}"#, status: 401)
                : .json(Self.active)
        }
        let store = try store(world)
        let first = await store.ask(purchase(.google, token: "t"), at: Self.now)
        #expect(summary(first).hasPrefix("active"))
        #expect(world.requests.map(\.method) == [.post, .get, .post, .get])
        #expect(world.extraCalls == 1)
        _ = await store.ask(purchase(.google, token: "t"), at: Self.now)
        #expect(world.requests.count == 5)
    }

    @Test func sharesOneTokenRequestAmongAllThatAsk() async throws {
        let started = Counter()
        let count = 50
        let world = world(
            tokens: { number in
                // Every asker has begun, and has had turns enough to ask on its own account.
                while started.next() <= count * 20 { await Task.yield() }
                return .json(#"{"access_token":"ya29.\#(number)","expires_in":3599}"#)
            }, { _ in .json(Self.active) })
        let store = try store(world)
        await withTaskGroup { group in
            for _ in 0..<count {
                group.addTask {
                    _ = started.next()
                    let answer = await store.ask(purchase(.google, token: "t"), at: Self.now)
                    #expect(summary(answer).hasPrefix("active"))
                }
            }
        }
        #expect(world.requests.count { $0.method == .post } == 1)
        #expect(world.requests.count == count + 1)
    }

    @Test func asksForTheOthersWhenTheFirstToAskIsCancelled() async throws {
        let world = world(
            tokens: { number async throws(CurlError) in
                guard number == 1 else {
                    return .json(#"{"access_token":"ya29.2","expires_in":3599}"#)
                }
                while !Task.isCancelled { await Task.yield() }
                throw .cancelled
            }, { _ in .json(Self.active) })
        let store = try store(world)
        let first = Task { await store.ask(purchase(.google, token: "t"), at: Self.now) }
        while world.requests.isEmpty { await Task.yield() }
        let second = Task { await store.ask(purchase(.google, token: "t"), at: Self.now) }
        first.cancel()
        #expect(summary(await first.value) == "unreachable")
        #expect(summary(await second.value).hasPrefix("active"))
    }

    @Test func renewsTheTokenTwoMinutesBeforeItsEnd() async throws {
        let world = world { _ in .json(Self.active) }
        let store = try store(world)
        let steps: [(Duration, Int)] = [
            (.zero, 1), (.seconds(3478), 1), (.seconds(1), 2), (.seconds(3000), 2),
        ]
        for (step, tokens) in steps {
            world.advance(step)
            _ = await store.ask(purchase(.google, token: "t"), at: Self.now)
            #expect(world.requests.count { $0.method == .post } == tokens)
        }
    }

    /// The status, body and answer of a token endpoint.
    static let tokenErrors = Case.all(
        #"""
        case: 400
        body: {"error":"invalid_grant","error_description":"Invalid JWT Signature."}
        hear: refused

        case: 401
        body: {"error":"invalid_client"}
        hear: refused

        case: 429
        body:
        hear: throttled -

        case: 503
        body: <html>
        hear: unreachable

        case: 302
        body:
        hear: malformed token endpoint: status 302

        case: 200
        body: <html>
        hear: malformed token endpoint

        case: 200
        body: {"access_token":"a\r\nHost: evil","expires_in":3599}
        hear: malformed token endpoint: access_token

        case: 200
        body: {"access_token":"a","expires_in":-1}
        hear: malformed token endpoint: expires_in
        """#)

    @Test(arguments: tokenErrors)
    func asksTheTokenEndpointOnceInAMomentOfTrouble(_ row: Case) async throws {
        let status = try #require(Int(row.name))
        let world = world(
            tokens: { _ in .json(row["body"] ?? "", status: status) }, { _ in .json(Self.active) })
        let store = try store(world)
        for _ in 0..<20 {
            let answer = await store.ask(purchase(.google, token: "t"), at: Self.now)
            #expect(summary(answer) == row["hear"])
        }
        #expect(world.requests.count == 1)
        world.advance(.seconds(5))
        _ = await store.ask(purchase(.google, token: "t"), at: Self.now)
        #expect(world.requests.count == 2)
    }

    @Test(arguments: [
        ("{", "service_account"), (#"{"type":"user"}"#, "private_key"),
        (#"{"type":"user","private_key":"x","client_email":"e"}"#, "type"),
        (#"{"type":"service_account","private_key":"hunter2","client_email":"e"}"#, "private_key"),
        (
            #"{"type":"service_account","private_key":"x","client_email":"e","#
                + #""token_uri":"ftp://x"}"#,
            "token_uri"
        ),
    ])
    func namesTheFaultOfAKeyFile(file: String, field: String) throws {
        let world = world { _ in .json("") }
        #expect {
            try store(world, keyFile: file)
        } throws: { error in
            (error as? CredentialFault)?.field == field && !"\(error)".contains("hunter2")
        }
    }
}
