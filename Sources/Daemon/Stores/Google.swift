import Configuration
import Engine
import Renewal
import Stores

struct GoogleStoreApp: StoreApp {
    let app: GoogleApp

    private var key: AppKey { AppKey(store: .google, id: app.id) }

    func client(
        _ factory: StoreClientFactory, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> StoreClient {
        let credentials = try factory.credentials(of: app)
        let store = try factory.googleStore(app, credentials, transport)
        var client = StoreClient(ask: { await store.within($2).ask($0, at: $1) })
        client.answer = { await store.within($2).answer($0, at: $1) }
        client.lookUp = { id, now throws(StoreFailure) in
            let order = try await store.lookUp(orderID: id, at: now)
            return [order?.token.map { OrderID($0.text) }, order?.baseID].compactMap { $0 }
        }
        client.hintSources.append(
            HintSource(
                name: "google \(app.id) voided", app: key, tells: .refunds,
                endpoint: "google voided", interval: Self.voidedInterval,
                budget: Self.voidedBudget
            ) { position, now, permit throws(StoreFailure) in
                try await store.within(CallSession(permit)).voidedHints(after: position, at: now)
            })
        if let subscription = app.pubsubSubscription {
            let pubsub = try factory.googlePubSub(subscription, app, credentials, transport)
            client.hintSources.append(
                HintSource(notificationsOf: key, every: Self.notificationInterval) {
                    session, now throws(StoreFailure) in
                    try await pubsub.within(session).pull(isWaiting: false, at: now)
                } acknowledge: { receipts, session, now throws(StoreFailure) in
                    try await pubsub.within(session).acknowledge(receipts, at: now)
                })
        }
        if factory.settings.google.acknowledges {
            client.acknowledge = { purchase, now, session in
                do throws(StoreFailure) {
                    try await store.within(session).acknowledge(purchase, at: now)
                    return true
                } catch {
                    // Refused for good: nothing is waited for any more.
                    if case .rejected = error { return true }
                    return false
                }
            }
        }
        return client
    }

    func news(in terms: inout ForecastTerms) -> MissingNews? {
        terms.newsOfRefunds = Self.voidedInterval
        guard app.pubsubSubscription == nil else {
            terms.newsOfAll = Self.notificationInterval
            return nil
        }
        return MissingNews(
            remedy: "turn on Pub/Sub (pubsub_subscription)", interval: Self.notificationInterval)
    }

    private static let voidedInterval = Duration.seconds(60)
    /// Google allows 30 in any 30 seconds and 6,000 a day; a fifth of those is for others, as
    /// `doctor` and passes beside the daemon.
    /// <https://developers.google.com/android-publisher/voided-purchases>
    private static let voidedBudget = CallBudget(apart: .milliseconds(1050), callsPerDay: 4800)
    static let notificationInterval = Duration.seconds(10)

    func look(with check: inout CredentialCheck) {
        check.look(at: app.serviceAccount, "google \(app.id): the key of a service account") {
            factory throws(ConfigurationFault) in
            _ = try factory.credentials(of: app)
            return []
        }
    }

    func ask(
        with check: StoreCheck, _ transport: StoreTransport, _ tell: (Finding) -> Void
    ) async throws(ConfigurationFault) {
        if let warning = check.factory.settings.google.warning {
            tell(.note("google", warning, do: "set api = \"v2\", or leave the line out"))
        }
        let credentials = try check.factory.credentials(of: app)
        let store = try check.factory.googleStore(app, credentials, transport)
        let account = credentials.account.email
        let advice =
            "invite \(account) in Play Console, Users and permissions, with "
            + "\"View financial data\" and \"Manage orders and subscriptions\"; it can take a day"
        let purchases = await check.finding(
            key, "the Play Developer API answers about purchases", advice
        ) { now throws(StoreFailure) in try await store.probePurchases(at: now) }
        tell(purchases)
        // What does not answer about purchases need not be asked about refunds.
        if purchases.level == .ok {
            tell(
                await check.finding(key, "the Play Developer API answers about refunds", advice) {
                    now throws(StoreFailure) in try await store.probeVoided(at: now)
                })
        }
        guard let subscription = app.pubsubSubscription else { return }
        let pubsub = try check.factory.googlePubSub(subscription, app, credentials, transport)
        tell(await finding(of: pubsub, check, account))
    }

    private func finding(
        of pubsub: GooglePubSub, _ check: StoreCheck, _ account: String
    ) async -> Finding {
        let advice = "grant \(account) the role Pub/Sub Subscriber on the subscription"
        await check.permit(key).wait()
        do throws(StoreFailure) {
            switch try await pubsub.probe(at: WallClock.now()) {
            case .mayBePulled:
                return .ok("google", "\(app.id): the key may pull notifications")
            case .hidden:
                return .note(
                    "google", "\(app.id): whether the key may pull notifications is not known",
                    do: "check `renewald status`; if it shows a problem, \(advice)")
            }
        } catch .rejected {
            return .wrong(
                "google", "\(app.id): there is no such subscription",
                do: "fix pubsub_subscription: projects/PROJECT/subscriptions/NAME; Google deletes "
                    + "one that was not pulled for 31 days")
        } catch {
            return StoreCheck.judge(error, key, advice)
        }
    }
}

extension StoreClientFactory {
    fileprivate func credentials(of app: GoogleApp) throws(ConfigurationFault) -> GoogleCredentials
    {
        let file = try secret(app.serviceAccount)
        let account = try made(app.serviceAccount.place) { () throws(CredentialFault) in
            try shared.account(file)
        }
        return GoogleCredentials(
            packageName: app.id, account: account,
            certificateAuthorityFile: settings.tlsCA(.google)?.path)
    }

    fileprivate func googleStore(
        _ app: GoogleApp, _ credentials: GoogleCredentials, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> GoogleStore {
        let catalog = self.catalog
        return try made(app.serviceAccount.place) { () throws(CredentialFault) in
            try GoogleStore(
                credentials: credentials, host: try host(settings.google.baseURL, .google),
                transport: transport, api: settings.google.api == .v1 ? .v1 : .v2,
                kindOf: { catalog.product(named: [$0])?.kind })
        }
    }

    fileprivate func googlePubSub(
        _ subscription: String, _ app: GoogleApp, _ credentials: GoogleCredentials,
        _ transport: StoreTransport
    ) throws(ConfigurationFault) -> GooglePubSub {
        try made(app.serviceAccount.place) { () throws(CredentialFault) in
            try GooglePubSub(
                credentials: credentials, subscription: subscription,
                host: try host(settings.google.pubsubURL, .google), transport: transport)
        }
    }
}
