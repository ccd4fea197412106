import Configuration
import Renewal
import Stores

struct AmazonStoreApp: StoreApp {
    let app: AmazonApp

    /// Amazon has no news that could be asked for.
    func client(
        _ factory: StoreClientFactory, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> StoreClient {
        let store = try factory.amazonStore(app, transport)
        return StoreClient(ask: { await store.within($2).ask($0, at: $1) })
    }

    func news(in terms: inout ForecastTerms) -> MissingNews? { nil }

    func look(with check: inout CredentialCheck) {
        check.look(at: app.sharedSecret, "amazon \(app.id): a shared key") {
            factory throws(ConfigurationFault) in
            let credentials = try factory.credentials(of: app)
            try factory.made(app.sharedSecret.place) { () throws(CredentialFault) in
                try credentials.check()
            }
            return []
        }
    }

    func ask(
        with check: StoreCheck, _ transport: StoreTransport, _ tell: (Finding) -> Void
    ) async throws(ConfigurationFault) {
        let store = try check.factory.amazonStore(app, transport)
        tell(
            await check.finding(
                AppKey(store: .amazon, id: app.id),
                "the Receipt Verification Service accepts the key",
                "compare shared_secret with the Amazon Developer Console, Settings, Shared Key"
            ) { now throws(StoreFailure) in try await store.probe(at: now) })
    }
}

extension StoreClientFactory {
    fileprivate func amazonStore(
        _ app: AmazonApp, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> AmazonStore {
        let credentials = try self.credentials(of: app)
        return try made(app.sharedSecret.place) { () throws(CredentialFault) in
            AmazonStore(
                credentials: credentials, production: try host(settings.amazon.baseURL, .amazon),
                sandbox: try host(settings.amazon.sandboxURL, .amazon), transport: transport)
        }
    }

    fileprivate func credentials(of app: AmazonApp) throws(ConfigurationFault) -> AmazonCredentials
    {
        AmazonCredentials(
            appID: app.id, sharedSecret: try secret(app.sharedSecret),
            allowsSandbox: app.sandbox)
    }
}
