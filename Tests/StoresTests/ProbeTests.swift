import Crypto
import Curl
import Foundation
import Renewal
import StoreFixtures
import TestSupport
import Testing

@testable import Stores

/// What each store says to a question about nothing, and what that tells of the credentials.
struct ProbeTests {
    private static let now = GoogleFixture.now

    private func heard(
        _ probe: () async throws(StoreFailure) -> Void
    ) async -> String {
        do throws(StoreFailure) {
            try await probe()
            return "accepted"
        } catch {
            return error.problem.code.rawValue
        }
    }

    // MARK: Apple

    private func apple(_ world: FakeWorld, secret: String? = nil) throws -> AppleStore {
        let key = AppleAPIKey(
            issuerID: "3f0b-issuer", keyID: "7KQ2M4X9TB",
            privateKeyPEM: Secret(P256.Signing.PrivateKey().pemRepresentation))
        let endpoint = try #require(AppleReceiptEndpoint(url: "https://buy.example/verify"))
        return try AppleStore(
            credentials: AppleCredentials(
                bundleID: "com.example.reader", apiKey: secret == nil ? key : nil,
                sharedSecret: secret.map { Secret($0) }),
            production: try #require(StoreHost(baseURL: "https://apple.example")),
            sandbox: try #require(StoreHost(baseURL: "https://sandbox.example")),
            receipts: [.production: endpoint], verifier: AppleVerifier(),
            transport: world.transport)
    }

    private static let appleCases = rows(
        """
        status  body                      heard
        404     {"errorCode":4040010}     accepted
        400     {"errorCode":4000006}     accepted
        401     -                         refused
        403     -                         refused
        404     {"errorCode":4040003}     refused
        404     -                         malformed
        429     -                         throttled
        500     {"errorCode":5000000}     unreachable
        302     -                         malformed
        """)

