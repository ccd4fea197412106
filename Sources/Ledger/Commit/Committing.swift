import Postgres
package import Renewal

extension PostgresLedger {
    /// Rounds in which claims that another has moved are taken out of a batch.
    private static let commitRounds = 4

    /// Commits decisions: state, events, union and schedule in one transaction and one round trip,
    /// fenced by the lease and compared with what was claimed. Claims that another has moved
    /// meanwhile are dropped, and the rest is committed.
    ///
    /// - Parameters:
    ///   - outcomes: claims and what was decided about each, in any order.
    ///   - lease: nil for a check outside of any lease; the versions decide then.
    ///   - now: the database's time of the decisions.
    /// - Returns: what was committed, dropped and refused, and the events written. A batch that had
    ///   to be divided may be stored in part: then the report has what it met, and what is left.
    /// - Throws: `.unavailable` when it is not known whether anything was committed or nothing was;
    ///   calling again with the same outcomes is safe.
    package func commit(
        _ outcomes: [Outcome], under lease: Lease?, at now: Timestamp
    ) async throws(LedgerError) -> CommitReport {
        var report = CommitReport()
        var waits = LockWaits()
        do throws(LedgerError) {
            try await commit(outcomes, under: lease, at: now, into: &report, &waits)
        } catch {
            guard report.hasStored else { throw error }
            let done = Set(
                (report.committed + report.refused).map(\.claim.row) + report.dropped.map(\.row))
            let left = outcomes.filter { !done.contains($0.claim.row) }
            if !left.isEmpty { report.unfinished = UnfinishedCommit(left: left, error: error) }
        }
        return report
    }

    /// Whatever it throws, `report` has all that was stored before.
    func commit(
        _ outcomes: [Outcome], under lease: Lease?, at now: Timestamp,
        into report: inout CommitReport, _ waits: inout LockWaits
    ) async throws(LedgerError) {
        let droppedBefore = report.dropped.count
        var pending = outcomes.sorted(on: \.claim.row)
        let policies = try await numbers(ofRulesOf: outcomes)
        var lost = LedgerError.unavailable(reason: "other sessions kept changing the batch")
        var isRefused = false
        for round in 0..<Self.commitRounds {
            isRefused = false
            if round > 0 || !isHeld(pending, by: lease) {
                pending = try await standing(pending, under: lease, dropping: &report)
            }
            guard !pending.isEmpty else { return }
            let batch: CommitBatch
            let sealer = try await sealer(for: pending)
            do {
                batch = try await compose(
                    pending, under: lease, at: now, policies: policies, sealer: sealer)
            } catch .unreadableUser {
                return try await commitHalves(
                    pending, under: lease, at: now, into: &report, &waits, because: Self.unreadable)
            }
            do {
                _ = try await writes.pipeline(batch.statements)
                report.committed += batch.outcomes
                report.events += batch.events
                report.trips += batch.trips
                waits.passed(batch.outcomes)
                await wakeSiblings(of: batch)
                return
            } catch .conflict(.lockNotAvailable) {
                return try await commitAroundLocks(
                    pending, under: lease, at: now, into: &report, &waits)
            } catch .rejected(.noLongerValid, let what, _) {
                isRefused = true
                if what.hasPrefix(Sealer.lost) { vault.forgetCurrent() }
                lost = .unavailable(
                    reason: "the claims kept changing during the commit (\(what))")
            } catch .conflict, .commitUnknown {
                lost = .unavailable(reason: "the claims kept changing during the commit")
            } catch .rejected(let state, _, _) where state.isOfContent {
                return try await commitHalves(
                    pending, under: lease, at: now, into: &report, &waits,
                    because: "the reply could not be stored (SQLSTATE \(state))")
            } catch {
                throw LedgerError(error)
            }
        }
        // Nobody is faster where each claim stands: outcomes of the batch are in each other's way.
        if isRefused, report.dropped.count == droppedBefore, pending.count > 1 {
            return try await commitHalves(
                pending, under: lease, at: now, into: &report, &waits,
                because: "it kept being refused")
        }
        throw lost
    }

    /// What lives by the order of what has ended is asked about at once. Where that cannot be
    /// noted, it is asked about when it is due.
    private func wakeSiblings(of batch: CommitBatch) async {
        let asked = Set(batch.outcomes.map(\.claim.row))
        let rows = batch.siblings.filter { !asked.contains($0.key) }.sorted { $0.key < $1.key }
        guard !rows.isEmpty else { return }
        _ = try? await writes.query(
            SQL.wakeSiblings(
                .int16s(rows.map(\.key.shard)), .int32s(rows.map(\.value.lane)),
                .int64s(rows.map(\.key.id)),
                .timestamps(rows.map(\.value.since.microsecondsSinceEpoch))))
    }

