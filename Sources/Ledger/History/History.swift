import Postgres
package import Renewal

/// A check that mattered, as it is kept in `renewald.evidence`.
package struct StoredEvidence: Hashable, Sendable {
    package let purchaseID: Int64
    /// When it was committed: events of the same commit have the same time.
    package let at: Timestamp
    /// Whose the purchase was.
    package let userID: UserID
    package let evidence: Evidence
    /// The rule of judgement that was applied, as a sentence.
    package let rule: String
    package let stateBefore: String
    package let state: String
    package let accessBefore: String
    package let access: String
    package let product: ProductID
    /// May be a token: what is shown of it leaves it out then.
    package var orderID: OrderID?
    package let paidThrough: Timestamp?
    package let expiresAt: Timestamp?
    /// A stable code, a colon and a sentence; nil when all was well.
    package let problem: String?
    /// Nil is never.
    package let nextCheckAt: Timestamp?

    package init(
        purchaseID: Int64, at: Timestamp, userID: UserID, evidence: Evidence, rule: String,
        stateBefore: String, state: String, accessBefore: String, access: String,
        product: ProductID,
        orderID: OrderID? = nil, paidThrough: Timestamp? = nil, expiresAt: Timestamp? = nil,
        problem: String? = nil, nextCheckAt: Timestamp? = nil
    ) {
        self.purchaseID = purchaseID
        self.at = at
        self.userID = userID
        self.evidence = evidence
        self.rule = rule
        self.stateBefore = stateBefore
        self.state = state
        self.accessBefore = accessBefore
        self.access = access
        self.product = product
        self.orderID = orderID
        self.paidThrough = paidThrough
        self.expiresAt = expiresAt
        self.problem = problem
        self.nextCheckAt = nextCheckAt
    }
}

/// One purchase as it stands, and how it came to that.
package struct PurchaseHistory: Hashable, Sendable {
    /// `dueAt` is when it is asked about next (`.never` is never), `problem` what is wrong now.
    package let claim: Claim
    /// Oldest first.
    package let evidence: [StoredEvidence]
    /// Oldest first.
    package let events: [StoredEvent]
    /// What the store asked about refunds, oldest first.
    package let refunds: [StoredRefund]

    package init(
        claim: Claim, evidence: [StoredEvidence], events: [StoredEvent],
        refunds: [StoredRefund] = []
    ) {
        self.claim = claim
        self.refunds = refunds
        self.evidence = evidence
        self.events = events
    }
}

/// What is kept of a purchase that has gone to another user.
package struct TransferredPurchase: Hashable, Sendable {
    package let purchaseID: Int64
    /// While it was this user's, and the check by which it went. Oldest first.
    package let evidence: [StoredEvidence]
    /// What this user was told of it. Oldest first; never empty.
    package let events: [StoredEvent]

    package init(purchaseID: Int64, evidence: [StoredEvidence], events: [StoredEvent]) {
        self.purchaseID = purchaseID
        self.evidence = evidence
        self.events = events
    }
}

/// All that is known of one user.
package struct UserHistory: Hashable, Sendable {
    package let userID: UserID
    /// The database's time of the reading.
    package let now: Timestamp
    package let entitlements: [Entitlement]
    /// Oldest first; empty for an unknown user.
    package let purchases: [PurchaseHistory]
    /// What is no longer the user's.
    package let transferred: [TransferredPurchase]
    /// What the user has handed in after another one, who has it.
    package let claimed: [Claim]
    /// What is the user's or was handed in by them, and cannot be read.
    package let unreadable: [UnreadablePurchase]
    /// The calls of all apps: whether they may be asked now.
    package let buckets: [BucketID: QueueStatus.Bucket]
    /// The apps of these purchases that no worker has configured.
    package let unserved: Set<AppKey>

    package init(
        userID: UserID, now: Timestamp, entitlements: [Entitlement],
        purchases: [PurchaseHistory], transferred: [TransferredPurchase] = [],
        claimed: [Claim] = [],
        unreadable: [UnreadablePurchase] = [], buckets: [QueueStatus.Bucket] = [],
        unserved: Set<AppKey> = []
    ) {
        self.userID = userID
        self.now = now
        self.entitlements = entitlements
        self.purchases = purchases
        self.transferred = transferred
        self.claimed = claimed
        self.unreadable = unreadable
        self.buckets = Dictionary(buckets.map { ($0.name, $0) }) { first, _ in first }
        self.unserved = unserved
    }
}

