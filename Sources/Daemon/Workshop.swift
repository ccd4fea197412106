package import Engine
package import Ledger
package import Logging
import Postgres
package import Renewal

/// The composition root: what a configuration is made into, and how the rooms are connected.
package struct Workshop: Sendable {
    package let configuration: Configuration
    package let ledger: PostgresLedger
    package let desk: StoreDesk
    package let log: Logger
    private let database: PostgresSettings

    /// Reads the configuration, and every credential where stores are asked. Connects to nothing.
    ///
    /// - Parameters:
    ///   - configurationFile: its path.
    ///   - environment: of the process.
    ///   - asksStores: false for commands that only look at the database: they run where the
    ///     credentials cannot be read.
    ///   - log: where to say what happens.
    /// - Throws: every fault together.
    package init(
        configurationFile: String, environment: [String: String], asksStores: Bool = true,
        log: Logger
    ) throws(ConfigurationFaults) {
        let configuration = try Configuration.load(
            file: configurationFile, environment: environment)
        self.configuration = configuration
        self.log = log
        database = PostgresSettings(conninfo: configuration.database.url)
        ledger = PostgresLedger(database, notifies: configuration.engine.notify)
        desk = try StoreDesk(
            asksStores ? configuration.apps : [], configuration.stores,
            inFlight: configuration.engine.inFlight, environment: environment)
    }

    package var rules: Rules {
        Rules(policy: configuration.policy, catalog: configuration.catalog)
    }

    package func migrate() async throws(LedgerError) -> [Int] {
        let connection = PostgresConnection(migrationSettings)
        do {
            let applied = try await Migrator(connection).migrate()
            await connection.close()
            return applied
        } catch {
            await connection.close()
            throw error
        }
    }

    /// A migration may rewrite a large table.
    private var migrationSettings: PostgresSettings {
        var settings = database
        settings.statementTimeout = .seconds(3600)
        return settings
    }

    package func news(of channel: String) -> News { News(database, channel: channel) }

    package func engine(stores: Set<Store> = []) -> RenewalEngine {
        let engine = RenewalEngine(settings(stores), ports(), log: log)
        desk.beforeExtraCalls { [weak engine] app in await engine?.extraCall(app) }
        return engine
    }

    package func close() async {
        await desk.close()
        await ledger.close()
    }

    private func settings(_ stores: Set<Store>) -> EngineSettings {
        var settings = EngineSettings()
        settings.inFlight = configuration.engine.inFlight
        settings.poll = configuration.engine.poll
        settings.lease = configuration.engine.lease
        settings.batchLimit = configuration.engine.batch
        settings.batchAge = configuration.engine.batchAge
        settings.stopLimit = configuration.engine.stopLimit
        settings.rules = rules
        settings.stores = stores
        for app in configuration.apps {
            settings.callsPerSecond[app.key] = Quota.background(rate(app.key))
        }
        return settings
    }

    package func rate(_ app: AppKey) -> Double {
        configuration.stores.requestsPerSecond(app.store)
    }

    private func ports() -> Ports {
        let (ledger, desk, log) = (self.ledger, self.desk, self.log)
        let apps = configuration.apps.map(\.key)
        let name = workerName
        var ports = Ports(
            ask: { await desk.ask($0) },
            lanes: { () throws(PortError) in
                try await opened { try await ledger.registerLanes(apps) }
            },
            claim: { lane, places, perShard, limit throws(PortError) in
                try await opened {
                    try await ledger.claim(lane, from: places, perShard: perShard, limit: limit)
                }
            },
            suspects: { lane, shards throws(PortError) in
                try await opened {
                    try await ledger.claim(
                        lane, from: shards.map(Place.start), perShard: 1000, limit: 100_000,
                        suspectsOnly: true)
                }
            },
            mark: { inHand, lease throws(PortError) in
                try await opened { try await ledger.mark(inHand, under: lease) }
            },
            commit: { outcomes, lease, now throws(PortError) in
                try await opened { try await ledger.commit(outcomes, under: lease, at: now) }
            },
            beat: { worker, lease throws(PortError) in
                try await opened { try await ledger.beat(worker, name: name, lease: lease) }
            },
            take: { worker, limit, lease throws(PortError) in
                try await opened { try await ledger.takeShards(worker, limit: limit, lease: lease) }
            },
            renew: { lease, duration, idle throws(PortError) in
                try await opened { try await ledger.renew(lease, for: duration, idle: idle) }
            },
            release: { lease throws(PortError) in
                try await opened { try await ledger.release(lease) }
            },
            leave: { worker throws(PortError) in
                try await opened { try await ledger.leave(worker) }
            },
            reserve: { app, count, interval throws(PortError) in
                try await opened {
                    try await ledger.reserveCalls(
                        count, from: Quota.backgroundBucket(app), every: interval)
                }
            },
            block: { app, duration throws(PortError) in
                try await opened {
                    try await ledger.block(Quota.backgroundBucket(app), for: duration)
                }
            })
        let eventLog = EventLog(userNames: configuration.userNames)
        ports.committed = { eventLog.write($0, to: log) }
        if configuration.engine.notify { ports.news = newsPort() }
        return ports
    }

    private func newsPort() -> @Sendable () async throws(PortError) -> Int16? {
        let news = news(of: News.due)
        return { () throws(PortError) in
            let payload = try await opened { try await news.next(timeout: .seconds(30)) }
            return payload.flatMap { Int16($0) }
        }
    }
}

/// How a store's quota is shared: most of it for what is due, a part for a person who asks.
package enum Quota {
    private static let interactiveShare = 0.05

    package static func background(_ perSecond: Double) -> Double {
        perSecond * (1 - interactiveShare)
    }

    package static func interactive(_ perSecond: Double) -> Double {
        perSecond * interactiveShare
    }

    package static func backgroundBucket(_ app: AppKey) -> String {
        "\(app.store.rawValue)/\(app.id)"
    }

    package static func interactiveBucket(_ app: AppKey) -> String {
        backgroundBucket(app) + "/interactive"
    }
}

/// A ledger's fault, as the engine hears it.
private func opened<Value>(_ work: () async throws -> Value) async throws(PortError) -> Value {
    do {
        return try await work()
    } catch let error as LedgerError {
        throw PortError(error.sentence)
    } catch {
        throw PortError("cancelled")
    }
}
