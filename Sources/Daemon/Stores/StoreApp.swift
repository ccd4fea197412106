import Configuration
import Engine
import Renewal
import Stores

/// What the daemon does with an app, in the way of its store. Beside the configuration the files of
/// this folder that are named after a store are the only ones that know it.
protocol StoreApp {
    /// What is asked, where its news comes from, and who acknowledges.
    func client(
        _ factory: StoreClientFactory, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> StoreClient

    /// What news there is, and what it would take to have more; nil where there is no more.
    func news(in terms: inout ForecastTerms) -> MissingNews?

    /// Looks at each secret by itself.
    func look(with check: inout CredentialCheck)

    /// Asks the store about nothing with them.
    func ask(
        with check: StoreCheck, _ transport: StoreTransport, _ tell: (Finding) -> Void
    ) async throws(ConfigurationFault)
}

/// News that a store would tell.
struct MissingNews {
    /// What a person does to have it: the beginning of a sentence.
    let remedy: String
    let interval: Duration
}

extension App {
    var ofStore: any StoreApp {
        switch self {
        case .apple(let app): AppleStoreApp(app: app)
        case .google(let app): GoogleStoreApp(app: app)
        case .amazon(let app): AmazonStoreApp(app: app)
        }
    }
}

extension HintSource {
    /// Notifications that wait in a queue of the app's, and are given back once they are recorded.
    init(
        notificationsOf app: AppKey, every interval: Duration,
        pull: @escaping @Sendable (CallSession, Timestamp) async throws(StoreFailure) -> HintPage,
        acknowledge:
            @escaping @Sendable ([String], CallSession, Timestamp) async throws(StoreFailure) ->
            Void
    ) {
        let store = app.store.rawValue
        self.init(
            name: "\(store) \(app.id) notifications", app: app,
            endpoint: "\(store) notifications", interval: interval,
            pull: { _, now, permit throws(StoreFailure) in
                try await pull(CallSession(permit), now)
            },
            acknowledge: { receipts, now, permit throws(StoreFailure) in
                try await acknowledge(receipts, CallSession(permit), now)
            })
    }
}
