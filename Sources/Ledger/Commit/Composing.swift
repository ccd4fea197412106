import Postgres
import Renewal

/// The books of the users that a batch is about, and the shards that they are in.
private struct Books {
    var books: [UserID: UserPurchases] = [:]
    var shards: [UserID: Int16] = [:]
    /// Users who have no account yet: they get what another has submitted.
    var newcomers: [UserID: Int16] = [:]
    /// Users of whom a row cannot be read: nothing is decided of them, as what they hold is not
    /// known.
    var unreadable: Set<UserID> = []
    /// The purchases of each, until the books are there.
    private var entries: [UserID: [UserPurchases.Entry]] = [:]
}

extension PostgresLedger {
    /// Settles the outcomes in their users' books and makes the statements of the transaction.
    func compose(
        _ outcomes: [Outcome], under lease: Lease?, at now: Timestamp,
        policies: [(rules: Rules, number: Int32)] = [], sealer: Sealer? = nil
    ) async throws(LedgerError) -> CommitBatch {
        var batch = try await settle(
            outcomes, under: lease, at: now, policies: policies, sealer: sealer)
        batch.noteHeard()
        return try batch.finished(notifies: notifies)
    }

    /// Settles the outcomes in their users' books: what is to be stored and told, without the
    /// statements. `page` has all purchases of the users, where they have been read already.
    func settle(
        _ outcomes: [Outcome], under lease: Lease?, at now: Timestamp,
        policies: [(rules: Rules, number: Int32)] = [], sealer: Sealer? = nil,
        in page: KeptPage? = nil
    ) async throws(LedgerError) -> CommitBatch {
        let (merged, duplicates) = try await merge(outcomes)
        let (outcomes, chains) = try await link(merged)
        var batch = CommitBatch(
            lease: lease, duplicates: duplicates, chains: chains, policies: policies,
            sealer: sealer)
        batch.expect(outcomes.count)
        var books = try await books(of: outcomes, chains, in: page)
        batch.newcomers = books.newcomers
        var breakers = try await breakers(at: now, of: outcomes) { outcome in
            books.losses(byTakingOver: outcome, chains, at: now)
        }
        for outcome in outcomes.inOrderOfSettling {
            // Taken over by a newer link of its chain within this very batch: that one decides.
            guard outcome.isChange, !batch.hasTakenOver(outcome.claim) else {
                batch.move(outcome)
                continue
            }
            try settle(outcome, in: &books, &breakers, at: now, into: &batch)
        }
        batch.breakers = breakers
        return batch
    }

    /// - Throws: `.unreadableUser` when a user's book or shard is not there, which undoes the
    ///   batch: what is decided and not told would be lost for good.
    private func settle(
        _ outcome: Outcome, in books: inout Books, _ breakers: inout RevocationBreakers,
        at now: Timestamp,
        into batch: inout CommitBatch
    ) throws(LedgerError) {
        let owner = outcome.claim.purchase.userID
        let shard = outcome.claim.shard
        let older = try yield(to: outcome, in: &books, &breakers, at: now, into: &batch)
        var book = try books.book(of: owner)
        guard case .handed(let user, _) = outcome.decision else {
            let before = book
            var outcome = outcome.awaitingSuccessor(in: book, at: now)
            var settlement = book.settle(outcome, continuing: older, at: now)
            if settlement.revokes, let loss = outcome.loss(at: now),
                !breakers.admits(loss, in: outcome.claim.lane)
            {
                book = before
                outcome = outcome.held(at: now)
                settlement = book.settle(outcome, continuing: older, at: now)
            }
            let links = before.losses(byTakingOver: outcome, in: settlement, at: now)
            let holding = breakers.held(of: links, in: outcome.claim.lane)
            if !holding.isEmpty {
                book = before
                settlement = book.settle(outcome, continuing: older, holding: holding, at: now)
            }
            if let end = outcome.survivedEnd {
                breakers.survived(
                    end, in: outcome.claim.lane, under: outcome.rules.policy.breaker)
            }
            books.books[owner] = book
            batch.move(outcome)
            return batch.enter(settlement, outcome, book, before: before, in: shard)
        }
        try handOver(outcome, to: user, in: &books, &breakers, at: now, into: &batch)
    }