/// What is kept of the checks, for those who have to explain them.
extension PostgresLedger {
    /// Most checks of one user that are read, the newest.
    private static let evidenceLimit: Int32 = 10_000

    /// All that is known of one user; without purchases for an unknown one.
    package func history(ofUser user: UserID) async throws(LedgerError) -> UserHistory {
        let (handedIn, unreadable) = try await self.purchases(
            ofUser: user, includingClaimed: true)
        let claims = handedIn.filter { $0.purchase.userID == user }
        return try await attempt {
            let results = try await self.reads.pipeline([
                SQL.purchaseEvidence(
                    .int64s(claims.map(\.purchase.id)), .int32(Self.evidenceLimit)),
                SQL.userEvents(.text(user)), SQL.userEntitlements(.text(user)), SQL.now(),
                SQL.purchaseRefunds(.int64s(claims.map(\.purchase.id))), SQL.statusBuckets(),
                SQL.unservedLanes(.int32s(Set(claims.map(\.lane)).sorted())),
            ])
            let refunds = Dictionary(
                grouping: try results[4].rows.map(StoredRefund.init), by: \.purchaseID)
            let evidence = Dictionary(
                grouping: try await self.evidence(in: results[0].rows), by: \.purchaseID)
            var events: [Int64: [StoredEvent]] = [:]
            for event in try results[1].rows.map(StoredEvent.init) {
                guard let id = event.purchaseID else { continue }
                events[id, default: []].append(event)
            }
            let own = claims.map { ($0, events.removeValue(forKey: $0.purchase.id) ?? []) }
            for purchase in unreadable { events[purchase.id] = nil }
            return UserHistory(
                userID: user, now: try results[3][0].instant("now"),
                entitlements: try results[2].rows.map { try $0.entitlement() },
                purchases: own.map { claim, events in
                    PurchaseHistory(
                        claim: claim,
                        evidence: Self.story(evidence[claim.purchaseID] ?? [], of: user),
                        events: events, refunds: refunds[claim.purchaseID] ?? [])
                },
                transferred: try await self.transferred(events, from: user),
                claimed: handedIn.filter { $0.purchase.userID != user }, unreadable: unreadable,
                buckets: try results[5].rows.map { row in try QueueStatus.Bucket(row) },
                unserved: try Set(results[6].rows.map { row in try row.app() }))
        }
    }

    /// What was told of purchases that are not the user's any more, and the checks it came from:
    /// those from which it was told, also the one by which the purchase went, and the user's own.
    private func transferred(
        _ events: [Int64: [StoredEvent]], from user: UserID
    ) async throws(PostgresError) -> [TransferredPurchase] {
        guard !events.isEmpty else { return [] }
        let ids = events.keys.sorted()
        let rows = try await evidence(
            in: try await reads.query(
                SQL.purchaseEvidence(.int64s(ids), .int32(Self.evidenceLimit))
            ).rows)
        return ids.map { id in
            let told = events[id] ?? []
            let times = Set(told.map(\.createdAt))
            return TransferredPurchase(
                purchaseID: id,
                evidence: rows.filter { row in
                    row.purchaseID == id && (row.userID == user || times.contains(row.at))
                }, events: told)
        }
    }

    private func evidence(
        in rows: some Sequence<PostgresRow>
    ) async throws(PostgresError) -> [StoredEvidence] {
        let seals = try await seals(of: rows, in: ["sealed_bodies"])
        var evidence: [StoredEvidence] = []
        for row in rows { evidence.append(try StoredEvidence(row, seals)) }
        return evidence
    }

