import Postgres
package import Renewal

extension PostgresLedger {
    /// Says that the worker is alive, and counts all that are. One that does not fit the schema
    /// any more is not: its leases run out, and others take over.
    ///
    /// - Parameters:
    ///   - worker: drawn at random at the start of the process.
    ///   - name: for people.
    ///   - lease: how long it counts as alive without another word.
    /// - Returns: the number of workers that are alive, this one included.
    /// - Throws: `.unavailable` without a database, `.schemaVersion` after a migration that does
    ///   not serve this program.
    package func beat(
        _ worker: WorkerID, name: String, lease: Duration
    ) async throws(LedgerError) -> Int {
        try await Migrator(writes).requireFittingSchema()
        return try await attempt {
            let results = try await self.writes.pipeline([
                SQL.beatWorker(.uuid(worker.uuid), .text(name), .int64(lease.microseconds)),
                SQL.countWorkers(),
            ])
            return Int(try results[1][0].int64("workers"))
        }
    }

    /// Leases up to `limit` free shards. Purchases that were in hand when the last owner crashed
    /// have that counted against them, and are set aside at `crashLimit`.
    package func takeShards(
        _ worker: WorkerID, limit: Int, lease: Duration, among shards: [Int16]? = nil
    ) async throws(LedgerError) -> [TakenShard] {
        try await attempt {
            let problem = Problem(
                .setAside, "the process crashed again and again while checking this purchase alone")
            let statement = SQL.takeShards(
                .uuid(worker.uuid), .int64(lease.microseconds), .int32(Int32(limit)),
                .int16(Int16(Self.crashLimit)), .text(problem.description),
                shards.map(PostgresValue.int16s) ?? .null)
            let rows = try await self.retrying { () throws(PostgresError) in
                try await self.writes.query(statement)
            }.rows
            var taken: [TakenShard] = []
            for row in rows {
                let isClean = try row.bool("clean")
                taken.append(
                    TakenShard(
                        shard: try row.int16("shard"), epoch: try row.int64("epoch"),
                        suspects: isClean ? [] : try row.int64s("in_hand")))
            }
            return taken
        }
    }

    /// Times that a purchase may be in hand when the process ends, before it is set aside: once in
    /// the crowd and once in a small group, which proves nothing, and then three times alone.
    package static let crashLimit = 5

    /// - Parameters:
    ///   - lease: all shards of the worker.
    ///   - duration: from now on, by the database's clock.
    ///   - idle: shards of which nothing is in hand: a crash from now on leaves no suspects there.
    /// - Returns: the shards that are still owned; the others are lost, and their work with them.
    /// - Throws: `.unavailable` without a database.
    package func renew(
        _ lease: Lease, for duration: Duration, idle: Set<Int16> = []
    ) async throws(LedgerError) -> Set<Int16> {
        try await attempt {
            let (shards, epochs) = lease.columns
            let rows = try await self.writes.query(
                SQL.renewShards(
                    .uuid(lease.worker.uuid), .int64(duration.microseconds), .int16s(shards),
                    .int64s(epochs), .bools(shards.map(idle.contains))))
            return try Set(rows.rows.map { try $0.int16("shard") })
        }
    }

    /// Gives shards back: nothing of them is in hand any more.
    package func release(_ lease: Lease) async throws(LedgerError) {
        try await attempt {
            let (shards, epochs) = lease.columns
            _ = try await self.writes.query(
                SQL.releaseShards(.uuid(lease.worker.uuid), .int16s(shards), .int64s(epochs)))
        }
    }

    /// Takes the worker off the list.
    package func leave(_ worker: WorkerID) async throws(LedgerError) {
        try await attempt {
            _ = try await self.writes.query(SQL.leaveWorker(.uuid(worker.uuid)))
        }
    }
}

extension Lease {
    /// Shards and epochs side by side, by shard: all workers lock in the same order.
    var columns: (shards: [Int16], epochs: [Int64]) {
        let sorted = epochs.sorted { $0.key < $1.key }
        return (sorted.map(\.key), sorted.map(\.value))
    }

    /// The part of the lease that the given shards need. A shard that is not held gets an epoch
    /// that no shard ever has, so that its fence fails.
    func covering(_ shards: Set<Int16>) -> Lease {
        Lease(
            worker: worker,
            epochs: Dictionary(
                shards.map { ($0, epochs[$0] ?? -1) }, uniquingKeysWith: { first, _ in first }))
    }
}
