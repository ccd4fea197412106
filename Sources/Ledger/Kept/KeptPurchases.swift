import Postgres
package import Renewal

/// A purchase, and what was heard of it last.
package struct KeptPurchase: Sendable {
    package let claim: Claim
    /// What its facts stand by; nil where that is not kept, or by a later program.
    package let heard: Observation?
}

/// The purchases of some users, whole.
package struct KeptPage: Sendable {
    package internal(set) var purchases: [KeptPurchase] = []
    /// Purchases whose rows cannot be read.
    package internal(set) var unreadable = 0
    /// The users whose purchases these are, by their shards.
    package internal(set) var users: [(shard: Int16, userID: UserID)] = []
}

extension PostgresLedger {
    /// The next users of the fleet, by their shards: `limit` of them after the last one of the page
    /// before; none at the end.
    package func users(
        after last: (shard: Int16, userID: UserID)?, limit: Int
    ) async throws(LedgerError) -> [(shard: Int16, userID: UserID)] {
        try await attempt {
            try await self.reads.query(
                SQL.accountPage(
                    .int16(last?.shard ?? -1), .text(last?.userID ?? ""), .int32(Int32(limit)))
            ).rows.map { row throws(PostgresError) in
                (shard: try row.int16("shard"), userID: UserID(try row.text("user_id")))
            }
        }
    }

    /// The purchases of the next users, with all that a decision in thought needs. Reads only.
    package func keptPage(
        after last: (shard: Int16, userID: UserID)?, limit: Int
    ) async throws(LedgerError) -> KeptPage {
        try await kept(of: users(after: last, limit: limit))
    }

    /// The same purchases of some users as claims, to be committed outside of any lease.
    package func keptClaims(
        of users: [(shard: Int16, userID: UserID)]
    ) async throws(LedgerError) -> KeptPage {
        try await kept(of: users, SQL.keptClaims)
    }

    /// All purchases of some users. Reads only.
    package func kept(
        of users: [(shard: Int16, userID: UserID)]
    ) async throws(LedgerError) -> KeptPage {
        try await kept(of: users, SQL.keptPurchases)
    }

    private func kept(
        of users: [(shard: Int16, userID: UserID)], _ statement: SQL
    ) async throws(LedgerError) -> KeptPage {
        var page = KeptPage()
        page.users = users
        guard !users.isEmpty else { return page }
        let read = page
        return try await attempt {
            var page = read
            let rows = try await self.reads.query(
                statement(.int16s(users.map(\.shard)), .texts(users.map(\.userID)))
            ).rows
            page.purchases = try await self.purchases(in: rows).compactMap(\.self)
            page.unreadable = rows.count - page.purchases.count
            return page
        }
    }

    /// Those of others that some users have handed in as well, by who has. Reads only.
    package func kept(
        claimedBy users: [UserID]
    ) async throws(LedgerError) -> [UserID: [KeptPurchase]] {
        guard !users.isEmpty else { return [:] }
        return try await attempt {
            let rows = try await self.reads.query(SQL.keptClaimed(.texts(users))).rows
            var claimed: [UserID: [KeptPurchase]] = [:]
            for (row, purchase) in zip(rows, try await self.purchases(in: rows)) {
                guard let purchase else { continue }
                claimed[UserID(try row.text("claimant")), default: []].append(purchase)
            }
            return claimed
        }
    }

    /// One for each row; nil for one that cannot be read.
    private func purchases(
        in rows: PostgresRows
    ) async throws(PostgresError) -> [KeptPurchase?] {
        let seals = try await self.seals(
            of: rows, in: [PostgresRow.sealedToken, "predecessor_sealed"])
        var purchases: [KeptPurchase?] = []
        purchases.reserveCapacity(rows.count)
        for row in rows {
            switch try row.readableClaim(of: nil, seals) {
            case .success(let claim):
                purchases.append(
                    KeptPurchase(claim: claim, heard: try row.heard(of: claim, seals)))
            case .failure: purchases.append(nil)
            }
        }
        return purchases
    }
}

extension PostgresRow {
    /// What the facts stand by; nil where there is nothing, or where they have been changed since.
    fileprivate func heard(
        of claim: Claim, _ seals: Seals
    ) throws(PostgresError) -> Observation? {
        guard let bytes = try optionalBytes("heard"),
            try int64("heard_version") == claim.version
        else { return nil }
        var predecessor: StoreToken? = try optionalText("predecessor_token")
        if let sealed = try optionalBytes("predecessor_sealed") {
            let place = SealedPlace.token(purchase: try int64("predecessor_sealed_for"))
            // Without it nothing is known of the chain.
            guard let token = seals.text(sealed, place) else { return nil }
            predecessor = StoreToken(token)
        }
        return try? KeptObservation(bytes, predecessorToken: predecessor).heard
    }
}