    /// What was kept while the purchase was this user's, and before. What another one's copy of it
    /// has come to since is not.
    private static func story(_ evidence: [StoredEvidence], of user: UserID) -> [StoredEvidence] {
        let own = evidence.first { $0.userID == user }?.at
        return evidence.filter { row in row.userID == user || own.map { row.at < $0 } ?? false }
    }

    /// Whose purchases an id names: an order, transaction, web order line item, receipt or original
    /// id. Of Google's recurring ids those of other periods count as well.
    package func users(ofOrder id: OrderID) async throws(LedgerError) -> [UserID] {
        let names: [PostgresValue] = [.text(id), .text(Self.baseID(of: id.text))]
        return try await attempt {
            for query in [SQL.usersOfOrder, SQL.usersOfOrderScan] {
                let rows = try await self.reads.query(query.with(names)).rows
                let users: [UserID] = try rows.map { try $0.text("user_id") }
                if !users.isEmpty { return users }
            }
            return []
        }
    }

    /// Without the number that Google gives to a renewal: `GPA.1-2-3-4..5` is `GPA.1-2-3-4`.
    private static func baseID(of id: String) -> String {
        guard id.hasPrefix("GPA."), let dots = id.firstRange(of: "..") else { return id }
        return String(id[..<dots.lowerBound])
    }

    /// Makes room for the evidence of the coming months, and drops the months that ended longer ago
    /// than the limit.
    ///
    /// Forgets what was counted of revocations longer than four weeks ago, too.
    ///
    /// - Returns: how many months were dropped.
    @discardableResult
    package func rotateEvidence(keep: Duration) async throws(LedgerError) -> Int {
        try await attempt {
            _ = try await self.reads.query(SQL.pruneLosses())
            return Int(
                try await self.reads.query(SQL.rotateEvidence(.int64(keep.microseconds)))[0]
                    .int32("dropped"))
        }
    }
}

extension StoredEvidence {
    fileprivate init(_ row: PostgresRow, _ seals: Seals) throws(PostgresError) {
        self.init(
            purchaseID: try row.int64("purchase_id"), at: try row.instant("at"),
            userID: try row.text("user_id"), evidence: try row.evidence(seals),
            rule: try row.text("rule"), stateBefore: try row.text("state_before"),
            state: try row.text("state"), accessBefore: try row.text("access_before"),
            access: try row.text("access"), product: try row.text("product"),
            orderID: try row.optionalText("order_id"),
            paidThrough: try row.optionalInstant("paid_through"),
            expiresAt: try row.optionalInstant("expires_at"),
            problem: try row.optionalText("problem"),
            nextCheckAt: try row.optionalInstant("next_check_at"))
    }
}

extension PostgresRow {
    /// Answers that cannot be decrypted are not shown: what is known without them is.
    fileprivate func evidence(_ seals: Seals) throws(PostgresError) -> Evidence {
        let names = try texts("call_names")
        let statuses = try optionalInt64s("call_statuses")
        let sizes = try int64s("call_bytes")
        let digests = try texts("call_digests")
        var bodies = try texts("call_bodies")
        if let sealed = try optionalBytes("sealed_bodies") {
            bodies =
                seals.answers(sealed, ofPurchase: try int64("purchase_id"), digests: digests) ?? []
        }
        guard [statuses.count, sizes.count, digests.count].allSatisfy({ $0 == names.count }),
            bodies.isEmpty || bodies.count == names.count
        else { throw .decoding(column: "call_names") }
        return Evidence(
            try word("kind"), heard: try text("heard"),
            calls: names.indices.map { index in
                Evidence.Call(
                    name: names[index], status: statuses[index].map { Int($0) },
                    bytes: Int(sizes[index]),
                    digest: digests[index].isEmpty ? nil : digests[index],
                    raw: bodies.isEmpty || bodies[index].isEmpty ? nil : bodies[index])
            })
    }
}
