import Curl
import Renewal
import Testing

@testable import Stores

struct AmazonStoreTests {
    private static let now = Timestamp(microsecondsSinceEpoch: 1_768_910_400_000_000)
    private static let secret = "2:smXBjZkW_-plutonium:kQ=="

    private func store(
        _ world: FakeWorld, allowsSandbox: Bool = false, hasSandbox: Bool = true
    ) throws -> AmazonStore {
        AmazonStore(
            credentials: AmazonCredentials(
                appID: "com.example.reader", sharedSecret: Secret(Self.secret),
                allowsSandbox: allowsSandbox),
            production: try #require(StoreHost(baseURL: "https://amazon.example")),
            sandbox: hasSandbox ? StoreHost(baseURL: "https://sandbox.example") : nil,
            transport: world.transport)
    }

    private func world(
        _ script: @escaping @Sendable (HTTPRequest) throws(CurlError) -> HTTPResponse
    ) -> FakeWorld {
        FakeWorld(clock: Self.now) { request async throws(CurlError) in try script(request) }
    }

    private static let known = purchase(.amazon, token: "Zk3v=:3:11", user: "kQ4m0=")

    @Test func asksOnThePathOfTheReceipt() async throws {
        let world = world { _ in .json(AmazonObservationTests.base) }
        let answer = try await store(world).ask(Self.known, at: Self.now)
        #expect(summary(answer).hasPrefix("active, production"))
        #expect(
            world.requests.map(\.url) == [
                "https://amazon.example/version/1.0/verifyReceiptId/developer/"
                    + "2:smXBjZkW_-plutonium:kQ==/user/kQ4m0=/receiptId/Zk3v=:3:11"
            ])
        #expect(world.extraCalls == 0)
    }

    /// How long the base of an add-on was paid for the ledger knows; while it cannot be asked, the
    /// add-on goes on.
    @Test(arguments: [
        (Result<Facts?, StoreFailure>.success(paid), "refunded"), (.success(nil), "ended"),
        (.failure(.unreachable(reason: "no database")), "active"),
    ])
    func judgesABaseByWhatIsKnown(_ known: Result<Facts?, StoreFailure>, heard: String) async throws
    {
        let base = AmazonObservationTests.base.replacing("Zk3v=:3:11", with: "b1")
            .replacing(#""cancelDate":null"#, with: #""cancelDate":1768435200000"#)
            .replacing(#""cancelReason":null"#, with: #""cancelReason":1"#)
            .replacing(
                #""renewalDate":1769943600000,"term":"1 Month""#, with: #""renewalDate":null"#)
        let addOn = AmazonObservationTests.base.replacing(
            #""betaProduct":false"#, with: #""baseReceipts":["b1"],"betaProduct":false"#)
        let world = world { .json($0.url.hasSuffix("/b1") ? base : addOn) }
        var others = KnownPurchases.none
        others.facts = { token throws(StoreFailure) in
            #expect(token == "b1")
            return try known.get()
        }
        let session = CallSession(knowing: others)
        let answer = try await store(world).within(session).ask(Self.known, at: Self.now)
        #expect(summary(answer).hasPrefix(heard), "\(summary(answer))")
    }

    private static let paid = {
        var facts = Facts(product: "plus")
        facts.paidThrough = now + .days(12)
        return facts
    }()

    @Test func keepsHostileTextInItsSegment() async throws {
        let world = world { _ in .json(AmazonObservationTests.base) }
        _ = try await store(world).ask(
            purchase(.amazon, token: "../../x?y#z\n%2e\"", user: "u/é"), at: Self.now)
        #expect(
            world.requests.first?.url.hasSuffix(
                "/user/u%2F%C3%A9/receiptId/..%2F..%2Fx%3Fy%23z%0A%252e%22") == true)
    }

    @Test(arguments: [
        (nil, "r", "unsupported"), ("", "r", "unsupported"), ("u", "", "rejected"),
        ("u", ".", "rejected"), ("..", "r", "rejected"),
    ])
    func refusesWithoutAsking(user: String?, receipt: String, heard: String) async throws {
        let world = world { _ in .json("{}") }
        let answer = try await store(world).ask(
            purchase(.amazon, token: receipt, user: user), at: Self.now)
        #expect(summary(answer) == heard)
        #expect(world.requests.isEmpty)
    }

    @Test(arguments: [
        (400, "", "rejected"), (401, "", "malformed status 401"), (404, "", "malformed status 404"),
        (410, "", "doubt no_longer_valid"), (410, "<html>", "doubt no_longer_valid"),
        (429, "", "throttled 7"), (496, "{}", "refused"), (497, "{}", "rejected"),
        (498, "", "malformed status 498"), (500, "", "unreachable"), (503, "<html>", "unreachable"),
        (302, "", "malformed redirect, status 302"), (200, "<html>", "malformed body"),
        (200, "", "malformed body"), (200, #"{"receiptId":"Zk3"#, "malformed body"),
        (200, "null", "malformed body"), (200, #"{"status":false}"#, "malformed receiptId"),
    ])
    func sortsErrorsByTheirStatus(status: Int, body: String, heard: String) async throws {
        let world = world { _ in
            HTTPResponse(status: status, retryAfter: "7", body: Array(body.utf8))
        }
        let answer = try await store(world).ask(Self.known, at: Self.now)
        #expect(summary(answer) == heard)
        #expect(!"\(answer)".contains("plutonium"))
    }

    @Test func asksTheSandboxWhereAllowedAndNeverWithTheSecret() async throws {
        let world = world { request in
            request.url.hasPrefix("https://sandbox.example/")
                ? .json(AmazonObservationTests.base) : .json("{}", status: 400)
        }
        let answer = try await store(world, allowsSandbox: true).ask(Self.known, at: Self.now)
        #expect(summary(answer).hasPrefix("active, sandbox"))
        #expect(world.requests.count == 2)
        #expect(world.extraCalls == 1)
        #expect(
            world.requests.last?.url == "https://sandbox.example/sandbox/version/1.0/"
                + "verifyReceiptId/developer/sandbox/user/kQ4m0=/receiptId/Zk3v=:3:11")
    }

    @Test func neverAsksTheSandboxUnlessAllowed() async throws {
        let world = world { _ in .json("{}", status: 400) }
        let answer = try await store(world).ask(Self.known, at: Self.now)
        #expect(summary(answer) == "rejected")
        #expect(world.requests.count == 1)
    }

    /// App Tester's receipts are known to the sandbox, those of Live App Testing to production.
    @Test(arguments: [
        ("r", ["https://sandbox.example", "https://amazon.example"]),
        ("r=:3:11", ["https://amazon.example", "https://sandbox.example"]),
    ])
    func asksForATestersReceiptInBothPlaces(_ token: String, _ hosts: [String]) async throws {
        let world = world { _ in .json("{}", status: 400) }
        let known = purchase(.amazon, token: token, user: "u", environment: .sandbox)
        let store = try store(world, allowsSandbox: true)
        #expect(summary(await store.ask(known, at: Self.now)) == "rejected")
        let asked = world.requests.map(\.url)
        #expect(asked.count == 2)
        for (url, host) in zip(asked, hosts) {
            #expect(url.hasPrefix(host))
            #expect(url.contains("plutonium") == (host == "https://amazon.example"))
        }
    }

    @Test func asksProductionAloneWhereNoTestersAreAllowed() async throws {
        let world = world { _ in .json("{}", status: 400) }
        let known = purchase(.amazon, token: "r", user: "u", environment: .sandbox)
        for hasSandbox in [true, false] {
            let store = try store(world, hasSandbox: hasSandbox)
            #expect(summary(await store.ask(known, at: Self.now)) == "rejected")
        }
        #expect(world.requests.allSatisfy { $0.url.hasPrefix("https://amazon.example") })
    }
}
