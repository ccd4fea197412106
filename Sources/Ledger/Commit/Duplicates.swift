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
        let form: CommitBatch.RowID
        /// Who has handed in the later form; the last to do so comes last.
        let users: [UserID]
        let shared: Policy.Shared
    }

    /// To be taken by the commit; another commit may be faster, then this one fails.
    var taken: [Key: CommitBatch.RowID] = [:]
    /// Whose first form is to be claimed or woken.
    fileprivate(set) var merged: [Merged] = []
    /// Who has handed in each form last.
    fileprivate var latest: [CommitBatch.RowID: Latest] = [:]

    fileprivate struct Latest {
        let user: UserID
        let isOwner: Bool
        let handedInAt: Timestamp
    }

    /// Who claims a first form, or wakes it, in the order in which they are to do so: who has
    /// handed it in last of all has the last word, however late the other form was checked.
    var claims: [(lane: Int32, first: CommitBatch.RowID, user: UserID)] {
        let groups = Dictionary(grouping: merged, by: \.first).sorted { $0.key < $1.key }
        return groups.flatMap { first, merged in
            let forms = merged.sorted(on: { latest[$0.form]?.handedInAt ?? .never })
            let older = forms.prefix { isOlder($0) }
            let own = older.isEmpty ? [] : [latest[first]?.user].compactMap { $0 }
            let users = older.flatMap(\.users) + own + forms.dropFirst(older.count).flatMap(\.users)
            return users.map { (lane: merged[0].lane, first: first, user: $0) }
        }
    }

    /// Whether the first form was handed in after this one. That its owner did so counts where the
    /// last to hand it in has it; elsewhere it stays with them, and the other's claim is told.
    private func isOlder(_ merged: Merged) -> Bool {
        guard let first = latest[merged.first], let form = latest[merged.form] else { return false }
        return form.handedInAt < first.handedInAt && (!first.isOwner || merged.shared == .move)
    }
}

extension PostgresLedger {
    /// Finds the purchases that were submitted before in another form.
    ///
    /// - Returns: the outcomes, with what is to be decided of those instead.
    func merge(_ outcomes: [Outcome]) async throws(LedgerError) -> ([Outcome], Duplicates) {
        let wanted = Set(outcomes.compactMap(\.soughtKey)).sorted()
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
            guard let key = outcome.soughtKey, originals[own] == nil else { continue }
            guard let first = owners[key] else {
                guard outcome.wantedKey != nil else { continue }
                owners[key] = own
                duplicates.taken[key] = own
                continue
            }
            guard first != own, originals[first] != own.id,
                let other = outcome.mergedIntoItsDuplicate()
            else { continue }
            merged[own] = other
            // Asked about once more, as by `check`, it stays merged, and nobody claims anything.
            guard outcome.wantedKey != nil else { continue }
            duplicates.merged.append(
                Duplicates.Merged(
                    lane: key.lane, first: first, form: own,
                    users: outcome.claim.purchase.submitters,
                    shared: outcome.rules.policy.shared))
        }
        guard !merged.isEmpty else { return (outcomes, duplicates) }
        duplicates.latest = try await latest(
            of: Set(duplicates.merged.flatMap { [$0.first, $0.form] }).sorted())
        let settled = outcomes.map { outcome in
            merged[outcome.claim.row] ?? outcome
        }
        return (settled, duplicates)
    }

    private func latest(
        of forms: [CommitBatch.RowID]
    ) async throws(LedgerError) -> [CommitBatch.RowID: Duplicates.Latest] {
        try await attempt {
            let rows = try await self.writes.query(
                SQL.latestSubmitters(.int16s(forms.map(\.shard)), .int64s(forms.map(\.id))))
            var latest: [CommitBatch.RowID: Duplicates.Latest] = [:]
            for row in rows.rows {
                latest[try row.id()] = Duplicates.Latest(
                    user: try row.text("user_id"), isOwner: try row.bool("is_owner"),
                    handedInAt: try row.instant("handed_in_at"))
            }
            return latest
        }
    }

    /// Of those that are copies: the purchases whose copies they are.
    private func originals(
        of outcomes: [Outcome], and owners: some Sequence<CommitBatch.RowID>
    ) async throws(LedgerError) -> [CommitBatch.RowID: Int64] {
        let shared = outcomes.filter { outcome in
            outcome.soughtKey != nil && outcome.claim.purchase.isClaimedByOthers
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
    /// What it learns, or has as a form that may have been merged before.
    fileprivate var soughtKey: Duplicates.Key? {
        wantedKey ?? sharedOriginalID.map { Duplicates.Key(lane: claim.lane, originalID: $0) }
    }

    fileprivate var wantedKey: Duplicates.Key? {
        claimedOriginalID.map { Duplicates.Key(lane: claim.lane, originalID: $0) }
    }
}
