import NIOCore

/// What comes around every answer of a store, whichever handler gives it: the call is counted, a
/// fault may take its place or spoil it, the caller is known and within the quotas, and the reply
/// is as late as it shall be.
struct StoreCalls: Sendable {
    let world: SharedWorld

    /// The reply to a call about `purchase`. `failure` is the reply of a fault that needs no true
    /// answer; `caller` tells the app that asks, by the proof that it sends, or nil where nobody is
    /// metered; `answer` is what the store says when nothing has failed before.
    func answer(
        _ request: Request, of store: StoreName,
        about purchase: (inout World) -> Int? = { _ in nil },
        failing failure: (Call) -> Reply? = { $0.failure() },
        from caller: (inout World, Call) throws(Refusal) -> String? = { _, _ in nil },
        _ answer: (inout World, Call) throws(Refusal) -> Answer
    ) -> Reply {
        let (call, answer) = world.withLock { world -> (Call, Answer) in
            let call = world.receive(store, purchase(&world), request)
            let given: Answer
            do throws(Refusal) {
                if let reply = failure(call) { throw Refusal(reply) }
                if let app = try caller(&world, call) {
                    try world.meter(call, app: app, request.endpoint)
                }
                given = try answer(&world, call)
            } catch {
                given = .reply(error.reply)
            }
            if request.endpoint.isCounted { world.calls.answered(given.status) }
            return (call, given)
        }
        return call.deliver((try? answer.made()) ?? Failures.status(500, store))
    }
}

/// What a handler says while it has the world for itself.
enum Answer: Sendable {
    case reply(Reply)
    /// A reply that is signed once the world is free again, since signing takes long.
    case signed(@Sendable () throws -> Reply)

    fileprivate var status: Int {
        switch self {
        case .reply(let reply): reply.status
        case .signed: 200
        }
    }

    fileprivate func made() throws -> Reply {
        switch self {
        case .reply(let reply): reply
        case .signed(let make): try make()
        }
    }
}

/// The reply to a call that is not answered as it hoped.
struct Refusal: Error {
    var reply: Reply

    init(_ reply: Reply) {
        self.reply = reply
    }
}

/// One call about (perhaps) one purchase, as the world stood when it came.
struct Call {
    var store: StoreName
    var number: Int?
    var now: Instant
    var met: MetFaults

    var fault: Fault? { met.fault }

    /// The purchase whose answer is given: the one asked about, or another by a fault.
    func subject(_ world: World) -> Int? {
        guard let number, fault?.kind == .otherPurchase else { return number }
        return world.neighbour(of: number)
    }

    /// The instant whose state is told.
    func instant(_ purchase: Purchase) -> Instant {
        guard let fault, fault.kind == .stale else { return now }
        return max(purchase.timeline.start, now.adding(fault.age, times: -1))
    }

    /// The life that is told, as it stands at that instant.
    func life(of number: Int, at instant: Instant, in world: inout World) -> Life {
        var life = world.life(number, at: instant, isPresent: instant == now)
        if fault?.kind == .ended, life.isEntitled {
            life.perform(.expire, world.purchase(number).timeline)
        }
        return life
    }

    /// The reply of a fault that needs no true answer; nil when there is none such.
    func failure() -> Reply? {
        guard let fault else { return nil }
        switch fault.kind {
        case .status: return Failures.status(fault.status ?? 500, store)
        case .html: return .html(fault.status ?? 200)
        case .notFound: return Failures.notFound(store)
        case .gone, .goneOnce: return Failures.gone(store)
        case .throttle:
            return Failures.throttled(store, fault, now: now)
        case .quotaExhausted: return Failures.quotaExhausted(store, now: now)
        case .unauthorized: return Failures.unauthorized(store)
        case .receiptStatus: return Failures.receipt(status: fault.status ?? 21_005)
        case .tokenDown: return Failures.status(fault.status ?? 503, store)
        case .empty: return Reply(200, ByteBuffer())
        case .hang, .reset:
            var reply = Reply(200, ByteBuffer())
            reply.delivery = fault.kind == .hang ? .hang : .reset
            return reply
        case .cut, .truncated, .garbled, .slow, .wrongSignature, .expiredCertificate,
            .otherPurchase, .stale, .ended:
            return nil
        }
    }

    /// The reply as the fault lets it through, late as it says.
    func deliver(_ reply: Reply) -> Reply {
        var reply = reply
        reply.delayMilliseconds = met.delayMilliseconds
        reply.note = Reply.Note(
            store: store, purchase: number, now: now, fault: fault?.kind, faults: met.ids)
        guard let fault else { return reply }
        switch fault.kind {
        case .cut: reply.delivery = .cut
        case .truncated:
            reply.unspoiled = reply.body
            reply.body.moveWriterIndex(to: reply.body.writerIndex / 2)
        case .garbled:
            reply.unspoiled = reply.body
            reply.body = Self.garble(reply.body)
        case .status, .html, .empty, .hang, .reset, .slow, .wrongSignature, .expiredCertificate,
            .otherPurchase, .stale, .ended, .notFound, .gone, .goneOnce, .throttle,
            .quotaExhausted, .unauthorized, .receiptStatus, .tokenDown:
            break
        }
        return reply
    }

    /// Every seventh byte becomes one that no JSON text may hold.
    private static func garble(_ body: ByteBuffer) -> ByteBuffer {
        var bytes = Array(body.readableBytesView)
        for index in stride(from: 0, to: bytes.count, by: 7) { bytes[index] = 1 }
        return ByteBuffer(bytes: bytes)
    }
}

extension Endpoint {
    /// Calls for an access token are no calls about purchases.
    fileprivate var isCounted: Bool { self != .token }
}

extension World {
    /// Counts a call and finds the faults that meet it. Calls of the token endpoint do not count.
    fileprivate mutating func receive(_ store: StoreName, _ number: Int?, _ request: Request)
        -> Call
    {
        let machine = SimulatedClock.machineNow
        if request.endpoint.isCounted {
            calls.count(store, purchase: number, second: machine.seconds)
        }
        let now = now(machine)
        var met = MetFaults()
        if !faults.isEmpty {
            // Google's package name stands in the path; the others' app is known by the purchase.
            let package = request["package"]
            let app = number.map { purchase($0).app } ?? (package.isEmpty ? nil : package)
            let target = FaultTarget(
                store: store, endpoint: request.endpoint, app: app, purchase: number)
            met = faults.pick(target, at: now)
        }
        met.delayMilliseconds += latencyMilliseconds
        return Call(store: store, number: number, now: now, met: met)
    }
}
