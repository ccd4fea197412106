import Daemon
import Ledger
import Postgres
import Renewal
import TestSupport

/// A small fleet in a database of its own: each purchase has been answered for once, with evidence.
struct KeptFleet {
    let ledger: PostgresLedger
    let conninfo: String
    private let beside: PostgresConnection

    /// `users` have these products, each of which grants its own name; `hear` is what is heard.
    init(
        users: [String: [String]], _ hear: (Claim) -> Observation = Self.inForce
    ) async throws {
        conninfo = try await ScratchCluster.shared().newMigratedDatabase()
        let settings = PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60))
        ledger = PostgresLedger(settings)
        beside = PostgresConnection(settings)
        for (user, products) in users.sorted(by: { $0.key < $1.key }) {
            for product in products {
                _ = try await beside.query(
                    PostgresStatement(
                        "SELECT renewald.submit($1, 'google', 'com.example.reader', $2, $3)",
                        [.text(user), .text(product), .text("\(user) \(product)")],
                        isReadOnly: false))
            }
        }
        _ = try await self.hear(Rules(), hear)
        try await script("TRUNCATE renewald.event")
    }

    /// Another user hands in what one has.
    func claim(of owner: String, by claimant: String, _ product: String = "pro") async throws {
        _ = try await beside.query(
            PostgresStatement(
                "SELECT renewald.submit($1, 'google', 'com.example.reader', $2, $3)",
                [.text(claimant), .text(product), .text("\(owner) \(product)")],
                isReadOnly: false))
    }

    static func inForce(_ claim: Claim) -> Observation {
        let product = claim.purchase.facts.product
        let end = claim.purchase.createdAt + .days(30)
        return Observation(
            environment: .production, status: .active,
            items: [Item(names: [product], expiresAt: end)], originalID: "order",
            orderID: "order..1", period: "period 1", paidThrough: end, expiresAt: end,
            willRenew: true, words: "active")
    }

    /// Everything is due, and is leased and claimed by a worker of its own.
    func claim() async throws -> (Lease, [Claim]) {
        try await script(
            """
            UPDATE renewald.schedule SET due_at = clock_timestamp() - interval '1 second';
            UPDATE renewald.shard SET lease_until = 'epoch'
            """)
        let worker = WorkerID.random()
        let taken = try await ledger.takeShards(worker, limit: 256, lease: .seconds(600))
        let lease = Lease(
            worker: worker,
            epochs: Dictionary(taken.map { ($0.shard, $0.epoch) }, uniquingKeysWith: { $1 }))
        var claims: [Claim] = []
        for lane in try await ledger.allLanes() {
            claims += try await ledger.claim(
                ClaimRequest(
                    lane, from: lease.epochs.keys.sorted().map(Place.start), perShard: 1000,
                    limit: 1000))
        }
        return (lease, claims)
    }

    func commit(
        _ claims: [Claim], _ lease: Lease, _ rules: Rules,
        _ hear: (Claim) -> Observation = Self.inForce
    ) async throws -> CommitReport {
        let outcomes = claims.map { claim in
            let moment = Moment(now: claim.claimedAt, jitter: 0.5)
            let answer = Answer.verdict(hear(claim))
            var outcome = decide(claim, hearing: answer, at: moment, under: rules)
            guard outcome.matters else { return outcome }
            var evidence = Evidence(answer.kind, heard: answer.words, calls: [])
            evidence.record = DecisionRecord(
                of: outcome, hearing: answer, at: moment, isReleasing: false)
            outcome.evidence = evidence
            return outcome
        }
        return try await ledger.commit(
            outcomes, under: lease, at: claims.map(\.claimedAt).max() ?? .never)
    }

    func hear(
        _ rules: Rules, _ hear: (Claim) -> Observation = Self.inForce
    ) async throws -> CommitReport {
        let (lease, claims) = try await claim()
        return try await commit(claims, lease, rules, hear)
    }

    // MARK: Looking

    func script(_ sql: String) async throws { try await beside.script(sql) }

    func list(_ sql: String) async throws -> [String] {
        try await beside.query(PostgresStatement(sql)).rows.map { try $0.text(0) }
    }

    func number(_ sql: String) async throws -> Int64 {
        try await beside.query(PostgresStatement("SELECT (\(sql))::int8 AS n"))[0].int64("n")
    }

    /// Grants and revokes, in order.
    func told() async throws -> [String] {
        try await list(
            """
            SELECT concat_ws(' ', user_id, kind, entitlement, reason) FROM renewald.events
            WHERE kind <> 'notice' ORDER BY user_id COLLATE "C", id
            """)
    }

    func holders() async throws -> [String] {
        try await list(
            """
            SELECT user_id || ' ' || entitlement FROM renewald.entitlements WHERE active
            ORDER BY 1
            """)
    }

    func everything() async throws -> [String] {
        var all: [String] = []
        for table in ["purchase", "schedule", "observation", "event", "evidence", "entitlement"] {
            all += try await list("SELECT t::text FROM renewald.\(table) AS t ORDER BY 1")
        }
        return all
    }

    func furtherLedger() -> PostgresLedger {
        PostgresLedger(PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60)))
    }

    func close() async {
        await ledger.close()
        await beside.close()
    }
}

extension Difference {
    /// Its reasons, to be compared.
    var because: [String: Int] {
        Dictionary(reasons.map { ($0.name, $0.count) }, uniquingKeysWith: +)
    }
}
