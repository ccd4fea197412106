import Postgres
import Renewal

/// Purchases of a batch that learn their original id, and those among them that another purchase
/// has been before.
struct Duplicates {
    struct Key: Hashable, Comparable {
        let lane: Int32
        let originalID: OrderID

        static func < (left: Key, right: Key) -> Bool {
            (left.lane, left.originalID) < (right.lane, right.originalID)
        }
    }

    struct Merged {
        let lane: Int32
        let first: CommitBatch.RowID
        /// Who has handed in the later form; the last to do so comes last.
        let users: [UserID]
    }

    /// To be taken by the commit; another commit may be faster, then this one fails.
    var taken: [Key: CommitBatch.RowID] = [:]
    /// Whose first form is to be claimed or woken.
    var merged: [Merged] = []
}

extension PostgresLedger {
    /// Finds the purchases that were submitted before in another form.
    ///
    /// - Returns: the outcomes, with what is to be decided of those instead.
    func merge(_ outcomes: [Outcome]) async throws(LedgerError) -> ([Outcome], Duplicates) {
        let wanted = Set(outcomes.compactMap(\.wantedKey)).sorted()
        var duplicates = Duplicates()
        guard !wanted.isEmpty else { return (outcomes, duplicates) }
        var owners = try await attempt {
            var owners: [Duplicates.Key: CommitBatch.RowID] = [:]
            let rows = try await self.writes.query(
                SQL.findOriginalKeys(
                    .int32s(wanted.map(\.lane)), .texts(wanted.map(\.originalID))))
            for row in rows.rows {
                let key = Duplicates.Key(
                    lane: try row.int32("lane"), originalID: try row.text("original_id"))
                owners[key] = try row.id()
            }
            return owners
        }
        let originals = try await originals(of: outcomes, and: owners.values)
        var merged: [CommitBatch.RowID: Outcome] = [:]
        // The one that was submitted first is the first.
        for outcome in outcomes.sorted(on: \.claim.purchaseID) {
            let own = outcome.claim.row
            // What others may have too is each user's own, and no further form: a copy stays beside
            // its original, which has the key for both.
            guard let key = outcome.wantedKey, originals[own] == nil else { continue }
            guard let first = owners[key] else {
                owners[key] = own
                duplicates.taken[key] = own
                continue
            }
            guard first != own, originals[first] != own.id,
                let other = outcome.mergedIntoItsDuplicate()
            else { continue }
            merged[own] = other
            duplicates.merged.append(
                Duplicates.Merged(
                    lane: key.lane, first: first, users: outcome.claim.purchase.submitters))
        }
        guard !merged.isEmpty else { return (outcomes, duplicates) }
        let settled = outcomes.map { outcome in
            merged[outcome.claim.row] ?? outcome
        }
        return (settled, duplicates)
    }

    /// Of those that are copies: the purchases whose copies they are.
    private func originals(
        of outcomes: [Outcome], and owners: some Sequence<CommitBatch.RowID>
    ) async throws(LedgerError) -> [CommitBatch.RowID: Int64] {
        let shared = outcomes.filter { outcome in
            outcome.wantedKey != nil && outcome.claim.purchase.isClaimedByOthers
        }
        guard !shared.isEmpty else { return [:] }
        let rows = Set(shared.map(\.claim.row)).union(owners).sorted()
        return try await attempt {
            let found = try await self.writes.query(
                SQL.findCopies(.int16s(rows.map(\.shard)), .int64s(rows.map(\.id))))
            var originals: [CommitBatch.RowID: Int64] = [:]
            for row in found.rows { originals[try row.id()] = try row.int64("original") }
            return originals
        }
    }
}

extension Purchase {
    /// All who have handed it in, its owner among them, and the latest last.
    fileprivate var submitters: [UserID] {
        // The claimants are in order, the latest first, but those of one transaction have one time:
        // who was the last is known of itself. The owner has the last word where no claim is open.
        guard let claimant else { return claimants.reversed() + [userID] }
        return [userID] + claimants.reversed().filter { $0 != claimant } + [claimant]
    }
}

extension Outcome {
    fileprivate var wantedKey: Duplicates.Key? {
        claimedOriginalID.map { Duplicates.Key(lane: claim.lane, originalID: $0) }
    }
}
