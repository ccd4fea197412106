import CryptoExtras
import Curl
import Engine
import Renewal
import Stores
import Synchronization
import TestSupport

/// Google Play, in this process: what is true of every token, behind the wire of the real client.
final class SimulatedStore: Sendable {
    static let app = AppKey(store: .google, id: "com.example.reader")

    private struct State {
        var chance: SeededGenerator
        /// Those of the last ten seconds.
        var recent: [Timestamp] = []
        var most = 0
        var calls = 0
        var troubled: [Weather.Trouble: Int] = [:]
        var shown: [StoreToken: Shown] = [:]
    }

    /// What the last answer about a token has shown: how things stood, and when.
    struct Shown: Sendable {
        /// Nil: no verdict.
        var madeAt: Timestamp?
        /// What it shows is not so.
        var isLie = false
    }

    let sold: [StoreToken: Subscription]
    let news: News
    private let weather: Weather
    private let client = Mutex<GoogleStore?>(nil)
    private let state: Mutex<State>

    init(_ customers: [Customer], _ weather: Weather, _ plan: Plan) {
        var sold: [StoreToken: Subscription] = [:]
        for customer in customers {
            for one in customer.subscriptions { sold[one.token] = one }
        }
        self.sold = sold
        self.weather = weather
        news = News(sold.values.sorted { $0.number < $1.number }, plan)
        state = Mutex(State(chance: SeededGenerator(plan.seed, "store")))
    }

    func open() throws {
        guard let host = StoreHost(baseURL: "https://play.example") else { return }
        let store = try GoogleStore(
            credentials: Self.credentials(), host: host,
            transport: StoreTransport(
                send: { [self] request async throws(CurlError) in try await answer(request) },
                wallClock: { World.now }))
        client.withLock { $0 = store }
    }

    private static let key = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    private static func credentials() throws -> GoogleCredentials {
        let pem = try key.get().pemRepresentation.replacing("\n", with: "\\n")
        let file = Secret(
            """
            {"type":"service_account","project_id":"reader","private_key_id":"kid7",
            "private_key":"\(pem)","client_email":"a@b.example",
            "token_uri":"https://tokens.example/token"}
            """)
        return GoogleCredentials(
            packageName: app.id, account: try GoogleServiceAccount(json: file))
    }

    /// Asks as the daemon asks.
    ///
    /// - Returns: the answer, and what it shows.
    func ask(_ claim: Claim, _ permit: CallPermit) async -> (AnsweredCall, Shown) {
        guard let store = client.withLock(\.self) else {
            return (AnsweredCall(.failure(.notConfigured)), Shown())
        }
        let session = CallSession(permit)
        let answer = await store.within(session).ask(claim.purchase, at: claim.claimedAt)
        let call = session.answered(answer)
        let shown = state.withLock { $0.shown[claim.purchase.token] ?? Shown() }
        return (call, shown)
    }

    // MARK: The wire

    private func answer(_ request: HTTPRequest) async throws(CurlError) -> HTTPResponse {
        guard !request.url.hasPrefix("https://tokens.example") else {
            return response(
                200, #"{"access_token":"ya29.7","expires_in":86400,"token_type":"Bearer"}"#)
        }
        let token = StoreToken(String(request.url.split(separator: "/").last ?? ""))
        note { state in
            state.calls += 1
            let now = World.now
            state.recent.removeAll { $0 + Self.window <= now }
            state.recent.append(now)
            state.most = max(state.most, state.recent.count)
            state.shown[token] = Shown()
        }
        let windows = weather.active(at: World.now)
        await World.wait(for: latency(windows))
        for window in windows where window.trouble.isOfStore {
            if let trouble = try meet(window) { return trouble }
        }
        let behind = windows.first { $0.trouble == .behind && draw(0.5) }
        if behind != nil { count(.behind) }
        let madeAt = World.now - (behind?.amount ?? .zero)
        guard let one = sold[token], let standing = one.state(at: madeAt) else {
            return response(404, GoogleBody.error(404))
        }
        if standing.standing.grants, windows.contains(where: { $0.trouble == .lie }), draw(0.9) {
            count(.lie)
            note { $0.shown[token] = Shown(madeAt: madeAt, isLie: true) }
            return response(200, GoogleBody.text(one, standing.expired(at: madeAt)))
        }
        let isGone = standing.standing.isFinal && standing.end + .days(60) < madeAt
        note { $0.shown[token] = Shown(madeAt: madeAt) }
        return isGone
            ? response(410, GoogleBody.error(410))
            : response(200, GoogleBody.text(one, standing))
    }

    private func meet(_ window: Weather.Window) throws(CurlError) -> HTTPResponse? {
        switch window.trouble {
        case .behind, .slow, .lie, .database, .clock: return nil
        case .timeout, .unavailable, .page, .truncated, .throttled, .forbidden: break
        }
        guard draw(0.9) else { return nil }
        count(window.trouble)
        switch window.trouble {
        case .timeout: throw .unreachable(reason: "time-out")
        case .unavailable: return response(503, GoogleBody.error(503))
        case .page: return response(200, "<html><title>Sorry</title></html>")
        case .truncated: return response(200, #"{"kind":"androidpublisher#subscr"#)
        case .throttled:
            return response(
                429, GoogleBody.error(429),
                retryAfter: draw(0.5) ? "\(window.amount.components.seconds)" : nil)
        case .forbidden: return response(403, GoogleBody.error(403))
        case .behind, .slow, .lie, .database, .clock: return nil
        }
    }

    private func latency(_ windows: [Weather.Window]) -> Duration {
        let slow = windows.first { $0.trouble == .slow }
        if slow != nil { count(.slow) }
        return note {
            (slow?.amount ?? .zero) + $0.chance.between(.milliseconds(5), .milliseconds(200))
        }
    }

    private func response(
        _ status: Int, _ body: String, retryAfter: String? = nil
    ) -> HTTPResponse {
        HTTPResponse(
            status: status, contentType: "application/json", retryAfter: retryAfter,
            date: GoogleBody.date(World.now), body: Array(body.utf8))
    }

    @discardableResult
    private func note<Value: Sendable>(_ change: (inout State) -> Value) -> Value {
        state.withLock { change(&$0) }
    }

    private func draw(_ probability: Double) -> Bool { note { $0.chance.chance(probability) } }

    private func count(_ trouble: Weather.Trouble) {
        note { $0.troubled[trouble, default: 0] += 1 }
    }

    // MARK: For the report

    var calls: Int { state.withLock(\.calls) }
    var troubled: [Weather.Trouble: Int] { state.withLock(\.troubled) }
    /// What calls are counted over, from any moment on.
    static let window = Duration.seconds(10)
    /// The most calls of any window.
    var mostCalls: Int { state.withLock(\.most) }
}
