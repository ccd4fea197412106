import Postgres
import Renewal

/// The statements of one transaction, a table each. Nil where there is nothing for it.
extension CommitBatch {
    var newcomerStatement: PostgresStatement? {
        guard !newcomers.isEmpty else { return nil }
        let rows = newcomers.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        return SQL.commitNewcomers([
            "shard": .int16s(rows.map(\.value)), "user_id": .texts(rows.map(\.key)),
        ])
    }

    var accountStatement: PostgresStatement? {
        guard !accounts.isEmpty else { return nil }
        let rows = accounts.sorted { ($0.value.shard, $0.key) < ($1.value.shard, $1.key) }
        return SQL.commitAccounts([
            "shard": .int16s(rows.map(\.value.shard)), "user_id": .texts(rows.map(\.key)),
            "version": .int64s(rows.map(\.value.version)),
        ])
    }

    var originalKeyStatement: PostgresStatement? {
        guard !duplicates.taken.isEmpty else { return nil }
        let rows = duplicates.taken.sorted { $0.key < $1.key }
        return SQL.commitOriginalKeys([
            "lane": .int32s(rows.map(\.key.lane)),
            "original_id": .texts(rows.map(\.key.originalID)),
            "shard": .int16s(rows.map(\.value.shard)), "id": .int64s(rows.map(\.value.id)),
        ])
    }

    var purchaseStatement: PostgresStatement? {
        guard !purchases.isEmpty else { return nil }
        let rows = purchases.sorted(on: \.key)
        return SQL.commitPurchases(
            [
                "shard": .int16s(rows.map(\.key.shard)), "id": .int64s(rows.map(\.key.id)),
                "version": .int64s(rows.map(\.value.version)),
            ], and: FactColumn.values(of: rows.map(\.value.purchase.facts)))
    }

    /// Taken over within this batch: what was decided about it by itself is not stored.
    func isOther(_ outcome: Outcome) -> Bool {
        let stored = purchases[outcome.claim.row]?.purchase.facts
        var decided = outcome.facts
        // Why access is given is settled with all that the user has.
        decided.gainReason = stored?.gainReason
        return stored != decided
    }

    var scheduleStatement: PostgresStatement {
        let claims = outcomes.map(\.claim)
        let schedules = outcomes.map(\.schedule)
        return SQL.commitSchedule([
            "shard": .int16s(claims.map(\.shard)), "lane": .int32s(claims.map(\.lane)),
            "id": .int64s(claims.map(\.purchaseID)),
            "claimed_due_at": .instants(claims.map(\.dueAt)),
            "due_at": .instants(schedules.map(\.nextCheckAt)),
            "attempts": .int16s(schedules.map { Int16(clamping: $0.attempts) }),
            "heard": .bools(outcomes.map(\.isVerdict)),
            "problem": .optionalTexts(schedules.map(\.problem?.description)),
            "stated_at": .optionalInstants(schedules.map(\.statedAt)),
            "in_vain_since": .optionalInstants(schedules.map(\.inVain?.since)),
            "in_vain_at": .optionalInstants(schedules.map(\.inVain?.lastAskedAt)),
            "heard_mark": .optionalInt64s(claims.map { heard[$0.row]?.mark }),
        ])
    }

    var clueStatement: PostgresStatement? {
        let rows = outcomes.flatMap { outcome in
            let clues = isTakenOver(outcome) ? [] : outcome.toldClues
            return clues.map(\.text).sorted().map { (outcome.claim, $0) }
        }
        guard !rows.isEmpty else { return nil }
        return SQL.commitClues([
            "shard": .int16s(rows.map(\.0.shard)), "id": .int64s(rows.map(\.0.purchaseID)),
            "clue": .texts(rows.map(\.1)),
        ])
    }

    /// By a newer link of its chain, within this batch: what it has to tell is not told.
    private func isTakenOver(_ outcome: Outcome) -> Bool {
        hasTakenOver(outcome.claim) && isOther(outcome)
    }

