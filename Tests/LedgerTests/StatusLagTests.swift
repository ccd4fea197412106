import Postgres
import Renewal
import Testing

@testable import Ledger

/// How long stores knew before we did, as `status` shows it: by what has changed.
@Suite(.serialized) struct StatusLagTests {
    private func lags(_ stage: Stage) async throws -> [QueueStatus.ChangeLag] {
        try #require(try await stage.ledger.status().apps.first).lags
    }

    private func stage() async throws -> Stage {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "ben"], lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        return stage
    }

    /// The same, of users whose access has ended for that reason, so long before it was told.
    private func stage(revoked reason: String, ago: String = "3 seconds") async throws -> Stage {
        let stage = try await stage()
        try await script(
            stage,
            """
            UPDATE renewald.purchase SET created_at = created_at - interval '1 hour';
            UPDATE renewald.event SET kind = 'revoke', reason = '\(reason)',
                effective_at = created_at - interval '\(ago)'
            """)
        return stage
    }

    private func script(_ stage: Stage, _ text: String) async throws {
        for part in text.split(separator: ";") {
            _ = try await stage.beside.query(PostgresStatement(String(part)))
        }
    }

    /// What was imported waits its turn: that is no lag.
    @Test func aFirstGrantCountsFromTheSubmission() async throws {
        let stage = try await stage()
        let lags = try await lags(stage)
        #expect(lags.map(\.change) == ["purchase"] && lags.first?.lag.events == 2)
        #expect(try await stage.ledger.status().apps.first?.lag == nil, "no revoke")
        try await script(
            stage, "INSERT INTO renewald.backfill (lane, total) SELECT lane, 1 FROM renewald.app")
        #expect(try await self.lags(stage) == [])
        // What is submitted after the last batch is not imported.
        try await script(
            stage,
            """
            UPDATE renewald.backfill SET started_at = now() - interval '2 hours';
            INSERT INTO renewald.import (digest, reading, updated_at)
            VALUES (sha256(''), '', now() - interval '1 hour')
            """)
        #expect(try await self.lags(stage).map(\.change) == ["purchase"])
        try await script(stage, "UPDATE renewald.import SET updated_at = now()")
        #expect(try await self.lags(stage) == [])
    }

    @Test(arguments: [
        ("expired", "expiry"), ("cancelled", "expiry"), ("refunded", "refund"),
        ("payment_failed", "payment_failure"), ("paused", "other"),
    ])
    func aRevokeCountsFromTheStoresDate(reason: String, change: String) async throws {
        let stage = try await stage(revoked: reason)
        let lag = QueueStatus.Lag(events: 2, p50: .seconds(3), p99: .seconds(3))
        #expect(try await lags(stage) == [.init(change: change, lag: lag)])
        #expect(try await stage.ledger.status().apps.first?.lag == lag)
    }

    /// What the policy gives after the end is no lag.
    @Test(arguments: [
        ("expired", 2, 1), ("cancelled", 3, 0), ("cancelled", 4, 3), ("refunded", 2, 3),
    ])
    func leniencyIsNoLag(reason: String, leniency: Int, seconds: Int) async throws {
        let stage = try await stage(revoked: reason)
        var policy = Policy()
        policy.leniency = .seconds(leniency)
        let app = try #require(try await stage.ledger.status(under: policy).apps.first)
        #expect(app.lag?.p99 == .seconds(seconds))
    }

    /// Who was still to pay was not waited for.
    @Test func aPaymentInCashCountsForNothing() async throws {
        let stage = try await stage()
        try await script(
            stage,
            """
            INSERT INTO renewald.evidence (
                shard, purchase_id, user_id, kind, heard, rule, call_names, call_statuses,
                call_bytes, call_digests, state_before, state, access_before, access, product, at)
            SELECT shard, purchase_id, user_id, 'verdict', '', '', '{}', '{}', '{}', '{}', 'new',
                'pending', 'none', 'none', product, created_at - interval '1 second'
            FROM renewald.event WHERE user_id = 'ann'
            """)
        #expect(try await lags(stage).map(\.lag.events) == [1])
    }

    /// What we decide ourselves has no lag; what ended before it was submitted is history.
    @Test(arguments: [
        ("invalid", "3 seconds"), ("unverifiable", "3 seconds"), ("expired", "2 hours"),
    ])
    func whatIsNoDetectionIsNotCounted(reason: String, ago: String) async throws {
        let stage = try await stage(revoked: reason, ago: ago)
        #expect(try await lags(stage) == [])
        #expect(try await stage.ledger.status().apps.first?.lag == nil)
    }
}
