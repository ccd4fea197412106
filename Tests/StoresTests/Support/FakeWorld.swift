import Curl
import Renewal
import StoreFixtures
import Synchronization

@testable import Stores

/// A transport without a network: it answers from a script and keeps what it was asked.
final class FakeWorld: Sendable {
    typealias Script = @Sendable (HTTPRequest) async throws(CurlError) -> HTTPResponse

    private let script: Script
    private let state: Mutex<State>

    private struct State {
        var requests: [HTTPRequest] = []
        var extraCalls = 0
        var clock: Timestamp
    }

    init(clock: Timestamp, _ script: @escaping Script) {
        self.script = script
        state = Mutex(State(clock: clock))
    }

    var transport: StoreTransport {
        StoreTransport(
            send: { [self] request async throws(CurlError) in
                state.withLock { $0.requests.append(request) }
                let response = try await script(request)
                guard response.status == 200, response.date == nil else { return response }
                return response.dated(state.withLock(\.clock))
            },
            wallClock: { [self] in state.withLock { $0.clock } },
            session: CallSession(
                CallPermit { [self] in
                    state.withLock { $0.extraCalls += 1 }
                    return .anyTime
                }))
    }

    var requests: [HTTPRequest] { state.withLock { $0.requests } }
    var extraCalls: Int { state.withLock { $0.extraCalls } }

    func advance(_ duration: Duration) {
        state.withLock { $0.clock = $0.clock + duration }
    }
}

extension HTTPResponse {
    /// The same, made at that time by the store's clock.
    func dated(_ instant: Timestamp) -> HTTPResponse {
        dated(HTTPDate.text(secondsSinceEpoch: instant.microsecondsSinceEpoch / 1_000_000))
    }

    func dated(_ text: String?) -> HTTPResponse {
        HTTPResponse(
            status: status, contentType: contentType, retryAfter: retryAfter, date: text,
            requestID: requestID, body: body)
    }

    static func json(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "application/json", body: Array(text.utf8))
    }
}

extension HTTPRequest {
    func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}
