import NIOCore

/// What the App Store Server API tells of a transaction and of its customer.
struct AppleTransactionsHandler: Sendable {
    /// A signed answer and the states it tells.
    private struct SignedAnswer: Sendable {
        var signedAt: Instant
        var faces: [NumberedFace]
        var body: ByteBuffer
    }

    /// What is asked about a transaction.
    private enum Read {
        case status
        case transaction
        case history
        case refunds
    }

    /// What is to be signed, taken out of the world so that the signing needs no lock.
    private enum Content {
        case status([(Purchase, Life)])
        case transaction(Charge)
        case page(AppleHistory.Page, isRefunds: Bool)
    }

    private let calls: StoreCalls
    private let tokens: AppleTokens
    private let signer: AppleSigner
    private let signingWindow: Int64
    /// The newest answers about subscriptions, by purchase.
    private let kept = Cache<Int, SignedAnswer>()

    /// A signed answer of the same state is given again for `signingWindow` milliseconds.
    init(calls: StoreCalls, tokens: AppleTokens, signer: AppleSigner, signingWindow: Int64) {
        self.calls = calls
        self.tokens = tokens
        self.signer = signer
        self.signingWindow = signingWindow
    }

    var routes: [Route] {
        [
            Route("GET", "/inApps/v1/subscriptions/{transaction}", .statuses) {
                read(.status, $0)
            },
            Route("GET", "/inApps/v1/transactions/{transaction}", .transaction) {
                read(.transaction, $0)
            },
            Route("GET", "/inApps/v2/history/{transaction}", .history) { read(.history, $0) },
            Route("GET", "/inApps/v2/refund/lookup/{transaction}", .refunds) {
                read(.refunds, $0)
            },
            Route("GET", "/inApps/v1/lookup/{order}", .order, lookUp),
        ]
    }

    private func read(_ read: Read, _ request: Request) -> Reply {
        let bundle = tokens.bundle(of: request)
        return calls.answer(
            request, of: .apple,
            about: { $0.find(transaction: request["transaction"][...])?.number },
            from: { _, _ throws(Refusal) in try bundle.proven() },
            { world, call throws(Refusal) in
                let asked = try subject(call, request, bundle, &world)
                let content = try content(read, asked, call, request, &world)
                let signedAt = call.instant(asked.purchase)
                return .signed { try reply(content, asked.purchase, call, signedAt) }
            })
    }

    private typealias Subject = (purchase: Purchase, charge: Charge)

    /// The purchase that is told of, and its transaction.
    private func subject(
        _ call: Call, _ request: Request, _ bundle: String?, _ world: inout World
    ) throws(Refusal) -> Subject {
        let id = request["transaction"]
        guard !id.isEmpty, id.utf8.allSatisfy({ (48...57).contains($0) }) else {
            throw Refusal(4_000_006, "Invalid transaction id.")
        }
        let notFound = Refusal(Failures.notFound(.apple))
        guard let found = world.find(transaction: id[...]), let number = call.subject(world) else {
            throw notFound
        }
        let asked = world.purchase(number)
        let isHere = (asked.environment == .sandbox) == (request.host == .sandbox)
        guard isHere, asked.app == bundle, asked.timeline.start <= call.now else { throw notFound }
        let life = call.life(of: number, at: call.instant(asked), in: &world)
        if life.isAccountClosed { throw Refusal(4_040_001, "Account not found.") }
        let place = number == found.number ? found.charge : life.charges.count - 1
        guard life.charges.indices.contains(place) else { throw notFound }
        return (asked, life.charges[place])
    }

    private func content(
        _ read: Read, _ asked: Subject, _ call: Call, _ request: Request, _ world: inout World
    ) throws(Refusal) -> Content {
        if read == .transaction { return .transaction(asked.charge) }
        let instant = call.instant(asked.purchase)
        let entries = world.purchases(ofCustomerOf: asked.purchase.number).map { other in
            (world.purchase(other), call.life(of: other, at: instant, in: &world))
        }.filter { $0.0.timeline.start <= instant }
        if read == .status {
            let wanted = request.queries("status").compactMap { Int64($0) }
            return .status(
                entries.filter { wanted.isEmpty || wanted.contains(Apple.code($0.1.phase)) })
        }
        let isRefunds = read == .refunds
        let history = try AppleHistory(request, isRefunds: isRefunds)
        return .page(
            history.page(entries.flatMap { AppleTransaction.all($0.0, $0.1) }),
            isRefunds: isRefunds)
    }

