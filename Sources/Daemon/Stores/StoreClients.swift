package import Configuration
import Curl
package import Engine
package import Renewal
import Stores
import Synchronization

/// Knows which store to ask about which app, and with what.
package final class StoreClients: Sendable {
    private let client: CurlClient
    private let metrics: DaemonMetrics
    private let doors: Mutex<[AppKey: StoreClient]>
    /// Most requests that are served at once.
    package let capacity: Int
    private let queue = Mutex(CallQueue(wait: { _ in }))

    /// Reads every credential.
    ///
    /// - Throws: all that is wrong with them, together.
    package init(
        _ apps: [App], _ settings: StoreSettings, _ catalog: Catalog, inFlight: Int,
        environment: [String: String], metrics: DaemonMetrics
    ) throws(ConfigurationFaults) {
        var client = CurlConfiguration(userAgent: "renewald/\(Version.text)")
        // A request that finds no place on a connection waits while its deadline runs.
        client.maximumConnectionsPerHost = max(
            client.maximumConnectionsPerHost, inFlight / client.maximumStreamsPerConnection + 1)
        do throws(CurlError) {
            self.client = try CurlClient(configuration: client)
        } catch {
            throw ConfigurationFaults([
                ConfigurationFault(file: "libcurl", sentence: "cannot be used: \(error)")
            ])
        }
        capacity = client.maximumConnectionsPerHost * client.maximumStreamsPerConnection
        doors = Mutex([:])
        self.metrics = metrics
        try reload(apps, settings, catalog, environment: environment)
    }

    /// Reads every credential again; checks that begin from now on use them. With a fault nothing
    /// is changed.
    ///
    /// - Throws: all that is wrong with them, together.
    package func reload(
        _ apps: [App], _ settings: StoreSettings, _ catalog: Catalog,
        environment: [String: String]
    ) throws(ConfigurationFaults) {
        let maker = StoreClientFactory(settings, catalog, client, environment, metrics)
        var doors: [AppKey: StoreClient] = [:]
        var faults: [ConfigurationFault] = []
        for app in apps {
            let unreadable = app.secrets.compactMap { $0.fault(environment: environment) }
            guard unreadable.isEmpty else {
                faults += unreadable
                continue
            }
            do throws(ConfigurationFault) {
                doors[app.key] = try maker.doors(
                    app, beforeExtraCall: { [weak self] in await self?.waitForExtraCall(app.key) })
            } catch {
                faults.append(error)
            }
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
        self.doors.withLock { $0 = doors }
    }

    private func doors(of app: AppKey) -> StoreClient? { doors.withLock { $0[app] } }

    /// Where the stores' news comes from. Each follows a reload.
    package var hintSources: [HintSource] {
        apps.flatMap { doors(of: $0)?.hintSources ?? [] }.map { source in
            HintSource(
                name: source.name, app: source.app, endpoint: source.endpoint,
                interval: source.interval, patience: source.patience,
                pull: { [self] position, now throws(StoreFailure) in
                    try await current(source).pull(position, now)
                },
                acknowledge: { [self] receipts, now throws(StoreFailure) in
                    try await current(source).acknowledge(receipts, now)
                })
        }
    }

    private func current(_ source: HintSource) -> HintSource {
        doors(of: source.app)?.hintSources.first { $0.name == source.name } ?? source
    }

    /// Asks the store of the purchase's app. Never fails: a failure is an answer.
    package func ask(_ claim: Claim) async -> Hearing {
        let app = claim.purchase.app
        guard let ask = doors(of: app)?.ask else {
            return Hearing(.failure(.notConfigured))
        }
        return await CallLog.noting { await ask(claim.purchase, claim.claimedAt) }
    }

    /// Tells the store of the purchase's app that it has arrived, where an operator wants that.
    ///
    /// - Returns: whether the store has heard it, or does not wait for it any more.
    package func acknowledge(_ claim: Claim) async -> Bool {
        guard let acknowledge = doors(of: claim.purchase.app)?.acknowledge else { return true }
        return await acknowledge(claim.purchase, claim.claimedAt)
    }

    /// What looks an order up; nil where the store has no such call, or nothing to ask it with.
    func lookUp(_ app: AppKey) -> LookUpOrder? { doors(of: app)?.lookUp }

    package func knows(_ app: AppKey) -> Bool { doors(of: app) != nil }

    /// All that it can ask about, always in the same order.
    package var apps: [AppKey] {
        doors.withLock {
            $0.keys.sorted { ($0.store.rawValue, $0.id) < ($1.store.rawValue, $1.id) }
        }
    }

    /// What is awaited before each call beyond the first of a check.
    package func beforeExtraCalls(_ wait: @escaping @Sendable (AppKey) async -> Void) {
        queue.withLock { $0 = CallQueue(wait: wait) }
    }

    package func close() async { await client.close() }

    private func waitForExtraCall(_ app: AppKey) async {
        await queue.withLock(\.self).wait(app)
    }
}

/// A closure of its own in a mutex would be wrapped once more with each look at it.
private struct CallQueue: Sendable {
    let wait: @Sendable (AppKey) async -> Void
}

/// What can be done at the store of one app.
struct StoreClient: Sendable {
    let ask: @Sendable (Purchase, Timestamp) async -> Answer
    var hintSources: [HintSource] = []
    /// Nil where the store waits for nothing, or nobody wants to tell it.
    var acknowledge: (@Sendable (Purchase, Timestamp) async -> Bool)?
    var lookUp: LookUpOrder?
}

/// Takes an order id; gives ids by which the ledger may know its purchase, none when the store does
/// not know the order. They may be tokens.
typealias LookUpOrder = @Sendable (OrderID, Timestamp) async throws(StoreFailure) -> [OrderID]

/// Makes a store from its configuration.
struct StoreClientFactory {
    let settings: StoreSettings
    let catalog: Catalog
    let client: CurlClient
    let environment: [String: String]
    let metrics: DaemonMetrics

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

    func doors(
        _ app: App, beforeExtraCall: @escaping @Sendable () async -> Void
    ) throws(ConfigurationFault) -> StoreClient {
        let (client, metrics, key) = (self.client, self.metrics, app.key)
        let transport = StoreTransport(
            send: { request throws(CurlError) in
                metrics.called(key)
                return try await client.send(request)
            },
            wallClock: WallClock.now, beforeExtraCall: beforeExtraCall)
        switch app {
        case .apple(let app):
            return try apple(app, key, transport)
        case .google(let app):
            return try google(app, key, transport)
        case .amazon(let app):
            let store = try amazon(app, transport)
            return StoreClient(ask: { await store.ask($0, at: $1) })
        }
    }

    func amazon(
        _ app: AmazonApp, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> AmazonStore {
        let credentials = try self.credentials(of: app)
        return try made(app.sharedSecret.place) { () throws(CredentialFault) in
            AmazonStore(
                credentials: credentials, production: try host(settings.amazon.baseURL, .amazon),
                sandbox: try host(settings.amazon.sandboxURL, .amazon), transport: transport)
        }
    }

    func credentials(of app: AmazonApp) throws(ConfigurationFault) -> AmazonCredentials {
        AmazonCredentials(
            appID: app.id, sharedSecret: try secret(app.sharedSecret),
            allowsSandbox: app.sandbox)
    }

    func host(_ url: String, _ store: Store) throws(CredentialFault) -> StoreHost {
        guard
            let host = StoreHost(
                baseURL: url, certificateAuthorityFile: settings.tlsCA(store)?.path)
        else { throw CredentialFault(field: "base_url", sentence: "is not an origin") }
        return host
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