    /// What older links of the chain gave beyond it is lost to whoever of the two has them.
    private func handOver(
        _ outcome: Outcome, to user: UserID, in books: inout Books,
        _ breakers: inout RevocationBreakers, at now: Timestamp, into batch: inout CommitBatch
    ) throws(LedgerError) {
        let owner = outcome.claim.purchase.userID
        var (book, other) = (try books.book(of: owner), try books.book(of: user))
        let otherShard = try books.shard(of: user)
        let before = (book, other)
        var (lost, gained) = book.handOver(outcome, to: &other, at: now)
        let links =
            before.0.losses(byTakingOver: outcome, in: lost, at: now)
            + before.1.losses(byTakingOver: outcome, in: gained, at: now)
        let holding = breakers.held(of: links, in: outcome.claim.lane)
        if !holding.isEmpty {
            (book, other) = before
            (lost, gained) = book.handOver(outcome, to: &other, holding: holding, at: now)
        }
        batch.move(outcome)
        books.books[owner] = book
        books.books[user] = other
        batch.hand(outcome, to: user, in: otherShard)
        batch.enter(lost, outcome, book, before: before.0, in: outcome.claim.shard)
        batch.enter(gained, outcome, other, before: before.1, in: otherShard)
    }

    /// What the older link of the chain gave to another user goes to the one who has the newer
    /// link.
    private func yield(
        to outcome: Outcome, in books: inout Books, _ breakers: inout RevocationBreakers,
        at now: Timestamp, into batch: inout CommitBatch
    ) throws(LedgerError) -> OlderLink? {
        // Where both may have it, the one keeps the older link until its own record says that it is
        // replaced.
        guard let known = batch.chains.older[outcome.claim.row],
            outcome.rules.policy.shared != .allow
        else { return nil }
        let place = batch.newPlace(of: known.id) ?? known
        guard place.user != outcome.owner else { return nil }
        var other = try books.book(of: place.user)
        let before = other
        guard var (lost, older) = other.yield(place.id, to: outcome, at: now) else {
            return nil
        }
        if lost.revokes, let loss = before.loss(of: place.id, yieldedTo: outcome, at: now),
            !breakers.admits(loss, in: outcome.claim.lane)
        {
            other = before
            let held = other.yield(place.id, to: outcome, holding: true, at: now)
            if let held { (lost, older) = held }
        }
        guard !lost.purchases.isEmpty else { return older }
        books.books[place.user] = other
        batch.enter(lost, outcome, other, before: before, in: place.shard)
        return older
    }

    /// Of those that change something.
    private func books(
        of outcomes: [Outcome], _ chains: Chains, in page: KeptPage?
    ) async throws(LedgerError) -> Books {
        var books = Books()
        var owners: Set<UserID> = []
        for outcome in outcomes where outcome.isChange {
            books.shards[outcome.claim.purchase.userID] = outcome.claim.shard
            owners.insert(outcome.owner)
        }
        guard !owners.isEmpty else { return books }
        for place in chains.older.values where books.shards[place.user] == nil {
            books.shards[place.user] = place.shard
        }
        let others = owners.subtracting(books.shards.keys)
        if !others.isEmpty {
            for (user, shard) in try await shards(of: others.sorted()) {
                books.shards[user] = shard
            }
        }
        let users = books.shards.sorted { $0.key < $1.key }
        let columns: [PostgresValue] = [
            .int16s(users.map(\.value)), .texts(users.map(\.key)),
        ]
        let isWhole = page?.unreadable == 0 && chains.older.isEmpty && others.isEmpty
        try await read(columns, isWhole ? page : nil, into: &books)
        for user in others
        where books.books[user] == nil && !books.unreadable.contains(user) {
            books.books[user] = UserPurchases(
                userID: user, version: 0, purchases: [], entitlements: [])
            books.newcomers[user] = try books.shard(of: user)
        }
        return books
    }

    private func shards(of users: [UserID]) async throws(LedgerError) -> [(UserID, Int16)] {
        try await attempt {
            try await self.writes.query(SQL.shardsOf(.texts(users))).rows.map { row in
                (try row.text("user_id"), try row.int16("shard"))
            }
        }
    }

    private func read(
        _ columns: [PostgresValue], _ page: KeptPage?, into books: inout Books
    ) async throws(LedgerError) {
        var statements = [
            SQL.bookAccounts.with(columns), SQL.bookEntitlements.with(columns),
            SQL.bookOffers.with(columns),
        ]
        if page == nil { statements.append(SQL.bookPurchases.with(columns)) }
        let results = try await attempt { [statements] in
            try await self.writes.pipeline(statements)
        }
        if let page {
            books.enter(page)
        } else {
            try await books.enter(results[3], by: self)
        }
        do throws(PostgresError) {
            try books.read(results)
        } catch {
            throw LedgerError(error)
        }
    }

