import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing

/// A database that 0.1 has filled is brought up to date while the backend goes on.
@Suite(.serialized)
struct UpgradeTests {
    private static let crowd = 20_000

    @Test(.timeLimit(.minutes(5)))
    func nothingIsLostAndNothingIsToldTwice() async throws {
        try await onStage { stage in
            for store in ["apple", "google", "amazon"] {
                let made = try await stage.buy(store, count: 20)
                try await stage.submit(made, store) { "\(store) \($0)" }
            }
            #expect(try await stage.renewald("once").exit == .code(0))
            try await stage.becomeSchema1()
            try await stage.fill(Self.crowd)
            let told = try await stage.value("SELECT count(*) FROM renewald.events")
            #expect(told == "\(Self.crowd + 60)")
            let refused = try await stage.renewald("once")
            #expect(refused.exit == .code(78))
            #expect(refused.standardError.contains("is version 1, this program needs"))
            #expect(refused.standardError.contains("run `renewald migrate`"))

            let bought = try await stage.buy("google", count: 3000)
            let heard = try await underLoad(of: bought, on: stage) {
                let ended = try await stage.renewald("migrate")
                #expect(ended.exit == .code(0), "\(ended.standardError)")
            }
            print("accepted \(heard.accepted.count), read \(heard.reads), \(heard.refusals)")
            #expect(heard.givenUp == 0 && heard.wrongReads == 0)
            #expect(heard.accepted.count > 100 && heard.reads > 100)

            // All that was there and all that was accepted is there, once.
            let users = try await stage.database.query(
                PostgresStatement("SELECT user_id FROM renewald.purchases WHERE state = 'new'"))
            #expect(try Set(users.rows.map { try $0.text("user_id") }) == heard.accepted)
            #expect(users.rows.count == heard.accepted.count)
            for (table, rule) in [("purchases", "state = 'active'"), ("entitlements", "active")] {
                let count = "SELECT count(*) FROM renewald.\(table) WHERE \(rule)"
                #expect(try await stage.value(count) == "\(Self.crowd + 60)", "\(table)")
            }
            try await theFirstPassTellsOnlyWhatIsNew(stage, heard.accepted)
        }
    }

