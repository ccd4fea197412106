import Daemon
import Ledger
import Logging
import Postgres
import Renewal
import Synchronization
import TestSupport

@testable import Engine

/// A database, and workers on it.
final class House: Sendable {
    let conninfo: String
    /// The role that workers have; nil for the owner's.
    private let role: String?
    let beside: PostgresConnection
    /// How often each purchase was asked about.
    let asked = Mutex<[Int64: Int]>([:])

    init(role: String? = nil) async throws {
        self.role = role
        conninfo = try await ScratchCluster.shared().newMigratedDatabase()
        beside = PostgresConnection(Self.settings(conninfo))
    }

    private static func settings(_ conninfo: String) -> PostgresSettings {
        PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60))
    }

    func newLedger() -> PostgresLedger {
        PostgresLedger(Self.settings(conninfo + (role.map { " options='-c role=\($0)'" } ?? "")))
    }

    func fill(_ count: Int, from first: Int = 1) async throws {
        try await beside.script(
            """
            SELECT renewald.submit('user ' || number, 'google', 'com.example.reader', 'pro',
                'token ' || number)
            FROM generate_series(\(first), \(first + count - 1)) AS number
            """)
    }

    func number(_ sql: String) async throws -> Int64 {
        try await beside.query(PostgresStatement("SELECT (\(sql))::int8"))[0].int64(0)
    }

    func wait(untilThereAre rows: String) async throws {
        while try await number("SELECT count(*) FROM (\(rows)) AS rows") == 0 {
            try Task.checkCancellation()
            _ = try await number("SELECT count(*) FROM pg_sleep(0.02)")
        }
    }

    func wait(untilShared workers: Int, least: Int) async throws {
        try await wait(
            untilThereAre: """
                SELECT FROM (
                    SELECT count(*) AS shards FROM renewald.shard
                    WHERE owner IS NOT NULL AND lease_until > now() GROUP BY owner) AS share
                HAVING count(*) = \(workers) AND min(shards) >= \(least) AND sum(shards) = 256
                """)
    }

    func withWorker(_ body: @escaping @Sendable () async throws -> Void) async throws {
        var settings = quickSettings(inFlight: 20)
        settings.poll = .milliseconds(20)
        settings.lease = .seconds(3)
        let ledger = newLedger()
        try await RenewalEngine(settings, services(ledger), log: quiet).run(while: body)
        await ledger.close()
    }

    func services(
        _ ledger: PostgresLedger,
        apps: @escaping @Sendable () -> [AppKey] = {
            [AppKey(store: .google, id: "com.example.reader")]
        }
    ) -> EngineServices {
        let stores = FakeStores(
            configured: apps,
            answer: { claim, _ in
                self.asked.withLock { $0[claim.purchase.id, default: 0] += 1 }
                return AnsweredCall(inForce(claim))
            })
        return EngineServices(
            ledger: ledger, stores: stores, hintStore: ledger, workerName: "test")
    }
}
