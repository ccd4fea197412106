import Postgres
import Renewal
import Testing

@testable import Ledger

/// Which column holds what. Reading and writing go by one list, so a fact in the wrong column would
/// come back as if nothing were wrong: each is looked at where the schema says that it is.
@Suite(.serialized) struct ColumnTests {
    /// Each different from all others of its type.
    private var facts: Facts {
        var facts = Facts(
            storedProduct: "a product", state: .grace, access: .held, lossReason: .refunded,
            holdings: [
                Holding(entitlement: "gold", product: "a gold one", expiresAt: instant(5)),
                Holding(entitlement: "a \"quoted\" one", product: "{,}", expiresAt: nil),
            ])
        facts.environment = .sandbox
        facts.kind = .nonRenewing
        facts.paidThrough = instant(1)
        facts.expiresAt = instant(2)
        facts.autoRenew = true
        facts.orderID = "an order"
        facts.originalID = "an original id"
        facts.period = "a period"
        facts.phase = .introductory
        facts.group = "a group"
        facts.usedIntroductory = false
        facts.statedAt = instant(3)
        facts.signals = [.unacknowledged]
        facts.doubt = PendingDoubt(doubt: .gone, since: instant(4))
        facts.accountToken = "an account token"
        facts.ownership = .familyShared
        facts.commitmentEndsAt = instant(6)
        facts.renewsNext = false
        facts.gainReason = .resubscribed
        facts.heldSince = instant(7)
        facts.isBaseline = true
        return facts
    }

    private static let stored = [
        "access held", "account_token an account token", "auto_renew true",
        "baseline true",
        "commitment_ends_at 2026-01-07", "doubt gone", "doubt_since 2026-01-05",
        "environment sandbox",
        "expires_at 2026-01-03", "gain resubscribed",
        "held_at 2026-01-08",
        "holding_ends [1767657600000000, null]",
        #"holding_entitlements ["gold", "a \"quoted\" one"]"#,
        #"holding_products ["a gold one", "{,}"]"#, "kind non_renewing", "lapse refunded",
        "order_id an order", "original_id an original id", "ownership family_shared",
        "paid_through 2026-01-02", "period a period", "phase introductory", "product a product",
        "renews_next false", #"signals ["unacknowledged"]"#, "state grace", "stated_at 2026-01-04",
        "subscription_group a group", "used_introductory false",
    ]

    /// That many days after the beginning of 2026.
    private func instant(_ days: Int) -> Timestamp {
        Timestamp(microsecondsSinceEpoch: 1_767_225_600_000_000) + .days(days)
    }

    @Test func everyFactStandsInItsOwnColumn() async throws {
        let stage = try await Stage()
        try await stage.submit("ann", "token")
        let claim = try #require(try await stage.ledger.claims(ofUser: "ann").first)
        var batch = CommitBatch(lease: nil)
        let purchase = Purchase(
            id: claim.purchase.id, userID: "ann", app: claim.purchase.app, token: "token",
            createdAt: claim.purchase.createdAt, facts: facts)
        batch.purchases = [
            CommitBatch.RowID(shard: claim.shard, id: purchase.id): (claim.version, purchase)
        ]
        let statement = try #require(batch.purchaseStatement)
        try await stage.ledger.writes.pipeline([statement])
        let stored = try await stage.list(
            """
            SELECT key || ' ' || CASE WHEN value LIKE '2026-%' THEN left(value, 10) ELSE value END
            FROM renewald.purchase AS kept, jsonb_each_text(to_jsonb(kept))
            WHERE key <> ALL (ARRAY['shard', 'id', 'lane', 'user_id', 'created_at', 'version',
                'claimed_by', 'claimed_by_others'])
            ORDER BY key COLLATE "C"
            """)
        #expect(stored == Self.stored)
        // The list is complete: a column of the table that is in no list is not written.
        #expect(FactColumn.all.count == Self.stored.count)
        let read = try #require(try await stage.ledger.claims(ofUser: "ann").first)
        #expect(read.purchase.facts == facts)
    }

    /// Claims and books share their select; what one of them alone knows is left as it was.
    @Test func aClaimOfTheQueueIsThatOfTheUser() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let due = try #require(try await stage.claims(of: ["ann"], lease).first)
        let own = try #require(try await stage.ledger.claims(ofUser: "ann").first)
        #expect(own.purchase == due.purchase && own.version == due.version)
        #expect(own.shard == due.shard && own.lane == due.lane && own.dueAt == due.dueAt)
    }

    @Test func valuesGoByTheirNames() throws {
        let text = StatementText(
            Array(
                """
                -- One row for each.
                INSERT INTO renewald.kept ($columns, at)
                SELECT new.*, now() FROM unnest($rows) WITH ORDINALITY AS new (
                    shard int2, name text, number
                )
                WHERE $worker = $worker AND cardinality($name) > 0
                """.utf8))
        #expect(text.names == ["shard", "name", "worker"])
        #expect(
            text.sql == """
                -- One row for each.
                INSERT INTO renewald.kept (shard, name, at)
                SELECT new.*, now() FROM unnest($1::int2[], $2::text[]) WITH ORDINALITY AS new \
                (shard, name, number)
                WHERE $3 = $3 AND cardinality($2) > 0
                """)
        let fence = SQL.commitFence([
            "epoch": .int64s([7]), "worker": .null, "shard": .int16s([1]),
        ])
        #expect(fence.parameters == [.int16s([1]), .int64s([7]), .null])
    }
}
