import CCurl
import Glibc

/// Carries the transfers of one route over one multi handle, on one thread of its own.
///
/// Everything in it is used by that thread only; other threads reach it through the inbox.
final class Loop {
    private let multi: UnsafeMutableRawPointer
    private let inbox: Inbox
    private let configuration: CurlConfiguration
    private var inFlight: [ObjectIdentifier: Transfer] = [:]
    private var idle: [Transfer] = []
    private var nextWatchAt = ContinuousClock.now
    private var turnBeganAt = ContinuousClock.now

    /// The most easy handles that are kept for later: each holds some 40 KB.
    private static let idleLimit = 256

    /// How often deadlines are looked at, and how much later than libcurl.
    private static let watchInterval = Duration.milliseconds(200)

    /// Each turn costs libcurl a look at every transfer. So in a crowd of them turns are no shorter
    /// than this, and one serves what has come meanwhile.
    private static let crowd = 16
    private static let shortestTurn = Duration.milliseconds(1)

    /// Without transfers only a wake-up matters, and one is never lost.
    private static let longestWaitMilliseconds: Int32 = 60_000

    private let route: Route

    /// - Parameters:
    ///   - multi: freed at the end of `run`.
    ///   - inbox: wakes `multi`.
    ///   - route: which way it is.
    ///   - configuration: the client's.
    init(
        multi: UnsafeMutableRawPointer, inbox: Inbox, route: Route, configuration: CurlConfiguration
    ) {
        self.multi = multi
        self.inbox = inbox
        self.route = route
        self.configuration = configuration
        let connections = route.connections(configuration)
        let streams = max(1, configuration.maximumStreamsPerConnection)
        renewald_curl_multi_set_long(
            multi, CURLMOPT_PIPELINING,
            Int(route.multiplexes ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING))
        renewald_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connections)
        renewald_curl_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, streams)
        // By default four for each transfer in flight: few transfers to many hosts would close
        // each other's connections.
        renewald_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(32, 2 * connections))
    }

    /// Returns when the client is closed.
    func run() {
        var mail = inbox.take()
        while !mail.isClosing {
            turnBeganAt = .now
            for start in mail.starts { begin(start) }
            for job in mail.cancels { cancel(job) }
            var running: Int32 = 0
            note(curl_multi_perform(multi, &running))
            readMessages()
            watchDeadlines()
            wait()
            mail = inbox.take()
        }
        end(mail.starts)
    }

    // MARK: A transfer's life

    private func begin(_ start: Inbox.Start) {
        guard !start.job.isCancelled else {
            start.continuation.resume(returning: .failure(.cancelled))
            return
        }
        // It was on its way here while its origin was noted.
        if case .narrow(let peers, let wide) = route, peers.has(start.job.request) {
            return wide.start(start.job, start.continuation)
        }
        if let startsBy = start.job.request.startsBy, startsBy < .now {
            start.continuation.resume(returning: .failure(.late))
            return
        }
        do throws(CurlError) {
            let transfer = if let used = idle.popLast() { used } else { try Transfer(start) }
            try transfer.prepare(start, configuration, multiplexes: route.multiplexes)
            guard curl_multi_add_handle(multi, transfer.handle) == CURLM_OK else {
                throw .unreachable(reason: "libcurl takes no more transfers", isUnsent: true)
            }
            inFlight[ObjectIdentifier(start.job)] = transfer
        } catch {
            start.continuation.resume(returning: .failure(error))
        }
    }

    private func cancel(_ job: Job) {
        // It may have ended while the message was on its way.
        guard let transfer = inFlight[ObjectIdentifier(job)] else { return }
        finish(transfer, .failure(.cancelled))
    }

    private func finish(_ transfer: Transfer, _ answer: Answer) {
        remove(transfer).continuation.resume(returning: answer)
    }

    private func remove(_ transfer: Transfer) -> Inbox.Start {
        let start = transfer.start
        inFlight[ObjectIdentifier(start.job)] = nil
        curl_multi_remove_handle(multi, transfer.handle)
        transfer.reset()
        if idle.count < Self.idleLimit { idle.append(transfer) }
        return start
    }

    /// After an answer in HTTP/1 its origin's requests take the wide route, also those that wait.
    private func learn(_ transfer: Transfer) {
        guard case .narrow(let peers, let wide) = route, transfer.isOldAnswer else { return }
        let origin = transfer.start.job.request.origin
        guard peers.note(origin) else { return }
        let waiting = inFlight.values.filter {
            $0 !== transfer && $0.isUnsent && $0.start.job.request.origin == origin
        }
        for other in waiting {
            let start = remove(other)
            wide.start(start.job, start.continuation)
        }
    }

    private func end(_ starts: [Inbox.Start]) {
        for start in starts { start.continuation.resume(returning: .failure(.cancelled)) }
        for transfer in Array(inFlight.values) { finish(transfer, .failure(.cancelled)) }
        idle = []
        inbox.end(freeing: multi)
    }

    // MARK: A turn's parts

    private func readMessages() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
                let transfer = Transfer.of(handle)
            else { continue }
            let code = message.pointee.data.result
            if code == CURLE_OPERATION_TIMEDOUT { dropIfSilent(transfer) }
            if code == CURLE_OK { learn(transfer) }
            finish(transfer, transfer.answer(code))
        }
    }

    /// Ends what libcurl should have ended: it has no deadline for transfers that wait for a
    /// connection.
    private func watchDeadlines() {
        guard !inFlight.isEmpty else { return }
        let now = ContinuousClock.now
        guard now >= nextWatchAt else { return }
        nextWatchAt = now + Self.watchInterval
        let overdue = inFlight.values.filter { transfer in
            let job = transfer.start.job
            return now - job.startedAt > job.request.deadline + Self.watchInterval
        }
        for transfer in overdue {
            let isUnsent = transfer.isUnsent
            finish(
                transfer,
                .failure(.unreachable(reason: CurlError.timedOut, isUnsent: isUnsent)))
        }
    }

    /// Ends the connection of a request that timed out when the peer was silent on it meanwhile.
    ///
    /// Else libcurl would give a dead HTTP/2 connection to one request after the other, for it
    /// only knows that a stream has timed out. What else is in flight on it ends as broken.
    private func dropIfSilent(_ transfer: Transfer) {
        let socket = renewald_curl_socket(transfer.handle)
        guard socket >= 0 else { return }
        let silence = renewald_tcp_silence_milliseconds(socket)
        // Half: the answer to the handshake may have come in the first part of the time.
        if silence >= transfer.start.job.request.deadline.milliseconds / 2 {
            shutdown(socket, Int32(SHUT_RDWR))
        }
    }

    private func wait() {
        let longest =
            inFlight.isEmpty
            ? Self.longestWaitMilliseconds : Int32(clamping: Self.watchInterval.milliseconds)
        note(curl_multi_poll(multi, nil, 0, longest, nil))
        if inFlight.count >= Self.crowd { rest(until: turnBeganAt + Self.shortestTurn) }
    }

    private func rest(until end: ContinuousClock.Instant) {
        let left = end - .now
        guard left > .zero else { return }
        var time = timespec(tv_sec: 0, tv_nsec: Int(left.components.attoseconds / 1_000_000_000))
        nanosleep(&time, nil)
    }

    /// A multi handle fails as a whole only without memory or by a fault in its use. Its transfers
    /// end, and a pause keeps a lasting fault from using a whole core.
    private func note(_ code: CURLMcode) {
        guard code != CURLM_OK else { return }
        for transfer in Array(inFlight.values) {
            finish(transfer, .failure(.unreachable(reason: "libcurl failed")))
        }
        poll(nil, 0, Int32(clamping: Self.watchInterval.milliseconds))
    }
}
