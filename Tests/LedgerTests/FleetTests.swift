import Foundation
import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

/// Workers of several ages on one database, which is upgraded before them.
@Suite(.serialized) struct FleetTests {
    private static let here = URL(filePath: #filePath).deletingLastPathComponent()
    private static let queries = here.deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Sources/Ledger/Queries")
    private static let released = here.appending(path: "Statements")

    private struct Statement {
        let name: String
        /// Of its parameters, in brackets, where the text does not tell them.
        var types = ""
        let text: String
    }

    private func session(_ conninfo: String) -> PostgresConnection {
        PostgresConnection(PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60)))
    }

    private func database(at version: Int) async throws -> PostgresConnection {
        let connection = session(try await ScratchCluster.shared().newDatabase())
        #expect(try await Migrator(connection).migrate(upTo: version) == Array(1...version))
        return connection
    }

    /// As `renewald migrate` of 0.1 has left it.
    private func databaseOf01() async throws -> PostgresConnection {
        let connection = session(try await ScratchCluster.shared().newDatabase())
        try await connection.script(
            """
            CREATE SCHEMA renewald;
            CREATE TABLE renewald.migration (
                version int4 PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
            """)
        try await connection.script(
            String(decoding: PackageResources.v0001_create_renewald_sql, as: UTF8.self))
        try await connection.script("INSERT INTO renewald.migration (version) VALUES (1)")
        return connection
    }

    // MARK: Statements

    /// Those of this program, but for scripts and parts of others.
    private func ownStatements() throws -> [Statement] {
        try FileManager.default.contentsOfDirectory(atPath: Self.queries.path).sorted()
            .filter { $0.hasSuffix(".sql") }
            .compactMap { file in
                let text = StatementText(
                    Array(try Data(contentsOf: Self.queries.appending(path: file)))
                ).sql
                guard !text.hasPrefix("-- Part of statements"), !text.contains("DO $$") else {
                    return nil
                }
                let name = String(file.dropLast(4))
                return Statement(
                    name: name, types: name == "commit_events" ? "(int2[])" : "", text: text)
            }
    }

    /// At a release: `RENEWALD_WRITE_STATEMENTS=1 swift test --filter FleetTests`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["RENEWALD_WRITE_STATEMENTS"] != nil))
    func writesDownTheStatementsOfThisProgram() throws {
        let parts = try ownStatements().map { "-- statement \($0.name) \($0.types)\n\($0.text)\n" }
        try Data(parts.joined(separator: "\n").utf8).write(
            to: Self.released.appending(path: "schema-\(Migrator.version).sql"))
    }

    /// Those of a released program, each after a line `-- statement NAME (TYPES)`.
    private func statements(ofProgramFor version: Int) throws -> [Statement] {
        try String(
            contentsOf: Self.released.appending(path: "schema-\(version).sql"), encoding: .utf8
        ).components(separatedBy: "-- statement ").dropFirst().map { part in
            let head = part.prefix { $0 != "\n" }.split(separator: " ")
            return Statement(
                name: String(head[0]), types: head.dropFirst().joined(separator: " "),
                text: String(part[(part.firstIndex(of: "\n") ?? part.endIndex)...]))
        }
    }

    /// What the server has against them, without running any.
    private func objections(
        to statements: [Statement], on connection: PostgresConnection
    ) async -> [String] {
        var objections: [String] = []
        for statement in statements {
            do {
                try await connection.script(
                    "PREPARE one \(statement.types) AS \(statement.text); DEALLOCATE one")
            } catch {
                objections.append("\(statement.name): \(error)")
            }
        }
        return objections
    }

    @Test func allStatementsWorkOnEachSchemaOfTheRange() async throws {
        let statements = try ownStatements()
        #expect(statements.count > 80)
        for version in Migrator.oldest...Migrator.version {
            let connection = try await database(at: version)
            #expect(await objections(to: statements, on: connection) == [], "schema \(version)")
            await connection.close()
        }
    }

    /// The range is not told too narrow either.
    @Test func someStatementsDoNotWorkOnAnOlderOne() async throws {
        guard Migrator.oldest > 1 else { return }
        let connection = try await database(at: Migrator.oldest - 1)
        #expect(await objections(to: try ownStatements(), on: connection) != [])
        await connection.close()
    }

    @Test func aReleasedProgramGoesOnOnTheNewestSchema() async throws {
        let versions = try FileManager.default.contentsOfDirectory(atPath: Self.released.path)
            .compactMap { Int($0.dropFirst("schema-".count).prefix { $0 != "." }) }
        #expect(versions.contains(1))
        for version in versions where version >= Migrator.serves[Migrator.version - 1] {
            let statements = try statements(ofProgramFor: version)
            #expect(statements.count > 50)
            let connection = try await database(at: Migrator.version)
            let objections = await objections(to: statements, on: connection)
            #expect(
                objections == [],
                "a migration takes something away: let it say that it serves later programs only")
            // And the look at them is one that sees.
            try await connection.script("ALTER TABLE renewald.purchase RENAME COLUMN lapse TO lost")
            #expect(await self.objections(to: statements, on: connection).count > 3)
            await connection.close()
        }
    }

    // MARK: Rights

    /// The server looks at the rights of a role before a statement begins: its plan is enough.
    private func refused(
        _ statements: [Statement], on connection: PostgresConnection
    ) async throws -> [String] {
        var refused: [String] = []
        for statement in statements {
            try await connection.script("PREPARE one \(statement.types) AS \(statement.text)")
            let types = try await connection.query(
                PostgresStatement(
                    """
                    SELECT cardinality(parameter_types)::int8 FROM pg_prepared_statements
                    WHERE name = 'one'
                    """))
            let nulls = Array(repeating: "NULL", count: Int(try types[0].int64(0)))
            let values = nulls.isEmpty ? "" : "(\(nulls.joined(separator: ", ")))"
            do {
                try await connection.script("EXPLAIN EXECUTE one\(values)")
            } catch {
                // What else NULL is no value for does not matter here.
                if error.sqlState == "42501" { refused.append(statement.name) }
            }
            try await connection.script("DEALLOCATE one")
        }
        return refused
    }

    @Test func aWorkerHasTheRightsThatItsStatementsNeedAndTheyAreLookedAt() async throws {
        let connection = try await database(at: Migrator.version)
        // Whoever migrates runs these.
        let migrators = ["lock_migrations", "record_migration"]
        let own = try ownStatements().filter { !migrators.contains($0.name) }
        let released = try statements(ofProgramFor: 1).filter { !migrators.contains($0.name) }
        try await connection.script(
            "SET ROLE renewald_worker; SET plan_cache_mode = force_generic_plan")
        #expect(try await refused(own + released, on: connection) == [])
        try await connection.script(
            """
            RESET ROLE; REVOKE INSERT ON renewald.event FROM renewald_worker;
            SET ROLE renewald_worker
            """)
        #expect(try await refused(own, on: connection).contains("commit_events"))
        await connection.close()
    }

    // MARK: The range

    @Test func eachStepServesNobodyOlderThanTheOneBefore() {
        let serves = Migrator.serves
        #expect(serves == serves.sorted())
        for (index, oldest) in serves.enumerated() { #expect((1...index + 1).contains(oldest)) }
        #expect((1...Migrator.version).contains(Migrator.oldest))
    }

    @Test(arguments: [
        (4, 4, LedgerError.schemaVersion(found: 4, needed: 5)), (5, 4, nil), (6, 6, nil),
        (7, 7, nil), (8, 7, nil), (8, 3, nil), (9, 7, nil),
        (8, 8, LedgerError.schemaVersion(found: 8, needed: 7)),
        (99, 98, LedgerError.schemaVersion(found: 99, needed: 7)),
    ])
    func aProgramForSchema7FromSchema5On(_ number: Int, _ serves: Int, _ refusal: LedgerError?) {
        let found = SchemaVersion(number, serves: serves)
        #expect(found.refusal(ofProgramFor: 7, oldest: 5) == refusal)
    }

    @Test func refusesWhatIsOlderUntilItIsMigrated() async throws {
        let connection = try await databaseOf01()
        let migrator = Migrator(connection)
        for version in 1..<Migrator.oldest {
            if version > 1 { #expect(try await migrator.migrate(upTo: version) == [version]) }
            let refusal = LedgerError.schemaVersion(found: version, needed: Migrator.oldest)
            await #expect(throws: refusal) { try await migrator.requireFittingSchema() }
            #expect(refusal.sentence.hasSuffix("run `renewald migrate`"))
        }
        for version in Migrator.oldest...Migrator.version {
            #expect(try await migrator.migrate(upTo: version) == [version])
            let found = try await migrator.requireFittingSchema()
            #expect(found == SchemaVersion(version, serves: Migrator.serves[version - 1]))
        }
        await connection.close()
    }

    @Test func runsOnANewerSchemaThatServesIt() async throws {
        let connection = try await database(at: Migrator.version)
        let (migrator, own) = (Migrator(connection), Migrator.version)
        func become(_ version: Int, serving serves: String) async throws {
            try await connection.script(
                """
                DELETE FROM renewald.migration WHERE version > \(own);
                INSERT INTO renewald.migration (version, serves) VALUES (\(version), \(serves))
                """)
        }
        // The next one that says nothing, and any that serves programs of this age.
        for (version, serves) in [(own + 1, "NULL"), (own + 1, "\(own)"), (own + 9, "\(own)")] {
            try await become(version, serving: serves)
            #expect(try await migrator.requireFittingSchema().number == version)
            #expect(try await migrator.migrate() == [], "it has nothing to add, and says so")
        }
        for (version, serves) in [(own + 2, "NULL"), (own + 1, "\(own + 1)")] {
            try await become(version, serving: serves)
            let refusal = LedgerError.schemaVersion(found: version, needed: own)
            await #expect(throws: refusal) { try await migrator.requireFittingSchema() }
            await #expect(throws: refusal) { try await migrator.migrate() }
            #expect(refusal.sentence.hasSuffix("install the newer renewald"))
        }
        await connection.close()
    }
}
