import Daemon
import Ledger
import Postgres
import Renewal
import Synchronization
import TestSupport
import Testing

@testable import Engine

/// The engine on the real ledger.
@Suite(.serialized, .timeLimit(.minutes(3))) struct LedgerEngineTests {
    @Test func twoPassesAtTheSameTimeAskEachOnce() async throws {
        let house = try await House()
        try await house.fill(2000)
        let reports = try await withThrowingTaskGroup(of: RunReport.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    let ledger = house.newLedger()
                    let engine = RenewalEngine(
                        quickSettings(inFlight: 50), house.ports(ledger), log: quiet)
                    let report = try await engine.run(.onePass(limit: nil))
                    await ledger.close()
                    return report
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.map(\.checked).reduce(0, +) == 2000)
        #expect(reports.map(\.events).reduce(0, +) == 2000)
        let asked = house.asked.withLock { $0 }
        #expect(asked.count == 2000)
        #expect(asked.values.allSatisfy { $0 == 1 })
        #expect(try await house.number("SELECT count(DISTINCT key) FROM renewald.event") == 2000)
        #expect(
            try await house.number(
                """
                SELECT count(*) FROM renewald.shard
                WHERE owner IS NOT NULL OR NOT clean OR in_hand <> '{}'
                """) == 0)
        #expect(try await house.number("SELECT count(*) FROM renewald.worker") == 0)
    }

    @Test func aPassEndsThoughOneOutcomeCannotBeStored() async throws {
        let house = try await House()
        try await house.fill(50)
        let ledger = house.newLedger()
        var ports = house.ports(ledger)
        ports.ask = { claim in
            guard claim.purchase.userID == "user 7" else {
                return Hearing(inForce(claim))
            }
            return Hearing(
                .verdict(
                    Observation(
                        environment: .production, standing: .active,
                        items: [Item(names: ["p\0o"], expiresAt: nil)])))
        }
        let engine = RenewalEngine(quickSettings(), ports, log: quiet)
        #expect(try await engine.run(.onePass(limit: nil)).checked == 49)
        #expect(
            try await house.number(
                """
                SELECT count(*) FROM renewald.purchases
                WHERE user_id = 'user 7' AND problem LIKE 'malformed: %' AND state = 'new'
                """) == 1)
    }

    @Test func workersShareTheShardsAndTakeOverFromOneAnother() async throws {
        let house = try await House()
        try await house.fill(300)
        // One has died with a purchase in hand.
        let dead = house.newLedger()
        let lane = try #require(try await dead.allLanes().first)
        let corpse = WorkerID.random()
        _ = try await dead.beat(corpse, name: "dead", lease: .seconds(2))
        let taken = try await dead.takeShards(corpse, limit: 256, lease: .seconds(2))
        let lease = Lease(
            worker: corpse,
            epochs: Dictionary(taken.map { ($0.shard, $0.epoch) }, uniquingKeysWith: { $1 }))
        let claim = try #require(
            try await dead.claim(
                lane, from: taken.map { Place.start(of: $0.shard) }, perShard: 1, limit: 1
            ).first)
        _ = try await dead.mark([claim.shard: [claim.purchase.id]], under: lease)
        await dead.close()

        try await house.withWorker {
            try await house.wait(untilThereAre: "SELECT FROM renewald.event HAVING count(*) = 300")
            #expect(
                try await house.number("SELECT count(*) FROM renewald.shard WHERE epoch >= 2")
                    == 256)
            try await house.withWorker {
                try await house.wait(untilShared: 2, least: 128)
                try await house.withWorker {
                    try await house.wait(untilShared: 3, least: 84)
                }
                try await house.wait(untilShared: 2, least: 128)
                // What is due now is asked about by whoever has it.
                try await house.beside.script("UPDATE renewald.schedule SET due_at = now()")
                try await house.wait(
                    untilThereAre: """
                        SELECT FROM renewald.schedule WHERE due_at > now() HAVING count(*) = 300
                        """)
            }
            try await house.wait(untilShared: 1, least: 256)
        }
        #expect(
            try await house.number("SELECT count(*) FROM renewald.shard WHERE owner IS NOT NULL")
                == 0)
        #expect(
            try await house.number("SELECT count(*) FROM renewald.event WHERE kind = 'grant'")
                == 300)
        #expect(house.asked.withLock { $0.values.allSatisfy { $0 <= 3 } })
    }
}

/// A database, and workers on it.
private final class House: Sendable {
    let conninfo: String
    let beside: PostgresConnection
    /// How often each purchase was asked about.
    let asked = Mutex<[Int64: Int]>([:])

    init() async throws {
        conninfo = try await ScratchCluster.shared().newDatabase()
        beside = PostgresConnection(Self.settings(conninfo))
        _ = try await Migrator(beside).migrate()
    }

    private static func settings(_ conninfo: String) -> PostgresSettings {
        PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60))
    }

    func newLedger() -> PostgresLedger { PostgresLedger(Self.settings(conninfo)) }

    func fill(_ count: Int) async throws {
        try await beside.script(
            """
            SELECT renewald.submit('user ' || number, 'google', 'com.example.reader', 'pro',
                'token ' || number)
            FROM generate_series(1, \(count)) AS number
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
        try await RenewalEngine(settings, ports(ledger), log: quiet).run(while: body)
        await ledger.close()
    }

    func ports(_ ledger: PostgresLedger) -> Ports {
        Ports(
            ledger, apps: { [AppKey(store: .google, id: "com.example.reader")] },
            workerName: "test",
            ask: { claim in
                self.asked.withLock { $0[claim.purchase.id, default: 0] += 1 }
                return Hearing(inForce(claim))
            })
    }
}
