import NIOCore
import Synchronization

/// Where every request arrives: finds out whom it is for and gives the reply. It does not wait
/// for anything, so it may run on an event loop.
final class Reception: Sendable {
    let world: Mutex<World>
    let credentials: Credentials
    let clockFile: String?
    /// How old, in milliseconds, a signed answer of the same state may be.
    let signingWindow: Int64
    /// Where every answer of a store is written; nil for nowhere.
    let answers: AnswerLog?
    /// Apple's request tokens that were verified, with the bundle they are for.
    let verified = Mutex<[String: VerifiedToken]>([:])
    let signed = Mutex<[Int: SignedAnswer]>([:])
    /// The newest legacy receipts, by purchase; those of single transactions by minus that.
    let receipts = Mutex<[Int: KeptReceipt]>([:])
    /// Where it listens; nil until then.
    let place = Mutex<Place?>(nil)
    private let quit: @Sendable () -> Void
    private let dateHeader = Mutex<(second: Int64, text: String)>((0, ""))

    static let cacheLimit = 4096

    init(
        world: consuming World, credentials: Credentials, clockFile: String?,
        signingWindow: Int64, answers: AnswerLog? = nil, quit: @escaping @Sendable () -> Void
    ) {
        self.world = Mutex(world)
        self.credentials = credentials
        self.clockFile = clockFile
        self.signingWindow = signingWindow
        self.answers = answers
        self.quit = quit
    }

    func answer(_ request: Request, at host: StoreHost) -> Reply {
        let reply = reply(request, at: host)
        if let answers, !request.target.hasPrefix("/control/") {
            let machine = SimulatedClock.machineNow
            answers.add(request, at: host, reply, now: world.withLock { $0.now(machine) })
        }
        return reply
    }

    private func reply(_ request: Request, at host: StoreHost) -> Reply {
        let segments = request.segments
        guard let first = segments.first else { return Reply(404, text: "Not found\n") }
        switch first {
        case "inApps": return apple(request, segments, host)
        case "androidpublisher": return google(request, segments)
        case "verifyReceipt": return verifyReceipt(request, host)
        case "token": return googleToken(request)
        case "v1": return pubSub(request, segments)
        case "version", "sandbox": return amazon(request, segments, host)
        case "control": return control(request, Array(segments.dropFirst()))
        default: return Reply(404, text: "Not found\n")
        }
    }

    func stop() { quit() }

    /// The `Date` header, by the simulated clock.
    func dateText() -> String {
        let machine = SimulatedClock.machineNow
        let now = world.withLock { $0.now(machine) }
        return dateHeader.withLock { kept in
            if kept.second != now.seconds || kept.text.isEmpty {
                kept = (now.seconds, now.headerText)
            }
            return kept.text
        }
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
            .otherPurchase, .stale:
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
            .otherPurchase, .stale, .notFound, .gone, .goneOnce, .throttle, .quotaExhausted,
            .unauthorized, .receiptStatus, .tokenDown:
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

extension World {
    /// Counts a call and finds the faults that meet it. Calls of the token endpoint do not count.
    mutating func receive(_ store: StoreName, _ number: Int?, _ request: Request) -> Call {
        let machine = SimulatedClock.machineNow
        if !request.target.hasPrefix("/token") {
            calls.count(store, purchase: number, second: machine.seconds)
        }
        let now = now(machine)
        var met = MetFaults()
        if !faults.isEmpty {
            let app = number.map { purchase($0).app } ?? request.packageInPath
            let target = FaultTarget(
                store: store, endpoint: Endpoint(request), app: app, purchase: number)
            met = faults.pick(target, at: now)
        }
        met.delayMilliseconds += latencyMilliseconds
        return Call(store: store, number: number, now: now, met: met)
    }
}

extension Instant {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// As HTTP writes dates: `Thu, 01 Jan 2026 00:00:00 GMT`.
    var headerText: String {
        let date = civil
        let weekday = ((Instant.floorDivide(milliseconds, Instant.day) % 7) + 7) % 7
        let time = text.dropFirst(11).prefix(8)
        let day = date.day < 10 ? "0\(date.day)" : "\(date.day)"
        let month = Self.monthNames[Int(date.month) - 1]
        return "\(Self.weekdays[Int(weekday)]), \(day) \(month) \(date.year) \(time) GMT"
    }
}
