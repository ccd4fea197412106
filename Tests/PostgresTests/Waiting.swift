import Postgres

/// Waits for what another session is doing, by asking the server again and again.
enum Waiting {
    struct Failure: Error {}

    /// - Returns: the process number of the session.
    /// - Throws: after some 30 seconds without one.
    @discardableResult
    static func until(
        _ connection: PostgresConnection, _ condition: String
    ) async throws -> Int32 {
        // The server itself waits between two looks.
        let sql = """
            SELECT pid, pg_sleep(0.01) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND \(condition)
            UNION ALL SELECT 0, pg_sleep(0.01)
            """
        for _ in 0..<1500 {
            let pid = try await connection.query(PostgresStatement(sql))[0].int32("pid")
            if pid != 0 { return pid }
        }
        throw Failure()
    }
}