    /// The apps and data keys of rows that hold purchases.
    fileprivate func means(
        of result: PostgresResult
    ) async throws(LedgerError) -> (apps: [Int32: AppKey], seals: Seals) {
        var apps: [Int32: AppKey] = [:]
        for row in result.rows {
            let lane = try await attempt { try row.int32("lane") }
            if apps[lane] == nil { apps[lane] = try await app(ofLane: lane) }
        }
        do throws(PostgresError) {
            return (
                apps,
                try await seals(of: result.rows, in: [PostgresRow.sealedToken], on: writes)
            )
        } catch {
            throw LedgerError(error)
        }
    }
}

extension Books {
    /// How it counts that older links of the chain give way to what was decided.
    fileprivate func losses(
        byTakingOver outcome: Outcome, _ chains: Chains, at now: Timestamp
    ) -> [Loss] {
        var losses: [Loss] = []
        for user in Set([outcome.claim.purchase.userID, outcome.owner]) {
            losses += books[user]?.losses(byTakingOver: outcome, at: now).map(\.loss) ?? []
        }
        if let place = chains.older[outcome.claim.row], place.user != outcome.owner,
            let loss = books[place.user]?.loss(of: place.id, yieldedTo: outcome, at: now)
        {
            losses.append(loss)
        }
        return losses
    }

    func book(of user: UserID) throws(LedgerError) -> UserPurchases {
        guard let book = books[user] else { throw .unreadableUser }
        return book
    }

    func shard(of user: UserID) throws(LedgerError) -> Int16 {
        guard let shard = shards[user] else { throw .unreadableUser }
        return shard
    }

    /// Enters the purchases of a page, of which all rows could be read.
    fileprivate mutating func enter(_ page: KeptPage) {
        for kept in page.purchases {
            let purchase = kept.claim.purchase
            guard shards[purchase.userID] != nil else { continue }
            entries[purchase.userID, default: []].append(
                UserPurchases.Entry(purchase: purchase, version: kept.claim.version))
        }
    }

    /// Enters purchases as they were read.
    fileprivate mutating func enter(
        _ result: PostgresResult, by ledger: PostgresLedger
    ) async throws(LedgerError) {
        let (apps, seals) = try await ledger.means(of: result)
        var read: [UserID: [UserPurchases.Entry]] = [:]
        do throws(PostgresError) {
            try each(result) { user, row throws(PostgresError) in
                guard let app = apps[try row.int32("lane")] else {
                    throw .decoding(column: "lane")
                }
                read[user, default: []].append(
                    UserPurchases.Entry(
                        purchase: try row.purchase(of: app, seals),
                        version: try row.int64("version")))
            }
        } catch {
            throw LedgerError(error)
        }
        entries = read
    }

    /// Enters the books as they were read: accounts, entitlements, offers.
    fileprivate mutating func read(_ results: [PostgresResult]) throws(PostgresError) {
        var held: [UserID: [Entitlement]] = [:]
        try each(results[1]) { user, row throws(PostgresError) in
            held[user, default: []].append(try row.entitlement())
        }
        var offered: [UserID: [OfferID: Offer]] = [:]
        try each(results[2]) { user, row throws(PostgresError) in
            let (id, offer) = try row.offer()
            offered[user, default: [:]][id] = offer
        }
        for row in results[0].rows {
            let user: UserID = try row.text("user_id")
            guard !unreadable.contains(user) else { continue }
            books[user] = UserPurchases(
                userID: user, version: try row.int64("version"),
                purchases: entries[user] ?? [], entitlements: held[user] ?? [],
                offers: offered[user] ?? [:])
        }
    }

    /// A row that cannot be read makes its user's book unreadable, and nobody else's.
    private mutating func each(
        _ result: PostgresResult,
        _ take: (UserID, PostgresRow) throws(PostgresError) -> Void
    ) throws(PostgresError) {
        for row in result.rows {
            let user: UserID = try row.text("user_id")
            do throws(PostgresError) {
                try take(user, row)
            } catch {
                guard case .decoding = error else { throw error }
                unreadable.insert(user)
            }
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
            purchaseID: try int64("purchase_id"), environment: try optionalWord("environment"))
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
