import FoundationEssentials
import NIOCore
import Synchronization

enum JSONReading {
    static func decode<Body: Decodable>(_ type: Body.Type, _ bytes: [UInt8]) throws -> Body {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}

/// The calls of the App Store Server API that are not about one transaction.
private enum AppleCall {
    /// `GET v1/lookup/{orderId}`
    case order(Substring)
    /// `POST v1/notifications/history`
    case history
    /// `POST v1/notifications/test`, and `GET` with the token that this gives.
    case askTest
    case test(Substring)

    init?(_ method: String, _ path: [Substring]) {
        switch (method, path.dropFirst(2).first, path.count) {
        case ("GET", "lookup", 4): self = .order(path[3])
        case ("POST", "notifications", 4) where path[3] == "history": self = .history
        case ("POST", "notifications", 4) where path[3] == "test": self = .askTest
        case ("GET", "notifications", 5) where path[3] == "test": self = .test(path[4])
        default: return nil
        }
    }
}

/// What is to be signed, taken out of the world.
private enum AppleContent {
    case ready(Reply)
    case transactions(Purchase, [Charge])
    case notifications([AppleNotification], page: String?)
    case test(token: String, at: Instant)
}

extension Reception {
    /// Nil when the path is none of these calls.
    func appleCall(_ request: Request, _ path: [Substring], _ host: StoreHost) -> Reply? {
        guard path.count > 3, path[1] == "v1", let asked = AppleCall(request.method, path) else {
            return nil
        }
        let bundle = appleBundle(request.authorization, SimulatedClock.machineNow)
        let (call, content) = world.withLock { world -> (Call, AppleContent) in
            var number: Int?
            if case .order(let order) = asked, let id = AppleNumbers.transaction(order: order) {
                number = world.find(transaction: "\(id)")?.number
            }
            let call = world.receive(.apple, number, request)
            let content: AppleContent
            if let failure = call.failure() {
                content = .ready(failure)
            } else if let bundle,
                let refusal = world.refusal(overQuota: call, app: bundle, request)
            {
                content = .ready(refusal)
            } else if let bundle {
                content = self.content(asked, call, bundle, host, request, &world)
            } else {
                content = .ready(Failures.unauthorized(.apple))
            }
            if case .ready(let reply) = content {
                world.calls.answered(reply.status)
            } else {
                world.calls.answered(200)
            }
            return (call, content)
        }
        let reply = (try? signed(content, call, bundle ?? "", host))
        return call.deliver(reply ?? Failures.status(500, .apple))
    }

    private func content(
        _ asked: AppleCall, _ call: Call, _ bundle: String, _ host: StoreHost,
        _ request: Request, _ world: inout World
    ) -> AppleContent {
        switch asked {
        case .order(let order): return lookUp(order, call, bundle, host, &world)
        case .history:
            switch AppleNotificationQuery.read(request, host, now: call.now) {
            case .failure(let refusal): return .ready(refusal.reply)
            case .success(let query): return history(query, call, bundle, host, &world)
            }
        case .askTest:
            let token = world.askTest(at: call.now)
            var json = JSONText(capacity: 100)
            json.raw("{\"testNotificationToken\":")
            json.plain(token)
            json.raw("}")
            return .ready(Reply(200, json))
        case .test(let token):
            guard token.count > 20, token.contains("_") else {
                return .ready(
                    Reply(
                        400,
                        Apple.failure(
                            4_000_020, "Invalid request. Invalid test notification token.")))
            }
            guard let instant = world.tests[String(token)] else {
                return .ready(
                    Reply(404, Apple.failure(4_040_008, "Test notification not found.")))
            }
            return .test(token: String(token), at: instant)
        }
    }

