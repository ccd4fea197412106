import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

/// The public SQL contract: views, functions, events.
@Suite(.serialized) struct ContractTests {
    private static let columns = TextTable(
        """
        view          columns
        entitlements  user_id entitlement active expires_at will_renew in_grace reason store product purchase_id updated_at environment
        events        id key created_at kind reason user_id entitlement purchase_id store app environment product order_id effective_at expires_at detail
        held          id held_at user_id entitlement reason purchase_id store app trip_id
        offers        user_id store app subscription_group introductory_eligible promotional_eligible reason as_of
        purchases     id user_id store app environment product kind state access paid_through expires_at auto_renew order_id original_id checked_at next_check_at problem created_at account_token ownership commitment_ends_at access_reason
        refund_requests  id store app purchase_id user_id order_id asked_at answer_by reason state answer answered_at outcome problem
        unhandled_news  source type count first_seen_at last_seen_at
        """)

    @Test func theViewsHaveTheColumnsThatAreDocumented() async throws {
        let stage = try await Stage()
        let found = try await stage.list(
            """
            SELECT relname || '  ' || string_agg(attname, ' ' ORDER BY attnum)
            FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0
            WHERE relnamespace = 'renewald'::regnamespace AND relkind = 'v'
            GROUP BY relname ORDER BY relname
            """)
        #expect(found.map(TextTable.cells) == Self.columns.rows)
        let types = try await stage.list(
            """
            SELECT format_type(atttypid, atttypmod) FROM pg_attribute
            WHERE attrelid = 'renewald.events'::regclass AND attname IN ('id', 'key', 'detail')
            ORDER BY attnum
            """)
        #expect(types == ["bigint", "uuid", "jsonb"])
    }

    /// What `psql` shows with `\d+` and `\df+`.
    @Test func everythingPublicIsExplained() async throws {
        let stage = try await Stage()
        let unexplained = """
            SELECT relname || '.' || attname FROM pg_class
            JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0
            WHERE relnamespace = 'renewald'::regnamespace AND relkind = 'v'
              AND (col_description(attrelid, attnum) IS NULL
                OR obj_description(pg_class.oid, 'pg_class') IS NULL)
            UNION ALL
            SELECT oid::regprocedure::text FROM pg_proc
            WHERE pronamespace = 'renewald'::regnamespace
              AND has_function_privilege('renewald_app', oid, 'EXECUTE')
              AND obj_description(oid, 'pg_proc') IS NULL
            """
        #expect(try await stage.list(unexplained) == [])
        try await stage.beside.script("COMMENT ON COLUMN renewald.held.reason IS NULL")
        #expect(try await stage.list(unexplained) == ["held.reason"])
    }

