import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

@Suite(.serialized) struct RoleTests {
    @Test func anAppMayCallFourFunctionsAndReadSevenViewsAndNothingElse() async throws {
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
        _ = try await ledger.reserveCalls(
            from: "bucket", for: .seconds(1), within: .seconds(60))
        try await ledger.block("bucket", for: .seconds(1))
        #expect(try await ledger.status().apps.count == 2)
        try await ledger.follow(RefundRule())
        _ = try await ledger.refundRound(of: [claim.purchase.app], under: RefundRule())
        try await ledger.release(lease)
        try await ledger.leave(lease.worker)
        #expect(try await stage.broken() == [])
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
