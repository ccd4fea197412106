import FoundationEssentials
import NIOCore
import Synchronization

/// A newest receipt and the states that it tells.
struct KeptReceipt: Sendable {
    var faces: [NumberedFace]
    var text: [UInt8]
}

/// The body of a `verifyReceipt` request.
private struct ReceiptRequest: Decodable {
    var receipt: String?
    var password: String?
    var excludesOld: Bool?

    private enum CodingKeys: String, CodingKey {
        case receipt = "receipt-data"
        case password
        case excludesOld = "exclude-old-transactions"
    }
}

/// `POST /verifyReceipt` of the production port and of the sandbox's. Every outcome is a 200.
///
/// https://developer.apple.com/documentation/appstorereceipts/verifyreceipt
extension Reception {
    func verifyReceipt(_ request: Request, _ host: StoreHost) -> Reply {
        let body = try? JSONDecoder().decode(ReceiptRequest.self, from: Data(request.body))
        let opened = body?.receipt.flatMap { open(receipt: $0) }
        let outcome = world.withLock { world -> (Call, Result<ReceiptAnswer, AppleRefusal>) in
            let number = opened.flatMap { Self.purchase(named: $0.reference, world) }
            let call = world.receive(.apple, number, request)
            let result: Result<ReceiptAnswer, AppleRefusal>
            if let failure = call.failure() {
                result = .failure(AppleRefusal(Self.legacy(failure, call)))
            } else if request.method != "POST" {
                result = .failure(AppleRefusal(legacy: 21_000, host))
            } else if let body, let opened {
                result = answer(body, opened, call, host, &world)
            } else {
                result = .failure(AppleRefusal(legacy: 21_002, host))
            }
            if case .failure(let refusal) = result {
                world.calls.answered(refusal.reply.status)
            } else {
                world.calls.answered(200)
            }
            return (call, result)
        }
        switch outcome.1 {
        case .failure(let refusal): return outcome.0.deliver(refusal.reply)
        case .success(var answer):
            guard let latest = try? latestReceipt(answer) else {
                return outcome.0.deliver(Failures.status(500, .apple))
            }
            answer.latestReceipt = latest
            return outcome.0.deliver(Reply(200, answer.body()))
        }
    }

    /// The failures that this endpoint tells by a status in its body.
    private static func legacy(_ failure: Reply, _ call: Call) -> Reply {
        switch call.fault?.kind {
        case .notFound: return Reply(200, ReceiptAnswer.status(21_003))
        case .gone, .goneOnce:
            return Reply(200, ReceiptAnswer.status(21_010, isRetryable: false))
        case .unauthorized: return Reply(200, ReceiptAnswer.status(21_004))
        default: return failure
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
    private func open(receipt text: String) -> OpenedReceipt? {
        guard
            let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters),
            let first = data.first
        else { return nil }
        let bytes = Array(data)
        if first == UInt8(ascii: "{") {
            return TransactionReceipt.open(bytes, signer: credentials.receipts)
        }
        guard let opened = credentials.receipts.open(bytes),
            let reference = ReceiptReference(payload: opened.payload)
        else { return nil }
        return (reference, opened.isAuthentic)
    }

    private func answer(
        _ body: ReceiptRequest, _ opened: OpenedReceipt, _ call: Call, _ host: StoreHost,
        _ world: inout World
    ) -> Result<ReceiptAnswer, AppleRefusal> {
        let reference = opened.reference
        guard opened.isAuthentic else { return .failure(AppleRefusal(legacy: 21_003, host)) }
        switch (reference.environment, host) {
        case (.sandbox, .production): return .failure(AppleRefusal(legacy: 21_007, host))
        case (.production, .sandbox): return .failure(AppleRefusal(legacy: 21_008, host))
        case (.production, .production), (.sandbox, .sandbox): break
        }
        let items = items(of: reference, world)
        guard items.count == reference.transactions.count else {
            return .failure(AppleRefusal(legacy: 21_003, host))
        }
        var answer = ReceiptAnswer(
            reference: reference, items: items, entries: [], now: call.now,
            excludesOld: body.excludesOld ?? false, latestReceipt: [])
        if answer.holdsRenewable, body.password != credentials.appleSecret {
            return .failure(AppleRefusal(legacy: 21_004, host))
        }
        if let subject = call.subject(world) {
            let instant = call.instant(world.purchase(subject))
            answer.now = instant
            answer.entries = world.purchases(ofCustomerOf: subject).map { number in
                ReceiptAnswer.Entry(
                    purchase: world.purchase(number),
                    life: world.life(number, at: instant, isPresent: instant == call.now))
            }.filter { $0.purchase.timeline.start <= instant }
        }
        if answer.entries.contains(where: \.life.isAccountClosed) {
            let reply = Reply(
                200,
                ReceiptAnswer.status(
                    21_010, environment: host == .sandbox ? "Sandbox" : "Production",
                    isRetryable: false))
            return .failure(AppleRefusal(reply))
        }
        return .success(answer)
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
                try TransactionReceipt.encode(
                    entry.purchase, charge, signer: credentials.receipts)
            }
        }
        return try kept(first.purchase.number, answer.entries) {
            try appReceipt(answer.entries, at: answer.now)
        }
    }

    private func kept(
        _ key: Int, _ entries: [ReceiptAnswer.Entry], make: () throws -> [UInt8]
    ) throws -> [UInt8] {
        let faces = entries.map { NumberedFace(number: $0.purchase.number, face: $0.life.face) }
        if let known = receipts.withLock({ $0[key] }), known.faces == faces { return known.text }
        let text = Base64.padded(try make())
        receipts.withLock { all in
            if all.count >= Self.cacheLimit { all = [:] }
            all[key] = KeptReceipt(faces: faces, text: text)
        }
        return text
    }

    /// The app receipt of a customer: everything he has bought and not used up.
    func appReceipt(_ entries: [ReceiptAnswer.Entry], at now: Instant) throws -> [UInt8] {
        guard let first = entries.first?.purchase else { return [] }
        let items = entries.filter { !$0.life.isConsumed }.flatMap { entry in
            entry.life.charges.map { AppReceipt.Item(purchase: entry.purchase, charge: $0) }
        }
        let receipt = AppReceipt(
            bundle: first.app, environment: first.environment,
            created: Instant(milliseconds: now.seconds * 1000), items: items)
        return try credentials.receipts.sealed(receipt.payload())
    }
}

extension AppleRefusal {
    /// A bare status; the sandbox says where it comes from.
    fileprivate init(legacy status: Int64, _ host: StoreHost) {
        let isBare = host == .production || status == 21_008
        self.init(
            Reply(200, ReceiptAnswer.status(status, environment: isBare ? nil : "Sandbox")))
    }
}
