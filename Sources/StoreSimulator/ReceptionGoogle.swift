import CryptoExtras
import NIOCore
import Synchronization

extension Reception {
    static let publisherScope = "https://www.googleapis.com/auth/androidpublisher"
    private static let tokenSeconds: Int64 = 3599

    /// `/androidpublisher/v3/applications/{package}/purchases/subscriptionsv2/tokens/{token}`
    func google(_ request: Request, _ path: [Substring]) -> Reply {
        guard path.count == 8, path[1] == "v3", path[2] == "applications",
            path[4] == "purchases", path[5] == "subscriptionsv2", path[6] == "tokens",
            let package = PercentCoding.decode(path[3]), let token = PercentCoding.decode(path[7])
        else { return Failures.status(404, .google) }
        guard request.method == "GET" else { return Failures.status(405, .google) }
        return world.withLock { world in
            let number = world.find(.google, token: token)
            let call = world.receive(.google, number)
            let reply =
                call.failure() ?? refusal(request, package, world, call)
                ?? googleAnswer(call, package, &world)
            world.calls.answered(reply.status)
            return call.deliver(reply)
        }
    }

    /// The checks before the purchase itself, in the order in which the API makes them.
    private func refusal(
        _ request: Request, _ package: String, _ world: World, _ call: Call
    ) -> Reply? {
        guard let authorization = request.authorization, authorization.hasPrefix("Bearer "),
            let end = world.bearers[String(authorization.dropFirst(7))], end > call.now
        else { return Failures.unauthorized(.google) }
        guard world.apps.contains(package) else {
            let message = "No application was found for the given package name."
            return Reply(404, Google.failure(404, "applicationNotFound", message))
        }
        return nil
    }

    private func googleAnswer(_ call: Call, _ package: String, _ world: inout World) -> Reply {
        guard let number = call.subject(world) else { return Failures.notFound(.google) }
        let purchase = world.purchase(number)
        guard purchase.app == package else {
            let message = "The purchase token does not match the package name."
            return Reply(
                400,
                Google.failure(
                    400, "purchaseTokenDoesNotMatchPackageName", message, location: "token"))
        }
        let instant = call.instant(purchase)
        let life =
            instant == call.now
            ? world.life(number, at: instant) : purchase.timeline.life(at: instant)
        if Google.isGone(life, at: instant) { return Failures.gone(.google) }
        return Reply(200, Google.subscription(purchase, life, at: instant))
    }

    /// `POST /token`: a signed assertion for an access token.
    func googleToken(_ request: Request) -> Reply {
        guard request.method == "POST" else { return Reply(405, text: "Method not allowed\n") }
        let form = Request(
            method: "",
            target: "?"
                + String(decoding: request.body, as: UTF8.self)
                .replacing("+", with: "%20"))
        let machine = SimulatedClock.machineNow
        let call = world.withLock { $0.receive(.google, nil, endpoint: .token) }
        if let failure = call.failure() { return call.deliver(failure) }
        if let refusal = refusal(ofForm: form, call.now, machine) { return call.deliver(refusal) }
        let token = world.withLock {
            $0.issueBearer(until: call.now + Self.tokenSeconds * 1000)
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
        let scopes = token.claims.scope?.split(separator: " ") ?? []
        guard scopes.contains(where: { $0 == Self.publisherScope }) else {
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
