package import Postgres
package import Renewal
import Synchronization

/// The database side: leases, claims, commits and the outbox, over PostgreSQL.
///
/// Leases and commits go over one connection, so that the worker never waits for its own row locks;
/// reads go over another.
package final class PostgresLedger: Sendable {
    let reads: PostgresConnection
    let writes: PostgresConnection
    let notifies: Bool
    private let lanes = Mutex<[Int16: Lane]>([:])

    /// - Parameters:
    ///   - settings: where the database is.
    ///   - notifies: whether commits with events send a `NOTIFY`.
    package init(_ settings: PostgresSettings, notifies: Bool = true) {
        reads = PostgresConnection(settings)
        writes = PostgresConnection(settings)
        self.notifies = notifies
    }

    package func close() async {
        await reads.close()
        await writes.close()
    }

    /// Whether a connection pooler such as PgBouncer is in between.
    package func isBehindPooler() async throws(LedgerError) -> Bool {
        try await attempt { try await self.reads.isPooled() }
    }

    /// Refuses a schema that this program cannot work with.
    package func requireCurrentSchema() async throws(LedgerError) {
        try await Migrator(reads).requireCurrentSchema()
    }

    /// Gives each of the apps its lane, and tells the lanes of all apps that were ever submitted
    /// for, also of those that are not configured.
    package func registerLanes(_ apps: [AppKey]) async throws(LedgerError) -> [Lane] {
        try await attempt {
            for app in apps {
                _ = try await self.writes.query(
                    SQL.registerApp(.text(app.store.rawValue), .text(app.id)))
            }
        }
        return try await allLanes()
    }

    package func allLanes() async throws(LedgerError) -> [Lane] {
        let lanes = try await attempt {
            try await self.reads.query(SQL.apps()).rows.map { row in
                Lane(
                    number: try row.int16("lane"),
                    app: AppKey(store: try row.word("store"), id: try row.text("app")))
            }
        }
        self.lanes.withLock { known in
            known = Dictionary(lanes.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        }
        return lanes
    }

    /// The app of a lane, from memory where it is known.
    func app(ofLane number: Int16) async throws(LedgerError) -> AppKey {
        if let lane = lanes.withLock({ $0[number] }) { return lane.app }
        _ = try await allLanes()
        guard let lane = lanes.withLock({ $0[number] }) else {
            throw .refused(sqlState: "", message: "lane \(number) has no app")
        }
        return lane.app
    }

    /// Times that a transaction is tried in which another was in the way.
    private static let conflictLimit = 5

    /// Runs a transaction again when another was in the way: nothing of it was committed.
    func insist<Value>(
        _ work: () async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        for _ in 1..<Self.conflictLimit {
            do {
                return try await work()
            } catch .conflict {
                continue
            }
        }
        return try await work()
    }

    /// Runs a piece of work on the database and gives its faults their ledger names.
    func attempt<Value>(
        _ work: () async throws -> Value
    ) async throws(LedgerError) -> Value {
        do {
            return try await work()
        } catch let error as LedgerError {
            throw error
        } catch let error as PostgresError {
            throw LedgerError(error)
        } catch {
            throw .unavailable(reason: "cancelled")
        }
    }
}