    /// One bad outcome must not hold up the others: the batch is halved until it stands alone.
    private func commitHalves(
        _ outcomes: [Outcome], under lease: Lease?, at now: Timestamp,
        into report: inout CommitReport, _ waits: inout LockWaits, because reason: String
    ) async throws(LedgerError) {
        guard outcomes.count > 1 else {
            if let outcome = outcomes.first {
                try await setLater(outcome, under: lease, at: now, into: &report, because: reason)
            }
            return
        }
        let middle = outcomes.count / 2
        for half in [Array(outcomes[..<middle]), Array(outcomes[middle...])] {
            try await commit(half, under: lease, at: now, into: &report, &waits)
        }
    }

    /// Stores nothing of an outcome but that it could not be stored. Left as it is, the purchase
    /// would be due at once, again and again.
    private func setLater(
        _ outcome: Outcome, under lease: Lease?, at now: Timestamp,
        into report: inout CommitReport, because reason: String
    ) async throws(LedgerError) {
        let later = outcome.postponed(at: now, Problem(.malformed, reason))
        let batch = try await compose(
            [later], under: lease, at: now, sealer: try await sealer(for: [later]))
        do {
            _ = try await writes.pipeline(batch.statements)
            report.refused.append(later)
        } catch .rejected(.noLongerValid, _, _), .conflict(.lockNotAvailable) {
            report.dropped.append(outcome.claim)
        } catch {
            throw LedgerError(error)
        }
    }

    private static let unreadable = "a row of its user cannot be read"

    /// For the tokens and answers of these outcomes.
    private func sealer(for outcomes: [Outcome]) async throws(LedgerError) -> Sealer? {
        // Of each: its own token, the one that the store has named, answers, those of a takeover.
        try await sealer(for: outcomes.count * 4)
    }

    private func isHeld(_ outcomes: [Outcome], by lease: Lease?) -> Bool {
        guard let lease else { return true }
        return outcomes.allSatisfy { lease.epochs[$0.claim.shard] != nil }
    }

    /// The outcomes whose claim still stands; the others are dropped.
    private func standing(
        _ outcomes: [Outcome], under lease: Lease?, dropping report: inout CommitReport
    ) async throws(LedgerError) -> [Outcome] {
        let claims = outcomes.map(\.claim)
        let known = try await attempt {
            var owned: Set<Int16>?
            if let lease {
                let (shards, epochs) = lease.columns
                let rows = try await self.writes.query(
                    SQL.ownedShards(
                        .uuid(lease.worker.uuid), .int16s(shards), .int64s(epochs)))
                owned = try Set(rows.rows.map { try $0.int16("shard") })
            }
            let rows = try await self.writes.query(
                SQL.marks([
                    "shard": .int16s(claims.map(\.shard)), "lane": .int32s(claims.map(\.lane)),
                    "id": .int64s(claims.map(\.purchase.id)),
                    "due_at": .instants(claims.map(\.dueAt)),
                ]))
            var versions: [CommitBatch.RowID: Int64] = [:]
            for row in rows.rows {
                versions[try row.id()] = try row.int64("version")
            }
            return (owned, versions)
        }
        var standing: [Outcome] = []
        for outcome in outcomes {
            let claim = outcome.claim
            if known.0?.contains(claim.shard) ?? true,
                known.1[claim.row] == claim.version
            {
                standing.append(outcome)
            } else {
                report.dropped.append(claim)
            }
        }
        return standing
    }
}

extension PostgresLedger {
    /// What a commit of these outcomes would come to. Changes nothing.
    ///
    /// - Parameters:
    ///   - outcomes: of whole users.
    ///   - now: the database's time of the decisions.
    ///   - page: all purchases of the users, where they have been read already.
    /// - Returns: the events, and what could not be decided about.
    /// - Throws: what the database says.
    package func preview(
        _ outcomes: [Outcome], at now: Timestamp, in page: KeptPage? = nil
    ) async throws(LedgerError) -> CommitReport {
        var report = CommitReport()
        do {
            report.events = try await settle(outcomes, under: nil, at: now, in: page).events
            report.committed = outcomes
            return report
        } catch .unreadableUser {
            let users = Dictionary(grouping: outcomes, by: \.claim.purchase.userID)
            guard users.count > 1 else {
                let problem = Problem(.malformed, Self.unreadable)
                report.refused = outcomes.map { $0.postponed(at: now, problem) }
                return report
            }
            for part in users.values {
                report += try await preview(part, at: now, in: page)
            }
            return report
        }
    }
}
