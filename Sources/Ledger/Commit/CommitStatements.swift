import Postgres
import Renewal

/// The statements of one transaction, a table each. Nil where there is nothing for it.
extension CommitBatch {
    var newcomerStatement: PostgresStatement? {
        guard !newcomers.isEmpty else { return nil }
        let rows = newcomers.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        return SQL.commitNewcomers(.int16s(rows.map(\.value)), .texts(rows.map(\.key)))
    }

    var accountStatement: PostgresStatement? {
        guard !accounts.isEmpty else { return nil }
        let rows = accounts.sorted { ($0.value.shard, $0.key) < ($1.value.shard, $1.key) }
        return SQL.commitAccounts(
            .int16s(rows.map(\.value.shard)), .texts(rows.map(\.key)),
            .int64s(rows.map(\.value.version)))
    }

    var originalKeyStatement: PostgresStatement? {
        guard !twins.taken.isEmpty else { return nil }
        let rows = twins.taken.sorted { $0.key < $1.key }
        return SQL.commitOriginalKeys(
            .int32s(rows.map(\.key.lane)), .texts(rows.map(\.key.originalID)),
            .int16s(rows.map(\.value.shard)), .int64s(rows.map(\.value.id)))
    }

    var purchaseStatement: PostgresStatement? {
        guard !purchases.isEmpty else { return nil }
        let rows = purchases.sorted { $0.key < $1.key }
        let facts = rows.map(\.value.purchase.facts)
        return SQL.commitPurchases(
            .int16s(rows.map(\.key.shard)), .int64s(rows.map(\.key.id)),
            .int64s(rows.map(\.value.version)), .texts(facts.map(\.product)),
            .optionalTexts(facts.map(\.environment?.rawValue)),
            .optionalTexts(facts.map(\.kind?.rawValue)), .texts(facts.map(\.state.rawValue)),
            .texts(facts.map(\.access.rawValue)), instants(facts.map(\.paidThrough)),
            instants(facts.map(\.expiresAt)), .optionalBools(facts.map(\.autoRenew)),
            .optionalTexts(facts.map(\.orderID)), .optionalTexts(facts.map(\.originalID)),
            .optionalTexts(facts.map(\.period)), .optionalTexts(facts.map(\.phase?.rawValue)),
            instants(facts.map(\.statedAt)), .optionalTexts(facts.map(\.lapse?.rawValue)),
            .texts(facts.map { arrayLiteral($0.signals.map(\.rawValue).sorted()) }),
            .optionalTexts(facts.map(\.doubt?.doubt.rawValue)),
            instants(facts.map(\.doubt?.since)),
            .texts(facts.map { arrayLiteral($0.holdings.map(\.entitlement)) }),
            .texts(facts.map { arrayLiteral($0.holdings.map(\.product)) }),
            .texts(
                facts.map { arrayLiteral($0.holdings.map(\.expiresAt?.microsecondsSinceEpoch)) }),
            .optionalTexts(facts.map(\.group)), .optionalBools(facts.map(\.usedIntroductory)),
            .optionalTexts(facts.map(\.accountToken)),
            .optionalTexts(facts.map(\.ownership?.rawValue)))
    }

    var tokenStatement: PostgresStatement? {
        let named = outcomes.filter { $0.decision.nextToken != nil && !isOther($0) }
        guard !named.isEmpty else { return nil }
        return SQL.commitTokens(
            .int16s(named.map(\.claim.shard)), .int64s(named.map(\.claim.purchase.id)),
            .texts(named.compactMap(\.decision.nextToken)))
    }

    /// Taken over within this batch: what was decided about it by itself is not stored.
    private func isOther(_ outcome: Outcome) -> Bool {
        let id = RowID(shard: outcome.claim.shard, id: outcome.claim.purchase.id)
        return purchases[id]?.purchase.facts != outcome.decision.facts
    }

    var scheduleStatement: PostgresStatement {
        let claims = outcomes.map(\.claim)
        let decisions = outcomes.map(\.decision)
        return SQL.commitSchedule(
            .int16s(claims.map(\.shard)), .int32s(claims.map(\.lane)),
            .int64s(claims.map(\.purchase.id)),
            .timestamps(claims.map(\.dueAt.microsecondsSinceEpoch)),
            .timestamps(decisions.map(\.nextCheckAt.microsecondsSinceEpoch)),
            .int16s(decisions.map { Int16(clamping: $0.attempts) }),
            .bools(decisions.map(\.isVerdict)),
            .optionalTexts(decisions.map(\.problem?.description)),
            instants(decisions.map(\.statedAt)), instants(decisions.map(\.inVain?.since)),
            instants(decisions.map(\.inVain?.lastAskedAt)))
    }

    var clueStatement: PostgresStatement? {
        let rows = outcomes.flatMap { outcome in
            let clues = isTakenOver(outcome) ? [] : outcome.decision.settledClues
            return clues.map(\.text).sorted().map { (outcome.claim, $0) }
        }
        guard !rows.isEmpty else { return nil }
        return SQL.commitClues(
            .int16s(rows.map(\.0.shard)), .int64s(rows.map(\.0.purchase.id)), .texts(rows.map(\.1)))
    }

