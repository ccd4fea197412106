import Postgres
package import Renewal

extension PostgresLedger {
    /// The due purchases of one app in the given shards, from the given places on.
    ///
    /// - Returns: the claims, oldest first within each shard; behind them what was imported. What
    ///   cannot be read is set aside.
    /// - Throws: `.unavailable` without a database.
    package func claim(_ request: ClaimRequest) async throws(LedgerError) -> [Claim] {
        try await claim(request, tell: { _ in })
    }

    /// The same; with `suspectsOnly` those alone that were in hand when a process ended. `tell`
    /// hears of what cannot be read.
    package func claim(
        _ request: ClaimRequest, suspectsOnly: Bool = false,
        tell: @Sendable ([UnreadablePurchase]) -> Void
    ) async throws(LedgerError) -> [Claim] {
        try await attempt {
            let statement = suspectsOnly ? SQL.claimSuspects : SQL.claimDue
            let due = try await self.reads.query(
                statement.with(
                    self.columns(of: request.places, request, limit: request.limit))
            ).rows
            var rows = Array(due)
            if due.count < request.limit, !request.backfill.isEmpty, !suspectsOnly {
                rows += try await self.reads.query(
                    SQL.claimBackfill.with(
                        self.columns(
                            of: request.backfill, request, limit: request.limit - due.count))
                ).rows
            }
            let (claims, unreadable) = try await self.split(rows, of: request.lane.app)
            tell(try await self.setAside(unreadable))
            return claims
        }
    }

    /// The purchases of one app in the given shards that became due last.
    ///
    /// - Returns: the claims, in any order. What cannot be read is set aside.
    /// - Throws: `.unavailable` without a database.
    package func latest(_ request: ClaimRequest) async throws(LedgerError) -> [Claim] {
        try await latest(request, tell: { _ in })
    }

    /// The same; `tell` hears of what cannot be read.
    package func latest(
        _ request: ClaimRequest, tell: @Sendable ([UnreadablePurchase]) -> Void
    ) async throws(LedgerError) -> [Claim] {
        try await attempt {
            let rows = try await self.reads.query(
                SQL.claimLatest(
                    .int16s(request.places.map(\.shard)), .int32(request.lane.number),
                    .int32(Int32(request.perShard)), .int32(Int32(request.limit)))
            ).rows
            let (claims, unreadable) = try await self.split(Array(rows), of: request.lane.app)
            tell(try await self.setAside(unreadable))
            return claims
        }
    }

    private func columns(
        of places: [Place], _ request: ClaimRequest, limit: Int
    ) -> [PostgresValue] {
        Self.columns(of: places) + [
            .int32(request.lane.number), .int32(Int32(request.perShard)), .int32(Int32(limit)),
        ]
    }

    /// When the first purchase of each of the lanes is due in the given shards, and which
    /// purchases have come there after the given id.
    package func heads(
        of lanes: [Lane], in shards: [Int16], after id: Int64
    ) async throws(LedgerError) -> QueueHeads {
        try await attempt {
            let results = try await self.reads.pipeline([
                SQL.queueArrivals(.int16s(shards), .int64(id)),
                SQL.queueHeads(.int32s(lanes.map(\.number)), .int16s(shards)),
            ])
            let arrivals = try results[0].rows.map { row throws(PostgresError) in
                Arrival(id: try row.int64("id"), lane: try row.int32("lane"))
            }
            let rows = results[1].rows
            var now = Timestamp.never
            var dueAt: [Int32: Timestamp] = [:]
            for row in rows {
                now = try row.instant("now")
                dueAt[try row.int32("lane")] = try row.optionalInstant("due_at")
            }
            return QueueHeads(now: now, dueAt: dueAt, arrivals: arrivals)
        }
    }

    /// When the oldest due purchase of a lane is due in each of the given shards that have any.
    package func fronts(
        of lane: Lane, in shards: [Int16]
    ) async throws(LedgerError) -> [Int16: Timestamp] {
        try await attempt {
            var fronts: [Int16: Timestamp] = [:]
            for row in try await self.reads.query(
                SQL.queueFronts(.int32(lane.number), .int16s(shards))
            ).rows {
                fronts[try row.int16("shard")] = try row.instant("due_at")
            }
            return fronts
        }
    }

    /// The due purchases of the lanes in the given shards that were in hand when a process ended.
    package func suspects(
        of lanes: [Lane], in shards: [Int16]
    ) async throws(LedgerError) -> [Claim] {
        try await suspects(of: lanes, in: shards, tell: { _ in })
    }

    /// The same; `tell` hears of what cannot be read.
    package func suspects(
        of lanes: [Lane], in shards: [Int16], tell: @Sendable ([UnreadablePurchase]) -> Void
    ) async throws(LedgerError) -> [Claim] {
        let numbers = try await attempt {
            try await self.reads.query(
                SQL.suspectLanes(.int32s(lanes.map(\.number)), .int16s(shards))
            ).rows.map { try $0.int32("lane") }
        }
        var claims: [Claim] = []
        for lane in lanes where numbers.contains(lane.number) {
            claims += try await claim(
                ClaimRequest(
                    lane, from: shards.map(Place.start), perShard: 1000, limit: 100_000),
                suspectsOnly: true, tell: tell)
        }
        return claims
    }

    /// Notes what is about to be asked about, so that after a crash it is known.
    ///
    /// - Returns: the shards that are still owned.
    package func mark(
        _ inFlight: [Int16: [Int64]], under lease: Lease
    ) async throws(LedgerError) -> Set<Int16> {
        try await attempt {
            let shards = inFlight.keys.filter { lease.epochs[$0] != nil }.sorted()
            let rows = try await self.writes.query(
                SQL.markInHand(
                    .uuid(lease.worker.uuid), .int16s(shards),
                    .int64s(shards.map { lease.epochs[$0] ?? 0 }),
                    .texts(shards.map { arrayLiteral((inFlight[$0] ?? []).map(Optional.some)) })))
            return try Set(rows.rows.map { try $0.int16("shard") })
        }
    }

    /// All purchases of a user that can be read, due or not; where claimed ones are included, also
    /// those of others that the user has handed in.
    package func claims(
        ofUser userID: UserID, includingClaimed: Bool = false
    ) async throws(LedgerError) -> [Claim] {
        try await purchases(ofUser: userID, includingClaimed: includingClaimed).claims
    }

    /// The same, and those that cannot be read.
    package func purchases(
        ofUser userID: UserID, includingClaimed: Bool = false
    ) async throws(LedgerError) -> (claims: [Claim], unreadable: [UnreadablePurchase]) {
        try await attempt {
            try await self.split(
                try await self.reads.query(
                    SQL.userClaims(.text(userID), .bool(includingClaimed))
                ).rows, of: nil)
        }
    }
}
