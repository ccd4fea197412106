import Crypto
import Curl
import Foundation
import Renewal
import StoreFixtures
import Testing

@testable import Stores

struct AppleStoreTests {
    private static let now = AppleFixture.now
    private static let key = P256.Signing.PrivateKey()
    private static let id = "420001010101001"

    private func store(_ world: FakeWorld, pem: String? = nil) throws -> AppleStore {
        try AppleStore(
            credentials: AppleCredentials(
                bundleID: "com.example.reader", issuerID: "3f0b-issuer", keyID: "7KQ2M4X9TB",
                privateKeyPEM: Secret(pem ?? Self.key.pemRepresentation)),
            production: try #require(StoreHost(baseURL: "https://apple.example")),
            sandbox: try #require(StoreHost(baseURL: "https://sandbox.example")),
            verifier: try AppleFixture.verifier(), transport: world.transport)
    }

    private func world(
        _ script: @escaping @Sendable (HTTPRequest) throws(CurlError) -> HTTPResponse
    ) -> FakeWorld {
        FakeWorld(clock: Self.now) { request async throws(CurlError) in try script(request) }
    }

    private func apple(
        _ token: String = Self.id, environment: StoreEnvironment? = nil
    ) -> Purchase {
        purchase(.apple, token: token, environment: environment)
    }