    /// What was held is listed anew.
    var dropHeldStatement: PostgresStatement? {
        guard !held.isEmpty else { return nil }
        let rows = held.keys.sorted()
        return SQL.dropHeld([
            "shard": .int16s(rows.map(\.shard)), "purchase_id": .int64s(rows.map(\.id)),
        ])
    }

    var heldStatement: PostgresStatement? {
        let rows = held.sorted(on: \.key).flatMap { id, rows in rows.map { (id, $0) } }
        guard !rows.isEmpty else { return nil }
        return SQL.commitHeld([
            "shard": .int16s(rows.map(\.0.shard)), "purchase_id": .int64s(rows.map(\.0.id)),
            "entitlement": .texts(rows.map(\.1.entitlement)),
            "reason": .texts(rows.map(\.1.reason.rawValue)),
            "held_at": .instants(rows.map(\.1.heldAt)), "lane": .int32s(rows.map(\.1.lane)),
        ])
    }

    var entitlementStatement: PostgresStatement? {
        guard !entitlements.isEmpty else { return nil }
        let sorted = entitlements.sorted(on: \.key)
        let rows = sorted.map(\.value.row)
        return SQL.commitEntitlements([
            "shard": .int16s(sorted.map(\.value.shard)),
            "user_id": .texts(sorted.map(\.key.userID)),
            "entitlement": .texts(rows.map(\.entitlement)), "active": .bools(rows.map(\.active)),
            "expires_at": .optionalInstants(rows.map(\.expiresAt)),
            "will_renew": .optionalBools(rows.map(\.willRenew)),
            "in_grace": .bools(rows.map(\.inGrace)), "reason": .texts(rows.map(\.reason)),
            "store": .texts(rows.map(\.store.rawValue)), "product": .texts(rows.map(\.product)),
            "purchase_id": .int64s(rows.map(\.purchaseID)),
            "environment": .optionalTexts(rows.map(\.environment?.rawValue)),
        ])
    }

    var offerStatement: PostgresStatement? {
        let rows = offers.compactMap { id, value in value.row.map { (id, value.shard, $0) } }
        guard !rows.isEmpty else { return nil }
        return SQL.commitOffers(
            [
                "introductory_eligible": .bools(rows.map(\.2.introductoryEligible)),
                "promotional_eligible": .bools(rows.map(\.2.promotionalEligible)),
                "reason": .texts(rows.map(\.2.reason.rawValue)),
                "as_of": .instants(rows.map(\.2.asOf)),
            ], and: offerKeys(rows.map { ($0.0, $0.1) }))
    }

    var dropStatement: PostgresStatement? {
        let rows = offers.filter { $0.value.row == nil }.map { ($0.key, $0.value.shard) }
        guard !rows.isEmpty else { return nil }
        return SQL.dropOffers([:], and: offerKeys(rows))
    }

    private func offerKeys(
        _ rows: [(id: OfferRowID, shard: Int16)]
    ) -> [(key: String, value: PostgresValue)] {
        [
            ("shard", .int16s(rows.map(\.shard))), ("user_id", .texts(rows.map(\.id.userID))),
            ("store", .texts(rows.map(\.id.offer.app.store.rawValue))),
            ("app", .texts(rows.map(\.id.offer.app.id))),
            ("subscription_group", .texts(rows.map(\.id.offer.group))),
        ]
    }

    /// After the schedule's statement: the rows are found where that has put them.
    var moveStatement: PostgresStatement? {
        guard !handed.isEmpty else { return nil }
        let claims = handed.map(\.outcome.claim)
        return SQL.commitMoves([
            "shard": .int16s(claims.map(\.shard)), "lane": .int32s(claims.map(\.lane)),
            "due_at": .instants(handed.map(\.outcome.schedule.nextCheckAt)),
            "id": .int64s(claims.map(\.purchaseID)), "new_shard": .int16s(handed.map(\.shard)),
            "new_user": .texts(handed.map(\.user)),
        ])
    }

