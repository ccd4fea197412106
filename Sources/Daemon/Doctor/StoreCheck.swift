import Configuration
import Curl
import Ledger
import Renewal
import Stores

/// Asks each store once, about nothing, with the credentials of each app.
struct StoreCheck {
    let factory: StoreClientFactory
    let permit: @Sendable (AppKey) -> CallPermit

    /// - Parameters:
    ///   - factory: makes the stores as the daemon does.
    ///   - permit: is awaited before each call of an app, so that the quota holds.
    init(
        _ factory: StoreClientFactory,
        permit: @escaping @Sendable (AppKey) -> CallPermit
    ) {
        self.factory = factory
        self.permit = permit
    }

    func run(_ app: App, _ tell: (Finding) -> Void) async {
        let clock = StoreClock()
        let client = factory.client
        let transport = clock.listening(
            to: StoreTransport(
                send: { request throws(CurlError) in try await client.send(request) },
                wallClock: WallClock.now,
                session: CallSession(permit(app.key))))
        do throws(ConfigurationFault) {
            try await app.ofStore.ask(with: self, transport, tell)
        } catch {
            tell(
                .wrong(
                    app.key.store.rawValue, error.description,
                    do: "fix that key of the configuration"))
        }
        if let skew = clock.skew {
            tell(ClockCheck.finding(app.key.store.traits.vendor, skew: skew))
        }
    }

    func finding(
        _ key: AppKey, _ sentence: String, _ advice: String,
        _ probe: (Timestamp) async throws(StoreFailure) -> Void
    ) async -> Finding {
        await permit(key).wait()
        do throws(StoreFailure) {
            try await probe(WallClock.now())
            return .ok(key.store.rawValue, "\(key.id): \(sentence)")
        } catch {
            return Self.judge(error, key, advice)
        }
    }

    /// - Parameters:
    ///   - failure: of a call about nothing: what it says is of the app or the store.
    ///   - key: the app.
    ///   - advice: what to do about refused credentials.
    /// - Returns: never ok.
    static func judge(_ failure: StoreFailure, _ key: AppKey, _ advice: String) -> Finding {
        let sentence = "\(key.id): \(failure.problem.sentence)"
        let store = key.store.rawValue
        return switch failure {
        case .refused(_, .serviceAccount):
            .wrong(
                store, sentence,
                do: "check in Google Cloud, Service accounts, that the account and its key exist "
                    + "and are enabled, and that the clock of this machine is right")
        case .refused: .wrong(store, sentence, do: advice)
        case .throttled:
            .wrong(
                store, sentence, do: "try again later; lower requests_per_second if it lasts",
                .temporary)
        case .unreachable(_, .certificate):
            .wrong(
                store, sentence,
                do: "check that no proxy intercepts TLS, and check ca-certificates or tls_ca",
                .temporary)
        case .unreachable:
            .wrong(
                store, sentence,
                do:
                    "check that this machine reaches the store: network, DNS, firewall; in an "
                    + "outage of the store, wait", .temporary)
        case .malformed, .signature, .mismatch, .rejected:
            .wrong(
                store, sentence,
                do: "check that base_url names the store itself, not a proxy or a web page",
                .temporary)
        case .unsupported: .wrong(store, sentence, do: "fix the configuration of the app")
        }
    }
}
