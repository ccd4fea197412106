package import Postgres
package import Renewal

/// Brings the schema up to date: numbered files, forward only, each in a transaction of its own.
package struct Migrator: Sendable {
    /// The schema version that this program needs.
    package static let version = migrations.count

    private static let migrations: [[UInt8]] = [
        PackageResources.v0001_create_renewald_sql,
        PackageResources.v0002_share_and_correct_sql,
        PackageResources.v0003_note_vain_questions_sql,
        PackageResources.v0004_let_apps_be_unknown_sql,
        PackageResources.v0005_let_people_go_first_sql,
        PackageResources.v0006_name_what_fails_sql,
    ]

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    /// The version of the schema; nil where there is none.
    package func schemaVersion() async throws(LedgerError) -> Int? {
        do {
            let found = try await connection.query(SQL.schemaExists.once())
            guard try found[0].bool("found") else { return nil }
            let rows = try await connection.query(SQL.schemaVersion.once())
            return Int(try rows[0].int32("version"))
        } catch {
            throw LedgerError(error)
        }
    }

    /// Refuses a schema that this program cannot work with.
    package func requireCurrentSchema() async throws(LedgerError) {
        guard let found = try await schemaVersion() else { throw .schemaMissing }
        guard found == Self.version else {
            throw .schemaVersion(found: found, needed: Self.version)
        }
    }

    /// Applies what is missing. Several at the same time are safe: one works, the others wait and
    /// find nothing to do.
    ///
    /// - Returns: the versions that were applied.
    /// - Throws: `.schemaVersion` for a schema newer than this program; nothing is changed then.
    package func migrate() async throws(LedgerError) -> [Int] {
        var applied: [Int] = []
        while let version = try await applyNext() {
            applied.append(version)
        }
        return applied
    }

    private func applyNext() async throws(LedgerError) -> Int? {
        do {
            return try await connection.transaction { connection in
                _ = try await connection.query(SQL.lockMigrations.once())
                try await connection.script(
                    String(decoding: PackageResources.prepare_schema_sql, as: UTF8.self))
                let rows = try await connection.query(SQL.schemaVersion.once())
                let found = Int(try rows[0].int32("version"))
                guard found <= Self.version else {
                    throw LedgerError.schemaVersion(found: found, needed: Self.version)
                }
                guard found < Self.version else { return nil }
                try await connection.script(
                    String(decoding: Self.migrations[found], as: UTF8.self))
                _ = try await connection.query(
                    SQL.recordMigration.once(.int32(Int32(found + 1))))
                return found + 1
            }
        } catch let error as LedgerError {
            throw error
        } catch let error as PostgresError {
            throw LedgerError(error, during: .migration)
        } catch {
            throw .cancelled
        }
    }
}
