import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

/// What `renewald plan` reads: the fleet as counts.
@Suite(.serialized) struct FleetOutlineTests {
    private static let app = AppKey(store: .google, id: "com.example.reader")

    /// So many purchases, as nobody ever submitted them: what a check would leave.
    private func fill(_ stage: Stage, _ count: Int) async throws {
        try await stage.submit("first", "first")
        try await stage.beside.script(
            """
            INSERT INTO renewald.purchase (
                shard, id, lane, user_id, product, kind, state, access, paid_through, expires_at,
                auto_renew, created_at, holding_entitlements, holding_products, holding_ends)
            SELECT
                n % 256, 1000 + n, 1, 'user ' || n, 'pro', 'auto_renewable',
                (ARRAY['active', 'active', 'active', 'grace', 'expired'])[1 + n % 5],
                CASE WHEN n % 5 = 4 THEN 'none' ELSE 'granted' END,
                now() + interval '1 minute' * (n % 43200), now() + interval '1 minute' * (n % 43200),
                n % 10 <> 1, now() - interval '30 days', '{}', '{}', '{}'
            FROM generate_series(1, \(count)) AS n;
            INSERT INTO renewald.schedule (shard, lane, due_at, id)
            SELECT
                n % 256, 1,
                CASE
                    WHEN n % 5 = 4 THEN '9999-12-31 00:00+00'
                    ELSE now() + least(
                        interval '1 minute' * (n % 43200) + interval '20 seconds',
                        interval '1 minute' * (10080 - n % 10080))
                END, 1000 + n
            FROM generate_series(1, \(count)) AS n;
            ANALYZE;
            """)
    }

    @Test func countsWhatStandsAlike() async throws {
        let stage = try await Stage()
        try await fill(stage, 5000)
        try await stage.submit("ann", "other", app: "com.example.other")
        var batch = ImportBatch()
        for number in 1...7 {
            batch.add(
                userID: UserID("\(number)"), store: "google", app: Self.app.id,
                product: "pro", token: StoreToken("waits \(number)"), storeUserID: nil)
        }
        _ = try await stage.ledger.takeIn(batch, isBaseline: true, from: nil) { _ in
            ImportPlace(reading: "")
        }
        let before = try await stage.everything()
        let outlines = try await stage.ledger.fleetOutlines(of: [Self.app])
        #expect(try await stage.everything() == before)
        let other = AppKey(store: .google, id: "com.example.other")
        #expect(outlines[other]?.purchases == 1 && outlines[other]?.groups == [])
        let fleet = try #require(outlines[Self.app])
        #expect(fleet.purchases == 5008 && fleet.waiting == 7)
        func count(_ state: PurchaseState) -> Int {
            fleet.groups.filter { $0.state == state }.reduce(0) { $0 + $1.count }
        }
        #expect(count(.new) == 1 && count(.active) == 3000)
        #expect(count(.grace) == 1000 && count(.expired) == 1000)
        let leaving = fleet.groups.filter { !$0.renews }.reduce(0) { $0 + $1.count }
        #expect(leaving == 500)
        for group in fleet.groups where group.state == .expired { #expect(group.due == nil) }
        // Those that are asked about because they end, or in the hour before.
        let timed = fleet.groups.filter { $0.dueAfterEnd != nil }
        #expect(!timed.isEmpty)
        #expect(timed.allSatisfy { $0.state == .active })
        for group in timed {
            let after = try #require(group.dueAfterEnd)
            #expect(after > .hours(-1) && after <= .seconds(20))
        }
        // An age of a month, and of no day.
        #expect(fleet.groups.filter { $0.age < .days(1) }.map(\.state) == [.new])
        await stage.close()
    }

    @Test func isReadByARoleThatMayOnlyRead() async throws {
        let stage = try await Stage()
        try await fill(stage, 10)
        try await stage.beside.script(
            """
            DO $$ BEGIN CREATE ROLE renewald_plan_reader; EXCEPTION
                WHEN duplicate_object OR unique_violation THEN NULL; END $$;
            GRANT USAGE ON SCHEMA renewald TO renewald_plan_reader;
            GRANT SELECT ON ALL TABLES IN SCHEMA renewald TO renewald_plan_reader;
            """)
        let reader = PostgresLedger(
            PostgresSettings(
                conninfo: stage.conninfo + " options='-c role=renewald_plan_reader "
                    + "-c default_transaction_read_only=on'", statementTimeout: .seconds(60),
                requiresReadWrite: false))
        #expect(try await reader.fleetOutlines(of: [Self.app])[Self.app]?.purchases == 11)
        await reader.close()
        try await stage.beside.script(
            "REVOKE SELECT ON renewald.purchase FROM renewald_plan_reader")
        let stranger = PostgresLedger(
            PostgresSettings(
                conninfo: stage.conninfo + " options='-c role=renewald_plan_reader'",
                statementTimeout: .seconds(60)))
        await #expect(throws: LedgerError.self) {
            try await stranger.fleetOutlines(of: [Self.app])
        }
        await stranger.close()
        await stage.close()
    }

    @Test func knowsNothingOfAnEmptyFleet() async throws {
        let stage = try await Stage()
        #expect(try await stage.ledger.fleetOutlines(of: [Self.app]).isEmpty)
        await stage.close()
    }
}
