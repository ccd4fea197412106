import FoundationEssentials

/// `POST /verifyReceipt` of the production port and of the sandbox's. Every outcome is a 200.
///
/// https://developer.apple.com/documentation/appstorereceipts/verifyreceipt
struct VerifyReceiptHandler: Sendable {
    /// The body of a request.
    private struct Body: Decodable {
        var receipt: String?
        var password: String?
        var excludesOld: Bool?

        private enum CodingKeys: String, CodingKey {
            case receipt = "receipt-data"
            case password
            case excludesOld = "exclude-old-transactions"
        }
    }

    /// A newest receipt and the states that it tells.
    private struct KeptReceipt: Sendable {
        var faces: [NumberedFace]
        var text: [UInt8]
    }

    private let calls: StoreCalls
    private let secret: String
    private let signer: ReceiptSigner
    /// The newest receipts, by purchase; those of single transactions by minus that.
    private let kept = Cache<Int, KeptReceipt>()

    /// `secret` is the app-specific shared one.
    init(calls: StoreCalls, secret: String, signer: ReceiptSigner) {
        self.calls = calls
        self.secret = secret
        self.signer = signer
    }

    var routes: [Route] { [Route(nil, "/verifyReceipt", .verifyReceipt, verify)] }

    private func verify(_ request: Request) -> Reply {
        let body = request.decode(Body.self)
        let opened = body?.receipt.flatMap { open($0) }
        return calls.answer(
            request, of: .apple,
            about: { world in opened.flatMap { Self.purchase(named: $0.reference, world) } },
            failing: Self.failure,
            { world, call throws(Refusal) in
                guard request.method == "POST" else { throw Refusal(legacy: 21_000, request.host) }
                guard let body, let opened else { throw Refusal(legacy: 21_002, request.host) }
                let answer = try answer(body, opened, call, request.host, &world)
                return .signed {
                    var answer = answer
                    answer.latestReceipt = try latestReceipt(answer)
                    return Reply(200, answer.body())
                }
            })
    }

    /// The failures that this endpoint tells by a status in its body.
    private static func failure(_ call: Call) -> Reply? {
        switch call.fault?.kind {
        case .notFound: Reply(200, ReceiptAnswer.status(21_003))
        case .gone, .goneOnce: Reply(200, ReceiptAnswer.status(21_010, isRetryable: false))
        case .unauthorized: Reply(200, ReceiptAnswer.status(21_004))
        default: call.failure()
        }
    }

    /// The first purchase that a receipt names.
    private static func purchase(
        named reference: ReceiptReference, _ world: borrowing World
    ) -> Int? {
        for id in reference.transactions {
            if let found = world.find(transaction: id[...]) { return found.number }
        }
        return nil
    }

    private typealias OpenedReceipt = (reference: ReceiptReference, isAuthentic: Bool)

    /// Reads either kind of receipt; nil when the text is none.
    private func open(_ text: String) -> OpenedReceipt? {
        guard
            let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters),
            let first = data.first
        else { return nil }
        let bytes = Array(data)
        if first == UInt8(ascii: "{") { return TransactionReceipt.open(bytes, signer: signer) }
        guard let opened = signer.open(bytes),
            let reference = ReceiptReference(payload: opened.payload)
        else { return nil }
        return (reference, opened.isAuthentic)
    }

    private func answer(
        _ body: Body, _ opened: OpenedReceipt, _ call: Call, _ host: StoreHost,
        _ world: inout World
    ) throws(Refusal) -> ReceiptAnswer {
        let reference = opened.reference
        guard opened.isAuthentic else { throw Refusal(legacy: 21_003, host) }
        switch (reference.environment, host) {
        case (.sandbox, .production): throw Refusal(legacy: 21_007, host)
        case (.production, .sandbox): throw Refusal(legacy: 21_008, host)
        case (.production, .production), (.sandbox, .sandbox): break
        }
        let items = items(of: reference, world)
        guard items.count == reference.transactions.count else {
            throw Refusal(legacy: 21_003, host)
        }
        var answer = ReceiptAnswer(
            reference: reference, items: items, entries: [], now: call.now,
            excludesOld: body.excludesOld ?? false, latestReceipt: [])
        if answer.holdsRenewable, body.password != secret {
            throw Refusal(legacy: 21_004, host)
        }
        if let subject = call.subject(world) {
            let instant = call.instant(world.purchase(subject))
            answer.now = instant
            answer.entries = world.purchases(ofCustomerOf: subject).map { number in
                ReceiptAnswer.Entry(
                    purchase: world.purchase(number),
                    life: call.life(of: number, at: instant, in: &world))
            }.filter { $0.purchase.timeline.start <= instant }
        }
        if answer.entries.contains(where: \.life.isAccountClosed) {
            throw Refusal(
                Reply(
                    200,
                    ReceiptAnswer.status(
                        21_010, environment: host == .sandbox ? "Sandbox" : "Production",
                        isRetryable: false)))
        }
        return answer
    }

    /// What a receipt names, as it stood when the receipt was made.
    private func items(of reference: ReceiptReference, _ world: World) -> [AppReceipt.Item] {
        var lives: [Int: Life] = [:]
        return reference.transactions.compactMap { id in
            guard let found = world.find(transaction: id[...]) else { return nil }
            let purchase = world.purchase(found.number)
            let life =
                lives[found.number] ?? purchase.timeline.life(at: reference.created + 999)
            lives[found.number] = life
            guard life.charges.indices.contains(found.charge) else { return nil }
            return AppReceipt.Item(purchase: purchase, charge: life.charges[found.charge])
        }
    }

    /// The newest receipt of the customer, signed again only after something has changed.
    private func latestReceipt(_ answer: ReceiptAnswer) throws -> [UInt8] {
        guard answer.holdsRenewable, let first = answer.entries.last else { return [] }
        if answer.reference.style == .transaction {
            guard
                let entry = answer.entries.first(where: {
                    $0.purchase.number == answer.items.first?.purchase.number
                }), let charge = entry.life.latest
            else { return [] }
            return try kept(-entry.purchase.number, [entry]) {
                try TransactionReceipt.encode(entry.purchase, charge, signer: signer)
            }
        }
        return try kept(first.purchase.number, answer.entries) {
            try AppReceipt.signed(answer.entries, at: answer.now, by: signer)
        }
    }

    private func kept(
        _ key: Int, _ entries: [ReceiptAnswer.Entry], make: () throws -> [UInt8]
    ) throws -> [UInt8] {
        let faces = entries.map { NumberedFace(number: $0.purchase.number, face: $0.life.face) }
        if let known = kept[key], known.faces == faces { return known.text }
        let text = Base64.padded(try make())
        kept[key] = KeptReceipt(faces: faces, text: text)
        return text
    }
}

extension Refusal {
    /// A bare status; the sandbox says where it comes from.
    fileprivate init(legacy status: Int64, _ host: StoreHost) {
        let isBare = host == .production || status == 21_008
        self.init(
            Reply(200, ReceiptAnswer.status(status, environment: isBare ? nil : "Sandbox")))
    }
}