    @Test(arguments: appleCases)
    func appleTellsWhetherItTakesTheKey(_ row: [String]) async throws {
        let world = world(row)
        let store = try apple(world)
        #expect(
            await heard { () throws(StoreFailure) in try await store.probeKey(at: Self.now) }
                == row[2])
        #expect(world.requests.allSatisfy { $0.url.hasPrefix("https://apple.example/") })
        #expect(world.requests.count <= 2)
    }

    private static let receiptCases = rows(
        """
        status  body              heard
        200     {"status":21002}  accepted
        200     {"status":21003}  accepted
        200     {"status":21007}  accepted
        200     {"status":21004}  refused
        200     {"status":21005}  unreachable
        200     <html>            malformed
        503     -                 unreachable
        """)

    @Test(arguments: receiptCases)
    func verifyReceiptTellsWhetherItIsThere(_ row: [String]) async throws {
        let world = world(row)
        let store = try apple(world, secret: "0123456789abcdef0123456789abcdef")
        #expect(
            await heard { () throws(StoreFailure) in try await store.probeReceipts(at: Self.now) }
                == row[2])
        #expect(world.requests.map(\.url) == ["https://buy.example/verify"])
    }

    // MARK: Google

    private static let googleCases = rows(
        """
        status  body                                                  heard
        400     {"error":{"errors":[{"reason":"invalid"}]}}           accepted
        404     {"error":{"errors":[{"reason":"notFound"}]}}          accepted
        410     -                                                     accepted
        401     {"error":{"errors":[{"reason":"permissionDenied"}]}}  refused
        401     {"error":{"errors":[{"reason":"authError"}]}}         refused
        403     {"error":{"errors":[{"reason":"projectNotLinked"}]}}  refused
        404     {"error":{"errors":[{"reason":"applicationNotFound"}]}}  refused
        403     {"error":{"errors":[{"reason":"rateLimitExceeded"}]}}  throttled
        503     <html>                                                unreachable
        """)

    @Test(arguments: googleCases)
    func googleTellsWhetherTheAccountMayLook(_ row: [String]) async throws {
        let (status, body) = try answer(row)
        let world = GoogleFixture.world { _ in .json(body, status: status) }
        let store = try GoogleFixture.store(world)
        #expect(
            await heard { () throws(StoreFailure) in try await store.probePurchases(at: Self.now) }
                == row[2])
    }

    @Test func asksForOneVoidedPurchaseAtMost() async throws {
        let world = GoogleFixture.world { _ in .json("{}") }
        try await GoogleFixture.store(world).probeVoided(at: Self.now)
        #expect(world.calls.count == 1)
        #expect(world.calls[0].hasSuffix("/purchases/voidedpurchases?maxResults=1"))
    }

    private static let pubsubCases = rows(
        """
        look  may                                             heard
        200   {"permissions":["pubsub.subscriptions.consume"]}  mayBePulled
        403   {"permissions":["pubsub.subscriptions.consume"]}  mayBePulled
        200   {}                                              refused
        403   {}                                              refused
        403   403                                             hidden
        404   {}                                              rejected
        503   {}                                              unreachable
        403   503                                             unreachable
        """)

    @Test(arguments: pubsubCases)
    func looksAtASubscriptionWithoutPulling(_ row: [String]) async throws {
        let look = try #require(Int(row[0]))
        let world = GoogleFixture.world { request in
            if request.method == .get { return .json("{}", status: look) }
            return Int(row[1]).map { .json("{}", status: $0) } ?? .json(row[1])
        }
        let pubsub = try GoogleFixture.pubsub(world)
        let heard: String
        do throws(StoreFailure) {
            heard = "\(try await pubsub.probe(at: Self.now))"
        } catch {
            heard = error.problem.code.rawValue
        }
        #expect(heard == row[2])
        #expect(!world.calls.contains { $0.contains(":pull") })
    }

    // MARK: Amazon

    @Test(arguments: [
        (400, "accepted"), (410, "accepted"), (497, "accepted"), (496, "refused"),
        (429, "throttled"), (500, "unreachable"), (302, "malformed"),
    ])
    func amazonTellsWhetherItTakesTheSecret(status: Int, heard: String) async throws {
        let world = FakeWorld(clock: Self.now) { _ async throws(CurlError) in
            HTTPResponse(status: status)
        }
        let store = AmazonStore(
            credentials: AmazonCredentials(
                appID: "com.example.reader", sharedSecret: Secret("2:key:=="), allowsSandbox: true),
            production: try #require(StoreHost(baseURL: "https://amazon.example")),
            sandbox: StoreHost(baseURL: "https://sandbox.example"),
            transport: world.transport)
        #expect(
            await self.heard { () throws(StoreFailure) in try await store.probe(at: Self.now) }
                == heard)
        #expect(world.requests.count == 1)
    }

    // MARK: Clocks

    @Test(arguments: [
        ("Fri, 20 Feb 2026 12:00:00 GMT", 0), ("Fri, 20 Feb 2026 12:01:30 GMT", 90),
        ("Fri, 20 Feb 2026 11:00:00 GMT", -3600),
    ])
    func hearsTheTimeOfAStore(date: String, seconds: Int64) async throws {
        let world = FakeWorld(clock: Self.now) { _ async throws(CurlError) in
            HTTPResponse(status: 401, date: date)
        }
        let clock = StoreClock()
        #expect(clock.skew == nil)
        let transport = clock.listening(to: world.transport)
        _ = try await transport.send(HTTPRequest(url: "https://store.example"))
        let skew = try #require(clock.skew)
        #expect((skew - .seconds(seconds)).components.seconds == 0)
    }

    @Test func hearsNoTimeWhereNoneIsTold() async throws {
        let world = FakeWorld(clock: Self.now) { _ async throws(CurlError) in
            HTTPResponse(status: 200, date: "noon")
        }
        let clock = StoreClock()
        _ = try await clock.listening(to: world.transport).send(
            HTTPRequest(url: "https://store.example"))
        #expect(clock.skew == nil)
    }

    // MARK: Files

    @Test(arguments: [
        ("57246542-96fe-1a63-e053-0824d011072a", "2X9R4HXF34", ""),
        ("57246542", "2X9R4HXF34", "issuer_id"), ("", "", "issuer_id key_id"),
        ("57246542-96fe-1a63-e053-0824d011072a", "2x9r4hxf34", "key_id"),
    ])
    func noticesIdsThatLookWrong(issuer: String, key: String, odd: String) {
        let apiKey = AppleAPIKey(issuerID: issuer, keyID: key, privateKeyPEM: Secret(""))
        #expect(apiKey.oddIDs.map(\.field).joined(separator: " ") == odd)
    }

    @Test func readsWhenACertificateEnds() throws {
        let end = Timestamp(microsecondsSinceEpoch: 2_187_800_346_000_000)
        #expect(try CertificateFile(AppleRoots.g3).ends == [end])
        let text = Data(AppleRoots.g3).base64EncodedString(options: .lineLength64Characters)
        let pem = "Apple's\n-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
        let several = try CertificateFile(Array((pem + pem).utf8))
        #expect(several.inDER == [AppleRoots.g3, AppleRoots.g3] && several.ends == [end, end])
        for text in [
            "", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
        ] {
            #expect(throws: CredentialFault.self) {
                _ = try CertificateFile(Array(text.utf8))
            }
        }
    }

    // MARK: Worlds

    private func world(_ row: [String]) -> FakeWorld {
        FakeWorld(clock: Self.now) { _ async throws(CurlError) in
            .json(row[1] == "-" ? "" : row[1], status: Int(row[0]) ?? 0)
        }
    }

    private func answer(_ row: [String]) throws -> (status: Int, body: String) {
        (try #require(Int(row[0])), row[1] == "-" ? "" : row[1])
    }
}
