import Crypto
import Curl
import Renewal
import Testing

@testable import Stores

/// Errors are sorted by status and code. What their words say, of a token, a certificate or a
/// subscription that has expired, ends nothing.
struct ErrorWordsTests {
    private static let now = AppleFixture.now
    /// As `CurlTests` have it.
    private static let certificate = CurlError.unreachable(
        reason: "TLS certificate expired", isUnsent: true)
    /// Without those by which a store says that a purchase is not there.
    private static let statuses = [400, 401, 403, 404, 408, 409, 418, 429, 496, 497, 500, 503]
    private static let bodies = [
        #"""
        {"error":{"message":"The access token has expired","status":"EXPIRED",
        "errors":[{"reason":"subscriptionExpired"}]},"error_description":"Token expired",
        "subscriptionState":"SUBSCRIPTION_STATE_EXPIRED","expiryTimeMillis":"1",
        "errorMessage":"Expired","status":2,"cancelDate":1,"cancelReason":1,"autoRenewing":false}
        """#,
        "expired", "<html><body>Your subscription was cancelled and refunded</body></html>",
    ]

    private func world(
        _ reply: @escaping @Sendable (HTTPRequest) throws(CurlError) -> HTTPResponse
    ) -> FakeWorld {
        FakeWorld(clock: Self.now) { request async throws(CurlError) in try reply(request) }
    }

    /// Of every store, where nothing can be reached but by `reply`; of Google also with a token.
    private func answers(
        _ reply: @escaping @Sendable (HTTPRequest) throws(CurlError) -> HTTPResponse
    ) async throws -> [Answer] {
        let key = P256.Signing.PrivateKey().pemRepresentation
        let apple = try AppleStore(
            credentials: AppleCredentials(
                bundleID: "com.example.reader", issuerID: "i", keyID: "k",
                privateKeyPEM: Secret(key)),
            production: try #require(StoreHost(baseURL: "https://apple.example")),
            sandbox: try #require(StoreHost(baseURL: "https://sandbox.example")),
            verifier: try AppleFixture.verifier(), transport: world(reply).transport)
        let amazon = AmazonStore(
            credentials: AmazonCredentials(
                appID: "com.example.reader", sharedSecret: Secret("s"), allowsSandbox: false),
            production: try #require(StoreHost(baseURL: "https://amazon.example")), sandbox: nil,
            transport: world(reply).transport)
        var answers = [
            await apple.ask(purchase(.apple, token: "420001010101001"), at: Self.now),
            await amazon.ask(purchase(.amazon, token: "r=:3:11", user: "u"), at: Self.now),
        ]
        for google in [GoogleFixture.world(reply), world(reply)] {
            let store = try GoogleFixture.store(google)
            answers.append(await store.ask(purchase(.google, token: "t"), at: Self.now))
        }
        return answers
    }

    @Test(arguments: statuses, bodies)
    func noErrorIsReadByItsWords(status: Int, body: String) async throws {
        for answer in try await answers({ _ in .json(body, status: status) }) {
            guard case .failure = answer else {
                Issue.record("\(status): \(answer)")
                continue
            }
        }
    }

    @Test func noTroubleOfTheNetworkIsReadByItsWords() async throws {
        let heard = try await answers { _ throws(CurlError) in throw Self.certificate }
        #expect(heard.map { summary($0) } == Array(repeating: "unreachable", count: 4))
    }
}
