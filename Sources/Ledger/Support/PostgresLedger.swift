package import Postgres
package import Renewal
import Synchronization

/// The database side: leases, claims, commits and the outbox, over PostgreSQL.
///
/// Leases and commits go over one connection, so that the worker never waits for its own row locks;
/// reads go over another.
package final class PostgresLedger: Sendable {
    let reads: PostgresConnection
    let writes: PostgresConnection
    let notifies: Bool
    private let lanes = Mutex<[Int32: Lane]>([:])
    /// By lane.
    let measuredEnds = Mutex<[Int32: MeasuredEnds]>([:])

    /// What encrypts and decrypts tokens, receipts and answers.
    let vault = Vault()

    /// The rules that are kept, the latest last: their numbers.
    let keptRules = Mutex<[(rules: Rules, number: Int32)]>([])

    /// - Parameters:
    ///   - settings: where the database is.
    ///   - notifies: whether commits with events send a `NOTIFY`.
    package init(_ settings: PostgresSettings, notifies: Bool = true) {
        reads = PostgresConnection(settings)
        writes = PostgresConnection(settings)
        self.notifies = notifies
    }

    package func close() async {
        await reads.close()
        await writes.close()
    }

    /// Whether a connection pooler such as PgBouncer is in between.
    package func isBehindPooler() async throws(LedgerError) -> Bool {
        try await attempt { try await self.reads.isPooled() }
    }

    /// Refuses a schema that this program cannot work with.
    ///
    /// - Returns: one that it works with, its own or another.
    @discardableResult
    package func requireFittingSchema() async throws(LedgerError) -> SchemaVersion {
        try await Migrator(reads).requireFittingSchema()
    }

    /// Tells which apps a worker has configured. Each gets its lane. Apps that no worker has
    /// configured are marked so: their purchases say it, and are due as soon as one has.
    ///
    /// - Parameters:
    ///   - apps: all of them; no other one is served by this worker.
    ///   - worker: one that has said that it is alive.
    /// - Returns: the lane of each, which are paused, and the highest number that any app has.
    /// - Throws: what went wrong with the database.
    package func configure(
        _ apps: [AppKey], by worker: WorkerID
    ) async throws(LedgerError) -> ConfiguredLanes {
        var configured = try await configured(apps, by: worker)
        let known = Set(configured.lanes.map(\.app))
        let new = apps.filter { !known.contains($0) }
        if !new.isEmpty {
            let waiting = try await register(new)
            configured = try await self.configured(apps, by: worker)
            configured.waiting = waiting
        }
        remember(configured.lanes)
        configured.uneven = try await unevenApps(but: worker)
        if !configured.uneven.isEmpty { configured.turns = try await turns(of: worker) }
        return configured
    }

    private func turns(of worker: WorkerID) async throws(LedgerError) -> WorkerTurns {
        try await attempt {
            let row = try await self.writes.query(SQL.workerTurns(.uuid(worker.uuid)))[0]
            return WorkerTurns(
                workers: Int(try row.int64("workers")), place: Int(try row.int64("place")),
                now: try row.instant("now"))
        }
    }

    /// The apps that some worker has configured and another one has not.
    ///
    /// - Parameter worker: that is told whether it lacks them; nobody where it is nil.
    /// - Returns: of those that are alive.
    /// - Throws: `.unavailable` without a database.
    package func unevenApps(
        but worker: WorkerID? = nil
    ) async throws(LedgerError) -> [UnevenApp] {
        try await attempt {
            let statement = SQL.unevenApps(worker.map { .uuid($0.uuid) } ?? .null)
            return try await self.writes.query(statement).rows.map { row throws(PostgresError) in
                UnevenApp(
                    try row.app(), isLacking: try row.optionalBool("is_lacking") ?? false,
                    without: try row.texts("without"))
            }
        }
    }

    private func configured(
        _ apps: [AppKey], by worker: WorkerID
    ) async throws(LedgerError) -> ConfiguredLanes {
        let stores = PostgresValue.texts(apps.map(\.store.rawValue))
        let ids = PostgresValue.texts(apps.map(\.id))
        return try await attempt {
            let rows = try await self.retrying { () throws(PostgresError) in
                try await self.writes.pipeline([
                    SQL.tellLanes(.uuid(worker.uuid), stores, ids), SQL.configureLanes(stores, ids),
                ])
            }[1].rows
            var lanes: [Lane] = []
            var paused: Set<AppKey> = []
            var highest: Int32 = 0
            for row in rows {
                lanes.append(try row.lane())
                if try row.bool("paused") { paused.insert(try row.app()) }
                highest = try row.int32("highest")
            }
            return ConfiguredLanes(lanes: lanes, paused: paused, highest: highest)
        }
    }

    /// Gives apps their lanes. One may be in an open transaction of a backend that submits for it
    /// for the first time, and the others do not wait for that.
    ///
    /// - Returns: those that have none yet.
    private func register(_ apps: [AppKey]) async throws(LedgerError) -> [AppKey] {
        do {
            _ = try await writes.pipeline([
                SQL.waitBriefly(),
                SQL.registerApps(.texts(apps.map(\.store.rawValue)), .texts(apps.map(\.id))),
            ])
            return []
        } catch .conflict {
            guard apps.count > 1 else { return apps }
            var waiting: [AppKey] = []
            for app in apps { waiting += try await register([app]) }
            return waiting
        } catch {
            throw LedgerError(error)
        }
    }

    /// The lanes of all apps that were ever configured or submitted for.
    package func allLanes() async throws(LedgerError) -> [Lane] {
        try await attempt {
            try await self.reads.query(SQL.apps()).rows.map { try $0.lane() }
        }
    }

    /// The app of a lane, from memory where it is known.
    func app(ofLane number: Int32) async throws(LedgerError) -> AppKey {
        if let lane = lanes.withLock({ $0[number] }) { return lane.app }
        let app = try await attempt {
            try await self.writes.query(SQL.appOfLane(.int32(number))).rows.first?.app()
        }
        guard let app else {
            throw .undecodable(what: "lane \(number) has no app")
        }
        remember([Lane(number: number, app: app)])
        return app
    }

    /// Lanes that are remembered: whoever submits may name any number of apps.
    private static let laneMemory = 4096

    private func remember(_ lanes: [Lane]) {
        self.lanes.withLock { known in
            if known.count + lanes.count > Self.laneMemory { known = [:] }
            for lane in lanes { known[lane.number] = lane }
        }
    }

    /// Times that a transaction is tried in which another was in the way.
    private static let conflictLimit = 5

    /// Runs a transaction again when another was in the way: nothing of it was committed.
    func retrying<Value>(
        _ work: () async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        for _ in 1..<Self.conflictLimit {
            do {
                return try await work()
            } catch .conflict {
                continue
            }
        }
        return try await work()
    }
}

extension PostgresRow {
    func app() throws(PostgresError) -> AppKey {
        AppKey(store: try word("store"), id: try text("app"))
    }

    fileprivate func lane() throws(PostgresError) -> Lane {
        Lane(number: try int32("lane"), app: try app())
    }
}
