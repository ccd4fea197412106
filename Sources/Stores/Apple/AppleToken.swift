import Crypto
import Renewal
import Synchronization

/// The signed token that admits a request to the App Store Server API.
struct AppleToken: Hashable, Sendable {
    let text: String
    let issuedAt: Timestamp
}

/// Makes tokens: one for each lifetime, shared by all checks of an app.
///
/// App Store Server API, *Generating JSON Web Tokens for API requests*.
final class AppleTokens: Sendable {
    private let bundleID: AppID
    private let apiKey: AppleAPIKey
    private let key: P256.Signing.PrivateKey
    private let state = Mutex(State())

    private struct State {
        var current: AppleToken?
        /// What Apple's clock is ahead of ours, learned from a refusal.
        var skew = Duration.zero
    }

    init(_ apiKey: AppleAPIKey, bundleID: AppID) throws(CredentialFault) {
        self.bundleID = bundleID
        self.apiKey = apiKey
        do {
            key = try P256.Signing.PrivateKey(pemRepresentation: apiKey.privateKeyPEM.text)
        } catch {
            throw CredentialFault(
                field: "private_key", sentence: "is not a P-256 key in PKCS#8 PEM")
        }
        for (field, text) in [
            ("id", bundleID.text), ("issuer_id", apiKey.issuerID), ("key_id", apiKey.keyID),
        ] where text.isEmpty {
            throw CredentialFault(field: field, sentence: "is empty")
        }
    }

    /// The current token, or a new one when half of its life is over.
    func token(at wallClock: Timestamp) throws(StoreFailure) -> AppleToken {
        let made = state.withLock { state in
            let now = wallClock + state.skew
            if let current = state.current, Self.isFresh(current, at: now) {
                return Optional(current)
            }
            state.current = makeToken(at: now)
            return state.current
        }
        return try Self.present(made)
    }

    /// A token made by Apple's clock, after Apple has refused `refused`: a host whose clock is
    /// fast makes tokens of the future. When another check has replaced it already, that one.
    /// `date` is the `Date` header of the refusal.
    func token(
        replacing refused: AppleToken, date: String?, at wallClock: Timestamp
    ) throws(StoreFailure) -> AppleToken {
        let made = state.withLock { state in
            if let current = state.current, current != refused { return Optional(current) }
            state.skew =
                date.flatMap(CalendarTime.timestamp(httpDate:)).map { $0 - wallClock }
                ?? .zero
            state.current = makeToken(at: wallClock + state.skew)
            return state.current
        }
        return try Self.present(made)
    }

    private static func isFresh(_ token: AppleToken, at now: Timestamp) -> Bool {
        let age = now - token.issuedAt
        return age >= .zero && age < lifetime / 2
    }

    private static func present(_ token: AppleToken?) throws(StoreFailure) -> AppleToken {
        guard let token else { throw .refused(reason: "the private key cannot sign") }
        return token
    }

    private func makeToken(at now: Timestamp) -> AppleToken? {
        let seconds = now.microsecondsSinceEpoch / 1_000_000
        let claims = Claims(
            iss: apiKey.issuerID, iat: seconds - Self.backdatedSeconds,
            exp: seconds + Self.lifetime.components.seconds, aud: "appstoreconnect-v1",
            bid: bundleID.text)
        let text = try? CompactJWS.text(
            header: Header(alg: "ES256", kid: apiKey.keyID, typ: "JWT"), claims: claims
        ) { bytes in
            try key.signature(for: bytes).rawRepresentation
        }
        return text.map { AppleToken(text: $0, issuedAt: now) }
    }

    /// Apple refuses more than an hour; an hour exactly has been refused too.
    private static let lifetime = Duration.minutes(15)
    private static let backdatedSeconds: Int64 = 60

    private struct Header: Encodable {
        let alg: String
        let kid: String
        let typ: String
    }

    private struct Claims: Encodable {
        let iss: String
        let iat: Int64
        let exp: Int64
        let aud: String
        let bid: String
    }
}
