import Daemon
import Ledger
import Postgres
import Renewal
import Synchronization
import TestSupport
import Testing

@testable import Engine

/// What a fleet costs whose stores have no news, on the real ledger: counted in transactions for
/// each poll, never in time.
@Suite(.serialized, .timeLimit(.minutes(2))) struct IdleFleetTests {
    /// Apps of two stores: one source for each of Apple's, two for each of Google's.
    private final class Fleet: Sendable {
        let apps: [AppKey]
        private let reads = Mutex<[SourceID: Int]>([:])
        private let polls = Mutex(0)
        let wasRead = AsyncEvent()

        init(_ count: Int) {
            apps = (0..<count).map { number in
                AppKey(store: number % 2 == 0 ? .apple : .google, id: "com.example.\(number)")
            }
        }

        var sources: [HintSource] {
            apps.flatMap { app in
                switch app.store {
                case .apple, .amazon: [source(app, "notifications")]
                case .google: [source(app, "voided"), source(app, "notifications")]
                }
            }
        }

        private func source(_ app: AppKey, _ endpoint: String) -> HintSource {
            let name = SourceID("\(app.store.rawValue) \(app.id) \(endpoint)")
            return HintSource(
                name: name, app: app, endpoint: EndpointID("\(app.store.rawValue) \(endpoint)"),
                interval: .milliseconds(200),
                pull: { position, _, _ throws(StoreFailure) in
                    let read = self.reads.withLock { reads in
                        reads[name, default: 0] += 1
                        return reads[name, default: 0]
                    }
                    self.wasRead.signal()
                    return HintPage(hints: [], position: "\(read)")
                })
        }

        /// How often each source was read, at least.
        var leastRead: Int {
            reads.withLock { reads in sources.map { reads[$0.name] ?? 0 }.min() ?? 0 }
        }

        var pollCount: Int { polls.withLock { $0 } }

        func services(_ ledger: PostgresLedger) -> EngineServices {
            let stores = FakeStores(
                configured: { self.apps }, answer: { claim, _ in AnsweredCall(inForce(claim)) },
                hintSources: sources)
            var services = EngineServices(
                ledger: ledger, stores: stores, hintStore: ledger, workerName: "test")
            services.spy { $0.atHeads = { self.polls.withLock { $0 += 1 } } }
            return services
        }
    }

    /// Without a word by `NOTIFY`; in its turn the app would be seen after thirty polls.
    @Test func aPollFindsWhatWasSubmittedForAnyOfAThousandApps() async throws {
        let conninfo = try await ScratchCluster.shared().newMigratedDatabase()
        let settings = PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60))
        let beside = PostgresConnection(settings)
        let fleet = Fleet(1000)
        let ledger = PostgresLedger(settings, notifies: false)
        var engineSettings = quickSettings()
        engineSettings.poll = .milliseconds(200)
        let polled = AsyncEvent()
        var services = fleet.services(ledger)
        services.changeStores { $0.hintSources = [] }
        services.spy { $0.atHeads = { polled.signal() } }
        try await RenewalEngine(engineSettings, services, log: quiet).run {
            // All have been looked at, and now each has its turn.
            while fleet.pollCount < 40 { await polled.wait(upTo: .seconds(60)) }
            for number in [3, 400, 999] {
                let app = fleet.apps[number]
                let before = fleet.pollCount
                try await beside.script(
                    """
                    SELECT renewald.submit('ann', '\(app.store.rawValue)', '\(app.id)', 'pro', '1')
                    """)
                var state = "new"
                while state == "new" {
                    try Task.checkCancellation()
                    await polled.wait(upTo: .seconds(60))
                    let found = try await beside.query(
                        PostgresStatement(
                            "SELECT state FROM renewald.purchases WHERE app = '\(app.id)'"))
                    state = try found[0].text("state")
                }
                #expect(fleet.pollCount - before <= 8, "\(app.id)")
            }
        }
        await ledger.close()
        await beside.close()
    }

    @Test func aPollOfTwoHundredAppsCostsAFewTransactions() async throws {
        let conninfo = try await ScratchCluster.shared().newMigratedDatabase()
        let settings = PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60))
        let watcher = PostgresConnection(settings)
        let transactions = PostgresStatement(
            """
            SELECT xact_commit + xact_rollback FROM pg_stat_database
            WHERE datname = current_database()
            """)
        let before = try await watcher.query(transactions)[0].int64(0)

        let fleet = Fleet(200)
        let ledger = PostgresLedger(settings)
        var engineSettings = quickSettings()
        engineSettings.poll = .milliseconds(100)
        let engine = RenewalEngine(engineSettings, fleet.services(ledger), log: quiet)
        try await engine.run {
            while fleet.leastRead < 5 {
                try Task.checkCancellation()
                await fleet.wasRead.wait(upTo: .seconds(60))
            }
        }
        // What a session has done is counted for certain when it has ended.
        await ledger.close()
        let after = try await watcher.query(transactions)[0].int64(0)
        let readings = 5 * fleet.sources.count
        #expect(readings == 1500)
        let spent = after - before
        #expect(spent <= 4 * fleet.pollCount + 60, "\(spent) for \(fleet.pollCount) polls")
        #expect(spent < readings / 3, "\(spent)")
        // Nothing was lost by telling it together.
        let places = try await watcher.query(
            PostgresStatement(
                "SELECT min(position::int8) FROM renewald.hint_source WHERE owner IS NULL"))
        #expect(try places[0].int64(0) >= 5)
        await watcher.close()
    }
}
