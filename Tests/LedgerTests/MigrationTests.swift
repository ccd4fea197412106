import Ledger
import Postgres
import Renewal
import TestSupport
import Testing

@Suite(.serialized) struct MigrationTests {
    private func emptyDatabase() async throws -> String {
        try await ScratchCluster.shared().newDatabase()
    }

    private func session(_ conninfo: String) -> PostgresConnection {
        PostgresConnection(PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60)))
    }

    @Test func theSecondFindsNothingToDo() async throws {
        let connection = session(try await emptyDatabase())
        #expect(try await Migrator(connection).schemaVersion() == nil)
        #expect(try await Migrator(connection).migrate() == Array(1...Migrator.version))
        #expect(try await Migrator(connection).migrate() == [])
        #expect(try await Migrator(connection).schemaVersion()?.number == Migrator.version)
        try await Migrator(connection).requireFittingSchema()
    }

    @Test func refusesADatabaseThatCannotHoldWhatIsWritten() async throws {
        let conninfo = try await ScratchCluster.shared().newDatabase(encoding: "LATIN1")
        let refusal = LedgerError.encoding(name: "LATIN1")
        await #expect(throws: refusal) { try await Migrator(session(conninfo)).migrate() }
        #expect(refusal.sentence.contains("ENCODING 'UTF8'"))
        #expect(try await Migrator(session(conninfo)).schemaVersion() == nil)
    }

    @Test func whoMayNotMigrateFindsNothingToDo() async throws {
        let conninfo = try await emptyDatabase()
        let owner = session(conninfo)
        #expect(try await Migrator(owner).migrate(upTo: Migrator.version - 1).count > 0)
        let worker = session(conninfo + " options='-c role=renewald_worker'")
        await #expect(throws: LedgerError.self) { try await Migrator(worker).migrate() }
        #expect(try await Migrator(owner).migrate() == [Migrator.version])
        #expect(try await Migrator(worker).migrate() == [])
    }

    @Test func eightAtTheSameTimeDoItOnce() async throws {
        let conninfo = try await emptyDatabase()
        let applied = try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<8 {
                group.addTask { try await Migrator(session(conninfo)).migrate() }
            }
            return try await group.reduce(into: [Int]()) { $0 += $1 }
        }
        #expect(applied.sorted() == Array(1...Migrator.version))
    }

    @Test func refusesASchemaThatIsNewer() async throws {
        let connection = session(try await emptyDatabase())
        _ = try await Migrator(connection).migrate()
        try await connection.script("INSERT INTO renewald.migration (version) VALUES (99)")
        let refusal = LedgerError.schemaVersion(found: 99, needed: Migrator.version)
        await #expect(throws: refusal) { try await Migrator(connection).migrate() }
        await #expect(throws: refusal) { try await Migrator(connection).requireFittingSchema() }
        #expect(refusal.sentence.contains("is version 99, newer than the \(Migrator.version)"))
        #expect(refusal.sentence.contains("install the newer renewald"))
    }

    @Test func namesWhatToDoWithoutASchema() async throws {
        let connection = session(try await emptyDatabase())
        await #expect(throws: LedgerError.schemaMissing) {
            try await Migrator(connection).requireFittingSchema()
        }
        #expect(LedgerError.schemaMissing.sentence.contains("renewald migrate"))
    }

    @Test func namesWhatToDoWhenTheSchemaIsOlder() async throws {
        let connection = session(try await emptyDatabase())
        _ = try await Migrator(connection).migrate()
        try await connection.script("DELETE FROM renewald.migration")
        let refusal = LedgerError.schemaVersion(found: 0, needed: Migrator.oldest)
        await #expect(throws: refusal) { try await Migrator(connection).requireFittingSchema() }
        #expect(refusal.sentence.contains("run `renewald migrate`"))
    }

    @Test func saysWhoMayMigrateWhereTheUserMayNot() async throws {
        let conninfo = try await emptyDatabase()
        let connection = session(conninfo)
        try await connection.script(
            """
            DO $$ BEGIN CREATE ROLE migration_stranger NOLOGIN;
            EXCEPTION WHEN duplicate_object THEN NULL; END $$;
            SET ROLE migration_stranger
            """)
        let refusal = await #expect(throws: LedgerError.self) {
            try await Migrator(connection).migrate()
        }
        let sentence = refusal?.sentence ?? ""
        #expect(sentence.hasPrefix("the database refuses: permission denied for database"))
        #expect(sentence.contains("sudo -u postgres renewald migrate"))
    }

    @Test func leavesNothingBehindWhenItFails() async throws {
        let connection = session(try await emptyDatabase())
        // A table of ours that is in the way in the middle of the migration.
        try await connection.script(
            "CREATE SCHEMA renewald; CREATE TABLE renewald.schedule (one int)")
        await #expect(throws: LedgerError.self) { try await Migrator(connection).migrate() }
        let left = try await connection.query(
            PostgresStatement(
                """
                SELECT count(*) AS left FROM pg_class
                WHERE relnamespace = 'renewald'::regnamespace AND relkind = 'r'
                """))[0].int64("left")
        #expect(left == 1)
    }

    /// A backend has locked a later table and wants an earlier one: PostgreSQL takes the step back,
    /// and it is tried again.
    @Test func aDeadlockDoesNotEndIt() async throws {
        let stage = try await Stage(upTo: 3)
        let (backend, migrating) = (stage.session("backend"), stage.session("migrating"))
        try await backend.script(
            """
            BEGIN; SET LOCAL deadlock_timeout = '60s'; LOCK TABLE renewald.unclaimed_hint
            """)
        async let applied = Migrator(migrating).migrate(upTo: 4)
        try await stage.wait(
            until: "application_name = 'migrating' AND wait_event_type = 'Lock'")
        try await backend.script("LOCK TABLE renewald.app; COMMIT")
        #expect(try await applied == [4])
        await backend.close()
        await migrating.close()
    }
}
