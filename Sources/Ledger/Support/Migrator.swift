package import Postgres
package import Renewal

/// Brings the schema up to date: numbered files, forward only, each in a transaction of its own.
package struct Migrator: Sendable {
    /// The schema version that this program is written for.
    package static let version = steps.count
    /// The oldest one that all its statements work with; `FleetTests` prepare them.
    package static let oldest = 26

    private struct Step {
        let script: [UInt8]
        /// Programs that were written for this version or a later one go on working after the step:
        /// it adds, and takes nothing away that they use.
        let serves: Int
    }

    private static let steps = [
        Step(script: PackageResources.v0001_create_renewald_sql, serves: 1),
        Step(script: PackageResources.v0002_share_and_correct_sql, serves: 1),
        Step(script: PackageResources.v0003_note_vain_questions_sql, serves: 1),
        Step(script: PackageResources.v0004_let_apps_be_unknown_sql, serves: 1),
        Step(script: PackageResources.v0005_let_people_go_first_sql, serves: 1),
        Step(script: PackageResources.v0006_name_what_fails_sql, serves: 1),
        Step(script: PackageResources.v0007_keep_what_buyers_owe_sql, serves: 1),
        Step(script: PackageResources.v0008_keep_what_stores_say_sql, serves: 1),
        Step(script: PackageResources.v0009_ask_about_refunds_sql, serves: 1),
        Step(script: PackageResources.v0010_tell_of_lost_events_sql, serves: 1),
        Step(script: PackageResources.v0011_hold_revocations_sql, serves: 1),
        Step(script: PackageResources.v0012_grant_less_sql, serves: 1),
        Step(script: PackageResources.v0013_keep_observations_sql, serves: 1),
        Step(script: PackageResources.v0014_pause_apps_sql, serves: 1),
        Step(script: PackageResources.v0015_move_fleets_in_sql, serves: 1),
        Step(script: PackageResources.v0016_compare_beliefs_sql, serves: 1),
        Step(script: PackageResources.v0017_encrypt_at_rest_sql, serves: 1),
        Step(script: PackageResources.v0018_explain_the_contract_sql, serves: 1),
        Step(script: PackageResources.v0019_mend_submissions_sql, serves: 1),
        Step(script: PackageResources.v0020_obey_citus_sql, serves: 1),
        Step(script: PackageResources.v0021_find_suspects_sql, serves: 1),
        Step(script: PackageResources.v0022_let_news_wait_sql, serves: 1),
        Step(script: PackageResources.v0023_read_views_only_sql, serves: 1),
        Step(script: PackageResources.v0024_keep_what_was_heard_sql, serves: 1),
        Step(script: PackageResources.v0025_keep_what_is_claimed_sql, serves: 1),
        Step(script: PackageResources.v0026_keep_who_came_last_sql, serves: 1),
        Step(script: PackageResources.v0027_send_consumers_back_sql, serves: 1),
    ]

    /// For each version from 1 on, whom it serves.
    static var serves: [Int] { steps.map(\.serves) }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    /// The version of the schema; nil where there is none.
    package func schemaVersion() async throws(LedgerError) -> SchemaVersion? {
        do {
            let found = try await connection.query(SQL.schemaExists.once())
            guard try found[0].bool("found") else { return nil }
            return try await appliedVersion()
        } catch {
            throw LedgerError(error)
        }
    }

    /// Refuses a schema that this program cannot work with.
    ///
    /// - Returns: one that it works with, its own or another.
    @discardableResult
    package func requireFittingSchema() async throws(LedgerError) -> SchemaVersion {
        guard let found = try await schemaVersion() else { throw .schemaMissing }
        if let refusal = found.refusal() { throw refusal }
        return found
    }

    /// Applies what is missing. Several at the same time are safe: one works, the others wait and
    /// find nothing to do.
    ///
    /// - Parameter last: the version to stop at.
    /// - Returns: the versions that were applied.
    /// - Throws: `.schemaVersion` for a newer schema that does not serve this program. Nothing is
    ///   changed in a newer one, be it so or not.
    package func migrate(upTo last: Int = Self.version) async throws(LedgerError) -> [Int] {
        // Whoever may not migrate finds nothing to do as well. What goes wrong here is told by what
        // comes next.
        if let found = try? await schemaVersion(), found.refusal() == nil,
            found.number >= min(last, Self.version)
        {
            return []
        }
        var applied: [Int] = []
        while let version = try await applyNext(upTo: last) {
            applied.append(version)
        }
        return applied
    }

    /// Times that a step is tried. It locks one table after the other, and so does `submit`: where
    /// each waits for the other, PostgreSQL takes one of them back.
    private static let conflictLimit = 20

    private func applyNext(upTo last: Int) async throws(LedgerError) -> Int? {
        var latest: LedgerError?
        for _ in 0..<Self.conflictLimit {
            do {
                return try await connection.transaction { connection in
                    try await apply(upTo: last, connection)
                }
            } catch let error as LedgerError {
                throw error
            } catch let error as PostgresError {
                latest = LedgerError(error, during: .migration)
                guard case .conflict = error else { break }
            } catch {
                throw .cancelled
            }
        }
        throw latest ?? .cancelled
    }

    /// Applies the next step in a transaction of the connection.
    private func apply(upTo last: Int, _ connection: PostgresConnection) async throws -> Int? {
        _ = try await connection.query(SQL.lockMigrations.once())
        try await connection.script(
            String(decoding: PackageResources.prepare_schema_sql, as: UTF8.self))
        let schema = try await appliedVersion()
        if schema.number > Self.version, let refusal = schema.refusal() { throw refusal }
        let found = schema.number
        guard found < min(last, Self.version) else { return nil }
        if found == 0 { try await requireEncoding(connection) }
        let step = Self.steps[found]
        try await connection.script(String(decoding: step.script, as: UTF8.self))
        _ = try await connection.query(
            SQL.recordMigration.once(.int32(Int32(found + 1)), .int32(Int32(step.serves))))
        return found + 1
    }

    /// Refuses to begin in a database whose encoding has no place for what stores and users write.
    private func requireEncoding(_ connection: PostgresConnection) async throws {
        var server = ServerState()
        server.encoding = try await connection.query(SQL.serverEncoding.once())[0].text("encoding")
        guard server.holdsAllText else { throw LedgerError.encoding(name: server.encoding) }
    }

    /// Refuses a database that cannot be spread.
    ///
    /// - Throws: `.citusMissing` without Citus.
    package func requireCitus() async throws(LedgerError) {
        do {
            let found = try await connection.query(SQL.citusExists.once())
            guard try found[0].bool("found") else { throw LedgerError.citusMissing }
        } catch {
            throw error as? LedgerError
                ?? (error as? PostgresError).map { LedgerError($0) } ?? .cancelled
        }
    }

    /// Spreads what grows with the purchases over the servers of Citus, each shard to one of them,
    /// <https://docs.citusdata.com>. What is spread already stays where it is.
    package func distribute() async throws(LedgerError) {
        do {
            try await connection.script(
                String(decoding: PackageResources.distribute_sql, as: UTF8.self))
        } catch {
            throw LedgerError(error, during: .migration)
        }
    }

    private func appliedVersion() async throws(PostgresError) -> SchemaVersion {
        let row = try await connection.query(SQL.schemaVersion.once())[0]
        return SchemaVersion(
            Int(try row.int32("version")), serves: Int(try row.int32("serves")))
    }
}