    /// A worker that was upgraded before the schema says what to do, and works when it is done.
    @Test func aWorkerWaitsForTheSchemaThatItNeeds() async throws {
        try await onStage { stage in
            try await stage.script(
                """
                DELETE FROM renewald.migration WHERE version >= 20;
                DROP TABLE renewald.every_shard, renewald.waiting_hint;
                ALTER TABLE renewald.unclaimed_hint DROP COLUMN known_as;
                DROP INDEX renewald.shadow_difference_id, renewald.schedule_suspects;
                DROP FUNCTION renewald.move_purchase, renewald.lock_places, renewald.lock_holders,
                    renewald.lock_free, renewald.held_news, renewald.stays_heard,
                    renewald.hand_over_claimed, renewald.touch;
                ALTER TABLE renewald.claimant DROP COLUMN product, DROP COLUMN store_user_id;
                ALTER TABLE renewald.credential DROP COLUMN submitted_at
                """)
            let sentence = "is version 19, this program needs 26 or newer: run `renewald migrate`"
            for command in ["run", "doctor"] {
                let refused = try await stage.renewald(command)
                #expect(refused.exit == .code(78))
                let told = refused.standardOutput + refused.standardError
                #expect(told.contains(sentence), "\(told)")
            }

            let migrated = try await stage.renewald("migrate")
            #expect(migrated.exit == .code(0), "\(migrated.standardError)")
            #expect(migrated.standardOutput.contains("is now version 27"))
            let daemon = try stage.daemon()
            try await stage.grant(a: "google", to: "ann")
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    /// Debian's PostgreSQL has no Citus.
    @Test func aDatabaseWithoutCitusIsLeftAsItIs() async throws {
        try await onStage { stage in
            try await stage.script("DROP SCHEMA renewald CASCADE")
            let refused = try await stage.renewald("migrate", "--citus")
            #expect(refused.exit == .code(78))
            #expect(
                refused.standardError.contains("has no extension citus: CREATE EXTENSION citus"))
            #expect(try await stage.value("SELECT to_regnamespace('renewald')") == "")
        }
    }

    /// A worker that a migration has passed by lets others take over at once, and says why.
    @Test func aWorkerLeavesASchemaThatDoesNotServeIt() async throws {
        try await onStage { stage in
            try stage.configure("[metrics]\nlisten = \"127.0.0.1:0\"")
            let daemon = try stage.daemon()
            let line = try await daemon.line { $0.contains("metrics are served on ") }
            let port = try #require(line.firstMatch(of: /port (\d+)/)?.1)
            let owned = "SELECT count(*) FROM renewald.shard WHERE owner IS NOT NULL"
            try await stage.wait { try await stage.value(owned) != "0" }
            func ready() async throws -> String {
                try await ChildProcess.run(
                    "curl", ["-s", "http://127.0.0.1:\(port)/readyz"]
                ).standardOutput
            }
            try await stage.wait { try await ready() == "ok\n" }
            try await stage.script(
                "INSERT INTO renewald.migration (version, serves) VALUES (999, 999)")
            try await stage.wait { try await stage.value(owned) == "0" }
            let told = try await ready()
            #expect(told.contains("is version 999, newer than the"), "\(told)")
            let refused = try await stage.renewald("migrate")
            #expect(refused.exit == .code(78))
            #expect(refused.standardError.contains("which it does not serve"))

            try await stage.script(
                "UPDATE renewald.migration SET serves = 1 WHERE version = 999")
            let served = try await stage.renewald("migrate")
            #expect(served.exit == .code(0), "\(served.standardError)")
            #expect(served.standardOutput.contains("and serves it: there is nothing to do"))
            try await stage.wait { try await ready() == "ok\n" }
            try await stage.wait { try await stage.value(owned) != "0" }
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    /// Everything whose store is there is asked about at once.
    private func theFirstPassTellsOnlyWhatIsNew(
        _ stage: Stage, _ new: Set<String>
    ) async throws {
        let calls = try await stage.questions()
        try await stage.script(
            """
            UPDATE renewald.schedule SET due_at = now() FROM renewald.purchase
            WHERE purchase.shard = schedule.shard AND purchase.id = schedule.id
              AND purchase.user_id NOT LIKE 'crowd %'
            """)
        let ended = try await stage.renewald("once")
        #expect(ended.exit == .code(0), "\(ended.standardError)")
        #expect(try await stage.questions() >= calls + 60 + new.count)
        let events = try await stage.database.query(
            PostgresStatement(
                """
                SELECT concat_ws(' ', kind, reason) AS what, user_id FROM renewald.events
                ORDER BY id OFFSET \(Self.crowd + 60)
                """))
        #expect(try events.rows.allSatisfy { try $0.text("what") == "grant purchased" })
        #expect(try Set(events.rows.map { try $0.text("user_id") }) == new)
        #expect(events.rows.count == new.count)
        #expect(
            try await stage.value("SELECT count(*) FROM renewald.purchases WHERE problem <> ''")
                == "0")
    }

    /// Lets four writers and two readers work from before `work` until after it.
    private func underLoad(
        of bought: [Stage.Made], on stage: Stage, _ work: () async throws -> Void
    ) async throws -> Backend.Heard {
        let backend = Backend(stage.conninfo, bought, readable: Self.crowd)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            // Also where a wait gives up: the readers would go on for ever.
            defer { backend.stop() }
            for _ in 0..<4 { tasks.addTask { await backend.write() } }
            for _ in 0..<2 { tasks.addTask { await backend.read() } }
            try await stage.wait {
                backend.heard.accepted.count > 50 && backend.heard.reads > 50
            }
            try await work()
            let enough = backend.heard.accepted.count + 50
            try await stage.wait { backend.heard.accepted.count > enough || backend.isDone }
            backend.stop()
            try await tasks.waitForAll()
        }
        return backend.heard
    }
}

/// A backend that submits and reads all the time.
private final class Backend: Sendable {
    /// What it has been told.
    struct Heard {
        /// Users whose purchase was taken in.
        var accepted: Set<String> = []
        var refusals: [String: Int] = [:]
        var reads = 0
        var wrongReads = 0
        var givenUp = 0
    }

    private struct State {
        var heard = Heard()
        var submitted = 0
        var isOver = false
    }

    private let conninfo: String
    private let bought: [Stage.Made]
    private let readable: Int
    private let state = Mutex(State())
    private static let triesOfOne = 100

    init(_ conninfo: String, _ bought: [Stage.Made], readable: Int) {
        self.conninfo = conninfo
        self.bought = bought
        self.readable = readable
    }

    var heard: Heard { state.withLock(\.heard) }
    func stop() { state.withLock { $0.isOver = true } }
    private var isOver: Bool { state.withLock(\.isOver) }
    /// Whether all that was bought is submitted, as on a busy machine.
    var isDone: Bool { state.withLock { $0.submitted > bought.count } }

    func write() async {
        let connection = session()
        while !isOver {
            let number = state.withLock { state in
                defer { state.submitted += 1 }
                return state.submitted
            }
            guard number < bought.count else { break }
            await submit(bought[number], "new \(number)", connection)
        }
        await connection.close()
    }

    func read() async {
        let connection = session()
        var number = 0
        while !isOver {
            number += 1
            await read("crowd \(number % readable + 1)", connection)
        }
        await connection.close()
    }

