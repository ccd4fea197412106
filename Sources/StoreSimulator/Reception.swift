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
    /// Apple's request tokens that were verified, with the bundle they are for.
    let verified = Mutex<[String: VerifiedToken]>([:])
    let signed = Mutex<[Int: SignedAnswer]>([:])
    private let quit: @Sendable () -> Void
    private let dateHeader = Mutex<(second: Int64, text: String)>((0, ""))

    static let cacheLimit = 4096

    init(
        world: consuming World, credentials: Credentials, clockFile: String?,
        signingWindow: Int64, quit: @escaping @Sendable () -> Void
    ) {
        self.world = Mutex(world)
        self.credentials = credentials
        self.clockFile = clockFile
        self.signingWindow = signingWindow
        self.quit = quit
    }

    func answer(_ request: Request, at host: StoreHost) -> Reply {
        let segments = request.segments
        guard let first = segments.first else { return Reply(404, text: "Not found\n") }
        switch first {
        case "inApps": return apple(request, segments, host)
        case "androidpublisher": return google(request, segments)
        case "token": return googleToken(request)
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
    var fault: Fault?
    var latencyMilliseconds: Int64

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
            return Failures.throttled(store, after: fault.retryAfterSeconds, now: now)
        case .unauthorized: return Failures.unauthorized(store)
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
        reply.delayMilliseconds = latencyMilliseconds
        guard let fault else { return reply }
        switch fault.kind {
        case .cut: reply.delivery = .cut
        case .truncated: reply.body.moveWriterIndex(to: reply.body.writerIndex / 2)
        case .garbled: reply.body = Self.garble(reply.body)
        case .slow: reply.delayMilliseconds += fault.latencyMilliseconds ?? 5000
        case .status, .html, .hang, .reset, .wrongSignature, .expiredCertificate,
            .otherPurchase, .stale, .notFound, .gone, .goneOnce, .throttle, .unauthorized:
            reply.delayMilliseconds += fault.latencyMilliseconds ?? 0
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
    /// Counts a call and finds the fault that meets it.
    mutating func receive(
        _ store: StoreName, _ number: Int?, endpoint: Fault.Endpoint = .read
    ) -> Call {
        let machine = SimulatedClock.machineNow
        if endpoint == .read { calls.count(store, purchase: number, second: machine.seconds) }
        let now = now(machine)
        return Call(
            store: store, number: number, now: now,
            fault: faults.pick(store, purchase: number, endpoint: endpoint, at: now),
            latencyMilliseconds: latencyMilliseconds)
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
