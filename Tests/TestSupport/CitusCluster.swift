import Foundation
import Ledger
import Postgres

/// Citus, which Debian does not have: where it is installed and `RENEWALD_CITUS` is set, the databases
/// of the tests are spread over shards of it, all on the one server.
extension ScratchCluster {
    static let hasCitus = ProcessInfo.processInfo.environment["RENEWALD_CITUS"] != nil

    static let citusSettings = [
        "shared_preload_libraries": "citus", "citus.shard_count": "4",
        "max_prepared_transactions": "200", "max_connections": "500", "max_worker_processes": "500",
        "citus.enable_statistics_collection": "off",
    ]

    /// What a test looks at, in a form that Citus takes: each table is read whole before it is
    /// joined, which is little in a test.
    package static func readable(_ query: String) -> String {
        let query = query.trimmingCharacters(in: .whitespacesAndNewlines)
        guard hasCitus, query.hasPrefix("SELECT") || query.hasPrefix("(SELECT") else {
            return query
        }
        let named = #/\b(FROM|JOIN|,)(\s+)renewald\.(\w+)\b(?!\()/#
        let tables = Set(query.matches(of: named).map(\.3)).sorted()
        guard !tables.isEmpty else { return query }
        let parts = tables.map { "\($0) AS MATERIALIZED (SELECT * FROM renewald.\($0))" }
        return "WITH \(parts.joined(separator: ", ")) "
            + query.replacing(named) { "\($0.1)\($0.2)\($0.3)" }
    }

    /// Makes a fresh database with today's schema, whose server is a coordinator that keeps all
    /// shards itself.
    ///
    /// - Returns: its connection string.
    func newDatabaseOnCitus() async throws -> String {
        let conninfo = try await newDatabase()
        let connection = PostgresConnection(
            PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60)))
        try await connection.script(
            """
            CREATE EXTENSION citus;
            SELECT citus_set_coordinator_host('\(socketDirectory)', 5432);
            SELECT citus_set_node_property('\(socketDirectory)', 5432, 'shouldhaveshards', true);
            """)
        _ = try await Migrator(connection).migrate()
        try await Migrator(connection).distribute()
        await connection.close()
        return conninfo
    }
}
