import Postgres
import Renewal

// The statement counts the purchases of an app by their problem; together they are the app.
extension QueueStatus.App {
    /// - Parameter rows: of `status_queue.sql`, those of an app together.
    /// - Returns: one of each app, in their order.
    /// - Throws: where a column is missing or of another type.
    static func folded(_ rows: some Sequence<PostgresRow>) throws(PostgresError) -> [Self] {
        var apps: [Self] = []
        for row in rows {
            let part = try Self(row)
            if apps.last?.key == part.key {
                apps[apps.count - 1].add(part)
            } else {
                apps.append(part)
            }
        }
        return apps
    }

    var problemCounts: [QueueStatus.ProblemCount] {
        problems.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            QueueStatus.ProblemCount(app: key, code: $0.key, purchases: $0.value)
        }
    }

    private init(_ row: PostgresRow) throws(PostgresError) {
        self.init(
            key: try row.app(), isConfigured: try row.optionalBool("configured"),
            purchases: try row.int64("purchases"), due: try row.int64("due"),
            oldestDueAt: try row.optionalInstant("oldest_due_at"),
            nextDueAt: try row.optionalInstant("next_due_at"),
            lastVerdictAt: try row.optionalInstant("last_verdict_at"),
            setAside: try row.int64("set_aside"))
        // A code that this program does not know is none of its problems.
        if let code = try row.optionalText("code").flatMap(Problem.Code.init) {
            problems = [code: purchases]
        }
        if let total = try row.optionalInt64("imported") {
            backfill = QueueStatus.Backfill(
                imported: total, left: try row.int64("waiting"),
                startedAt: try row.instant("imported_at"))
        }
    }

    private mutating func add(_ part: Self) {
        purchases += part.purchases
        due += part.due
        oldestDueAt = [oldestDueAt, part.oldestDueAt].compactMap(\.self).min()
        nextDueAt = [nextDueAt, part.nextDueAt].compactMap(\.self).min()
        lastVerdictAt = [lastVerdictAt, part.lastVerdictAt].compactMap(\.self).max()
        setAside += part.setAside
        problems.merge(part.problems) { $0 + $1 }
        backfill?.left += part.backfill?.left ?? 0
    }
}
