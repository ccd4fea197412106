import Postgres
import Renewal

/// What one commit has waited for in vain: rows and tables that other sessions hold.
///
/// Each wait costs the session's `lock_timeout`. Where it is a table that is held, a few are enough
/// to see it: then it is the database that takes nothing.
struct LockWaits {
    private var count = 0
    /// Outcomes that were in the way before anything was stored.
    private var blockedFirst = 0
    private var hasStored = false

    /// Whether it is time to leave those alone that concern other users too.
    var isLong: Bool { count > Self.searchLimit }

    /// Enough to find one outcome in a batch of some ten.
    private static let searchLimit = 4
    /// Enough to find one outcome in a batch of some thousand.
    private static let limit = 16
    /// So many outcomes of a batch show whether it is a table that is held.
    private static let probeCount = 3

    /// - Throws: when it has been too often.
    mutating func begin() throws(LedgerError) {
        count += 1
        if count > Self.limit { throw Self.error }
    }

    /// An outcome stands alone, and another session is in its way.
    mutating func isBlocked() throws(LedgerError) {
        guard !hasStored else { return }
        blockedFirst += 1
        if blockedFirst >= Self.probeCount { throw Self.error }
    }

    mutating func passed(_ outcomes: [Outcome]) {
        if outcomes.contains(where: { !$0.waitsForRows }) { hasStored = true }
    }

    private static var error: LedgerError {
        LedgerError(.conflict(sqlState: .lockNotAvailable))
    }

    /// What to try by itself of a batch that has waited in vain. Those that were in the way last
    /// time are apart from the others. Before anything was stored, a few are probes.
    func parts(of outcomes: [Outcome]) -> [[Outcome]] {
        let suspects = outcomes.filter(\.hasWaitedForRows)
        guard suspects.isEmpty || suspects.count == outcomes.count else {
            return [outcomes.filter { !$0.hasWaitedForRows }, suspects]
        }
        let own = outcomes.filter { !$0.mayConcernOthers }
        guard own.isEmpty || own.count == outcomes.count else {
            return [own, outcomes.filter(\.mayConcernOthers)]
        }
        guard !hasStored, outcomes.count > Self.probeCount else { return halves(of: outcomes) }
        let changes = outcomes.indices.filter { outcomes[$0].isChange }
        let places = changes.isEmpty ? Array(outcomes.indices) : changes
        let probes = Set([0, places.count / 2, places.count - 1].map { places[$0] })
        let rest = outcomes.indices.filter { !probes.contains($0) }.map { outcomes[$0] }
        return probes.sorted().map { [outcomes[$0]] } + halves(of: rest)
    }

    private func halves(of outcomes: [Outcome]) -> [[Outcome]] {
        let middle = outcomes.count / 2
        return [Array(outcomes[..<middle]), Array(outcomes[middle...])].filter { !$0.isEmpty }
    }
}

extension PostgresLedger {
    /// Commits a batch in whose way another session is. Of those whose rows it holds only the next
    /// check is moved, or nothing where it holds that too: somebody who looks at one row must not
    /// hold up everybody. Where it holds other rows, the batch is divided until what it is in the
    /// way of stands alone.
    ///
    /// - Throws: `.unavailable` where it holds a table, or too many rows.
    func commitAroundLocks(
        _ outcomes: [Outcome], under lease: Lease?, at now: Timestamp,
        into report: inout CommitReport, _ waits: inout LockWaits
    ) async throws(LedgerError) {
        try waits.begin()
        let locked = try await lockedClaims(outcomes.map(\.claim))
        var rest: [Outcome] = []
        var isAnotherBatch = false
        for outcome in outcomes {
            let claim = outcome.claim
            switch locked[claim.row] {
            case true? where !outcome.waitsForRows:
                rest.append(outcome.waiting(at: now, Outcome.rowsAreHeld))
                isAnotherBatch = true
            case true?, nil:
                rest.append(outcome)
            case false?:
                report.leave(claim)
                isAnotherBatch = true
            }
        }
        // A backend that submits for many leaves its transaction open: what its users are to get
        // waits, and nobody else.
        if !isAnotherBatch, waits.isLong, outcomes.count > 1,
            outcomes.allSatisfy({ $0.mayConcernOthers && !$0.waitsForRows })
        {
            let later = outcomes.map { $0.waiting(at: now, Outcome.rowsAreHeld) }
            return try await commit(later, under: lease, at: now, into: &report, &waits)
        }
        let parts = isAnotherBatch ? [rest] : waits.parts(of: outcomes)
        if parts.count == 1, !isAnotherBatch, let outcome = outcomes.first {
            return try await postpone(outcome, under: lease, at: now, into: &report, &waits)
        }
        for part in parts where !part.isEmpty {
            try await commit(part, under: lease, at: now, into: &report, &waits)
        }
    }

    /// Moves the next check of an outcome that stands alone, and nothing where even that waits.
    private func postpone(
        _ outcome: Outcome, under lease: Lease?, at now: Timestamp,
        into report: inout CommitReport, _ waits: inout LockWaits
    ) async throws(LedgerError) {
        guard !outcome.waitsForRows else {
            report.leave(outcome.claim)
            return
        }
        let later = outcome.waiting(at: now, Outcome.rowsAreHeld)
        try await commit([later], under: lease, at: now, into: &report, &waits)
        try waits.isBlocked()
    }

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

extension CommitReport {
    /// Nothing of it can be stored while another session holds its rows.
    fileprivate mutating func leave(_ claim: Claim) {
        dropped.append(claim)
        held.append(claim)
    }
}

extension Outcome {
    fileprivate static let rowsAreHeld = Problem(
        .unreachable, "another session of the database holds its rows")

    /// Only its next check is moved, because of a lock.
    fileprivate var waitsForRows: Bool { schedule.problem == Self.rowsAreHeld }

    /// Whether rows of other users may be written with it, and not only those of its own.
    fileprivate var mayConcernOthers: Bool {
        guard !waitsForRows, let change else { return false }
        return claim.purchase.isClaimedByOthers || change.predecessorToken != nil
            || change.olderLink != nil
    }

    /// The same was so the last time.
    fileprivate var hasWaitedForRows: Bool {
        claim.problem == Self.rowsAreHeld.description && !waitsForRows
    }
}
