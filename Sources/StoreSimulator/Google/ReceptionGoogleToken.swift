import CryptoExtras
import NIOCore
import Synchronization

extension Reception {
    static let publisherScope = "https://www.googleapis.com/auth/androidpublisher"
    static let pubSubScopes: Set<String> = [
        "https://www.googleapis.com/auth/pubsub", "https://www.googleapis.com/auth/cloud-platform",
    ]
    private static let tokenSeconds: Int64 = 3599

    /// `POST /token`: a signed assertion for an access token.
    func googleToken(_ request: Request) -> Reply {
        guard request.method == "POST" else { return Reply(405, text: "Method not allowed\n") }
        let form = Request(
            method: "",
            target: "?"
                + String(decoding: request.body, as: UTF8.self)
                .replacing("+", with: "%20"))
        let machine = SimulatedClock.machineNow
        let call = world.withLock { $0.receive(.google, nil, request) }
        if let failure = call.failure() { return call.deliver(failure) }
        if let refusal = refusal(ofForm: form, call.now, machine) { return call.deliver(refusal) }
        let scopes = form.query("assertion").flatMap { WebToken($0) }?.scopes ?? []
        let token = world.withLock {
            $0.issueBearer(until: call.now + Self.tokenSeconds * 1000, scopes: scopes)
        }
        var json = JSONText(capacity: 250)
        json.raw("{\"access_token\":")
        json.plain(token)
        json.raw(",\"expires_in\":3599,\"token_type\":\"Bearer\"}")
        return call.deliver(Reply(200, json))
    }

    private func refusal(ofForm form: Request, _ now: Instant, _ machine: Instant) -> Reply? {
        guard form.query("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer" else {
            return Self.refused("unsupported_grant_type", "Invalid grant_type.")
        }
        guard let text = form.query("assertion"), let token = WebToken(text) else {
            return Self.refused("invalid_grant", "Bad Request")
        }
        guard token.claims.iss == credentials.serviceAccount else {
            return Self.refused("invalid_grant", "Invalid grant: account not found")
        }
        guard token.isSigned(by: credentials.googleKey.publicKey),
            token.header.kid.map({ $0 == credentials.googleKeyID }) ?? true
        else { return Self.refused("invalid_grant", "Invalid JWT Signature.") }
        guard token.claims.aud?.hasSuffix("/token") == true else {
            return Self.refused("invalid_grant", "Invalid JWT: Failed audience check.")
        }
        guard !token.scopes.isDisjoint(with: Self.pubSubScopes.union([Self.publisherScope])) else {
            return Self.refused("invalid_scope", "Invalid OAuth scope or ID token audience.")
        }
        // A client that does not share the simulated clock signs with the machine's.
        let isFresh = [now, machine].contains {
            token.isFresh(at: $0.seconds, needsIssueTime: true)
        }
        if isFresh { return nil }
        return Self.refused(
            "invalid_grant",
            "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable "
                + "timeframe. Check your iat and exp values in the JWT claim.")
    }

    private static func refused(_ error: StaticString, _ description: String) -> Reply {
        var json = JSONText(capacity: 200)
        json.raw("{\"error\":\"")
        json.raw(error)
        json.raw("\",\"error_description\":")
        json.string(description)
        json.raw("}")
        return Reply(400, json)
    }
}

extension WebToken {
    fileprivate var scopes: Set<String> {
        Set((claims.scope ?? "").split(separator: " ").map(String.init))
    }
}
