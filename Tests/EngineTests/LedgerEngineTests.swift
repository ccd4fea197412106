import Daemon
import Ledger
import Logging
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
                        quickSettings(inFlight: 50), house.services(ledger), log: quiet)
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

    /// As a timer with a budget of calls has it: nobody is asked about again before everybody was.
    @Test func passesWithALimitComeToEveryPurchase() async throws {
        let house = try await House()
        try await house.fill(200)
        for _ in 1...4 {
            let ledger = house.newLedger()
            let engine = RenewalEngine(
                quickSettings(inFlight: 10), house.services(ledger), log: quiet)
            #expect(try await engine.run(.onePass(limit: 50)).checked == 50)
            await ledger.close()
        }
        let asked = house.asked.withLock { $0 }
        #expect(asked.count == 200 && asked.values.allSatisfy { $0 == 1 })
    }

    @Test func aPassEndsThoughOneOutcomeCannotBeStored() async throws {
        let house = try await House()
        try await house.fill(50)
        let ledger = house.newLedger()
        var services = house.services(ledger)
        services.changeStores {
            $0.answer = { claim, _ in
                guard claim.purchase.userID == "user 7" else {
                    return AnsweredCall(inForce(claim))
                }
                return AnsweredCall(
                    .verdict(
                        Observation(
                            environment: .production, status: .active,
                            items: [Item(names: ["p\0o"], expiresAt: nil)])))
            }
        }
        let engine = RenewalEngine(quickSettings(), services, log: quiet)
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
                ClaimRequest(
                    lane, from: taken.map { Place.start(of: $0.shard) }, perShard: 1, limit: 1)
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

/// What the database does not let be done.
extension LedgerEngineTests {
    @Test func anUnknownAppIsServedAsSoonAsItIsConfigured() async throws {
        let house = try await House()
        try await house.fill(1)
        let reader = AppKey(store: .google, id: "com.example.reader")
        let apps = Mutex<[AppKey]>([])
        let ledger = house.newLedger()
        let services = house.services(ledger, apps: { apps.withLock { $0 } })
        let engine = RenewalEngine(quickSettings(), services, log: quiet)
        let unsupported = """
            SELECT FROM renewald.purchases
            WHERE problem = 'unsupported: this app is not configured' AND state = 'new'
            """
        try await engine.run {
            try await house.wait(untilThereAre: unsupported)
            #expect(house.asked.withLock { $0.isEmpty })
            apps.withLock { $0 = [reader] }
            await engine.adapt(to: quickSettings())
            try await house.wait(untilThereAre: "SELECT FROM renewald.event")
            apps.withLock { $0 = [] }
            await engine.adapt(to: quickSettings())
            try await house.wait(
                untilThereAre: """
                    SELECT FROM renewald.purchases
                    WHERE problem = 'unsupported: this app is not configured' AND state = 'active'
                    """)
        }
        await ledger.close()
        #expect(house.asked.withLock { $0.values.allSatisfy { $0 == 1 } })
    }

    /// A column, a right or a table that is not there: one pass ends at once and says which.
    @Test(arguments: [
        Breakage(
            "ALTER TABLE renewald.schedule RENAME COLUMN crashes TO ends", "crashes", .schema),
        Breakage(
            "ALTER TABLE renewald.purchase RENAME COLUMN holding_ends TO ends", "holding_ends",
            .schema),
        Breakage("REVOKE SELECT ON renewald.schedule FROM renewald_worker", "schedule", .rights),
        Breakage("REVOKE SELECT ON renewald.purchase FROM renewald_worker", "purchase", .rights),
        Breakage(
            "REVOKE SELECT ON renewald.credential FROM renewald_worker", "credential", .rights),
        Breakage("REVOKE UPDATE ON renewald.shard FROM renewald_worker", "shard", .rights),
        Breakage("REVOKE INSERT ON renewald.worker FROM renewald_worker", "worker", .rights),
        Breakage("REVOKE UPDATE ON renewald.purchase FROM renewald_worker", "purchase", .rights),
        Breakage("REVOKE INSERT ON renewald.event FROM renewald_worker", "event", .rights),
        Breakage("REVOKE SELECT ON renewald.app FROM renewald_worker", "app", .rights),
        Breakage("REVOKE SELECT ON renewald.bucket FROM renewald_worker", "bucket", .rights),
        Breakage("ALTER TABLE renewald.clue RENAME TO old_clue", "clue", .schema),
    ])
    func onePassEndsWithWhatIsMissing(_ breakage: Breakage) async throws {
        let house = try await House(role: "renewald_worker")
        try await house.fill(20)
        try await house.beside.script(breakage.script)
        let ledger = house.newLedger()
        var settings = quickSettings()
        settings.callsPerSecond[AppKey(store: .google, id: "com.example.reader")] = 1000
        let engine = RenewalEngine(settings, house.services(ledger), log: quiet)
        do {
            try await engine.run(.onePass(limit: nil))
            Issue.record("it did not say so")
        } catch {
            #expect(error.sentence.contains(breakage.object), "\(error.sentence)")
            switch (error, breakage.kind) {
            case (.forbidden, .rights), (.schemaDiffers, .schema): break
            default: Issue.record("\(error)")
            }
        }
        await ledger.close()
        #expect(
            try await house.number(
                "SELECT count(*) FROM renewald.purchase WHERE state <> 'new'") == 0)
    }

    @Test func theDaemonSaysItOnceAndGoesOnWhenItIsMended() async throws {
        let house = try await House(role: "renewald_worker")
        let ledger = house.newLedger()
        let lines = Lines()
        let engine = RenewalEngine(quickSettings(), house.services(ledger), log: lines.logger)
        try await engine.run {
            try await house.wait(
                untilThereAre: "SELECT FROM renewald.shard WHERE owner IS NOT NULL")
            try await house.beside.script(
                "REVOKE SELECT ON renewald.credential FROM renewald_worker")
            try await house.fill(20)
            await lines.wait(for: "database_refuses")
            try await house.wait(
                untilThereAre: "SELECT FROM renewald.shard WHERE lease_until > now()")
            try await house.beside.script("GRANT SELECT ON renewald.credential TO renewald_worker")
            try await house.wait(untilThereAre: "SELECT FROM renewald.event HAVING count(*) = 20")
            await lines.wait(for: "database_relents")
        }
        await ledger.close()
        #expect(lines.count(of: "database_refuses") == 1)
        #expect(lines.count(of: "database_relents") == 1)
    }

    /// Somebody's own trigger refuses what is written of one user: the others go on, and it is
    /// written when the trigger is gone.
    @Test func whatAloneIsRefusedHoldsUpNobody() async throws {
        let house = try await House()
        let ledger = house.newLedger()
        let lines = Lines()
        try await house.beside.script(
            """
            CREATE FUNCTION renewald.refuse() RETURNS trigger LANGUAGE plpgsql
                AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$;
            CREATE TRIGGER refuse BEFORE UPDATE ON renewald.purchase FOR EACH ROW
                WHEN (OLD.user_id = 'user 7' AND NEW.state <> OLD.state)
                EXECUTE FUNCTION renewald.refuse()
            """)
        var settings = quickSettings()
        settings.lease = .seconds(1)
        let engine = RenewalEngine(settings, house.services(ledger), log: lines.logger)
        try await engine.run {
            try await house.fill(20)
            try await house.wait(untilThereAre: "SELECT FROM renewald.event HAVING count(*) = 19")
            try await house.fill(20, from: 21)
            try await house.wait(untilThereAre: "SELECT FROM renewald.event HAVING count(*) = 39")
            try await house.beside.script("DROP TRIGGER refuse ON renewald.purchase")
            try await house.wait(untilThereAre: "SELECT FROM renewald.event HAVING count(*) = 40")
            await lines.wait(for: "database_relents")
        }
        await ledger.close()
        #expect(lines.count(of: "database_refuses") == 1)
        #expect(lines.count(of: "database_relents") == 1)
    }

    /// One row that cannot be read is set aside; its neighbours go on.
    @Test(arguments: [
        "UPDATE renewald.purchase SET doubt = 'nonsense', doubt_since = now() WHERE user_id = 'user 7'",
        "UPDATE renewald.purchase SET lapse = 'nonsense' WHERE user_id = 'user 7'",
        """
        ALTER TABLE renewald.purchase ALTER product DROP NOT NULL;
        UPDATE renewald.purchase SET product = NULL WHERE user_id = 'user 7'
        """,
        """
        ALTER TABLE renewald.purchase DROP CONSTRAINT purchase_state_check;
        UPDATE renewald.purchase SET state = 'nonsense' WHERE user_id = 'user 7'
        """,
        """
        DELETE FROM renewald.credential USING renewald.purchase
        WHERE credential.id = purchase.id AND purchase.user_id = 'user 7'
        """,
    ])
    func aRowThatCannotBeReadIsSetAside(_ script: String) async throws {
        let house = try await House(role: "renewald_worker")
        try await house.fill(50)
        try await house.beside.script(script)
        let ledger = house.newLedger()
        let engine = RenewalEngine(quickSettings(), house.services(ledger), log: quiet)
        #expect(try await engine.run(.onePass(limit: nil)).checked == 49)
        await ledger.close()
        #expect(
            try await house.number(
                """
                SELECT count(*) FROM renewald.purchases
                WHERE user_id = 'user 7' AND next_check_at IS NULL
                    AND problem LIKE 'set_aside: its row cannot be read (column %'
                """) == 1)
    }
}

/// Something that is broken by hand.
struct Breakage: Sendable, CustomStringConvertible {
    enum Kind: Sendable { case rights, schema }
    let script: String
    /// What is named.
    let object: String
    let kind: Kind

    init(_ script: String, _ object: String, _ kind: Kind) {
        self.script = script
        self.object = object
        self.kind = kind
    }

    var description: String { script }
}

/// What an engine logs, by topic.
final class Lines: Sendable {
    private let topics = Mutex<[String]>([])
    private let (news, teller) = AsyncStream.makeStream(of: Void.self)

    var logger: Logger {
        Logger(label: "test") { _ in Handler(lines: self) }
    }

    func count(of topic: String) -> Int { topics.withLock { $0.count { $0 == topic } } }

    func wait(for topic: String) async {
        for await _ in news where count(of: topic) > 0 { return }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard case .string(let topic)? = event.metadata?[LogField.topic] else { return }
            lines.topics.withLock { $0.append(topic) }
            lines.teller.yield()
        }
    }
}
