package import Configuration
import Curl
package import Engine
package import Renewal
package import Stores
import Synchronization

/// Knows which store to ask about which app, and with what.
package final class StoreClients: Sendable {
    private let client: CurlClient
    private let metrics: DaemonMetrics
    private let clients: Mutex<[AppKey: StoreClient]>
    private let known: Known
    /// Most requests that are served at once.
    package let capacity: Int

    /// What the ledger knows of the purchases of a lane.
    package typealias Known = @Sendable (Int32) -> KnownPurchases

    /// Reads every credential.
    ///
    /// - Throws: all that is wrong with them, together.
    package init(
        _ apps: [App], _ settings: StoreSettings, _ catalog: Catalog, inFlight: Int,
        environment: [String: String], metrics: DaemonMetrics,
        known: @escaping Known = { _ in .none }
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
        clients = Mutex([:])
        self.metrics = metrics
        self.known = known
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
        let factory = StoreClientFactory(settings, catalog, client, environment, metrics)
        var clients: [AppKey: StoreClient] = [:]
        var faults: [ConfigurationFault] = []
        for app in apps {
            let unreadable = app.secrets.compactMap { $0.fault(environment: environment) }
            guard unreadable.isEmpty else {
                faults += unreadable
                continue
            }
            do throws(ConfigurationFault) {
                clients[app.key] = try factory.client(app)
            } catch {
                faults.append(error)
            }
        }
        for store in Set(apps.map(\.key.store)).sorted(on: \.rawValue) {
            do throws(ConfigurationFault) {
                try factory.requireAuthorities(of: store)
            } catch {
                faults.append(error)
            }
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
        self.clients.withLock { $0 = clients }
    }

    private func client(of app: AppKey) -> StoreClient? { clients.withLock { $0[app] } }

    /// Where the stores' news comes from. Each follows a reload.
    package var hintSources: [HintSource] {
        apps.flatMap { client(of: $0)?.hintSources ?? [] }.map { source in
            var following = source
            following.pull = { [self] position, now, permit throws(StoreFailure) in
                try await current(source).pull(position, now, permit)
            }
            following.acknowledge = { [self] receipts, now, permit throws(StoreFailure) in
                try await current(source).acknowledge(receipts, now, permit)
            }
            return following
        }
    }

    private func current(_ source: HintSource) -> HintSource {
        client(of: source.app)?.hintSources.first { $0.name == source.name } ?? source
    }

    /// Asks the store of the purchase's app. Never fails: a failure is an answer.
    package func ask(_ claim: Claim, _ permit: CallPermit) async -> AnsweredCall {
        let app = claim.purchase.app
        guard let ask = client(of: app)?.ask else {
            return AnsweredCall(.failure(.notConfigured))
        }
        let session = CallSession(permit, knowing: known(claim.lane))
        return session.answered(await ask(claim.purchase, claim.claimedAt, session))
    }

    /// Tells the store of the purchase's app that it has arrived, where an operator wants that.
    ///
    /// - Returns: whether the store has heard it, or does not wait for it any more.
    package func acknowledge(_ claim: Claim, _ permit: CallPermit) async -> Bool {
        guard let acknowledge = client(of: claim.purchase.app)?.acknowledge else { return true }
        return await acknowledge(claim.purchase, claim.claimedAt, CallSession(permit))
    }

    /// Answers a store's question about a refund. What the store is asked it is asked once; whether
    /// an answer may be sent again is for the caller to decide.
    package func answer(
        _ reply: RefundReply, at now: Timestamp, _ permit: CallPermit
    ) async -> RefundSending {
        guard let client = client(of: reply.app) else { return .notSent(.notConfigured) }
        guard let answer = client.answer else {
            return .refused(reason: "this store asks nothing about refunds")
        }
        return await answer(reply, now, CallSession(permit))
    }

    /// What looks an order up; nil where the store has no such call, or nothing to ask it with.
    func lookUp(_ app: AppKey) -> LookUpOrder? { client(of: app)?.lookUp }

    package func knows(_ app: AppKey) -> Bool { client(of: app) != nil }

    /// All that it can ask about, always in the same order.
    package var apps: [AppKey] {
        clients.withLock {
            $0.keys.sorted { ($0.store.rawValue, $0.id) < ($1.store.rawValue, $1.id) }
        }
    }

    package func close() async { await client.close() }
}

/// What can be done at the store of one app.
struct StoreClient: Sendable {
    let ask: @Sendable (Purchase, Timestamp, CallSession) async -> Answer
    var hintSources: [HintSource] = []
    /// Nil where the store waits for nothing, or nobody wants to tell it.
    var acknowledge: (@Sendable (Purchase, Timestamp, CallSession) async -> Bool)?
    var lookUp: LookUpOrder?
    /// Nil where the store asks nothing about refunds.
    var answer: (@Sendable (RefundReply, Timestamp, CallSession) async -> RefundSending)?
}

/// Takes an order id; gives ids by which the ledger may know its purchase, none when the store does
/// not know the order. They may be tokens.
typealias LookUpOrder = @Sendable (OrderID, Timestamp) async throws(StoreFailure) -> [OrderID]
