import Crypto

/// Checks the request tokens of the App Store Server API.
///
/// Verified ones are remembered, since a client sends the same one for minutes.
struct AppleTokens: Sendable {
    private struct Verified: Sendable {
        var bundle: String
        var issued: Int64?
        var ends: Int64
    }

    private let world: SharedWorld
    private let credentials: Credentials
    private let verified = Cache<String, Verified>()

    init(world: SharedWorld, credentials: Credentials) {
        self.world = world
        self.credentials = credentials
    }

    /// The bundle that a request's token is for; nil when the token is not good.
    func bundle(of request: Request) -> String? {
        guard let bearer = request.bearer, let known = verified[bearer] ?? verify(bearer) else {
            return nil
        }
        // A client that does not share the simulated clock signs with the machine's.
        let isFresh = [world.now(), SimulatedClock.machineNow].contains { now in
            known.ends > now.seconds && known.issued.map { $0 <= now.seconds + 60 } ?? true
        }
        return isFresh ? known.bundle : nil
    }

    private func verify(_ bearer: String) -> Verified? {
        guard let token = WebToken(bearer),
            token.header.kid == credentials.keyID, token.claims.iss == credentials.issuerID,
            token.claims.aud == "appstoreconnect-v1", let bundle = token.claims.bid,
            let ends = token.claims.exp,
            token.isFresh(at: token.claims.iat ?? ends - 300, needsIssueTime: false),
            token.isSigned(by: credentials.appleKey.publicKey),
            world.withLock({ $0.apps.contains(bundle) })
        else { return nil }
        let found = Verified(bundle: bundle, issued: token.claims.iat, ends: ends)
        verified[bearer] = found
        return found
    }
}

extension Optional where Wrapped == String {
    /// The bundle of a good token, or Apple's refusal.
    func proven() throws(Refusal) -> String {
        guard let self else { throw Refusal(Failures.unauthorized(.apple)) }
        return self
    }
}
