import Ledger
import Postgres
import Renewal
import Synchronization
import TestSupport
import Testing

/// A fresh database with the schema, a ledger on it, and a session beside it.
struct Stage: Sendable {
    let conninfo: String
    let ledger: PostgresLedger
    let beside: PostgresConnection

    /// - Parameters:
    ///   - version: of the schema, at the end.
    ///   - filling: what is done to the database before the schema is brought up to date.
    /// - Throws: what `filling` throws, and what the server does not do.
    init(
        upTo version: Int = Migrator.version,
        filling: ((PostgresConnection) async throws -> Void)? = nil
    ) async throws {
        let cluster = try await ScratchCluster.shared()
        let isUsual = filling == nil && version == Migrator.version
        conninfo = try await isUsual ? cluster.newMigratedDatabase() : cluster.newDatabase()
        beside = Self.session(conninfo, name: "beside")
        ledger = Self.ledger(conninfo)
        guard !isUsual else { return }
        try await filling?(beside)
        _ = try await Migrator(beside).migrate(upTo: version)
    }

    /// A further session; `name` is its application name.
    func session(_ name: String = "further") -> PostgresConnection {
        Self.session(conninfo, name: name)
    }

    /// A further worker's ledger.
    func furtherLedger() -> PostgresLedger { Self.ledger(conninfo) }

    private static func session(_ conninfo: String, name: String) -> PostgresConnection {
        PostgresConnection(
            PostgresSettings(
                conninfo: conninfo, applicationName: name, statementTimeout: .seconds(60)))
    }

    private static func ledger(_ conninfo: String) -> PostgresLedger {
        PostgresLedger(
            PostgresSettings(
                conninfo: conninfo, applicationName: "ledger", statementTimeout: .seconds(60)))
    }

    func close() async {
        await ledger.close()
        await beside.close()
    }
}

// MARK: - Looking

extension Stage {
    /// The first column of each row, as text.
    func list(_ sql: String, _ parameters: [PostgresValue] = []) async throws -> [String] {
        let text = ScratchCluster.readable(sql)
        return try await beside.query(
            PostgresStatement(text, parameters, isReadOnly: false)
        ).rows.map {
            $0.isNull(0) ? "-" : try $0.text(0)
        }
    }

    func number(_ sql: String, _ parameters: [PostgresValue] = []) async throws -> Int64 {
        let text = "SELECT (\(ScratchCluster.readable(sql)))::int8"
        return try await beside.query(PostgresStatement(text, parameters))[0].int64(0)
    }

    /// Everything in the tables, to compare before and after.
    func everything() async throws -> [String] {
        let tables = try await list(
            """
            SELECT relname::text FROM pg_class
            WHERE relnamespace = 'renewald'::regnamespace AND relkind = 'r' ORDER BY relname
            """)
        var all: [String] = []
        for table in tables {
            all += try await list("SELECT '\(table) ' || t FROM renewald.\(table) AS t ORDER BY 1")
        }
        return all
    }

    /// Waits until another session of this database does what `condition` says of it.
    func wait(until condition: String) async throws {
        try await wait(
            untilThereAre: """
                SELECT FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND \(condition)
                """)
    }

    /// Waits until a query has rows. The server itself waits between two looks.
    func wait(untilThereAre rows: String) async throws {
        for _ in 0..<3000 {
            if try await number("SELECT count(*) FROM (\(rows)) AS rows") > 0 { return }
            _ = try await number("SELECT count(*) FROM pg_sleep(0.01)")
        }
        throw WaitFailure(condition: rows)
    }

    struct WaitFailure: Error { let condition: String }
}

// MARK: - Acting

extension Stage {
    @discardableResult
    func submit(
        _ user: String, _ token: String, store: String = "google",
        app: String = "com.example.reader", product: String = "pro", storeUser: String? = nil,
        on connection: PostgresConnection? = nil
    ) async throws -> Int64 {
        try await (connection ?? beside).query(
            PostgresStatement(
                "SELECT renewald.submit($1, $2, $3, $4, $5, $6)",
                [
                    .text(user), .text(store), .text(app), .text(product), .text(token),
                    storeUser.map(PostgresValue.text) ?? .null,
                ], isReadOnly: false))[0].int64(0)
    }

    /// A worker's ledger that waits for locks only shortly.
    func hastyLedger() -> PostgresLedger {
        var settings = PostgresSettings(
            conninfo: conninfo, applicationName: "ledger", statementTimeout: .seconds(60))
        settings.lockLimit = .milliseconds(200)
        return PostgresLedger(settings)
    }

    /// Leases all shards, with one purchase of each user, in force and not due.
    func settled(_ users: [String]) async throws -> Lease {
        let lease = try await takeAll()
        let claims = try await claims(of: users, lease)
        _ = try await ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(try await due(lease).isEmpty)
        return lease
    }

    /// Leases all shards for a new worker.
    func takeAll(for lease: Duration = .seconds(3600)) async throws -> Lease {
        let worker = WorkerID.random()
        let taken = try await ledger.takeShards(worker, limit: 256, lease: lease)
        return Lease(
            worker: worker,
            epochs: Dictionary(
                taken.map { ($0.shard, $0.epoch) }, uniquingKeysWith: { $1 }))
    }

    /// All due claims of the lease, oldest first.
    func due(_ lease: Lease, limit: Int = 10_000) async throws -> [Claim] {
        var claims: [Claim] = []
        let places = lease.epochs.keys.sorted().map(Place.start(of:))
        for lane in try await ledger.allLanes() {
            for suspectsOnly in [false, true] {
                claims += try await ledger.claim(
                    ClaimRequest(lane, from: places, perShard: limit, limit: limit),
                    suspectsOnly: suspectsOnly, tell: { _ in })
            }
        }
        return claims.sorted { $0.purchase.id < $1.purchase.id }
    }

    /// Every lease has run out, as after a worker's death.
    func endAllLeases() async throws {
        try await beside.script("UPDATE renewald.shard SET lease_until = 'epoch'")
    }

    func makeAllDue() async throws {
        try await beside.script(
            "UPDATE renewald.schedule SET due_at = now() - interval '1 second'")
    }

    /// Submits one purchase for each user, and claims them.
    func claims(of users: [String], _ lease: Lease) async throws -> [Claim] {
        for user in users { try await submit(user, "token of \(user)") }
        return try await due(lease)
    }
}

/// Set by one task and read by others.
final class Flag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}

// MARK: - Answers

/// In force and paid for the period of that number, 30 days each.
func inForce(_ claim: Claim, period: Int = 1, product: ProductID = "pro") -> Observation {
    let end = claim.purchase.createdAt + .days(30 * period)
    return Observation(
        environment: .production, status: .active,
        items: [Item(names: [product], expiresAt: end)], originalID: "order",
        orderID: "order..\(period)", period: "period \(period)", paidThrough: end, expiresAt: end,
        willRenew: true, words: "active")
}

/// The paid period was followed by none.
func over(_ claim: Claim, product: ProductID = "pro") -> Observation {
    var observation = inForce(claim, product: product)
    observation.observed = .own(.ended(.userCancelled, at: claim.purchase.createdAt))
    observation.willRenew = false
    observation.words = "ended"
    return observation
}

func outcome(_ claim: Claim, _ answer: Answer) -> Outcome {
    decide(claim, hearing: answer, at: Moment(now: claim.claimedAt, jitter: 0.5), under: Rules())
}

func outcome(_ claim: Claim, _ observation: Observation) -> Outcome {
    outcome(claim, .verdict(observation))
}

extension [Claim] {
    var latest: Timestamp { map(\.claimedAt).max() ?? .never }
}