    @Test func asksOnThePathOfTheTransaction() async throws {
        let body = try AppleFixture.active()
        let world = world { _ in .json(body) }
        let answer = try await store(world).ask(apple(" \(Self.id)\r\n"), at: Self.now)
        #expect(summary(answer).hasPrefix("active, production"))
        #expect(
            world.requests.map(\.url) == [
                "https://apple.example/inApps/v1/subscriptions/420001010101001"
            ])
        #expect(world.extraCalls == 0)
    }

    @Test func showsATokenThatAppleCanVerify() async throws {
        let body = try AppleFixture.active()
        let world = world { _ in .json(body) }
        _ = try await store(world).ask(apple(), at: Self.now)
        let header = try #require(world.requests.first?.header("Authorization"))
        #expect(header.hasPrefix("Bearer "))
        let jws = try #require(CompactJWS(String(header.dropFirst(7))))
        let signature = try P256.Signing.ECDSASignature(
            rawRepresentation: try #require(jws.signature))
        #expect(Self.key.publicKey.isValidSignature(signature, for: jws.signed))
        #expect(
            String(decoding: try #require(jws.payload), as: UTF8.self)
                == #"{"aud":"appstoreconnect-v1","bid":"com.example.reader","exp":1774008900,"#
                + #""iat":1774007940,"iss":"3f0b-issuer"}"#)
        #expect(
            String(decoding: try #require(Base64.decodeURLSafe(jws.header)), as: UTF8.self)
                == #"{"alg":"ES256","kid":"7KQ2M4X9TB","typ":"JWT"}"#)
    }

    @Test func makesOneTokenForHalfOfItsLife() async throws {
        let body = try AppleFixture.active()
        let world = world { _ in .json(body) }
        let store = try store(world)
        for step in [0, 400, 49, 1, 300] {
            world.advance(.seconds(step))
            _ = await store.ask(apple(), at: Self.now)
        }
        let tokens = world.requests.compactMap { $0.header("Authorization") }
        #expect(tokens[0] == tokens[1] && tokens[1] == tokens[2])
        #expect(tokens[2] != tokens[3] && tokens[3] == tokens[4])
    }

    @Test func makesAnotherTokenByApplesClockWhenOneIsRefused() async throws {
        let body = try AppleFixture.active()
        let world = world { request in
            guard let bearer = request.header("Authorization"),
                let payload = CompactJWS(String(bearer.dropFirst(7)))?.payload,
                String(decoding: payload, as: UTF8.self).contains(#""iat":1774004340"#)
            else {
                return HTTPResponse(
                    status: 401, date: "Fri, 20 Mar 2026 11:00:00 GMT",
                    body: Array("Unauthenticated".utf8))
            }
            return .json(body)
        }
        let store = try store(world)
        #expect(summary(await store.ask(apple(), at: Self.now)).hasPrefix("active"))
        #expect(world.requests.count == 2)
        #expect(world.extraCalls == 1)
        #expect(summary(await store.ask(apple(), at: Self.now)).hasPrefix("active"))
        #expect(world.requests.count == 3)
    }

    /// What production and the sandbox answer, whether the environment is known, and what comes
    /// of it with how many calls. `401` is answered to any token.
    static let pairs = Case.all(
        """
        case: unknown; ok; -
        hear: active, production
        calls: 1

        case: unknown; 4040010; ok
        hear: active, sandbox
        calls: 2

        case: unknown; 4000006; ok
        hear: active, sandbox
        calls: 2

        case: unknown; 401; ok
        hear: active, sandbox
        calls: 3

        case: unknown; 4040010; 4040010
        hear: doubt not_found
        calls: 4

        case: unknown; 4040001; 4040005
        hear: doubt not_found
        calls: 4

        case: unknown; 4000006; 4000006
        hear: rejected
        calls: 2

        case: unknown; 4000008; 4040010
        hear: rejected
        calls: 2

        case: unknown; 4040010; 401
        hear: unreachable
        calls: 3

        case: unknown; 401; 4040010
        hear: unreachable
        calls: 3

        case: unknown; 401; 401
        hear: refused
        calls: 4

        case: unknown; 4040010; 500
        hear: unreachable
        calls: 2

        case: unknown; 4040010; 429
        hear: throttled 30
        calls: 2

        case: unknown; 500; ok
        hear: unreachable
        calls: 1

        case: production; ok; ok
        hear: active, production
        calls: 1

        case: sandbox; ok; ok
        hear: active, sandbox
        calls: 1

        case: production; 4040010; 4040010
        hear: doubt not_found
        calls: 4

        case: production; 4040010; ok
        hear: mismatch environment
        calls: 2

        case: production; 4000006; ok
        hear: rejected
        calls: 1

        case: production; 401; ok
        hear: refused
        calls: 2

        case: production; 4040002; -
        hear: unreachable
        calls: 1

        case: production; 4040004; -
        hear: unreachable
        calls: 1

        case: production; 4040006; -
        hear: unreachable
        calls: 1

        case: production; 4040003; -
        hear: refused
        calls: 1

        case: production; 4000002; -
        hear: refused
        calls: 1

        case: production; 4000000; -
        hear: malformed status 400, errorCode 4000000
        calls: 1

        case: production; 4049999; -
        hear: malformed status 404, errorCode 4049999
        calls: 1

        case: production; 404; -
        hear: malformed status 404 without an errorCode
        calls: 1

        case: production; 403; -
        hear: refused
        calls: 1

        case: production; 302; -
        hear: malformed redirect, status 302
        calls: 1

        case: production; 5000001; -
        hear: unreachable
        calls: 1

        case: production; html; -
        hear: malformed body
        calls: 1

        case: production; cut; -
        hear: malformed body
        calls: 1

        case: production; empty; -
        hear: malformed body
        calls: 1

        case: production; deep; -
        hear: malformed body
        calls: 1
        """)

    @Test(arguments: pairs)
    func findsTheEnvironmentAndSortsErrors(_ row: Case) async throws {
        let cells = row.name.components(separatedBy: "; ")
        let production = try Self.response(cells[1], from: "Production")
        let sandbox = try Self.response(cells[2], from: "Sandbox")
        let world = world { request in
            request.url.hasPrefix("https://sandbox.example/") ? sandbox : production
        }
        let environment = StoreEnvironment(rawValue: cells[0])
        let answer = try await store(world).ask(apple(environment: environment), at: Self.now)
        #expect(summary(answer).hasPrefix(row["hear"] ?? "?"))
        #expect("\(world.requests.count)" == row["calls"])
        #expect(world.extraCalls == world.requests.count - 1)
    }

    private static func response(
        _ word: String, from environment: String
    ) throws -> HTTPResponse {
        switch word {
        case "ok": return .json(try AppleFixture.active(environment: environment))
        case "html": return .json("<html>Welcome</html>")
        case "cut": return .json(String(try AppleFixture.active().prefix(5000)))
        case "empty": return .json("")
        case "deep": return .json(String(repeating: #"{"data":["#, count: 50_000))
        case "429":
            return HTTPResponse(
                status: 429, retryAfter: "1774008030000",
                body: Array(#"{"errorCode":4290000}"#.utf8))
        default:
            let code = Int(word) ?? 0
            guard code > 1000 else { return .json("Unauthenticated", status: code) }
            return .json(
                #"{"errorCode":\#(code),"errorMessage":"x"}"#, status: code / 10_000)
        }
    }

    @Test(arguments: [
        "", " ", "MIITtgYJKoZIhvcNAQcCoIITpzCCE6MCAQExCzAJ", "{\"a\":1}", "../../x", "a'b\";--",
        "12345678901234567890", "eyJ.b",
    ])
    func asksNothingAboutOtherTokens(token: String) async throws {
        let world = world { _ in .json("{}") }
        let answer = summary(try await store(world).ask(apple(token), at: Self.now))
        #expect(answer == "unsupported" || answer == "rejected")
        #expect(world.requests.isEmpty)
    }

    @Test func asksNothingAboutAVastToken() async throws {
        let world = world { _ in .json("{}") }
        for token in [
            String(repeating: "A", count: 10 << 20),
            "eyJ.." + String(repeating: "A", count: 10 << 20),
        ] {
            let answer = summary(try await store(world).ask(apple(token), at: Self.now))
            #expect(answer == "unsupported" || answer == "rejected")
        }
        #expect(world.requests.isEmpty)
    }

    @Test func takesTheTransactionOutOfASignedOne() async throws {
        let body = try AppleFixture.active(environment: "Sandbox")
        let world = world { _ in .json(body) }
        let token = try AppleAuthority.trusted.get().sign(
            merged(AppleObservationTests.transaction, #"{"environment":"Sandbox"}"#))
        let answer = try await store(world).ask(apple(token), at: Self.now)
        #expect(summary(answer).hasPrefix("active, sandbox"))
        #expect(
            world.requests.map(\.url) == [
                "https://sandbox.example/inApps/v1/subscriptions/420001010101001"
            ])
    }

    @Test func asksNothingAboutAForgedTransaction() async throws {
        let world = world { _ in .json("{}") }
        let payload = Array(AppleObservationTests.transaction.utf8)
        let forged = try AppleAuthority().sign(payload)
        #expect(summary(try await store(world).ask(apple(forged), at: Self.now)) == "rejected")
        let foreign = try AppleAuthority.trusted.get().sign(
            merged(AppleObservationTests.transaction, #"{"bundleId":"com.example.other"}"#))
        #expect(
            summary(try await store(world).ask(apple(foreign), at: Self.now)) == "mismatch app")
        #expect(world.requests.isEmpty)
    }

    @Test(arguments: [
        "", "hunter2", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
    ])
    func namesTheFaultOfAKey(pem: String) throws {
        let world = world { _ in .json("") }
        #expect {
            try store(world, pem: pem)
        } throws: { error in
            (error as? CredentialFault)?.field == "private_key" && !"\(error)".contains("hunter2")
        }
    }
}
