import Postgres
package import Renewal

/// What `renewald status` shows.
package struct QueueStatus: Hashable, Sendable {
    package struct App: Hashable, Sendable {
        package let key: AppKey
        package let purchases: Int64
        package let due: Int64
        package let oldestDueAt: Timestamp?
        package let nextDueAt: Timestamp?
        package let lastVerdictAt: Timestamp?
        package let setAside: Int64
        /// Purchases with a problem, by its code.
        package var problems: [String: Int64] = [:]
    }

    package struct Worker: Hashable, Sendable {
        package let name: String
        package let startedAt: Timestamp
        package let shards: Int64
    }

    package struct Bucket: Hashable, Sendable {
        package let name: String
        /// How far ahead of now calls are reserved.
        package let aheadSeconds: Double
        /// The store has asked for no calls until then.
        package let blockedUntil: Timestamp?
    }

    package var apps: [App] = []
    package var workers: [Worker] = []
    package var buckets: [Bucket] = []
    package var now = Timestamp.never
}

extension PostgresLedger {
    /// Reads the whole queue: for people, not for the hot path.
    package func status() async throws(LedgerError) -> QueueStatus {
        try await attempt {
            let results = try await self.reads.pipeline([
                SQL.statusQueue(), SQL.statusProblems(), SQL.statusWorkers(), SQL.statusBuckets(),
            ])
            var status = QueueStatus()
            for row in results[0].rows {
                status.now = try row.instant("now")
                status.apps.append(
                    QueueStatus.App(
                        key: try row.app(), purchases: try row.int64("purchases"),
                        due: try row.int64("due"),
                        oldestDueAt: try row.optionalInstant("oldest_due_at"),
                        nextDueAt: try row.optionalInstant("next_due_at"),
                        lastVerdictAt: try row.optionalInstant("last_verdict_at"),
                        setAside: try row.int64("set_aside")))
            }
            for row in results[1].rows {
                let key = try row.app()
                guard let index = status.apps.firstIndex(where: { $0.key == key }) else { continue }
                status.apps[index].problems[try row.text("code")] = try row.int64("purchases")
            }
            status.workers = try results[2].rows.map { row in
                QueueStatus.Worker(
                    name: try row.text("name"), startedAt: try row.instant("started_at"),
                    shards: try row.int64("shards"))
            }
            status.buckets = try results[3].rows.map { row in
                QueueStatus.Bucket(
                    name: try row.text("bucket"), aheadSeconds: try row.float64("ahead_seconds"),
                    blockedUntil: try row.optionalInstant("blocked_until"))
            }
            return status
        }
    }
}

extension PostgresRow {
    fileprivate func app() throws(PostgresError) -> AppKey {
        AppKey(store: try word("store"), id: try text("app"))
    }
}
