import Postgres
import Renewal

/// The rows of one transaction, collected by table.
struct CommitBatch {
    private let lease: Lease?
    private var moves: [Outcome] = []
    private var accounts: [String: (shard: Int16, version: Int64)] = [:]
    private var purchases: [Int64: (shard: Int16, version: Int64, purchase: Purchase)] = [:]
    private var takenOver: Set<Int64> = []
    private var entitlements: [EntitlementID: (shard: Int16, row: Entitlement)] = [:]
    private var told: [(shard: Int16, version: Int64, event: Event)] = []
    private(set) var statements: [PostgresStatement] = []

    private struct EntitlementID: Hashable, Comparable {
        let userID: String
        let entitlement: String

        static func < (left: EntitlementID, right: EntitlementID) -> Bool {
            (left.userID, left.entitlement) < (right.userID, right.entitlement)
        }
    }

    init(lease: Lease?) {
        self.lease = lease
    }

    var events: [Event] { told.map(\.event) }

    func hasTakenOver(_ id: Int64) -> Bool { takenOver.contains(id) }

    mutating func move(_ outcome: Outcome) {
        moves.append(outcome)
    }

    mutating func enter(_ settlement: Settlement, _ outcome: Outcome, _ book: Book) {
        let shard = outcome.claim.shard
        let decidedID = outcome.claim.purchase.id
        accounts[book.userID] = (shard, book.version)
        for purchase in settlement.purchases {
            let known =
                purchase.id == decidedID
                ? outcome.claim.version : book.purchases[purchase.id]?.version ?? 0
            purchases[purchase.id] = (
                shard, purchases[purchase.id]?.version ?? known, purchase
            )
            if purchase.id != decidedID { takenOver.insert(purchase.id) }
        }
        for row in settlement.entitlements {
            let id = EntitlementID(userID: book.userID, entitlement: row.entitlement)
            entitlements[id] = (shard, row)
        }
        for event in settlement.events {
            told.append((shard, outcome.claim.version + 1, event))
        }
    }

    /// The statements in the order in which every commit locks: fence, accounts, purchases,
    /// schedule, union, events.
    func finished(notifies: Bool) -> CommitBatch {
        var batch = self
        batch.statements = [
            fence, accountStatement, purchaseStatement, scheduleStatement, entitlementStatement,
            eventStatement,
        ].compactMap { $0 }
        if notifies, !told.isEmpty { batch.statements.append(SQL.commitNotify()) }
        return batch
    }

    private var fence: PostgresStatement? {
        guard let part = lease?.covering(Set(moves.map(\.claim.shard))) else { return nil }
        let (shards, epochs) = part.columns
        return SQL.commitFence(.uuid(part.worker.uuid), .int16s(shards), .int64s(epochs))
    }

    private var accountStatement: PostgresStatement? {
        guard !accounts.isEmpty else { return nil }
        let rows = accounts.sorted { ($0.value.shard, $0.key) < ($1.value.shard, $1.key) }
        return SQL.commitAccounts(
            .int16s(rows.map(\.value.shard)), .texts(rows.map(\.key)),
            .int64s(rows.map(\.value.version)))
    }

    private var purchaseStatement: PostgresStatement? {
        guard !purchases.isEmpty else { return nil }
        let rows = purchases.values.sorted {
            ($0.shard, $0.purchase.id) < ($1.shard, $1.purchase.id)
        }
        let facts = rows.map(\.purchase.facts)
        return SQL.commitPurchases(
            .int16s(rows.map(\.shard)), .int64s(rows.map(\.purchase.id)),
            .int64s(rows.map(\.version)), .texts(facts.map(\.product)),
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
                facts.map { arrayLiteral($0.holdings.map(\.expiresAt?.microsecondsSinceEpoch)) }))
    }

    private var scheduleStatement: PostgresStatement {
        let claims = moves.map(\.claim)
        let decisions = moves.map(\.decision)
        return SQL.commitSchedule(
            .int16s(claims.map(\.shard)), .int16s(claims.map(\.lane)),
            .int64s(claims.map(\.purchase.id)),
            .timestamps(claims.map(\.dueAt.microsecondsSinceEpoch)),
            .timestamps(decisions.map(\.nextCheckAt.microsecondsSinceEpoch)),
            .int16s(decisions.map { Int16(clamping: $0.attempts) }),
            .bools(decisions.map(\.isVerdict)),
            .optionalTexts(decisions.map(\.problem?.description)))
    }

    private var entitlementStatement: PostgresStatement? {
        guard !entitlements.isEmpty else { return nil }
        let sorted = entitlements.sorted { $0.key < $1.key }
        let rows = sorted.map(\.value.row)
        return SQL.commitEntitlements(
            .int16s(sorted.map(\.value.shard)), .texts(sorted.map(\.key.userID)),
            .texts(rows.map(\.entitlement)), .bools(rows.map(\.active)),
            instants(rows.map(\.expiresAt)), .optionalBools(rows.map(\.willRenew)),
            .bools(rows.map(\.inGrace)), .texts(rows.map(\.reason)),
            .texts(rows.map(\.store.rawValue)), .texts(rows.map(\.product)),
            .int64s(rows.map(\.purchaseID)))
    }

    private var eventStatement: PostgresStatement? {
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
            .optionalTexts(events.map(\.detail.previousProduct)))
    }

    private func instants(_ instants: [Timestamp?]) -> PostgresValue {
        .optionalTimestamps(instants.map { $0?.microsecondsSinceEpoch })
    }
}
