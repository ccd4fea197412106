import Postgres
import Renewal

/// The books of the users that a batch is about, and the shards that they are in.
private struct Books {
    var books: [String: Book] = [:]
    var shards: [String: Int16] = [:]
    /// Users who have no account yet: they get what another has submitted.
    var newcomers: [String: Int16] = [:]
}

extension PostgresLedger {
    /// Settles the outcomes in their users' books and makes the statements of the transaction.
    func compose(
        _ outcomes: [Outcome], under lease: Lease?, at now: Timestamp
    ) async throws(LedgerError) -> CommitBatch {
        let (outcomes, twins) = try await fold(outcomes)
        var batch = CommitBatch(lease: lease, twins: twins)
        var books = try await books(of: outcomes.filter(\.changesFacts))
        batch.newcomers = books.newcomers
        for outcome in outcomes {
            batch.move(outcome)
            // Taken over by a newer link of its chain within this very batch: that one decides.
            guard outcome.changesFacts, !batch.hasTakenOver(outcome.claim) else { continue }
            settle(outcome, in: &books, at: now, into: &batch)
        }
        return batch.finished(notifies: notifies)
    }

    private func settle(
        _ outcome: Outcome, in books: inout Books, at now: Timestamp,
        into batch: inout CommitBatch
    ) {
        let purchase = outcome.claim.purchase
        let shard = outcome.claim.shard
        guard var book = books.books[purchase.userID] else { return }
        guard let user = outcome.decision.handsTo, var other = books.books[user],
            let otherShard = books.shards[user]
        else {
            let before = book
            let settlement = book.settle(purchase, outcome.decision, at: now)
            books.books[purchase.userID] = book
            return batch.enter(settlement, outcome, book, before: before, in: shard)
        }
        let before = (book, other)
        let (lost, gained) = book.handOver(purchase, outcome.decision, to: &other, at: now)
        books.books[purchase.userID] = book
        books.books[user] = other
        batch.hand(outcome, to: user, in: otherShard)
        batch.enter(lost, outcome, book, before: before.0, in: shard)
        batch.enter(gained, outcome, other, before: before.1, in: otherShard)
    }

    private func books(of outcomes: [Outcome]) async throws(LedgerError) -> Books {
        var books = Books()
        guard !outcomes.isEmpty else { return books }
        for outcome in outcomes {
            books.shards[outcome.claim.purchase.userID] = outcome.claim.shard
        }
        let others = Set(outcomes.compactMap(\.decision.handsTo)).subtracting(books.shards.keys)
        if !others.isEmpty {
            for (user, shard) in try await shards(of: others.sorted()) {
                books.shards[user] = shard
            }
        }
        let users = books.shards.keys.sorted()
        let columns: [PostgresValue] = [
            .int16s(users.map { books.shards[$0] ?? 0 }), .texts(users),
        ]
        books.books = try await read(columns)
        for user in others where books.books[user] == nil {
            books.books[user] = Book(userID: user, version: 0, purchases: [], entitlements: [])
            books.newcomers[user] = books.shards[user]
        }
        return books
    }

    private func shards(of users: [String]) async throws(LedgerError) -> [(String, Int16)] {
        try await attempt {
            try await self.writes.query(SQL.shardsOf(.texts(users))).rows.map { row in
                (try row.text("user_id"), try row.int16("shard"))
            }
        }
    }

    private func read(_ columns: [PostgresValue]) async throws(LedgerError) -> [String: Book] {
        try await attempt {
            let results = try await self.writes.pipeline([
                SQL.bookAccounts.with(columns), SQL.bookPurchases.with(columns),
                SQL.bookEntitlements.with(columns), SQL.bookOffers.with(columns),
            ])
            var entries: [String: [Book.Entry]] = [:]
            for row in results[1].rows {
                let app = try await self.app(ofLane: try row.int16("lane"))
                let purchase = try row.purchase(of: app)
                entries[purchase.userID, default: []].append(
                    Book.Entry(purchase: purchase, version: try row.int64("version")))
            }
            var held: [String: [Entitlement]] = [:]
            for row in results[2].rows {
                held[try row.text("user_id"), default: []].append(try row.entitlement())
            }
            var offered: [String: [OfferID: Offer]] = [:]
            for row in results[3].rows {
                let (id, offer) = try row.offer()
                offered[try row.text("user_id"), default: [:]][id] = offer
            }
            var books: [String: Book] = [:]
            for row in results[0].rows {
                let user = try row.text("user_id")
                books[user] = Book(
                    userID: user, version: try row.int64("version"),
                    purchases: entries[user] ?? [], entitlements: held[user] ?? [],
                    offers: offered[user] ?? [:])
            }
            return books
        }
    }
}

extension PostgresRow {
    func entitlement() throws(PostgresError) -> Entitlement {
        Entitlement(
            entitlement: try text("entitlement"), active: try bool("active"),
            expiresAt: try optionalInstant("expires_at"),
            willRenew: try optionalBool("will_renew"), inGrace: try bool("in_grace"),
            reason: try text("reason"), store: try word("store"), product: try text("product"),
            purchaseID: try int64("purchase_id"))
    }

    fileprivate func offer() throws(PostgresError) -> (OfferID, Offer) {
        let id = OfferID(
            app: AppKey(store: try word("store"), id: try text("app")),
            group: try text("subscription_group"))
        let offer = Offer(
            introductoryEligible: try bool("introductory_eligible"),
            promotionalEligible: try bool("promotional_eligible"), reason: try word("reason"),
            asOf: try instant("as_of"))
        return (id, offer)
    }
}
