import Crypto
import CryptoExtras
import Foundation
import NIOCore
import Synchronization
import Testing

@testable import StoreSimulator

/// A responder without a server, and short ways to ask it.
struct Stage {
    /// Keys are slow to make, so all tests share them.
    static let credentials = Result { try Credentials(seed: 1, rsa: RSAKeys()) }

    let responder: Responder

    init(clockFile: String? = nil, seed: UInt64 = 1) throws {
        let clock = SimulatedClock(
            machine: SimulatedClock.machineNow, wholeSeconds: clockFile != nil)
        responder = Responder(
            world: World(clock: clock, seed: seed, apps: ["com.example.reader"]),
            credentials: try Self.credentials.get(), clockFile: clockFile, signingWindow: 1000,
            quit: {})
    }

    var credentials: Credentials { responder.credentials }

    func control(_ method: String, _ path: String, _ body: String = "") -> Reply {
        let request = Request(method: method, target: "/control" + path, body: Array(body.utf8))
        return responder.answer(request, at: .production)
    }

    /// Buys one and gives its number.
    func buy(_ store: StoreName, _ more: String = "") throws -> Purchase {
        let reply = control(
            "POST", "/purchases",
            "{\"store\":\"\(store.rawValue)\",\"product\":\"pro.monthly\"\(more)}")
        try #require(reply.status == 200)
        return responder.world.withLock { $0.purchase($0.purchases.count) }
    }

    func act(_ action: String, _ purchase: Purchase, _ body: String = "") -> Reply {
        control("POST", "/purchases/\(purchase.number)/\(action)", body)
    }

    func get(_ target: String, bearer: String? = nil, at host: StoreHost = .production) -> Reply {
        responder.answer(
            Request(method: "GET", target: target, authorization: bearer.map { "Bearer \($0)" }),
            at: host)
    }

    func apple(_ id: String, bearer: String? = nil, at host: StoreHost = .production) throws
        -> Reply
    {
        get(
            "/inApps/v1/subscriptions/\(id)", bearer: try bearer ?? appleToken(), at: host)
    }

    func google(_ token: String, bearer: String? = nil) throws -> Reply {
        get(Self.googlePath(token), bearer: try bearer ?? googleBearer())
    }

    static func googlePath(_ token: String, app: String = "com.example.reader") -> String {
        "/androidpublisher/v3/applications/\(app)/purchases/subscriptionsv2/tokens/\(token)"
    }

    func amazon(_ purchase: Purchase, at host: StoreHost = .production) -> Reply {
        get(Self.amazonPath(purchase, secret: credentials.amazonSecret), at: host)
    }

    static func amazonPath(_ purchase: Purchase, secret: String, user: String? = nil) -> String {
        "/version/1.0/verifyReceiptId/developer/\(secret)/user/\(user ?? purchase.storeUser)"
            + "/receiptId/\(purchase.token)"
    }

    func ask(_ purchase: Purchase) throws -> Reply {
        switch purchase.store {
        case .apple: try apple(purchase.token)
        case .google: try google(purchase.token)
        case .amazon: amazon(purchase)
        }
    }

    static func segment(_ object: [String: Any]) throws -> String {
        base64URL(try JSONSerialization.data(withJSONObject: object))
    }

    static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    func appleClaims(now: Int64 = SimulatedClock.machineNow.seconds) -> [String: Any] {
        [
            "iss": credentials.issuerID, "iat": now - 60, "exp": now + 900,
            "aud": "appstoreconnect-v1", "bid": "com.example.reader",
        ]
    }

    func appleToken(
        _ claims: [String: Any]? = nil, header: [String: Any] = [:]
    ) throws -> String {
        let head = ["alg": "ES256", "kid": credentials.keyID, "typ": "JWT"]
            .merging(header.compactMapValues { $0 as? String }) { $1 }
        let text = try Self.segment(head) + "." + Self.segment(claims ?? appleClaims())
        let signature = try credentials.appleKey.signature(for: Data(text.utf8))
        return text + "." + Self.base64URL(signature.rawRepresentation)
    }

    func googleClaims(now: Int64 = SimulatedClock.machineNow.seconds) -> [String: Any] {
        [
            "iss": credentials.serviceAccount, "iat": now - 10, "exp": now + 3500,
            "scope": Bearer.publisherScope, "aud": "https://127.0.0.1:1/token",
        ]
    }

    func assertion(_ claims: [String: Any]? = nil) throws -> String {
        let head = ["alg": "RS256", "typ": "JWT", "kid": credentials.googleKeyID]
        let text = try Self.segment(head) + "." + Self.segment(claims ?? googleClaims())
        let signature = try credentials.googleKey.signature(
            for: Data(text.utf8), padding: .insecurePKCS1v1_5)
        return text + "." + Self.base64URL(signature.rawRepresentation)
    }

    func postToken(_ assertion: String) -> Reply {
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        let request = Request(
            method: "POST", target: "/token", body: Array((form + assertion).utf8))
        return responder.answer(request, at: .production)
    }

    func googleBearer() throws -> String {
        let reply = postToken(try assertion())
        return try #require(reply.object["access_token"] as? String)
    }
}

extension Reply {
    var text: String { String(buffer: body) }

    /// The body as a JSON object; empty when it is none.
    var object: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
    }
}

extension JSON {
    var object: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] ?? [:]
    }
}

/// The lines of a text table below its heading, each split at two or more spaces.
func rows(_ table: String) -> [[String]] {
    table.split(separator: "\n").dropFirst().map { line in
        line.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }
}

extension Stage {
    func purchase(_ number: Int) -> Purchase {
        responder.world.withLock { $0.purchase(number) }
    }
}
