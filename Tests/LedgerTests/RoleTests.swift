import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

@Suite(.serialized) struct RoleTests {
    @Test func anAppMayCallFiveFunctionsAndReadSevenViewsAndNothingElse() async throws {
        let stage = try await Stage()
        let relations = try await stage.list(
            """
            SELECT relname || ' ' || privilege FROM pg_class, unnest(ARRAY[
                'SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'])
                AS privilege
            WHERE relnamespace = 'renewald'::regnamespace AND relkind IN ('r', 'v')
                AND has_table_privilege('renewald_app', pg_class.oid, privilege)
            ORDER BY 1
            """)
        #expect(
            relations == [
                "entitlements SELECT", "events SELECT", "held SELECT", "offers SELECT",
                "purchases SELECT",
                "refund_requests SELECT",
                "unhandled_news SELECT",
            ])
        let functions = try await stage.list(
            """
            SELECT proname::text FROM pg_proc WHERE pronamespace = 'renewald'::regnamespace
                AND has_function_privilege('renewald_app', oid, 'EXECUTE') ORDER BY 1
            """)
        #expect(
            functions == [
                "answer_refund", "events_after", "has", "has", "has", "submit", "submit", "submit",
                "submit_many",
            ])
        let sequences = try await stage.list(
            """
            SELECT relname::text FROM pg_class
            WHERE relnamespace = 'renewald'::regnamespace AND CASE WHEN relkind = 'S'
                THEN has_sequence_privilege('renewald_app', oid, 'USAGE, SELECT, UPDATE') END
            """)
        #expect(sequences == [])
        #expect(
            try await stage.list(
                "SELECT has_schema_privilege('renewald_app', 'renewald', 'CREATE')::text")
                == ["false"])
    }

    @Test func anAppDoesItsWorkAsThatRole() async throws {
        let stage = try await Stage()
        let app = stage.session()
        try await app.script("SET ROLE renewald_app")
        #expect(try await stage.submit("ann", "token", on: app) == 1)
        for read in [
            "SELECT renewald.has('ann', 'pro')", "SELECT * FROM renewald.events_after(0)",
            "SELECT * FROM renewald.purchases", "SELECT * FROM renewald.entitlements",
            "SELECT * FROM renewald.events", "SELECT * FROM renewald.offers",
            "SELECT * FROM renewald.unhandled_news",
            "SELECT * FROM renewald.refund_requests",
        ] {
            try await app.query(PostgresStatement(read))
        }
        for forbidden in [
            "SELECT token FROM renewald.credential", "SELECT * FROM renewald.purchase",
            "SELECT token FROM renewald.refund_request",
            "UPDATE renewald.refund_rule SET answer = 'policy'",
            "UPDATE renewald.shard SET epoch = 0",
            "SELECT renewald.wake(0::int2, 1::int2, 1, '0 s')",
            "SELECT renewald.require(true, 'nothing')",
            "DELETE FROM renewald.events", "CREATE TABLE renewald.mine (one int)",
        ] {
            do {
                try await app.query(PostgresStatement(forbidden))
                Issue.record("not refused: \(forbidden)")
            } catch {
                #expect(error.sqlState == "42501", "\(forbidden)")
            }
        }
    }

    @Test func aWorkerDoesTheDaemonsWorkAsThatRole() async throws {
        let stage = try await Stage()
        let ledger = stage.ledger
        for connection in [ledger.reads, ledger.writes] {
            try await connection.script("SET ROLE renewald_worker")
        }
        try await ledger.requireFittingSchema()
        _ = try await ledger.configure(
            [AppKey(store: .apple, id: "com.example.other")], by: .random())
        let lease = try await stage.takeAll()
        #expect(try await ledger.beat(lease.worker, name: "one", lease: .seconds(60)) == 1)
        #expect(try await ledger.renew(lease, for: .seconds(60)).count == 256)
        let claims = try await stage.claims(of: ["ann"], lease)
        let claim = try #require(claims.first)
        #expect(try await ledger.mark([claim.shard: [claim.purchase.id]], under: lease).count == 1)
        let report = try await ledger.commit(
            [outcome(claim, inForce(claim))], under: lease, at: claim.claimedAt)
        #expect(report.events.count == 1)
        _ = try await ledger.claims(ofUser: "ann")
        _ = try await ledger.events(after: 0, limit: 10)
        _ = try await ledger.lastEventID()
        _ = try await ledger.reserveCalls([
            CallRequest(.seconds(1), of: "bucket", within: .seconds(60))
        ])
        try await ledger.block("bucket", for: .seconds(1))
        #expect(try await ledger.status().apps.count == 2)
        try await ledger.follow(RefundRule())
        _ = try await ledger.refundRound(of: [claim.purchase.app], under: RefundRule())
        try await ledger.release(lease)
        try await ledger.leave(lease.worker)
        #expect(try await stage.broken() == [])
    }

    /// Every table, view and function of the schema, but for the few that the contract names.
    @Test func anAppIsRefusedEverythingElse() async throws {
        let stage = try await Stage()
        let relations = try await stage.list(
            """
            SELECT relname::text FROM pg_class
            WHERE relnamespace = 'renewald'::regnamespace AND relkind IN ('r', 'v', 'p')
            """)
        #expect(relations.count > 30)
        let views: Set = [
            "entitlements", "events", "held", "offers", "purchases", "refund_requests",
            "unhandled_news",
        ]
        var attempts = relations.flatMap { name -> [String] in
            [
                "DELETE FROM renewald.\(name)", "INSERT INTO renewald.\(name) DEFAULT VALUES",
                "CREATE RULE mine AS ON INSERT TO renewald.\(name) DO NOTHING",
            ] + (views.contains(name) ? [] : ["SELECT FROM renewald.\(name)"])
        }
        attempts += try await stage.list(
            """
            SELECT format('SELECT renewald.%I(%s)', proname,
                (SELECT string_agg(format('NULL::%s', format_type(type, NULL)), ', ')
                 FROM unnest(proargtypes) AS type))
            FROM pg_proc WHERE pronamespace = 'renewald'::regnamespace AND NOT proisstrict
                AND provariadic = 0 AND proname NOT IN (
                'answer_refund', 'events_after', 'has', 'submit', 'submit_many')
            """)
        attempts += [
            "CREATE FUNCTION renewald.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "DROP SCHEMA renewald CASCADE", "GRANT renewald_worker TO renewald_app",
            "SET ROLE renewald_worker", "SELECT nextval('renewald.purchase_id')",
        ]
        for role in ["renewald_app", "renewald_stranger"] {
            try await stage.beside.script(
                """
                DO $$ BEGIN CREATE ROLE renewald_stranger; EXCEPTION
                    WHEN duplicate_object OR unique_violation THEN NULL; END $$
                """)
            let session = try await login(in: role, stage)
            let more = role == "renewald_app" ? [] : views.map { "SELECT FROM renewald.\($0)" }
            await expectRefusals(of: attempts + more, session)
            await session.close()
        }
    }

    /// What was told stays as it was told, and who paid stays known.
    @Test func aWorkerRewritesNoHistoryAndOwnsNothing() async throws {
        let stage = try await Stage()
        let session = try await login(in: "renewald_worker", stage)
        await expectRefusals(
            of: [
                "UPDATE renewald.event SET reason = 'manual'", "DELETE FROM renewald.event",
                "UPDATE renewald.evidence SET at = now()", "DELETE FROM renewald.evidence",
                "DELETE FROM renewald.purchase", "DELETE FROM renewald.credential",
                "DELETE FROM renewald.entitlement", "DELETE FROM renewald.schedule",
                "UPDATE renewald.events SET user_id = 'eve'", "DELETE FROM renewald.events",
                "UPDATE renewald.entitlements SET active = true",
                "DELETE FROM renewald.entitlements", "DELETE FROM renewald.offers",
                "INSERT INTO renewald.migration (version) VALUES (99)",
                "DELETE FROM renewald.migration", "TRUNCATE renewald.event",
                "DROP TABLE renewald.event", "ALTER TABLE renewald.event ADD mine int",
                "CREATE TABLE renewald.mine (one int)", "CREATE ROLE another",
                "DROP SCHEMA renewald CASCADE",
                "CREATE RULE mine AS ON INSERT TO renewald.event "
                    + "DO NOTHING", "COPY renewald.event TO PROGRAM 'true'",
                "SELECT pg_read_file('/etc/passwd')",
            ], session)
        await session.close()
        // Of all views, also of those to come.
        #expect(
            try await stage.list(
                """
                SELECT relname || ' ' || privilege
                FROM pg_class, unnest(ARRAY['INSERT', 'UPDATE', 'DELETE']) AS privilege
                WHERE relnamespace = 'renewald'::regnamespace AND relkind = 'v'
                    AND (has_table_privilege('renewald_worker', pg_class.oid, privilege)
                        OR has_table_privilege('renewald_app', pg_class.oid, privilege))
                """) == [])
    }

    /// Not by SET ROLE, which the session of a superuser may take back.
    private func login(in role: String, _ stage: Stage) async throws -> PostgresConnection {
        let name = "member_of_\(role)"
        try await stage.beside.script(
            """
            DO $$ BEGIN CREATE ROLE \(name) LOGIN IN ROLE \(role); EXCEPTION
                WHEN duplicate_object OR unique_violation THEN NULL; END $$
            """)
        return PostgresConnection(
            PostgresSettings(
                conninfo: stage.conninfo.replacing("user=postgres", with: "user=\(name)")))
    }

    private func expectRefusals(of attempts: [String], _ session: PostgresConnection) async {
        for attempt in attempts {
            do {
                try await session.query(PostgresStatement(attempt, isReadOnly: false))
                Issue.record("not refused: \(attempt)")
            } catch {
                // Of a view that takes no row at all nobody's rights are looked at.
                #expect(["42501", "55000"].contains(error.sqlState?.rawValue), "\(attempt)")
            }
        }
    }

    @Test func neitherOwnsAnything() async throws {
        let stage = try await Stage()
        let owned = try await stage.list(
            """
            SELECT nspname::text FROM pg_namespace JOIN pg_roles ON pg_roles.oid = nspowner
            WHERE rolname LIKE 'renewald\\_%'
            UNION ALL
            SELECT relname::text FROM pg_class JOIN pg_roles ON pg_roles.oid = relowner
            WHERE rolname LIKE 'renewald\\_%'
            UNION ALL
            SELECT proname::text FROM pg_proc JOIN pg_roles ON pg_roles.oid = proowner
            WHERE rolname LIKE 'renewald\\_%'
            UNION ALL
            SELECT rolname::text FROM pg_roles
            WHERE rolname LIKE 'renewald\\_%' AND (rolsuper OR rolcreaterole OR rolcreatedb)
            """)
        #expect(owned == [])
    }
}
