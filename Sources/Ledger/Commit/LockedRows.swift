import Postgres
import Renewal

extension PostgresLedger {
    /// Commits a batch in whose way another session is. Of those whose rows it holds only the next
    /// check is moved, or nothing where it holds that too: somebody who looks at one row must not
    /// hold up everybody.
    ///
    /// - Throws: `.unavailable` where it holds no row of theirs, but a table, or some other row.
    func commitAroundLocks(
        _ outcomes: [Outcome], under lease: Lease?, at now: Timestamp, into report: CommitReport
    ) async throws(LedgerError) -> CommitReport {
        let locked = try await lockedClaims(outcomes.map(\.claim))
        var report = report
        var rest: [Outcome] = []
        var isAnotherBatch = false
        for outcome in outcomes {
            let claim = outcome.claim
            switch locked[claim.row] {
            case true? where outcome.schedule.problem != Self.rowsAreHeld:
                rest.append(outcome.postponed(at: now, Self.rowsAreHeld))
                isAnotherBatch = true
            case true?, nil:
                rest.append(outcome)
            case false?:
                report.dropped.append(claim)
                isAnotherBatch = true
            }
        }
        guard isAnotherBatch else { throw LedgerError(.conflict(sqlState: .lockNotAvailable)) }
        guard !rest.isEmpty else { return report }
        report += try await commit(rest, under: lease, at: now)
        return report
    }

    private static let rowsAreHeld = Problem(
        .unreachable, "another session of the database holds its rows")

    /// - Returns: for each claim with a row that another session holds, whether its next check can
    ///   be moved all the same.
    private func lockedClaims(
        _ claims: [Claim]
    ) async throws(LedgerError) -> [CommitBatch.RowID: Bool] {
        try await attempt {
            let rows = try await self.writes.query(
                SQL.lockedClaims([
                    "shard": .int16s(claims.map(\.shard)), "lane": .int32s(claims.map(\.lane)),
                    "id": .int64s(claims.map(\.purchase.id)),
                    "due_at": .instants(claims.map(\.dueAt)),
                    "user_id": .texts(claims.map(\.purchase.userID)),
                ]))
            var locked: [CommitBatch.RowID: Bool] = [:]
            for row in rows.rows {
                locked[try row.id()] = try row.bool("is_movable")
            }
            return locked
        }
    }
}
