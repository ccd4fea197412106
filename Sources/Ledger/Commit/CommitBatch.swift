import Postgres
import Renewal

/// The rows of one transaction, collected by table.
struct CommitBatch {
    private let lease: Lease?
    private(set) var outcomes: [Outcome] = []
    var accounts: [UserID: (shard: Int16, version: Int64)] = [:]
    var newcomers: [UserID: Int16] = [:]
    var purchases: [RowID: (version: Int64, purchase: Purchase)] = [:]
    var entitlements: [EntitlementKey: (shard: Int16, row: Entitlement)] = [:]
    var offers: [OfferRowID: (shard: Int16, row: Offer?)] = [:]
    var told: [(shard: Int16, version: Int64, event: Event)] = []
    private(set) var handed: [(outcome: Outcome, shard: Int16, user: UserID)] = []
    /// Purchases whose place a newer link of their chain has taken.
    private(set) var takeovers: [EvidenceRow] = []
    /// What lives by the order of a purchase that has ended, with since when that was due.
    private(set) var siblings: [RowID: (lane: Int32, since: Timestamp)] = [:]
    /// Where the rows of a purchase are until the last step has moved them.
    private var homes: [RowID: RowID] = [:]
    /// Purchases whose revocation was held, or is from now on, with what is held.
    private(set) var held: [RowID: [HeldRow]] = [:]
    /// What is kept of what was heard, by where its purchase was claimed.
    var heard: [RowID: HeardRow] = [:]
    /// Under which numbers the rules of the outcomes are kept.
    let policies: [(rules: Rules, number: Int32)]
    var breakers: RevocationBreakers?
    let duplicates: Duplicates
    let chains: Chains
    /// Nil where all is written in clear.
    let sealer: Sealer?
    private(set) var statements: [PostgresStatement] = []

    struct RowID: Hashable, Comparable {
        let shard: Int16
        let id: Int64

        static func < (left: RowID, right: RowID) -> Bool {
            (left.shard, left.id) < (right.shard, right.id)
        }
    }

    /// A row of `renewald.held_revocation`.
    struct HeldRow {
        let entitlement: EntitlementID
        let reason: RevokeReason
        let heldAt: Timestamp
        let lane: Int32
    }

    struct EntitlementKey: Hashable, Comparable {
        let userID: UserID
        let entitlement: EntitlementID

        static func < (left: EntitlementKey, right: EntitlementKey) -> Bool {
            (left.userID, left.entitlement) < (right.userID, right.entitlement)
        }
    }

    struct OfferRowID: Hashable {
        let userID: UserID
        let offer: OfferID
    }

    init(
        lease: Lease?, duplicates: Duplicates = Duplicates(), chains: Chains = Chains(),
        policies: [(rules: Rules, number: Int32)] = [], sealer: Sealer? = nil
    ) {
        self.lease = lease
        self.sealer = sealer
        self.policies = policies
        self.duplicates = duplicates
        self.chains = chains
    }

    var events: [Event] { told.map(\.event) }

    var trips: [BreakerTrip] {
        (breakers?.tripped ?? []).compactMap { lane, breaker in
            guard let limit = breaker.exceeded,
                let app = outcomes.first(where: { $0.claim.lane == lane })?.claim.purchase.app
            else { return nil }
            return BreakerTrip(of: app, exceeding: limit, in: breaker.policy.window)
        }
    }

    /// Makes room for so many outcomes: one is large, and would be moved each time.
    mutating func expect(_ count: Int) { outcomes.reserveCapacity(count) }

    mutating func move(_ outcome: Outcome) {
        outcomes.append(outcome)
    }

    /// Whether a newer link of its chain has taken it over within this very batch.
    func hasTakenOver(_ claim: Claim) -> Bool {
        purchases[claim.row] != nil
    }

    /// Notes that the purchase goes to another user, whose rows are in the given shard.
    mutating func hand(_ outcome: Outcome, to user: UserID, in shard: Int16) {
        let id = outcome.claim.purchaseID
        handed.append((outcome, shard, user))
        homes[RowID(shard: shard, id: id)] = outcome.claim.row
    }

    /// Where a purchase is that goes to another user within this very batch; nil for others.
    func newPlace(of id: Int64) -> Chains.Place? {
        handed.last { $0.outcome.claim.purchaseID == id }
            .map { Chains.Place(user: $0.user, shard: $0.shard, id: id) }
    }

    /// Of purchases that go to other users: where they are once that is written.
    var newShards: [RowID: Int16] {
        Dictionary(handed.map { ($0.outcome.claim.row, $0.shard) }, uniquingKeysWith: { $1 })
    }