    /// The sandbox has no orders, and answers with nothing at all.
    private func lookUp(
        _ order: Substring, _ call: Call, _ bundle: String, _ host: StoreHost,
        _ world: inout World
    ) -> AppleContent {
        guard host == .production else { return .ready(Reply(200, ByteBuffer())) }
        var invalid = JSONText(capacity: 20)
        invalid.raw("{\"status\":1}")
        guard let id = AppleNumbers.transaction(order: order),
            let found = world.find(transaction: "\(id)"),
            world.purchase(found.number).app == bundle,
            world.purchase(found.number).environment == .production
        else { return .ready(Reply(200, invalid)) }
        let life = world.life(found.number, at: call.now)
        guard life.charges.indices.contains(found.charge) else {
            return .ready(Reply(200, invalid))
        }
        return .transactions(world.purchase(found.number), [life.charges[found.charge]])
    }

    private func history(
        _ query: AppleNotificationQuery, _ call: Call, _ bundle: String, _ host: StoreHost,
        _ world: inout World
    ) -> AppleContent {
        let environment: Purchase.Environment = host == .production ? .production : .sandbox
        var numbers = world.purchases.filter {
            $0.store == .apple && $0.app == bundle && $0.environment == environment
        }.map(\.number)
        if let id = query.transaction {
            guard let found = world.find(transaction: id[...]), numbers.contains(found.number)
            else { return .ready(Failures.notFound(.apple)) }
            numbers = [found.number]
        }
        var wanted: [AppleNotification] = []
        for number in numbers where world.purchase(number).timeline.start <= call.now {
            let life = world.life(number, at: call.now)
            wanted += AppleNotification.all(world.purchase(number), life).filter(query.wants)
        }
        wanted.sort {
            ($0.sent, $0.purchase.number, $0.place) < ($1.sent, $1.purchase.number, $1.place)
        }
        let page = Array(wanted.dropFirst(query.index).prefix(AppleNotificationQuery.pageLimit))
        let next = query.index + page.count
        return .notifications(page, page: next < wanted.count ? query.page(at: next) : nil)
    }

    private func signed(
        _ content: AppleContent, _ call: Call, _ bundle: String, _ host: StoreHost
    ) throws -> Reply {
        let signer = credentials.signer
        let flaw = AppleSigner.Flaw(call.fault?.kind)
        var json = JSONText(capacity: 8000)
        switch content {
        case .ready(let reply): return reply
        case .transactions(let purchase, let charges):
            json.raw("{\"status\":0,\"signedTransactions\":[")
            for (index, charge) in charges.enumerated() {
                json.raw(index > 0 ? ",\"" : "\"")
                let payload = Apple.transaction(purchase, charge, signedAt: call.now)
                json.ready(try signer.sign(payload, flaw: flaw))
                json.raw("\"")
            }
            json.raw("]}")
        case .notifications(let page, let next):
            json.raw("{")
            if let next {
                json.raw("\"paginationToken\":")
                json.plain(next)
                json.raw(",")
            }
            json.raw("\"hasMore\":")
            json.boolean(next != nil)
            json.raw(",\"notificationHistory\":[")
            for (index, notification) in page.enumerated() {
                if index > 0 { json.raw(",") }
                let payload = try notification.payload(signer: signer)
                json.notification(try signer.sign(payload, flaw: flaw), sent: notification.sent)
            }
            json.raw("]}")
        case .test(let token, let instant):
            let payload = AppleNotification.test(
                app: bundle, host == .production ? .production : .sandbox,
                id: String(token.prefix(36)), at: instant)
            json.notification(try signer.sign(payload, flaw: flaw), sent: instant)
        }
        return Reply(200, json)
    }
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

extension JSONText {
    /// A notification and that it arrived at once.
    fileprivate mutating func notification(_ signed: [UInt8], sent: Instant) {
        raw("{\"signedPayload\":\"")
        ready(signed)
        raw("\",\"sendAttempts\":[{\"attemptDate\":")
        milliseconds(sent)
        raw(",\"sendAttemptResult\":\"SUCCESS\"}]}")
    }
}
