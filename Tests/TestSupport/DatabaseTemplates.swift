import Ledger
import Postgres

extension ScratchCluster {
    private static let migrated = "migrated"

    /// Makes a fresh database with today's schema. The migrations run once a server; from then on
    /// what they have made is copied, which takes a tenth of the time.
    ///
    /// - Returns: its connection string.
    package func newMigratedDatabase() async throws -> String {
        // One with Citus is never left alone, and so cannot be copied.
        if Self.hasCitus { return try await newDatabaseOnCitus() }
        try await once(Self.migrated) { [self] in
            try await makeDatabase(Self.migrated)
            let connection = PostgresConnection(
                PostgresSettings(
                    conninfo: conninfo(database: Self.migrated), statementTimeout: .seconds(60)))
            _ = try await Migrator(connection).migrate()
            // Nobody may be in a database while it is copied.
            await connection.close()
        }
        return try await newDatabase(like: Self.migrated)
    }
}
