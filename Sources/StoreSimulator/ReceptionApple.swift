import Crypto
import NIOCore
import Synchronization

/// A request token that was found good: what it is for, and its times.
struct VerifiedToken: Sendable {
    var bundle: String
    var issued: Int64?
    var ends: Int64
}

/// A signed answer and the state it tells.
struct SignedAnswer: Sendable {
    var signedAt: Instant
    var face: Life.Face
    var body: ByteBuffer
}

/// What is to be signed, taken out of the world so that the signing needs no lock.
private struct Unsigned {
    var call: Call
    var purchase: Purchase
    var life: Life
    var charge: Charge
    var signedAt: Instant
    var isFor: Endpoint

    enum Endpoint {
        case status
        case transaction
    }

    var flaw: AppleSigner.Flaw {
        switch call.fault?.kind {
        case .wrongSignature: .foreignKey
        case .expiredCertificate: .expiredLeaf
        default: .none
        }
    }

    var canBeKept: Bool { call.fault == nil && isFor == .status }
}

extension Reception {
    /// `/inApps/v1/subscriptions/{id}` and `/inApps/v1/transactions/{id}`
    func apple(_ request: Request, _ path: [Substring], _ host: StoreHost) -> Reply {
        guard path.count == 4, path[1] == "v1", request.method == "GET",
            path[2] == "subscriptions" || path[2] == "transactions"
        else { return Reply(404, text: "Not found\n") }
        let isStatus = path[2] == "subscriptions"
        let machine = SimulatedClock.machineNow
        let bundle = appleBundle(request.authorization, machine)
        let outcome: Result<Unsigned, Refusal> = world.withLock { world in
            let found = world.find(transaction: path[3])
            let call = world.receive(.apple, found?.number)
            let result = unsigned(call, found, bundle, host, isStatus, path[3], &world)
            if case .failure(let refusal) = result { world.calls.answered(refusal.reply.status) }
            return result.mapError { Refusal(reply: call.deliver($0.reply)) }
        }
        switch outcome {
        case .failure(let refusal): return refusal.reply
        case .success(let unsigned): return unsigned.call.deliver(signedReply(unsigned))
        }
    }

    private struct Refusal: Error {
        var reply: Reply
    }

    private func unsigned(
        _ call: Call, _ found: (number: Int, charge: Int)?, _ bundle: String?, _ host: StoreHost,
        _ isStatus: Bool, _ id: Substring, _ world: inout World
    ) -> Result<Unsigned, Refusal> {
        if let failure = call.failure() { return .failure(Refusal(reply: failure)) }
        guard let bundle else { return .failure(Refusal(reply: Failures.unauthorized(.apple))) }
        guard !id.isEmpty, id.utf8.allSatisfy({ (48...57).contains($0) }) else {
            return .failure(
                Refusal(reply: Reply(400, Apple.failure(4_000_006, "Invalid transaction id."))))
        }
        let notFound = Result<Unsigned, Refusal>.failure(
            Refusal(reply: Failures.notFound(.apple)))
        guard let found, let number = call.subject(world) else { return notFound }
        let purchase = world.purchase(number)
        let isHere = (purchase.environment == .sandbox) == (host == .sandbox)
        guard isHere, purchase.app == bundle, purchase.timeline.start <= call.now else {
            return notFound
        }
        let instant = call.instant(purchase)
        let life =
            instant == call.now
            ? world.life(number, at: instant) : purchase.timeline.life(at: instant)
        let place = isStatus || number != found.number ? life.charges.count - 1 : found.charge
        guard life.charges.indices.contains(place), found.charge < life.charges.count || isStatus
        else { return notFound }
        world.calls.answered(200)
        return .success(
            Unsigned(
                call: call, purchase: purchase, life: life, charge: life.charges[place],
                signedAt: instant, isFor: isStatus ? .status : .transaction))
    }

    private func signedReply(_ unsigned: Unsigned) -> Reply {
        let number = unsigned.purchase.number
        if unsigned.canBeKept, let kept = signed.withLock({ $0[number] }),
            kept.face == unsigned.life.face,
            (0...signingWindow).contains(unsigned.signedAt - kept.signedAt)
        {
            return Reply(200, kept.body)
        }
        guard let body = try? sign(unsigned) else { return Failures.status(500, .apple) }
        if unsigned.canBeKept {
            let answer = SignedAnswer(
                signedAt: unsigned.signedAt, face: unsigned.life.face, body: body)
            signed.withLock { answers in
                if answers.count >= Self.cacheLimit { answers = [:] }
                answers[number] = answer
            }
        }
        return Reply(200, body)
    }

    private func sign(_ unsigned: Unsigned) throws -> ByteBuffer {
        let (purchase, flaw) = (unsigned.purchase, unsigned.flaw)
        let signer = credentials.signer
        guard unsigned.isFor == .status,
            let status = Apple.status(purchase, unsigned.life, signedAt: unsigned.signedAt)
        else {
            let payload = Apple.transaction(
                purchase, unsigned.charge, signedAt: unsigned.signedAt)
            var json = JSONText(capacity: 6000)
            json.raw("{\"signedTransactionInfo\":\"")
            json.ready(try signer.sign(payload, flaw: flaw))
            json.raw("\"}")
            return ByteBuffer(bytes: json.bytes)
        }
        return ByteBuffer(
            bytes: Apple.body(
                purchase, status: status.status,
                transaction: try signer.sign(status.transaction, flaw: flaw),
                renewal: try signer.sign(status.renewal, flaw: flaw)))
    }

    /// The bundle that a request token is for; nil when the token is not good.
    ///
    /// Verified ones are remembered, since a client sends the same one for minutes.
    private func appleBundle(_ authorization: String?, _ machine: Instant) -> String? {
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
