import NIOCore
import Synchronization

/// A signed answer and the states it tells.
struct SignedAnswer: Sendable {
    var signedAt: Instant
    var faces: [NumberedFace]
    var body: ByteBuffer
}

/// What an answer tells of one purchase.
struct NumberedFace: Hashable, Sendable {
    var number: Int
    var face: Life.Face
}

/// What a path of the App Store Server API asks for.
private enum AppleRead: Hashable {
    case status
    case transaction
    case history
    case refunds

    /// The read, and the transaction id in its path; nil for a path that is not played.
    static func find(_ path: [Substring]) -> (AppleRead, id: Substring)? {
        guard let id = path.last else { return nil }
        switch path.dropFirst().dropLast() {
        case ["v1", "subscriptions"]: return (.status, id)
        case ["v1", "transactions"]: return (.transaction, id)
        case ["v2", "history"]: return (.history, id)
        case ["v2", "refund", "lookup"]: return (.refunds, id)
        default: return nil
        }
    }
}

/// What is to be signed, taken out of the world so that the signing needs no lock.
private struct Unsigned {
    var call: Call
    var asked: Purchase
    var signedAt: Instant
    var content: Content

    enum Content {
        case status([(Purchase, Life)])
        case transaction(Charge)
        case page(AppleHistory.Page, isRefunds: Bool)
    }

    var flaw: AppleSigner.Flaw { AppleSigner.Flaw(call.fault?.kind) }

    /// The states by which a kept answer is known; nil when the answer must not be kept.
    var faces: [NumberedFace]? {
        guard call.fault == nil, case .status(let entries) = content else { return nil }
        return entries.map { NumberedFace(number: $0.0.number, face: $0.1.face) }
    }
}

extension Reception {
    /// `/inApps/v1/subscriptions/{id}`, `/inApps/v1/transactions/{id}`, `/inApps/v2/history/{id}`
    /// and `/inApps/v2/refund/lookup/{id}`
    func apple(_ request: Request, _ path: [Substring], _ host: StoreHost) -> Reply {
        if let reply = appleCall(request, path, host) { return reply }
        guard request.method == "GET", let (read, id) = AppleRead.find(path) else {
            return Reply(404, text: "Not found\n")
        }
        let bundle = appleBundle(request.authorization, SimulatedClock.machineNow)
        let outcome = world.withLock { world in
            let found = world.find(transaction: id)
            let call = world.receive(.apple, found?.number, request)
            let result: Result<Unsigned, AppleRefusal> =
                if let failure = call.failure() {
                    .failure(AppleRefusal(failure))
                } else if let bundle,
                    let refusal = world.refusal(overQuota: call, app: bundle, request)
                {
                    .failure(AppleRefusal(refusal))
                } else if let bundle {
                    unsigned(call, read, id, found, bundle, host, request, &world)
                } else {
                    .failure(AppleRefusal(Failures.unauthorized(.apple)))
                }
            switch result {
            case .success: world.calls.answered(200)
            case .failure(let refusal): world.calls.answered(refusal.reply.status)
            }
            return result.mapError { AppleRefusal(call.deliver($0.reply)) }
        }
        switch outcome {
        case .failure(let refusal): return refusal.reply
        case .success(let unsigned): return unsigned.call.deliver(signedReply(unsigned))
        }
    }

    private func unsigned(
        _ call: Call, _ read: AppleRead, _ id: Substring, _ found: (number: Int, charge: Int)?,
        _ bundle: String, _ host: StoreHost, _ request: Request, _ world: inout World
    ) -> Result<Unsigned, AppleRefusal> {
        guard !id.isEmpty, id.utf8.allSatisfy({ (48...57).contains($0) }) else {
            return .failure(AppleRefusal(4_000_006, "Invalid transaction id."))
        }
        let notFound = AppleRefusal(Failures.notFound(.apple))
        guard let found, let number = call.subject(world) else { return .failure(notFound) }
        let asked = world.purchase(number)
        let isHere = (asked.environment == .sandbox) == (host == .sandbox)
        guard isHere, asked.app == bundle, asked.timeline.start <= call.now else {
            return .failure(notFound)
        }
        let instant = call.instant(asked)
        let life = world.life(number, at: instant, isPresent: instant == call.now)
        if life.isAccountClosed {
            return .failure(AppleRefusal(4_040_001, "Account not found."))
        }
        let place = number == found.number ? found.charge : life.charges.count - 1
        guard life.charges.indices.contains(place) else { return .failure(notFound) }
        var unsigned = Unsigned(
            call: call, asked: asked, signedAt: instant, content: .transaction(life.charges[place]))
        if read == .transaction { return .success(unsigned) }
        let entries = world.purchases(ofCustomerOf: number).map { other in
            (
                world.purchase(other),
                world.life(other, at: instant, isPresent: instant == call.now)
            )
        }.filter { $0.0.timeline.start <= instant }
        if read == .status {
            let wanted = request.queries("status").compactMap { Int64($0) }
            unsigned.content = .status(
                entries.filter { wanted.isEmpty || wanted.contains(Apple.code($0.1.phase)) })
            return .success(unsigned)
        }
        return AppleHistory.read(request, isRefunds: read == .refunds).map { history in
            let page = history.page(entries.flatMap { AppleTransaction.all($0.0, $0.1) })
            unsigned.content = .page(page, isRefunds: read == .refunds)
            return unsigned
        }
    }

    private func signedReply(_ unsigned: Unsigned) -> Reply {
        let number = unsigned.asked.number
        let faces = unsigned.faces
        if let faces, let kept = signed.withLock({ $0[number] }), kept.faces == faces,
            (0...signingWindow).contains(unsigned.signedAt - kept.signedAt)
        {
            return Reply(200, kept.body)
        }
        guard let bytes = try? sign(unsigned) else { return Failures.status(500, .apple) }
        let body = ByteBuffer(bytes: bytes)
        if let faces {
            let answer = SignedAnswer(signedAt: unsigned.signedAt, faces: faces, body: body)
            signed.withLock { answers in
                if answers.count >= Self.cacheLimit { answers = [:] }
                answers[number] = answer
            }
        }
        return Reply(200, body)
    }

    private func sign(_ unsigned: Unsigned) throws -> [UInt8] {
        let (signer, flaw, now) = (credentials.signer, unsigned.flaw, unsigned.signedAt)
        switch unsigned.content {
        case .transaction(let charge):
            var json = JSONText(capacity: 6000)
            json.raw("{\"signedTransactionInfo\":\"")
            json.ready(
                try signer.sign(
                    Apple.transaction(unsigned.asked, charge, signedAt: now), flaw: flaw))
            json.raw("\"}")
            return json.bytes
        case .status(let entries):
            let signed = try entries.compactMap { purchase, life -> Apple.SignedStatus? in
                guard let status = Apple.status(purchase, life, signedAt: now) else { return nil }
                return Apple.SignedStatus(
                    purchase: purchase, status: status.status,
                    transaction: try signer.sign(status.transaction, flaw: flaw),
                    renewal: try signer.sign(status.renewal, flaw: flaw))
            }
            return Apple.body(unsigned.asked, signed)
        case .page(let page, let isRefunds):
            let signed = try page.transactions.map { transaction in
                try signer.sign(
                    Apple.transaction(transaction.purchase, transaction.charge, signedAt: now),
                    flaw: flaw)
            }
            return Apple.body(unsigned.asked, page, signed, isRefunds: isRefunds)
        }
    }
}
