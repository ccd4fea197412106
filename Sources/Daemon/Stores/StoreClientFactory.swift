import Configuration
import Curl
import Renewal
import Stores

/// Makes a store from its configuration.
struct StoreClientFactory {
    let settings: StoreSettings
    let catalog: Catalog
    let client: CurlClient
    let environment: [String: String]
    let metrics: DaemonMetrics
    let shared = SharedParts()

    init(
        _ settings: StoreSettings, _ catalog: Catalog, _ client: CurlClient,
        _ environment: [String: String], _ metrics: DaemonMetrics
    ) {
        self.catalog = catalog
        self.metrics = metrics
        self.settings = settings
        self.client = client
        self.environment = environment
    }

    func client(_ app: App) throws(ConfigurationFault) -> StoreClient {
        let (client, metrics, key) = (self.client, self.metrics, app.key)
        let transport = StoreTransport(
            send: { request throws(CurlError) in
                metrics.called(key)
                return try await client.send(request)
            },
            wallClock: WallClock.now)
        return try app.ofStore.client(self, transport)
    }

    func host(_ url: String, _ store: Store) throws(CredentialFault) -> StoreHost {
        guard
            let host = StoreHost(
                baseURL: url, certificateAuthorityFile: settings.tlsCA(store)?.path)
        else { throw CredentialFault(field: "base_url", sentence: "is not an origin") }
        return host
    }

    /// - Throws: where nobody could be trusted by what is configured: every call would fail.
    func requireAuthorities(of store: Store) throws(ConfigurationFault) {
        guard let file = settings.tlsCA(store) else { return }
        let bytes = try file.read()
        _ = try made(file.place) { () throws(CredentialFault) in
            try CertificateFile(bytes)
        }
    }

    func secret(_ source: SecretSource) throws(ConfigurationFault) -> Secret {
        guard let text = try source.read(environment: environment).text else {
            throw source.place.fault("the secret is not UTF-8 text")
        }
        return Secret(text)
    }

    func made<Made>(
        _ place: ConfigurationPlace, _ make: () throws(CredentialFault) -> Made
    ) throws(ConfigurationFault) -> Made {
        do throws(CredentialFault) {
            return try make()
        } catch {
            throw place.fault(error.description)
        }
    }
}
