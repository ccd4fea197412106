import Engine
import Postgres
import Synchronization
import Testing

/// The schema is migrated while a worker is at work.
@Suite(.serialized) struct SchemaTests {
    private func worker(on house: House, _ lines: Lines) -> RenewalEngine {
        var settings = quickSettings()
        settings.poll = .milliseconds(20)
        settings.lease = .seconds(1)
        return RenewalEngine(settings, house.services(house.newLedger()), log: lines.logger)
    }

    @Test func aSchemaThatServesItNoMoreStopsAWorkerUntilItDoes() async throws {
        let (house, lines) = (try await House(), Lines())
        try await worker(on: house, lines).run {
            try await house.wait(
                untilThereAre: "SELECT FROM renewald.shard WHERE lease_until > now()")
            try await house.beside.script(
                "INSERT INTO renewald.migration (version, serves) VALUES (99, 99)")
            await lines.wait(for: "database_refuses")
            try await house.wait(
                untilThereAre: "SELECT FROM renewald.shard HAVING max(lease_until) < now()")
            try await house.wait(
                untilThereAre: "SELECT FROM renewald.worker HAVING max(seen_until) < now()")
            try await house.fill(20)
            #expect(house.asked.withLock { $0.isEmpty })
            try await house.beside.script("DELETE FROM renewald.migration WHERE version = 99")
            await lines.wait(for: "database_relents")
            try await house.wait(untilThereAre: "SELECT FROM renewald.event HAVING count(*) = 20")
        }
        #expect(lines.count(of: "database_refuses") == 1)
    }

    /// So that a fleet is upgraded one by one: the schema first, then each worker.
    @Test func aNewerSchemaThatServesItDoesNot() async throws {
        let (house, lines) = (try await House(), Lines())
        try await worker(on: house, lines).run {
            try await house.wait(
                untilThereAre: "SELECT FROM renewald.shard WHERE lease_until > now()")
            try await house.beside.script(
                """
                INSERT INTO renewald.migration (version, serves)
                SELECT 99, max(version) FROM renewald.migration
                """)
            // Two leases later it still has them.
            try await house.wait(
                untilThereAre: """
                    SELECT FROM renewald.migration, renewald.shard WHERE version = 99
                    HAVING min(lease_until) > max(applied_at) + interval '3 seconds'
                    """)
            try await house.fill(20)
            try await house.wait(untilThereAre: "SELECT FROM renewald.event HAVING count(*) = 20")
        }
        #expect(lines.count(of: "database_refuses") == 0)
    }
}
