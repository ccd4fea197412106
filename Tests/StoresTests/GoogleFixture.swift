import Curl
import CryptoExtras
import Renewal
import Testing

@testable import Stores

/// An app of Google's with a key of its own, and a world that gives it access tokens.
enum GoogleFixture {
    static let now = GoogleStoreTests.now
    static let key = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    static func credentials(_ keyFile: String? = nil) throws -> GoogleCredentials {
        let pem = try key.get().pemRepresentation.replacing("\n", with: "\\n")
        let file =
            keyFile ?? """
                {"type":"service_account","private_key_id":"kid7","private_key":"\(pem)",
                "client_email":"a@b.example","token_uri":"https://tokens.example/token",
                "project_id":"reader-7"}
                """
        return GoogleCredentials(
            packageName: "com.example.reader",
            account: try GoogleServiceAccount(json: Secret(file)))
    }

    static func host() throws -> StoreHost {
        try #require(StoreHost(baseURL: "https://play.example"))
    }

    /// Answers each request but those for access tokens from the script.
    static func world(
        _ script: @escaping @Sendable (HTTPRequest) throws(CurlError) -> HTTPResponse
    ) -> FakeWorld {
        FakeWorld(clock: now) { request async throws(CurlError) in
            guard request.url == "https://tokens.example/token" else { return try script(request) }
            return .json(#"{"access_token":"ya29.x","expires_in":3599}"#)
        }
    }

    static func store(
        _ world: FakeWorld, api: GoogleAPI = .v2, kinds: [ProductID: ProductKind] = [:]
    ) throws -> GoogleStore {
        try GoogleStore(
            credentials: credentials(), host: host(), transport: world.transport, api: api,
            kindOf: { kinds[$0] })
    }

    static func pubsub(
        _ world: FakeWorld, subscription: String = "projects/reader-7/subscriptions/news"
    ) throws -> GooglePubSub {
        try GooglePubSub(
            credentials: credentials(), subscription: subscription, host: host(),
            transport: world.transport)
    }
}

extension FakeWorld {
    /// What was asked but for access tokens: method and path.
    var calls: [String] {
        requests.filter { $0.url != "https://tokens.example/token" }.map {
            $0.method.rawValue + " " + $0.url.dropFirst("https://play.example".count)
        }
    }
}
