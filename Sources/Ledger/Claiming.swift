import Postgres
package import Renewal

extension PostgresLedger {
    /// The due purchases of one app in the given shards, from the given places on.
    ///
    /// - Parameters:
    ///   - lane: the app.
    ///   - places: the shards, and where to go on in each.
    ///   - perShard: most of one shard.
    ///   - limit: most in all.
    ///   - suspectsOnly: only those that were in hand when a process ended.
    /// - Returns: the claims, oldest first within each shard.
    /// - Throws: `.unavailable` without a database.
    package func claim(
        _ lane: Lane, from places: [Place], perShard: Int, limit: Int, suspectsOnly: Bool = false
    ) async throws(LedgerError) -> [Claim] {
        try await attempt {
            let rows = try await self.reads.query(
                SQL.claimDue(
                    .int16s(places.map(\.shard)),
                    .timestamps(places.map(\.dueAt.microsecondsSinceEpoch)),
                    .int64s(places.map(\.id)), .int16(lane.number), .int32(Int32(perShard)),
                    .int32(Int32(limit)), .bool(suspectsOnly)))
            return try rows.rows.map { try $0.claim(of: lane.app) }
        }
    }

    /// Notes what is about to be asked about, so that after a crash it is known.
    ///
    /// - Returns: the shards that are still owned.
    package func mark(
        _ inHand: [Int16: [Int64]], under lease: Lease
    ) async throws(LedgerError) -> Set<Int16> {
        try await attempt {
            let shards = inHand.keys.filter { lease.epochs[$0] != nil }.sorted()
            let rows = try await self.writes.query(
                SQL.markInHand(
                    .uuid(lease.worker.uuid), .int16s(shards),
                    .int64s(shards.map { lease.epochs[$0] ?? 0 }),
                    .texts(shards.map { arrayLiteral((inHand[$0] ?? []).map(Optional.some)) })))
            return try Set(rows.rows.map { try $0.int16("shard") })
        }
    }

    /// All purchases of a user, due or not; where claimed ones are included, also those of others
    /// that the user has handed in.
    package func claims(
        ofUser userID: UserID, includingClaimed: Bool = false
    ) async throws(LedgerError) -> [Claim] {
        try await attempt {
            var claims: [Claim] = []
            let query = SQL.userClaims(.text(userID), .bool(includingClaimed))
            for row in try await self.reads.query(query).rows {
                let app = try await self.app(ofLane: try row.int16("lane"))
                claims.append(try row.claim(of: app))
            }
            return claims
        }
    }

    /// Reserves places in the row of calls that all workers share.
    ///
    /// - Parameters:
    ///   - bucket: the quota that they are part of.
    ///   - stretch: for how long the row is this worker's: the time between two calls for each, and
    ///     how late the last may be.
    /// - Returns: how long from now until the first may start.
    /// - Throws: `.unavailable` without a database: there is no quota then.
    package func reserveCalls(
        from bucket: BucketID, for stretch: Duration
    ) async throws(LedgerError) -> Duration {
        try await attempt {
            let rows = try await self.reads.query(
                SQL.reserveCalls(.text(bucket), .int64(stretch.microseconds)))
            return .microseconds(try rows[0].int64("wait_microseconds"))
        }
    }

    /// Lets no worker start a call of a bucket for a while: the store has asked for it.
    package func block(_ bucket: BucketID, for duration: Duration) async throws(LedgerError) {
        try await attempt {
            _ = try await self.reads.query(
                SQL.blockBucket(.text(bucket), .int64(duration.microseconds)))
        }
    }
}
