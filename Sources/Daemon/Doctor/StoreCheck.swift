import Configuration
import Curl
import Ledger
import Renewal
import Stores

/// Asks each store once, about nothing, with the credentials of each app.
struct StoreCheck {
    private let maker: StoreClientFactory
    private let wait: @Sendable (AppKey) async -> Void

    /// - Parameters:
    ///   - maker: makes the stores as the daemon does.
    ///   - wait: is awaited before each call, so that the quota holds.
    init(
        _ maker: StoreClientFactory, beforeEachCall wait: @escaping @Sendable (AppKey) async -> Void
    ) {
        self.maker = maker
        self.wait = wait
    }

    func run(_ app: App, _ tell: (Finding) -> Void) async {
        let clock = StoreClock()
        let (client, wait) = (maker.client, wait)
        let transport = clock.listening(
            to: StoreTransport(
                send: { request throws(CurlError) in try await client.send(request) },
                wallClock: WallClock.now, beforeExtraCall: { await wait(app.key) }))
        do throws(ConfigurationFault) {
            switch app {
            case .apple(let app): try await ask(app, transport, tell)
            case .google(let app): try await ask(app, transport, tell)
            case .amazon(let app): try await ask(app, transport, tell)
            }
        } catch {
            tell(
                .wrong(
                    app.key.store.rawValue, error.description,
                    do: "mend that key of the configuration"))
        }
        if let skew = clock.skew {
            tell(ClockCheck.finding(app.key.store.title, skew: skew))
        }
    }

    // MARK: Each store

    private func ask(
        _ app: AppleApp, _ transport: StoreTransport, _ tell: (Finding) -> Void
    ) async throws(ConfigurationFault) {
        let store = try maker.appleStore(app, transport)
        let key = AppKey(store: .apple, id: app.id)
        if app.apiKey != nil {
            tell(
                await finding(
                    key, "the App Store Server API takes the key",
                    "see in App Store Connect, Users and Access, Integrations, In-App Purchase, "
                        + "that the key is not revoked, and that issuer_id, key_id and the "
                        + "bundle id belong to it"
                ) { now throws(StoreFailure) in try await store.probeKey(at: now) })
        }
        if app.sharedSecret != nil {
            tell(
                await finding(
                    key,
                    "verifyReceipt answers; whether the secret is right shows only with a receipt",
                    "compare shared_secret with App Store Connect, App Information"
                ) { now throws(StoreFailure) in try await store.probeReceipts(at: now) })
        }
    }

    private func ask(
        _ app: GoogleApp, _ transport: StoreTransport, _ tell: (Finding) -> Void
    ) async throws(ConfigurationFault) {
        let credentials = try maker.credentials(of: app)
        let store = try maker.googleStore(app, credentials, transport)
        let key = AppKey(store: .google, id: app.id)
        let account = (try? credentials.check()) ?? "the service account"
        let advice =
            "invite \(account) in Play Console, Users and permissions, with "
            + "\"View financial data\" and \"Manage orders and subscriptions\"; it can take a day"
        let purchases = await finding(
            key, "the Play Developer API tells of purchases", advice
        ) { now throws(StoreFailure) in try await store.probePurchases(at: now) }
        tell(purchases)
        // What does not answer about purchases need not be asked about refunds.
        if purchases.level == .ok {
            tell(
                await finding(key, "the Play Developer API tells of refunds", advice) {
                    now throws(StoreFailure) in try await store.probeVoided(at: now)
                })
        }
        guard let subscription = app.pubsubSubscription else { return }
        let pubsub = try maker.googlePubSub(subscription, app, credentials, transport)
        tell(await finding(of: pubsub, key, account))
    }

    private func ask(
        _ app: AmazonApp, _ transport: StoreTransport, _ tell: (Finding) -> Void
    ) async throws(ConfigurationFault) {
        let store = try maker.amazon(app, transport)
        tell(
            await finding(
                AppKey(store: .amazon, id: app.id),
                "the Receipt Verification Service takes the key",
                "compare shared_secret with the Amazon Developer Console, Settings, Shared Key"
            ) { now throws(StoreFailure) in try await store.probe(at: now) })
    }

    private func finding(
        of pubsub: GooglePubSub, _ key: AppKey, _ account: String
    ) async -> Finding {
        let advice = "grant \(account) the role Pub/Sub Subscriber on the subscription"
        await wait(key)
        do throws(StoreFailure) {
            switch try await pubsub.probe(at: WallClock.now()) {
            case .mayBePulled:
                return .ok("google", "\(key.id): notifications may be pulled")
            case .hidden:
                return .note(
                    "google", "\(key.id): whether notifications may be pulled cannot be looked up",
                    do: "see that renewald status shows no problem; if it does, \(advice)")
            }
        } catch .rejected {
            return .wrong(
                "google", "\(key.id): there is no such subscription",
                do: "mend pubsub_subscription: projects/PROJECT/subscriptions/NAME; Google deletes "
                    + "one that was not pulled for 31 days")
        } catch {
            return Self.judge(error, key, advice)
        }
    }

    // MARK: Judging

    private func finding(
        _ key: AppKey, _ sentence: String, _ advice: String,
        _ probe: (Timestamp) async throws(StoreFailure) -> Void
    ) async -> Finding {
        await wait(key)
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
                do: "see in Google Cloud, Service accounts, that the account and its key are there "
                    + "and enabled, and that the clock of this machine is right")
        case .refused: .wrong(store, sentence, do: advice)
        case .throttled:
            .wrong(
                store, sentence, do: "try again later; lower requests_per_second if it stays so",
                .temporary)
        case .unreachable(_, .certificate):
            .wrong(
                store, sentence,
                do: "see that no proxy is in between, and that ca-certificates or tls_ca is right",
                .temporary)
        case .unreachable:
            .wrong(
                store, sentence,
                do:
                    "see that this machine reaches the store: network, DNS, firewall; or wait for "
                    + "the end of an outage", .temporary)
        case .malformed, .signature, .mismatch, .rejected:
            .wrong(
                store, sentence,
                do: "see that base_url names the store itself, and no proxy or web page",
                .temporary)
        case .unsupported: .wrong(store, sentence, do: "mend the configuration of the app")
        }
    }
}

extension Store {
    /// As it calls itself.
    fileprivate var title: String {
        switch self {
        case .apple: "Apple"
        case .google: "Google"
        case .amazon: "Amazon"
        }
    }
}
