import CPostgres
import Dispatch
import Glibc

/// Why a wait ended without what it waited for.
enum WaitFailure: Error {
    case lost
    case timedOut
    case closed
    /// Only where the wait may be interrupted by a cancellation.
    case cancelled
}

/// One open connection of libpq, non-blocking, and the waits on its socket.
///
/// Not thread-safe: belongs to the `Session` of one actor.
final class Link {
    let handle: OpaquePointer
    /// Whether the sessions of the server behind it change from one transaction to the next.
    var isPooled = false
    private let wakeUp: WakeUp

    private init(owning handle: OpaquePointer, wakeUp: WakeUp) {
        self.handle = handle
        self.wakeUp = wakeUp
    }

    deinit {
        PQfinish(handle)
    }

    /// Connects to the first host that takes us.
    ///
    /// - Throws: why each of the hosts did not.
    static func open(
        _ settings: PostgresSettings, wakeUp: WakeUp
    ) throws(PostgresError) -> Link {
        var failures: [PostgresError] = []
        for options in try ConnectionOptions(settings).attempts {
            do throws(PostgresError) {
                return try open(options, limit: settings.connectTimeout, wakeUp: wakeUp)
            } catch .cancelled {
                throw .cancelled
            } catch {
                failures.append(error)
            }
        }
        if settings.makesDoWithReadOnly, failures.contains(where: ConnectFailure.isForWantOfWrites)
        {
            var settings = settings
            settings.makesDoWithReadOnly = false
            settings.requiresReadWrite = false
            return try open(settings, wakeUp: wakeUp)
        }
        throw ConnectFailure.all(failures)
    }

    private static func open(
        _ options: [(keyword: String, value: String)], limit: Duration, wakeUp: WakeUp
    ) throws(PostgresError) -> Link {
        let handle = withPointers(to: options.map(\.keyword)) { keywords in
            withPointers(to: options.map(\.value)) { PQconnectStartParams(keywords, $0, 1) }
        }
        guard let handle else { throw .unreachable(reason: "libpq is out of memory") }
        let link = Link(owning: handle, wakeUp: wakeUp)
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        // With the server's code, and the place in its source, which no language changes.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        let deadline = ContinuousClock.now + limit
        // libpq wants a first wait for writing.
        var next = PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while next == PGRES_POLLING_READING || next == PGRES_POLLING_WRITING {
            do throws(WaitFailure) {
                let isReading = next == PGRES_POLLING_READING
                try link.wait(reading: isReading, writing: !isReading, until: deadline)
            } catch {
                switch error {
                case .closed, .cancelled: throw .cancelled
                case .lost: throw .unreachable(reason: "the connection failed")
                case .timedOut: throw .unreachable(reason: "no answer to the connection attempt")
                }
            }
            next = PQconnectPoll(handle)
        }
        guard next == PGRES_POLLING_OK, PQsetnonblocking(handle, 1) == 0 else {
            throw ConnectFailure(handle).error
        }
        PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        return link
    }

    /// Waits until the socket is ready for one of what is asked.
    ///
    /// - Returns: whether it can be read.
    /// - Throws: `.cancelled` or `.closed` when another thread wants so; each wish once.
    @discardableResult
    func wait(
        reading: Bool, writing: Bool, until deadline: ContinuousClock.Instant,
        heedsCancel: Bool = true
    ) throws(WaitFailure) -> Bool {
        while true {
            let wishes = wakeUp.current
            if wishes.contains(.close) { throw .closed }
            if wishes.contains(.cancel), heedsCancel { throw .cancelled }
            let socket = PQsocket(handle)
            guard socket >= 0 else { throw .lost }
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { throw .timedOut }
            let events = (reading ? POLLIN : 0) | (writing ? POLLOUT : 0)
            // A wish that this wait must not heed would keep its descriptor readable.
            let watched = wishes.contains(.cancel) ? -1 : wakeUp.descriptor
            var set = [
                pollfd(fd: socket, events: Int16(events), revents: 0),
                pollfd(fd: watched, events: Int16(POLLIN), revents: 0),
            ]
            // While the descriptor is not watched a close is noticed within this slice.
            let longest: Int32 = watched < 0 ? 100 : 60_000
            let count = poll(&set, 2, min(left.millisecondsRoundedUp, longest))
            if count < 0, errno != EINTR { throw .lost }
            guard count > 0, set[0].revents != 0 else { continue }
            return set[0].revents & Int16(POLLIN | POLLERR | POLLHUP) != 0
        }
    }

    /// Whether the idle connection still stands, as far as this side has heard: a server that went
    /// away while nobody asked it anything is found here, before a statement is lost to it.
    var isAlive: Bool {
        // The server's last words, then its end; the rest waits for the next time.
        for _ in 0..<4 {
            guard PQstatus(handle) == CONNECTION_OK else { return false }
            var set = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
            guard poll(&set, 1, 0) > 0 else { return true }
            guard PQconsumeInput(handle) == 1 else { return false }
        }
        return PQstatus(handle) == CONNECTION_OK
    }

    /// Asks the server to cancel what runs, on a thread of its own because libpq's call blocks.
    ///
    /// - Returns: done when the server has heard it.
    func requestCancel() -> DispatchGroup {
        let group = DispatchGroup()
        guard let cancel = PQgetCancel(handle) else { return group }
        let request = CancelRequest(cancel)
        DispatchQueue.global().async(group: group) { request.send() }
        return group
    }
}

/// Unchecked: `PQcancel` is made to be called from another thread, and only one has it.
private final class CancelRequest: @unchecked Sendable {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        PQfreeCancel(handle)
    }

    func send() {
        var message = [CChar](repeating: 0, count: 256)
        // A failed request changes nothing: the call then ends by its own limits.
        _ = PQcancel(handle, &message, Int32(message.count))
    }
}

extension Duration {
    /// Whole milliseconds, at least 1 where anything is left, for `poll` and for `SET`.
    var millisecondsRoundedUp: Int32 {
        let (seconds, attoseconds) = components
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        guard !milliseconds.overflow else { return .max }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: milliseconds.partialValue + fraction)
    }
}
