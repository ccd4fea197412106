import Postgres
package import Renewal

// The rows of calls, which all workers share: one an app.
extension PostgresLedger {
    /// Reserves places in the rows of calls that all workers share, in one transaction. A stretch
    /// is for how long the row is this worker's: the time between two calls for each, and how late
    /// the last may be. Where somebody waits at a terminal, the background stands back until a
    /// moment after their last call.
    ///
    /// - Parameter requests: of each bucket one.
    /// - Returns: when the reserved calls may begin, for each request in its order.
    /// - Throws: `.unavailable` without a database: there is no quota then.
    package func reserveCalls(
        _ requests: [CallRequest]
    ) async throws(LedgerError) -> [Reservation] {
        let buckets = PostgresValue.texts(requests.map(\.bucket))
        return try await attempt {
            let rows = try await self.retrying { () throws(PostgresError) in
                try await self.reads.pipeline([
                    SQL.openBuckets(buckets),
                    SQL.reserveCalls(
                        buckets, .int64s(requests.map(\.stretch.microseconds)),
                        .int64s(requests.map(\.horizon.microseconds)),
                        .bools(requests.map(\.isUrgent))),
                ])
            }[1].rows
            return try rows.map { row throws(PostgresError) in
                let wait = Duration.microseconds(try row.int64("wait_microseconds"))
                if let end = try row.optionalInstant("reserved_until") {
                    return .granted(in: wait, until: end)
                }
                return try row.bool("paused") ? .paused : .askAgain(in: wait)
            }
        }
    }

    /// Gives back the end of a stretch. Nothing happens where another stretch follows it.
    package func giveBackCalls(_ unused: UnusedCalls) async throws(LedgerError) {
        try await attempt {
            _ = try await self.reads.query(
                SQL.giveBackCalls(
                    .text(unused.bucket), .instant(unused.reservedUntil),
                    .int64(unused.stretch.microseconds)))
        }
    }

    /// Lets nobody ask an app's store any more, or again.
    ///
    /// - Parameters:
    ///   - app: one that has been configured or submitted for.
    ///   - isPaused: whether nobody may.
    /// - Returns: since when it is paused, nil where it is not; and whether that has changed.
    /// - Throws: what went wrong with the database.
    package func pause(
        _ app: AppKey, _ isPaused: Bool
    ) async throws(LedgerError) -> (since: Timestamp?, hasChanged: Bool) {
        try await attempt {
            let row = try await self.writes.query(
                SQL.pauseApp(
                    .text(BucketID(of: app)), .bool(isPaused), .text(app.store.rawValue),
                    .text(app.id))
            ).rows[0]
            return (try row.optionalInstant("paused_at"), try row.bool("has_changed"))
        }
    }

    /// Lets no worker start a call of a bucket for a while: the store has asked for it.
    package func block(_ bucket: BucketID, for duration: Duration) async throws(LedgerError) {
        try await attempt {
            _ = try await self.reads.query(
                SQL.blockBucket(.text(bucket), .int64(duration.microseconds)))
        }
    }
}
