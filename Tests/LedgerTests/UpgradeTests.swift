import Postgres
import Renewal
import Testing

@testable import Ledger

/// A database that an older release has filled.
@Suite(.serialized) struct UpgradeTests {
    /// A schema of version 1, and what 0.1 has written into it.
    private func filled(_ sql: String) async throws -> Stage {
        try await Stage { connection in
            for script in [
                PackageResources.prepare_schema_sql, PackageResources.v0001_create_renewald_sql,
            ] {
                try await connection.script(String(decoding: script, as: UTF8.self))
            }
            try await connection.script("INSERT INTO renewald.migration (version) VALUES (1)")
            try await connection.script(sql)
        }
    }

    /// Ann's purchase in force, and what 0.1 gave bob of it with `shared = "allow"`: the same id.
    private static let shared = """
        SELECT renewald.submit('ann', 'google', 'app', 'pro', 'token');
        SELECT renewald.submit('bob', 'google', 'app', 'pro', 'token');
        INSERT INTO renewald.account SELECT renewald.shard_of('bob'), 'bob', 1;
        INSERT INTO renewald.purchase (shard, id, lane, user_id, product, claimed_by_others)
            SELECT renewald.shard_of('bob'), id, lane, 'bob', product, true FROM renewald.purchase;
        INSERT INTO renewald.credential (shard, id, token)
            SELECT renewald.shard_of('bob'), id, token FROM renewald.credential;
        INSERT INTO renewald.schedule (shard, lane, due_at, id)
            SELECT renewald.shard_of('bob'), lane, due_at, id FROM renewald.schedule;
        UPDATE renewald.claimant SET copy_id = id;
        UPDATE renewald.purchase SET environment = 'sandbox', state = 'active', access = 'granted',
            expires_at = '2030-01-01', holding_entitlements = '{pro}', holding_products = '{pro}',
            holding_ends = ARRAY[extract(epoch FROM '2030-01-01'::timestamptz) * 1000000]::int8[],
            claimed_by = NULL;
        INSERT INTO renewald.entitlement (shard, user_id, entitlement, active, expires_at, in_grace,
            reason, store, product, purchase_id)
            SELECT shard, user_id, 'pro', true, expires_at, false, 'purchased', 'google', 'pro', id
            FROM renewald.purchase;
        INSERT INTO renewald.event (shard, key, id, kind, reason, user_id, entitlement, purchase_id,
            purchase_version, store, app, product, effective_at)
            SELECT shard, gen_random_uuid(), row_number() OVER (), 'grant', 'purchased', user_id, 'pro',
                id, 0, 'google', 'app', 'pro', now()
            FROM renewald.purchase;
        UPDATE renewald.event_counter SET last_id = 2;
        INSERT INTO renewald.evidence (shard, purchase_id, user_id, kind, heard, rule, call_names,
            call_statuses, call_bytes, call_digests, state_before, state, access_before, access, product)
            SELECT shard, id, user_id, 'verdict', 'active', '', '{}', '{}', '{}', '{}', 'new', 'active',
                'none', 'granted', 'pro'
            FROM renewald.purchase;
        """

    @Test func eachPurchaseHasAnIDOfItsOwnFromThenOn() async throws {
        let stage = try await filled(Self.shared)
        #expect(try await stage.broken() == [])
        #expect(try await stage.number("SELECT count(DISTINCT id) FROM renewald.purchases") == 2)
        #expect(
            try await stage.list(
                """
                SELECT held.user_id || ' ' || held.environment FROM renewald.entitlements AS held
                JOIN renewald.purchases AS given
                    ON given.id = held.purchase_id AND given.user_id = held.user_id
                ORDER BY 1
                """) == ["ann sandbox", "bob sandbox"])
        // What was heard of it goes with it, and a further submit finds it.
        for user in ["ann", "bob"] {
            let history = try await stage.ledger.history(ofUser: UserID(user))
            #expect(history.purchases.map(\.evidence.count) == [1], "\(user)")
        }
        try await stage.beside.script(
            "UPDATE renewald.schedule SET due_at = now() + interval '1 day'")
        let before = try await stage.everything()
        for user in ["ann", "bob"] { try await stage.submit(user, "token", app: "app") }
        #expect(try await stage.everything() == before)
    }

    @Test func aReceiptKeepsItsPurchaseAndMayHaveAnother() async throws {
        let stage = try await filled(
            """
            SELECT renewald.submit('ann', 'apple', 'app', 'pro', 'MIIreceipt');
            SELECT renewald.submit('ann', 'apple', 'app', 'pro', '1000');
            SELECT renewald.submit('ann', 'google', 'app', 'pro', 'MIIreceipt');
            """)
        func submit(_ store: String, _ token: String, _ product: String) async throws -> Int64 {
            try await stage.submit("ann", token, store: store, app: "app", product: product)
        }
        #expect(try await submit("apple", "MIIreceipt", "pro") == 1)
        #expect(try await submit("apple", "MIIreceipt", "gold") > 3)
        #expect(try await submit("apple", "1000", "gold") == 2)
        #expect(try await submit("google", "MIIreceipt", "gold") == 3)
        #expect(try await stage.broken() == [])
    }
}