    /// After all that is written where the purchases are: they may be elsewhere then.
    var claimedStatement: PostgresStatement? {
        let tried = outcomes.filter(\.isTurnedDown)
        let claims = tried.map(\.claim)
        guard !claims.isEmpty else { return nil }
        return SQL.commitClaimed([
            "shard": .int16s(claims.map(\.shard)), "lane": .int32s(claims.map(\.lane)),
            "id": .int64s(claims.map(\.purchaseID)),
            "to_last": .bools(tried.map { $0.rules.policy.shared == .move }),
        ])
    }

    var copyStatement: PostgresStatement? {
        let shared = outcomes.filter { $0.isShared && !isOther($0) }.map(\.claim)
        guard !shared.isEmpty else { return nil }
        return SQL.commitCopies([
            "shard": .int16s(shared.map(\.shard)), "id": .int64s(shared.map(\.purchase.id)),
            "baseline": .bools(shared.map(\.purchase.facts.isBaseline)),
            "due_at": .timestamps(shared.map(\.dueAt.microsecondsSinceEpoch)),
        ])
    }

    var duplicateStatement: PostgresStatement? {
        guard !duplicates.merged.isEmpty else { return nil }
        // A first form that goes to another user in this very batch is in their shard by then.
        let shards = newShards
        let rows = duplicates.claims
        return SQL.commitDuplicates([
            "lane": .int32s(rows.map(\.lane)),
            "shard": .int16s(rows.map { shards[$0.first] ?? $0.first.shard }),
            "id": .int64s(rows.map(\.first.id)), "user_id": .texts(rows.map(\.user)),
        ])
    }

    /// After the statements that move rows: it looks for the purchases where they are then.
    var earlyHintStatement: PostgresStatement? {
        guard !duplicates.taken.isEmpty else { return nil }
        let keys = duplicates.taken.keys.sorted()
        return SQL.commitEarlyHints([
            "lane": .int32s(keys.map(\.lane)), "original_id": .texts(keys.map(\.originalID)),
        ])
    }

    var eventStatement: PostgresStatement? {
        guard !told.isEmpty else { return nil }
        let events = told.map(\.event)
        return SQL.commitEvents([
            "shard": .int16s(told.map(\.shard)), "kind": .texts(events.map(\.kind.name)),
            "reason": .texts(events.map(\.kind.reason)), "user_id": .texts(events.map(\.userID)),
            "entitlement": .optionalTexts(events.map(\.entitlement)),
            "purchase_id": .int64s(events.map(\.purchaseID)),
            "purchase_version": .int64s(told.map(\.version)),
            "store": .texts(events.map(\.app.store.rawValue)), "app": .texts(events.map(\.app.id)),
            "environment": .optionalTexts(events.map(\.environment?.rawValue)),
            "product": .texts(events.map(\.product)),
            "order_id": .optionalTexts(events.map(\.orderID)),
            "effective_at": .instants(events.map(\.effectiveAt)),
            "is_dated": .bools(events.map(\.isDated)),
            "expires_at": .optionalInstants(events.map(\.expiresAt)),
            "refunded_order": .optionalTexts(events.map(\.detail.refundedOrder)),
            "detail": .texts(events.map(\.detail.json)),
        ])
    }
}

extension Outcome {
    /// Whether another user claims what its store does not know as its owner has named it.
    fileprivate var isTurnedDown: Bool {
        claim.purchase.isClaimedByOthers && facts.environment == nil && facts.access == .none
            && (facts.state == .invalid || schedule.problem?.code == .rejected)
    }

    /// What a check has looked into. Of a refund that the breaker holds nothing has been told yet:
    /// who wanted it, and why, is told with it once it is let go.
    fileprivate var toldClues: Set<Clue> {
        guard facts.access == .held else { return schedule.settledClues }
        return schedule.settledClues.filter { clue in
            switch clue {
            case .void: false
            // The answer has shown it: left open, it would be looked for after a reversal.
            case .refund, .pause, .revoked: true
            }
        }
    }
}