    @Test func theFunctionsHaveTheSignaturesThatAreDocumented() async throws {
        let stage = try await Stage()
        let found = try await stage.list(
            """
            SELECT proname || '(' || pg_get_function_arguments(oid) || ') '
                || pg_get_function_result(oid) || ' ' || provolatile::text
            FROM pg_proc WHERE pronamespace = 'renewald'::regnamespace
                AND proname IN ('submit', 'submit_many', 'has', 'events_after', 'answer_refund') ORDER BY 1
            """)
        #expect(
            found == [
                "answer_refund(id bigint, preference text, consumed_percent numeric DEFAULT "
                    + "NULL::numeric, delivered boolean DEFAULT true, sample_provided boolean "
                    + "DEFAULT false, customer_consented boolean DEFAULT false) void v",
                "events_after(cursor bigint, max_rows integer DEFAULT 1000) "
                    + "SETOF renewald.events s",
            ]
                + ["bigint", "text", "uuid"].map {
                    "has(user_id \($0), entitlement text) boolean s"
                }
                + ["bigint", "text", "uuid"].map {
                    "submit(user_id \($0), store text, app text, product text, token text, "
                        + "store_user_id text DEFAULT NULL::text) bigint v"
                } + [
                    "submit_many(purchases jsonb) TABLE(n integer, id bigint, error text) v"
                ])
    }

    @Test func hasAndTheViewsAgreeThroughAPurchasesLife() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        func has() async throws -> [String] {
            try await stage.list("SELECT renewald.has('ann', 'pro')::text")
        }
        #expect(try await has() == ["false"])
        var claim = try #require(try await stage.claims(of: ["ann"], lease).first)
        _ = try await stage.ledger.commit(
            [outcome(claim, inForce(claim))], under: lease, at: claim.claimedAt)
        #expect(try await has() == ["true"])
        #expect(
            try await stage.list(
                """
                SELECT concat_ws(' ', state, access, environment, kind, order_id, original_id,
                    auto_renew, next_check_at > now(), checked_at <= now(), problem)
                FROM renewald.purchases
                """) == ["active granted production auto_renewable order..1 order t t t"])
        try await stage.makeAllDue()
        claim = try #require(try await stage.due(lease).first)
        _ = try await stage.ledger.commit(
            [outcome(claim, over(claim))], under: lease, at: claim.claimedAt)
        #expect(try await has() == ["false"])
        #expect(
            try await stage.list("SELECT reason || active FROM renewald.entitlements")
                == ["cancelledfalse"])
        #expect(
            try await stage.list(
                """
                SELECT concat_ws(' ', id, kind, reason, entitlement, store, app, order_id, detail)
                FROM renewald.events_after(0)
                """) == [
                    "1 grant purchased pro google com.example.reader order..1 "
                        + #"{"heard": "active"}"#,
                    "2 revoke cancelled pro google com.example.reader order..1 "
                        + #"{"heard": "ended"}"#,
                ])
        #expect(
            try await stage.list("SELECT renewald.has(NULL, 'pro')::text") == ["false"])
    }

    /// The end of a period is a time to ask, and no answer: nobody is locked out in between.
    @Test func hasHoldsBeyondTheEndUntilTheStoreHasSpoken() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claim = try #require(try await stage.claims(of: ["ann"], lease).first)
        _ = try await stage.ledger.commit(
            [outcome(claim, inForce(claim))], under: lease, at: claim.claimedAt)
        try await stage.beside.script(
            """
            UPDATE renewald.purchase
            SET expires_at = now() - interval '2 hours', paid_through = now() - interval '2 hours';
            UPDATE renewald.entitlement SET expires_at = now() - interval '2 hours'
            """)
        #expect(
            try await stage.list(
                """
                SELECT concat_ws(' ', renewald.has(user_id, entitlement), active, expires_at < now())
                FROM renewald.entitlements
                """) == ["t t t"])
        #expect(try await stage.list("SELECT access FROM renewald.purchases") == ["granted"])
    }

    @Test func readsFromACursorAndNoMoreThanAsked() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "bob", "cid", "dee"], lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        let cases = TextTable(
            """
            call                      ids
            events_after(0)           1 2 3 4
            events_after(NULL)        1 2 3 4
            events_after(2)           3 4
            events_after(4)           -
            events_after(0, 2)        1 2
            events_after(1, NULL)     2 3 4
            events_after(-9)          1 2 3 4
            """)
        for row in cases.rows {
            #expect(
                try await stage.list(
                    "SELECT coalesce(string_agg(id::text, ' '), '-') FROM renewald.\(row[0])")
                    == [row[1]], "\(row[0])")
        }
        // Nothing would be read for ever: no consumer means that.
        for count in ["0", "-1"] {
            let refusal = await #expect(throws: PostgresError.self) {
                try await stage.list("SELECT id::text FROM renewald.events_after(1, \(count))")
            }
            #expect(
                refusal
                    == .rejected(
                        sqlState: .invalidParameter,
                        message: "renewald.events_after: max_rows is \(count), and at least 1 is "
                            + "needed", statement: 0))
        }
        // To raise the counter of events to such a cursor would leave no number for the next one.
        for (cursor, words) in [("5", "has lost events"), ("9e18::int8", "is no cursor of")] {
            let refusal = await #expect(throws: PostgresError.self) {
                try await stage.list("SELECT id::text FROM renewald.events_after(\(cursor))")
            }
            guard case .rejected(.eventsLost, let message, _) = refusal else {
                Issue.record("\(cursor): \(String(describing: refusal))")
                continue
            }
            #expect(message.contains(words), "\(message)")
        }
        #expect(try await stage.ledger.lastEventID() == 4)
        #expect(try await stage.ledger.events(after: 1, limit: 2).map(\.id) == [2, 3])
    }

    @Test func aCommitOfEventsWakesWhoListens() async throws {
        let stage = try await Stage()
        let listener = stage.session("listener")
        try await listener.listen([NotifyListener.events])
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann"], lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(try await listener.nextNotification(timeout: .seconds(60)) != nil)
    }

    @Test func theSameEventHasTheSameKeyAfterARestore() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "bob", "cid"], lease)
        let batch = try await stage.ledger.compose(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        struct Restore: Error { let keys: [String] }
        var keys: [[String]] = []
        for _ in 0..<2 {
            do {
                try await stage.beside.transaction { connection in
                    for statement in batch.statements { try await connection.query(statement) }
                    throw Restore(keys: try await keysOfEvents(connection))
                }
            } catch let restore as Restore {
                keys.append(restore.keys)
            }
        }
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        keys.append(try await keysOfEvents(stage.beside))
        #expect(Set(keys).count == 1)
        #expect(Set(keys[0]).count == 3)
        // Version 8 of RFC 9562: made from content.
        #expect(keys[0].allSatisfy { $0.dropFirst(14).first == "8" })
    }
}

private func keysOfEvents(_ connection: PostgresConnection) async throws -> [String] {
    try await connection.query(
        PostgresStatement("SELECT key::text AS key FROM renewald.events ORDER BY key")
    ).rows.map { try $0.text("key") }
}
