import CryptoExtras

/// `POST /token`: a service account's signed assertion for an access token.
struct GoogleTokenHandler: Sendable {
    private static let tokenSeconds: Int64 = 3599

    let calls: StoreCalls
    let credentials: Credentials

    var routes: [Route] { [Route("POST", "/token", .token, issue)] }

    private func issue(_ request: Request) -> Reply {
        let machine = SimulatedClock.machineNow
        let read = Result { () throws(Refusal) in try assertion(request) }
        return calls.answer(
            request, of: .google,
            { world, call throws(Refusal) in
                let assertion = try read.get()
                // A client that does not share the simulated clock signs with the machine's.
                let isFresh = [call.now, machine].contains {
                    assertion.isFresh(at: $0.seconds, needsIssueTime: true)
                }
                guard isFresh else {
                    throw Self.refusal(
                        "invalid_grant",
                        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a "
                            + "reasonable timeframe. Check your iat and exp values in the JWT "
                            + "claim.")
                }
                let token = world.issueBearer(
                    until: call.now + Self.tokenSeconds * 1000, scopes: assertion.scopes)
                let answer = JSON.object { json in
                    json.member("access_token", token)
                    json.member("expires_in", Self.tokenSeconds)
                    json.member("token_type", "Bearer")
                }
                return .reply(Reply(200, answer))
            })
    }

    /// The assertion of a form, if it is the service account's own; its times are not looked at.
    private func assertion(_ request: Request) throws(Refusal) -> WebToken {
        let text = String(decoding: request.body, as: UTF8.self).replacing("+", with: "%20")
        let form = Request(method: "", target: "?" + text)
        guard form.query("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer" else {
            throw Self.refusal("unsupported_grant_type", "Invalid grant_type.")
        }
        guard let text = form.query("assertion"), let token = WebToken(text) else {
            throw Self.refusal("invalid_grant", "Bad Request")
        }
        guard token.claims.iss == credentials.serviceAccount else {
            throw Self.refusal("invalid_grant", "Invalid grant: account not found")
        }
        guard token.isSigned(by: credentials.googleKey.publicKey),
            token.header.kid.map({ $0 == credentials.googleKeyID }) ?? true
        else { throw Self.refusal("invalid_grant", "Invalid JWT Signature.") }
        guard token.claims.aud?.hasSuffix("/token") == true else {
            throw Self.refusal("invalid_grant", "Invalid JWT: Failed audience check.")
        }
        let known = Bearer.pubSubScopes.union([Bearer.publisherScope])
        guard !token.scopes.isDisjoint(with: known) else {
            throw Self.refusal("invalid_scope", "Invalid OAuth scope or ID token audience.")
        }
        return token
    }

    private static func refusal(_ error: String, _ description: String) -> Refusal {
        let answer = JSON.object { json in
            json.member("error", error)
            json.member("error_description", description)
        }
        return Refusal(Reply(400, answer))
    }
}

extension WebToken {
    fileprivate var scopes: Set<String> {
        Set((claims.scope ?? "").split(separator: " ").map(String.init))
    }
}
