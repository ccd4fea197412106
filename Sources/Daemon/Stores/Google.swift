import Configuration
import Engine
import Renewal
import Stores

extension StoreClientFactory {
    /// One app in Google Play: what is asked, where its news comes from, and who acknowledges.
    func google(
        _ app: GoogleApp, _ key: AppKey, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> StoreClient {
        let credentials = try self.credentials(of: app)
        let store = try googleStore(app, credentials, transport)
        var doors = StoreClient(ask: { await store.ask($0, at: $1) })
        doors.lookUp = { id, now throws(StoreFailure) in
            let order = try await store.lookUp(orderID: id, at: now)
            return [order?.token.map { OrderID($0.text) }, order?.baseID].compactMap { $0 }
        }
        doors.hintSources.append(
            HintSource(
                name: "google \(app.id) voided", app: key, endpoint: "google voided",
                interval: Self.voidedInterval
            ) { position, now throws(StoreFailure) in
                try await store.voidedHints(after: position, at: now)
            })
        if let subscription = app.pubsubSubscription {
            doors.hintSources.append(
                try notifications(of: subscription, app, key, credentials, transport))
        }
        if settings.google.acknowledges {
            doors.acknowledge = { purchase, now in
                do throws(StoreFailure) {
                    try await store.acknowledge(purchase, at: now)
                    return true
                } catch {
                    // Refused for good: nothing is waited for any more.
                    if case .rejected = error { return true }
                    return false
                }
            }
        }
        return doors
    }

    func credentials(of app: GoogleApp) throws(ConfigurationFault) -> GoogleCredentials {
        GoogleCredentials(
            packageName: app.id, serviceAccountJSON: try secret(app.serviceAccount),
            certificateAuthorityFile: settings.tlsCA(.google)?.path)
    }

    func googleStore(
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

    func googlePubSub(
        _ subscription: String, _ app: GoogleApp, _ credentials: GoogleCredentials,
        _ transport: StoreTransport
    ) throws(ConfigurationFault) -> GooglePubSub {
        try made(app.serviceAccount.place) { () throws(CredentialFault) in
            try GooglePubSub(
                credentials: credentials, subscription: subscription,
                host: try host(settings.google.pubsubURL, .google), transport: transport)
        }
    }

    /// Within 6,000 calls a day and 30 in 30 seconds.
    private static let voidedInterval = Duration.seconds(60)
    private static let notificationInterval = Duration.seconds(10)

    private func notifications(
        of subscription: String, _ app: GoogleApp, _ key: AppKey,
        _ credentials: GoogleCredentials, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> HintSource {
        let pubsub = try googlePubSub(subscription, app, credentials, transport)
        return HintSource(
            name: "google \(app.id) notifications", app: key, endpoint: "google notifications",
            interval: Self.notificationInterval,
            pull: { _, now throws(StoreFailure) in
                try await pubsub.pull(isWaiting: false, at: now)
            },
            acknowledge: { receipts, now throws(StoreFailure) in
                try await pubsub.acknowledge(receipts, at: now)
            })
    }
}
