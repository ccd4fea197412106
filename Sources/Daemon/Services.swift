package import Configuration
package import Engine
package import Ledger
package import Logging
import Postgres
package import Renewal
import Stores

/// The composition root: what a configuration is made into, and how the rooms are connected.
package struct Services: Sendable {
    package let configuration: Settings
    package let ledger: PostgresLedger
    package let clients: StoreClients
    package let log: Logger
    package let telemetry: Telemetry
    private let database: PostgresSettings
    /// Why the keys of `[encryption]` cannot be used, for commands that may do without.
    private let keyFaults: ConfigurationFaults?

    /// Reads the configuration, and every credential where stores are asked. Connects to nothing.
    ///
    /// - Parameters:
    ///   - configurationFile: its path.
    ///   - environment: of the process.
    ///   - asksStores: false for commands that only look at the database: they run where the
    ///     credentials cannot be read.
    ///   - onlyReads: whether a server that takes no writes will do where there is no other.
    ///   - log: where to say what happens.
    ///   - telemetry: what outlives a reload.
    /// - Throws: every fault together.
    package init(
        configurationFile: String, environment: [String: String], asksStores: Bool = true,
        onlyReads: Bool = false, log: Logger, telemetry: Telemetry = Telemetry()
    ) throws(ConfigurationFaults) {
        let configuration = try Settings.loadWhole(
            file: configurationFile, environment: environment)
        self.configuration = configuration
        self.log = log
        self.telemetry = telemetry
        var database = PostgresSettings(conninfo: configuration.database.url)
        database.makesDoWithReadOnly = onlyReads
        self.database = database
        ledger = PostgresLedger(database, notifies: configuration.engine.notify)
        do throws(ConfigurationFaults) {
            ledger.use(
                try AtRestKeys.cipher(configuration.encryption, environment: environment))
            keyFaults = nil
        } catch {
            guard !asksStores else { throw error }
            keyFaults = error
        }
        clients = try StoreClients(
            asksStores ? configuration.apps : [], configuration.stores, configuration.catalog,
            inFlight: configuration.engine.inFlight, environment: environment,
            metrics: telemetry.metrics, known: ledger.known)
        for app in configuration.apps {
            telemetry.metrics.begin(app.key, rate: rate(app.key))
        }
    }

    package var rules: Rules { configuration.rules }

    /// Refuses to go on where tokens could not be decrypted.
    ///
    /// - Throws: `ConfigurationFaults` for keys that cannot be used, `LedgerError.keysMissing`
    ///   where something is encrypted with another one.
    package func requireKeys() async throws {
        if let keyFaults { throw keyFaults }
        try await ledger.requireKeys()
    }

    /// The same; keys that this user may not read say nothing.
    package func requireReadableKeys() async throws {
        if keyFaults == nil { try await ledger.requireKeys() }
    }

    /// Encrypts or decrypts what is at rest, as the configuration has it, over connections of its
    /// own: reading everything takes longer than a check may.
    ///
    /// - Parameter tell: hears how far it is.
    /// - Returns: what it came to.
    /// - Throws: as `requireKeys()`; `.unavailable` without a database.
    package func rekey(
        tell: @Sendable (RekeyReport) throws -> Void
    ) async throws -> RekeyReport {
        try await requireKeys()
        var settings = database
        settings.statementTimeout = Self.longestSweep
        let own = PostgresLedger(settings, notifies: false)
        own.use(ledger.cipher)
        do {
            let report = try await own.rekey(tell: tell)
            await own.close()
            return report
        } catch {
            await own.close()
            throw error
        }
    }

    private static let longestSweep = Duration.seconds(3600)

    /// The stores, as whoever checks needs them.
    var stores: ServiceStores {
        let keeps = configuration.evidence.keep > .zero
        return ServiceStores(
            clients: clients, metrics: telemetry.metrics,
            keeper: keeps ? EvidenceKeeper(keepsRaw: configuration.evidence.keepsRaw) : nil)
    }

    /// Brings the schema of a database up to date.
    ///
    /// - Parameters:
    ///   - conninfo: the database.
    ///   - onCitus: also spreads it over the servers of Citus.
    /// - Returns: the versions that were applied, and the one that the schema has now.
    /// - Throws: `.schemaVersion` for a newer schema that does not serve this program,
    ///   `.citusMissing` without Citus.
    package static func migrate(
        _ conninfo: String, onCitus: Bool = false
    ) async throws(LedgerError) -> (applied: [Int], version: Int) {
        var settings = PostgresSettings(conninfo: conninfo)
        // A migration may rewrite a large table.
        settings.statementTimeout = .seconds(3600)
        let connection = PostgresConnection(settings)
        do {
            if onCitus { try await Migrator(connection).requireCitus() }
            let applied = try await Migrator(connection).migrate()
            if onCitus { try await Migrator(connection).distribute() }
            let version = try await Migrator(connection).schemaVersion()?.number
            await connection.close()
            return (applied, version ?? Migrator.version)
        } catch {
            await connection.close()
            throw error
        }
    }

    /// A ledger with connections of its own, for work beside the daemon's. To be closed.
    func ledgerApart() -> PostgresLedger {
        let apart = PostgresLedger(database, notifies: configuration.engine.notify)
        apart.use(ledger.cipher)
        return apart
    }

    /// The fleet as counts, of the apps of the configuration.
    package func fleetOutlines() async throws(LedgerError) -> [AppKey: FleetOutline] {
        try await readingFleet(within: PostgresLedger.longestOutline) {
            ledger throws(LedgerError) in
            try await ledger.fleetOutlines(of: configuration.apps.map(\.key))
        }
    }

    /// What `renewald status` shows.
    package func status() async throws(LedgerError) -> QueueStatus {
        try await readingFleet(within: PostgresLedger.longestRead) { ledger throws(LedgerError) in
            try await ledger.status(under: rules.policy)
        }
    }

    /// Reads the whole fleet in one statement: that takes a connection with a time-out of its own.
    private func readingFleet<Value: Sendable>(
        within limit: Duration,
        _ read: (PostgresLedger) async throws(LedgerError) -> Value
    ) async throws(LedgerError) -> Value {
        var settings = database
        settings.statementTimeout = limit
        let ledger = PostgresLedger(settings, notifies: false)
        do throws(LedgerError) {
            let value = try await read(ledger)
            await ledger.close()
            return value
        } catch {
            await ledger.close()
            throw error
        }
    }

    package func news(of channel: String) -> NotifyListener {
        NotifyListener(database, channel: channel)
    }

    /// An engine that works by the configuration. Of the stores only the given are asked, empty is
    /// all; the heartbeat shows whether the work advances, and a step of it may take the stall
    /// limit.
    package func engine(
        stores: Set<Store> = [], heartbeat: Heartbeat = Heartbeat(),
        stallLimit: Duration = EngineSettings.usualStallLimit
    ) -> RenewalEngine {
        var settings = settings(following: configuration)
        settings.stores = stores
        settings.stallLimit = stallLimit
        return RenewalEngine(settings, engineServices(), log: log, heartbeat: heartbeat)
    }

    package func close() async {
        await clients.close()
        await ledger.close()
    }

    /// How the engine works by a configuration, which may be newer than the services's own.
    func settings(following configuration: Settings) -> EngineSettings {
        let engine = configuration.engine
        var settings = EngineSettings(
            inFlight: min(engine.inFlight, clients.capacity), poll: engine.poll,
            lease: engine.lease, batchLimit: engine.batch, batchAge: engine.batchAge,
            stopLimit: engine.stopLimit)
        settings.sweepShare = engine.sweepShare
        settings.rules = configuration.rules
        settings.refunds = configuration.refunds.rule
        for app in configuration.apps {
            settings.callsPerSecond[app.key] = configuration.stores.requestsPerSecond(
                app.key.store)
        }
        return settings
    }

    package func rate(_ app: AppKey) -> Double {
        configuration.stores.requestsPerSecond(app.store)
    }

    private func engineServices() -> EngineServices {
        let log = self.log
        let lines = EventLog(userNames: configuration.log.userNames)
        let measured = MeasuredLedger(ledger: ledger, telemetry: telemetry) {
            lines.write(setAside: $0, to: log)
        }
        for source in clients.hintSources { telemetry.metrics.begin(source: source.name) }
        return EngineServices(
            ledger: measured, stores: stores,
            observer: EngineReporter(telemetry: telemetry, lines: lines, log: log),
            hintStore: measured, sweepStore: measured, refundStore: measured,
            news: configuration.engine.notify ? NewsOfDue(news: news(of: NotifyListener.due)) : nil,
            workerName: workerName)
    }
}

extension Settings {
    var rules: Rules {
        Rules(policy: policy, catalog: catalog, longestWait: engine.maxUnasked)
    }
}

/// Hears at once what `submit` and other workers have made due.
private struct NewsOfDue: DueNews {
    let news: NotifyListener

    func next() async throws(LedgerError) -> Int32? {
        while !Task.isCancelled {
            // That nothing came for a while is no news.
            guard let lane = try await news.next(timeout: .seconds(30)) else { continue }
            return Int32(lane)
        }
        throw .cancelled
    }
}

extension PostgresLedger {
    /// For the stores: where the database does not tell, nothing is said by it.
    fileprivate var known: StoreClients.Known {
        { lane in
            KnownPurchases(
                facts: { token throws(StoreFailure) in
                    do throws(LedgerError) {
                        return try await self.facts(of: token, inLane: lane)
                    } catch {
                        throw Self.untold
                    }
                },
                owner: { id throws(StoreFailure) in
                    do throws(LedgerError) {
                        return try await self.owner(ofOriginal: id, inLane: lane)
                    } catch {
                        throw Self.untold
                    }
                })
        }
    }

    private static var untold: StoreFailure {
        .unreachable(reason: "the database does not tell what is known of it")
    }
}