    /// By a newer link of its chain, within this batch: what it has to tell is not told.
    private func isTakenOver(_ outcome: Outcome) -> Bool {
        let id = RowID(shard: outcome.claim.shard, id: outcome.claim.purchase.id)
        return purchases[id].map { $0.purchase.facts != outcome.decision.facts } ?? false
    }

    var entitlementStatement: PostgresStatement? {
        guard !entitlements.isEmpty else { return nil }
        let sorted = entitlements.sorted { $0.key < $1.key }
        let rows = sorted.map(\.value.row)
        return SQL.commitEntitlements(
            .int16s(sorted.map(\.value.shard)), .texts(sorted.map(\.key.userID)),
            .texts(rows.map(\.entitlement)), .bools(rows.map(\.active)),
            instants(rows.map(\.expiresAt)), .optionalBools(rows.map(\.willRenew)),
            .bools(rows.map(\.inGrace)), .texts(rows.map(\.reason)),
            .texts(rows.map(\.store.rawValue)), .texts(rows.map(\.product)),
            .int64s(rows.map(\.purchaseID)), .optionalTexts(rows.map(\.environment?.rawValue)))
    }

    var offerStatement: PostgresStatement? {
        let rows = offers.compactMap { id, value in value.row.map { (id, value.shard, $0) } }
        guard !rows.isEmpty else { return nil }
        return SQL.commitOffers.with(
            offerColumns(rows.map { ($0.0, $0.1) }) + [
                .bools(rows.map(\.2.introductoryEligible)),
                .bools(rows.map(\.2.promotionalEligible)), .texts(rows.map(\.2.reason.rawValue)),
                .timestamps(rows.map(\.2.asOf.microsecondsSinceEpoch)),
            ])
    }

    var dropStatement: PostgresStatement? {
        let rows = offers.filter { $0.value.row == nil }.map { ($0.key, $0.value.shard) }
        guard !rows.isEmpty else { return nil }
        return SQL.dropOffers.with(offerColumns(rows))
    }

    private func offerColumns(_ rows: [(id: OfferRowID, shard: Int16)]) -> [PostgresValue] {
        [
            .int16s(rows.map(\.shard)), .texts(rows.map(\.id.userID)),
            .texts(rows.map(\.id.offer.app.store.rawValue)), .texts(rows.map(\.id.offer.app.id)),
            .texts(rows.map(\.id.offer.group)),
        ]
    }

    /// After the schedule's statement: the rows are found where that has put them.
    var moveStatement: PostgresStatement? {
        guard !handed.isEmpty else { return nil }
        let claims = handed.map(\.outcome.claim)
        return SQL.commitMoves(
            .int16s(claims.map(\.shard)), .int32s(claims.map(\.lane)),
            .timestamps(handed.map(\.outcome.decision.nextCheckAt.microsecondsSinceEpoch)),
            .int64s(claims.map(\.purchase.id)), .int16s(handed.map(\.shard)),
            .texts(handed.map(\.user)))
    }

    var copyStatement: PostgresStatement? {
        let shared = outcomes.filter { $0.decision.sharesWithClaimants && !isOther($0) }
            .map(\.claim)
        guard !shared.isEmpty else { return nil }
        return SQL.commitCopies(
            .int16s(shared.map(\.shard)), .int64s(shared.map(\.purchase.id)))
    }

    var twinStatement: PostgresStatement? {
        guard !twins.folded.isEmpty else { return nil }
        let rows = twins.folded
        return SQL.commitTwins(
            .int32s(rows.map(\.lane)), .int16s(rows.map(\.first.shard)),
            .int64s(rows.map(\.first.id)), .texts(rows.map(\.user)))
    }

    var eventStatement: PostgresStatement? {
        guard !told.isEmpty else { return nil }
        let events = told.map(\.event)
        return SQL.commitEvents(
            .int16s(told.map(\.shard)), .texts(events.map(\.told.kind)),
            .texts(events.map(\.told.reason)), .texts(events.map(\.userID)),
            .optionalTexts(events.map(\.entitlement)), .int64s(events.map(\.purchaseID)),
            .int64s(told.map(\.version)), .texts(events.map(\.app.store.rawValue)),
            .texts(events.map(\.app.id)), .optionalTexts(events.map(\.environment?.rawValue)),
            .texts(events.map(\.product)), .optionalTexts(events.map(\.orderID)),
            .timestamps(events.map(\.effectiveAt.microsecondsSinceEpoch)),
            instants(events.map(\.expiresAt)), .optionalTexts(events.map(\.detail.heard)),
            .optionalBools(events.map(\.detail.falseRenewal)),
            .optionalTexts(events.map(\.detail.previousProduct)),
            .optionalBools(events.map(\.detail.durationChanged)),
            .optionalTexts(events.map(\.detail.refundedOrder)),
            .optionalTexts(events.map(\.detail.claimedBy)))
    }

    func instants(_ instants: [Timestamp?]) -> PostgresValue {
        .optionalTimestamps(instants.map { $0?.microsecondsSinceEpoch })
    }
}
