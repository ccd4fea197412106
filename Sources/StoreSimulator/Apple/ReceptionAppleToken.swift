import Crypto
import Synchronization

/// A request token that was found good: what it is for, and its times.
struct VerifiedToken: Sendable {
    var bundle: String
    var issued: Int64?
    var ends: Int64
}

extension Reception {
    /// The bundle that a request token is for; nil when the token is not good.
    ///
    /// Verified ones are remembered, since a client sends the same one for minutes.
    func appleBundle(_ authorization: String?, _ machine: Instant) -> String? {
        guard let authorization, authorization.hasPrefix("Bearer ") else { return nil }
        let known = verified.withLock { $0[authorization] } ?? verify(authorization)
        guard let known else { return nil }
        // A client that does not share the simulated clock signs with the machine's.
        let now = world.withLock { $0.now(machine) }
        let isFresh = [now.seconds, machine.seconds].contains { second in
            known.ends > second && known.issued.map { $0 <= second + 60 } ?? true
        }
        return isFresh ? known.bundle : nil
    }

    private func verify(_ authorization: String) -> VerifiedToken? {
        guard let token = WebToken(String(authorization.dropFirst(7))),
            token.header.kid == credentials.keyID, token.claims.iss == credentials.issuerID,
            token.claims.aud == "appstoreconnect-v1", let bundle = token.claims.bid,
            let ends = token.claims.exp,
            token.isFresh(at: token.claims.iat ?? ends - 300, needsIssueTime: false),
            token.isSigned(by: credentials.appleKey.publicKey),
            world.withLock({ $0.apps.contains(bundle) })
        else { return nil }
        let found = VerifiedToken(bundle: bundle, issued: token.claims.iat, ends: ends)
        verified.withLock { tokens in
            if tokens.count >= Self.cacheLimit { tokens = [:] }
            tokens[authorization] = found
        }
        return found
    }
}