    /// The order id of a customer's invoice. The sandbox has no orders, and answers with nothing at
    /// all.
    private func lookUp(_ request: Request) -> Reply {
        let bundle = tokens.bundle(of: request)
        let transaction = AppleNumbers.transaction(order: request["order"][...])
        return calls.answer(
            request, of: .apple,
            about: { world in
                transaction.flatMap { world.find(transaction: "\($0)")?.number }
            },
            from: { _, _ throws(Refusal) in try bundle.proven() },
            { world, call in
                guard request.host == .production else { return .reply(Reply(200, ByteBuffer())) }
                guard let transaction, let found = world.find(transaction: "\(transaction)"),
                    world.purchase(found.number).app == bundle,
                    world.purchase(found.number).environment == .production
                else { return .reply(Reply(200, Apple.noOrder)) }
                let life = world.life(found.number, at: call.now)
                guard life.charges.indices.contains(found.charge) else {
                    return .reply(Reply(200, Apple.noOrder))
                }
                let (purchase, charge) = (world.purchase(found.number), life.charges[found.charge])
                return .signed {
                    let payload = Apple.transaction(purchase, charge, signedAt: call.now)
                    let signed = try signer.sign(payload, flaw: AppleSigner.Flaw(call.fault?.kind))
                    return Reply(200, Apple.order([signed]))
                }
            })
    }
}

// Signing.
extension AppleTransactionsHandler {
    private func reply(
        _ content: Content, _ asked: Purchase, _ call: Call, _ signedAt: Instant
    ) throws -> Reply {
        guard call.fault == nil, case .status(let entries) = content else {
            return Reply(200, try sign(content, asked, call, signedAt))
        }
        let faces = entries.map { NumberedFace(number: $0.0.number, face: $0.1.face) }
        if let known = kept[asked.number], known.faces == faces,
            (0...signingWindow).contains(signedAt - known.signedAt)
        {
            return Reply(200, known.body)
        }
        let reply = Reply(200, try sign(content, asked, call, signedAt))
        kept[asked.number] = SignedAnswer(signedAt: signedAt, faces: faces, body: reply.body)
        return reply
    }

    private func sign(
        _ content: Content, _ asked: Purchase, _ call: Call, _ now: Instant
    ) throws -> JSON {
        let flaw = AppleSigner.Flaw(call.fault?.kind)
        switch content {
        case .transaction(let charge):
            return Apple.body(
                try signer.sign(Apple.transaction(asked, charge, signedAt: now), flaw: flaw))
        case .status(let entries):
            let signed = try entries.compactMap { purchase, life -> Apple.SignedStatus? in
                guard let status = Apple.status(purchase, life, signedAt: now) else { return nil }
                return Apple.SignedStatus(
                    purchase: purchase, original: status.original, status: status.status,
                    transaction: try signer.sign(status.transaction, flaw: flaw),
                    renewal: try signer.sign(status.renewal, flaw: flaw))
            }
            return Apple.body(asked, signed)
        case .page(let page, let isRefunds):
            let signed = try page.transactions.map { transaction in
                try signer.sign(
                    Apple.transaction(transaction.purchase, transaction.charge, signedAt: now),
                    flaw: flaw)
            }
            return Apple.body(asked, page, signed, isRefunds: isRefunds)
        }
    }
}

/// What an answer tells of one purchase.
struct NumberedFace: Hashable, Sendable {
    var number: Int
    var face: Life.Face
}

extension AppleSigner.Flaw {
    init(_ kind: Fault.Kind?) {
        self =
            switch kind {
            case .wrongSignature: .foreignKey
            case .expiredCertificate: .expiredLeaf
            default: .none
            }
    }
}

extension Refusal {
    /// An error that Apple gives with a code.
    init(_ code: Int64, _ message: String) {
        self.init(Reply(Int(code / 10_000), Apple.failure(code, message)))
    }
}