    /// `before` is the book as it was, `book` as it is with the settlement.
    mutating func enter(
        _ settlement: Settlement, _ outcome: Outcome, _ book: UserPurchases, before: UserPurchases,
        in shard: Int16
    ) {
        let decided = outcome.claim.purchaseID
        accounts[book.userID] = (shard, book.version)
        for id in settlement.siblings {
            siblings[RowID(shard: shard, id: id)] = (outcome.claim.lane, outcome.claim.dueAt)
        }
        for purchase in settlement.purchases {
            let row = RowID(shard: shard, id: purchase.id)
            let id = homes[row] ?? row
            let known =
                purchase.id == decided
                ? outcome.claim.version : book.purchases[purchase.id]?.version ?? 0
            purchases[id] = (purchases[id]?.version ?? known, purchase)
            let losses =
                purchase.id == decided
                ? outcome.change?.heldLosses : settlement.heldLosses[purchase.id]
            note(
                purchase, of: outcome, losing: losses ?? [:],
                wasHeld: before.holds(purchase.id, outcome), at: id)
            if purchase.id != decided { note(purchase, before, takenOverBy: outcome, in: id.shard) }
        }
        for row in settlement.entitlements {
            let id = EntitlementKey(userID: book.userID, entitlement: row.entitlement)
            entitlements[id] = (shard, row)
        }
        for (id, row) in settlement.offers {
            offers[OfferRowID(userID: book.userID, offer: id)] = (shard, row)
        }
        for event in settlement.events {
            let known =
                event.purchaseID == decided
                ? outcome.claim.version : book.purchases[event.purchaseID]?.version ?? 0
            told.append((shard, known + 1, event))
        }
    }

    private mutating func note(
        _ purchase: Purchase, of outcome: Outcome, losing losses: [EntitlementID: RevokeReason],
        wasHeld: Bool, at id: RowID
    ) {
        guard let heldAt = purchase.facts.heldSince else {
            if wasHeld { held[id] = [] }
            return
        }
        guard !losses.isEmpty else { return }
        held[id] = losses.sorted { $0.key < $1.key }.map { entitlement, reason in
            HeldRow(
                entitlement: entitlement, reason: reason, heldAt: heldAt, lane: outcome.claim.lane)
        }
    }

    private mutating func note(
        _ purchase: Purchase, _ before: UserPurchases, takenOverBy outcome: Outcome, in shard: Int16
    ) {
        guard let evidence = outcome.evidence,
            let known = before.purchases[purchase.id]?.purchase.facts
        else { return }
        takeovers.append(
            EvidenceRow(
                shard: shard, purchaseID: purchase.id, userID: purchase.userID,
                evidence: evidence,
                rule: "purchase \(outcome.claim.purchaseID), a newer link of its chain, has "
                    + "taken over"
                    + (purchase.facts.heldSince == nil
                        ? "" : "; what it does not give is held by the breaker"),
                before: known, facts: purchase.facts, problem: nil, nextCheckAt: nil))
    }

    /// The statements in the order in which every commit locks: fence, accounts, purchases,
    /// schedule, union, what moves, evidence, questions about refunds, events.
    func finished(notifies: Bool) throws(LedgerError) -> CommitBatch {
        var batch = self
        let (seals, tokens) = (try sealStatement, try tokenStatement)
        let evidence = try evidenceStatement
        let encrypted = seals != nil || tokens != nil || keepsAnswers
        batch.statements = [
            fence, encrypted ? dataKeyStatement : nil, newcomerStatement, accountStatement,
            originalKeyStatement, successorStatement, purchaseStatement, seals, tokens,
            scheduleStatement, clueStatement,
            dropHeldStatement, heldStatement, entitlementStatement, offerStatement,
            dropStatement, moveStatement, copyStatement, duplicateStatement, earlyHintStatement,
            observationStatement, evidence, orderKeyStatement, refundPurchaseStatement,
            refundOutcomeStatement, claimedStatement,
            eventStatement,
        ].compactMap { $0 }
        // Before the list of what is held, which names their trip.
        let first = batch.statements.startIndex + (lease == nil ? 0 : 1)
        batch.statements.insert(contentsOf: breakers?.statements ?? [], at: first)
        if notifies, !told.isEmpty { batch.statements.append(SQL.commitNotify()) }
        return batch
    }

    private var fence: PostgresStatement? {
        guard let part = lease?.covering(Set(outcomes.map(\.claim.shard))) else { return nil }
        let (shards, epochs) = part.columns
        return SQL.commitFence([
            "worker": .uuid(part.worker.uuid), "shard": .int16s(shards), "epoch": .int64s(epochs),
        ])
    }
}

extension UserPurchases {
    /// Whether the revocation of a purchase was held.
    fileprivate func holds(_ id: Int64, _ outcome: Outcome) -> Bool {
        let known = outcome.claim.purchase
        let facts = id == known.id ? known.facts : purchases[id]?.purchase.facts
        return facts?.access == .held
    }
}

extension Claim {
    /// Where the rows of its purchase are.
    var row: CommitBatch.RowID { CommitBatch.RowID(shard: shard, id: purchaseID) }
}

extension PostgresRow {
    func id() throws(PostgresError) -> CommitBatch.RowID {
        CommitBatch.RowID(shard: try int16("shard"), id: try int64("id"))
    }
}
