import Postgres
import Renewal
import Testing

@testable import Ledger

/// What the rules about old answers and silence need is kept with the schedule, also of a check
/// that changes nothing else.
@Suite(.serialized) struct SilenceInTheLedgerTests {
    private let failure = Answer.failure(.unreachable(reason: "time-out"))

    private func commit(
        _ stage: Stage, _ lease: Lease, _ answer: (Claim) -> Answer
    ) async throws -> Claim {
        try await stage.makeAllDue()
        let claims = try await stage.due(lease)
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, answer($0)) }, under: lease, at: claims.latest)
        #expect(report.committed.count == claims.count)
        return try #require(try await stage.ledger.claims(ofUser: "ann").first)
    }

    @Test func remembersTheNewestStatementThoughNothingChanged() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let first = try #require(try await stage.claims(of: ["ann"], lease).first)
        let said = first.claimedAt
        var version: Int64?
        for (minutes, newest) in [(-30, -30), (-10, -10), (-20, -10), (-9, -9)] {
            let claim = try await commit(stage, lease) { claim in
                var observation = inForce(claim)
                observation.statedAt = said + .minutes(minutes)
                return .verdict(observation)
            }
            #expect(claim.statedAt == said + .minutes(newest), "\(minutes)")
            // Only the first has changed the purchase.
            #expect(version == nil || claim.version == version)
            version = claim.version
        }
        // A failure forgets nothing.
        let failed = try await commit(stage, lease) { _ in failure }
        #expect(failed.statedAt == said - .minutes(9))
        let old = try await commit(stage, lease) { claim in
            var observation = over(claim)
            observation.statedAt = said - .minutes(15)
            return .verdict(observation)
        }
        #expect(old.purchase.facts.access == .granted)
        #expect(try await stage.broken() == [])
    }

    @Test func remembersSinceWhenItAsksInVain() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        _ = try await stage.claims(of: ["ann"], lease)
        #expect(try await commit(stage, lease) { .verdict(inForce($0)) }.inVain == nil)
        let first = try #require(try await commit(stage, lease) { _ in failure }.inVain)
        #expect(first.since == first.lastAskedAt)
        let second = try #require(try await commit(stage, lease) { _ in failure }.inVain)
        #expect(second.since == first.since && second.lastAskedAt > first.lastAskedAt)
        #expect(try await commit(stage, lease) { .verdict(inForce($0)) }.inVain == nil)
    }

    /// What 0.1 was never to ask about again is asked about within a month, where Apple may reopen
    /// it; its other rows stay as they are.
    @Test func asksAgainAboutWhatAppleMayReopen() async throws {
        let rows = [
            ("apple", "auto_renewable", "expired", true),
            ("apple", "auto_renewable", "refunded", true),
            ("apple", "auto_renewable", "superseded", false),
            ("apple", "non_consumable", "refunded", false),
            ("google", "auto_renewable", "expired", false),
        ]
        let stage = try await Stage { connection in
            let scripts = [
                PackageResources.prepare_schema_sql, PackageResources.v0001_create_renewald_sql,
            ]
            for script in scripts {
                try await connection.script(String(decoding: script, as: UTF8.self))
            }
            try await connection.script("INSERT INTO renewald.migration (version) VALUES (1)")
            for (number, row) in rows.enumerated() {
                try await connection.script(
                    """
                    SELECT renewald.submit('u', '\(row.0)', 'app', 'p', 'token \(number)');
                    UPDATE renewald.purchase SET kind = '\(row.1)', state = '\(row.2)'
                    WHERE id = (SELECT max(id) FROM renewald.purchase)
                    """)
            }
            try await connection.script(
                "UPDATE renewald.schedule SET due_at = '9999-12-31 00:00+00'")
        }
        let due = try await stage.list(
            """
            SELECT (due_at BETWEEN now() - interval '1 hour' AND now() + interval '31 days')::text
            FROM renewald.schedule ORDER BY id
            """)
        #expect(due == rows.map { "\($0.3)" })
    }
}