    private func session() -> PostgresConnection {
        PostgresConnection(PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60)))
    }

    /// What the database refuses is tried again.
    private func submit(
        _ made: Stage.Made, _ user: String, _ connection: PostgresConnection
    ) async {
        for _ in 0..<Self.triesOfOne {
            do {
                _ = try await connection.query(
                    PostgresStatement(
                        "SELECT renewald.submit($1, 'google', $2, $3, $4)",
                        [.text(user), .text(Stage.app), .text(made.product), .text(made.token)],
                        name: "submit"))
                return state.withLock { _ = $0.heard.accepted.insert(user) }
            } catch {
                state.withLock { $0.heard.refusals["submit: \(error)", default: 0] += 1 }
            }
        }
        state.withLock { $0.heard.givenUp += 1 }
    }

    private func read(_ user: String, _ connection: PostgresConnection) async {
        do {
            let has = try await connection.query(
                PostgresStatement(
                    "SELECT renewald.has($1, 'monthly') AS has", [.text(user)], name: "has"))[0]
                .bool("has")
            state.withLock {
                $0.heard.reads += 1
                if !has { $0.heard.wrongReads += 1 }
            }
        } catch {
            state.withLock { $0.heard.refusals["has: \(error)", default: 0] += 1 }
        }
    }
}

extension Stage {
    fileprivate func grant(a store: String, to user: String) async throws {
        try await submit(try await buy(store, count: 1), store) { _ in user }
        try await wait {
            try await value(
                "SELECT count(*) FROM renewald.events WHERE user_id = $1", [.text(user)]) == "1"
        }
    }

    /// The first migration, which 0.1 has shipped.
    private static var firstMigration: String {
        get throws {
            let root = URL(filePath: #filePath)
                .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            return try String(
                contentsOf: root.appending(
                    path: "Sources/Ledger/Migrations/v0001_create_renewald.sql"), encoding: .utf8)
        }
    }

    /// Turns the schema into that of 0.1, with all that 0.1 would know.
    func becomeSchema1() async throws {
        try await script("ALTER SCHEMA renewald RENAME TO later; CREATE SCHEMA renewald")
        try await script(
            """
            CREATE TABLE renewald.migration (
                version int4 PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
            """)
        try await script(try Self.firstMigration)
        try await script(
            """
            INSERT INTO renewald.migration (version) VALUES (1);
            TRUNCATE renewald.shard, renewald.event_counter;
            DO $$
            DECLARE
                kept record;
            BEGIN
                FOR kept IN
                    SELECT first.relname, string_agg(quote_ident(attname), ', ') AS names
                    FROM pg_class AS first
                    JOIN pg_attribute AS own ON own.attrelid = first.oid AND attnum > 0
                    WHERE relnamespace = 'renewald'::regnamespace AND relkind IN ('r', 'p')
                      AND NOT relispartition AND relname <> 'migration'
                      AND attgenerated = ''
                    GROUP BY first.relname
                LOOP
                    EXECUTE format('INSERT INTO renewald.%1$I (%2$s) OVERRIDING SYSTEM VALUE '
                        'SELECT %2$s FROM later.%1$I', kept.relname, kept.names);
                END LOOP;
            END $$;
            SELECT setval('renewald.purchase_id', (SELECT max(id) FROM renewald.purchase));
            SELECT setval(pg_get_serial_sequence('renewald.app', 'lane'), 10);
            DROP SCHEMA later CASCADE
            """)
    }

    /// Users who have what no store will be asked about soon.
    func fill(_ count: Int) async throws {
        try await script(
            """
            SELECT count(renewald.submit(
                'crowd ' || n, 'google', '\(Self.app)', 'monthly', 'crowd token ' || n))
            FROM generate_series(1, \(count)) AS n;
            UPDATE renewald.schedule SET due_at = now() + interval '10 days', checked_at = now()
            FROM renewald.purchase
            WHERE purchase.shard = schedule.shard AND purchase.id = schedule.id AND state = 'new';
            INSERT INTO renewald.entitlement (shard, user_id, entitlement, active, expires_at,
                in_grace, reason, store, product, purchase_id)
            SELECT shard, user_id, 'monthly', true, now() + interval '10 days', false, 'purchased',
                'google', 'monthly', id
            FROM renewald.purchase WHERE state = 'new';
            INSERT INTO renewald.event (shard, key, id, kind, reason, user_id, entitlement,
                purchase_id, purchase_version, store, app, product, effective_at)
            SELECT shard, gen_random_uuid(),
                last_id + row_number() OVER (), 'grant', 'purchased', user_id, 'monthly', id, 0,
                'google', '\(Self.app)', 'monthly', now()
            FROM renewald.purchase, renewald.event_counter WHERE state = 'new';
            UPDATE renewald.event_counter SET last_id = (SELECT max(id) FROM renewald.event);
            UPDATE renewald.purchase SET environment = 'production', state = 'active',
                access = 'granted', expires_at = now() + interval '10 days',
                paid_through = now() + interval '10 days', holding_entitlements = '{monthly}',
                holding_products = '{monthly}',
                holding_ends =
                    ARRAY[extract(epoch FROM now() + interval '10 days') * 1000000]::int8[]
            WHERE state = 'new'
            """)
    }
}
