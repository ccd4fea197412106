import CCurl
import Glibc

/// An HTTP client over libcurl's multi interface, <https://curl.se/libcurl/c/libcurl-multi.html>.
///
/// How to:
///
///     let client = try CurlClient(configuration: CurlConfiguration(userAgent: "renewald/1"))
///     let answer = try await client.send(HTTPRequest(url: "https://store.example/v1/status"))
///     await client.close()
///
/// One client serves the whole program: thousands of requests share two threads and, where the
/// peer speaks HTTP/2, a few connections. Any status is an answer, also 3xx and 5xx: no redirect is
/// followed, and nothing is tried again here, but that libcurl itself moves a request to a fresh
/// connection when the peer had closed the old one without a byte of an answer. TLS is
/// always verified. Variables of the environment such as `https_proxy` are ignored.
package final class CurlClient: Sendable {
    let narrow: Inbox
    private let wide: Inbox
    private let oldPeers = OldPeers()

    /// Starts the client's threads; connections are made by the first requests.
    ///
    /// - Throws: `.unreachable` when the system's libcurl cannot do what is needed here.
    package init(configuration: CurlConfiguration) throws(CurlError) {
        try Self.library.get()
        let wide = try Self.start(.wide, configuration)
        self.wide = wide
        do {
            narrow = try Self.start(.narrow(peers: oldPeers, wide: wide), configuration)
        } catch {
            wide.close(nil)
            throw error
        }
    }

    deinit {
        narrow.close(nil)
        wide.close(nil)
    }

    /// Sends a request and gives back whatever the peer answers.
    ///
    /// - Throws: see `CurlError`. A cancelled task gets `.cancelled` at once.
    package func send(_ request: HTTPRequest) async throws(CurlError) -> HTTPResponse {
        try await send(request, by: request.isPlain || oldPeers.has(request) ? wide : narrow)
    }

    func send(_ request: HTTPRequest, by route: Inbox) async throws(CurlError) -> HTTPResponse {
        try request.check()
        let job = Job(request)
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { route.start(job, $0) }
        } onCancel: {
            // It may be on its way from one route to the other.
            narrow.cancel(job)
            wide.cancel(job)
        }
        return try answer.get()
    }

    /// Ends every outstanding request with `.cancelled`, closes the connections and returns when
    /// the threads are done. A closed client answers every request with `.cancelled`.
    package func close() async {
        await withCheckedContinuation { narrow.close($0) }
        await withCheckedContinuation { wide.close($0) }
    }

    // MARK: Starting

    /// Once for the program: makes libcurl ready, and says whether it can do what is needed.
    private static let library: Result<Void, CurlError> = {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK,
            let version = curl_version_info(CURLVERSION_FIRST)
        else { return .failure(.unreachable(reason: "libcurl does not start")) }
        let features = version.pointee.features
        guard features & CURL_VERSION_HTTP2 != 0 else {
            return .failure(.unreachable(reason: "this libcurl has no HTTP/2"))
        }
        guard features & CURL_VERSION_ASYNCHDNS != 0 else {
            return .failure(.unreachable(reason: "this libcurl resolves names synchronously"))
        }
        return .success(())
    }()

    private static func start(
        _ route: Route, _ configuration: CurlConfiguration
    ) throws(CurlError) -> Inbox {
        guard let multi = curl_multi_init() else { throw .unreachable(reason: "out of memory") }
        // The pointer is shared on purpose: the inbox uses it for wake-ups only, which libcurl
        // allows from any thread, and no longer than the loop lives.
        nonisolated(unsafe) let shared = multi
        let inbox = Inbox(waking: shared)
        let loop = Loop(multi: multi, inbox: inbox, route: route, configuration: configuration)
        guard startThread(loop) else {
            inbox.end(freeing: multi)
            throw .unreachable(reason: "cannot start a thread")
        }
        return inbox
    }

    /// - Returns: false when the system has no thread left.
    private static func startThread(_ loop: Loop) -> Bool {
        let context = Unmanaged.passRetained(loop)
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runLoop, context.toOpaque())
        guard code == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}

private func runLoop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    renewald_name_this_thread("renewald.curl")
    blockSignals()
    Unmanaged<Loop>.fromOpaque(context).takeRetainedValue().run()
    return nil
}

/// Signals go to the program's other threads, and a write to a closed socket is just an error.
private func blockSignals() {
    var signals = sigset_t()
    sigfillset(&signals)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
}
