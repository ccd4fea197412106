import Ledger
import Postgres
import Renewal
import TestSupport

@testable import Daemon

/// A database in which tokens and answers are encrypted, or not, with keys that the test makes.
struct EncryptedFleet {
    let ledger: PostgresLedger
    let conninfo: String
    let beside: PostgresConnection

    init() async throws {
        conninfo = try await ScratchCluster.shared().newMigratedDatabase()
        let settings = PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60))
        ledger = PostgresLedger(settings)
        beside = PostgresConnection(settings)
    }

    /// A further worker's or command's.
    func furtherLedger(_ cipher: Cipher?) -> PostgresLedger {
        let ledger = PostgresLedger(
            PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60)))
        ledger.use(cipher)
        return ledger
    }

    func close() async {
        await ledger.close()
        await beside.close()
    }

    // MARK: Keys

    /// The real cipher, with the keys of these numbers: the newest first.
    static func cipher(_ keys: UInt8..., encrypts: Bool = true) -> Cipher {
        Cipher(
            keys: keys.map { AtRestKeys.sealingKey(bytes(of: $0)) }, encrypts: encrypts,
            random: { (0..<32).map { _ in .random(in: .min ... .max) } },
            dataKey: AtRestKeys.sealingKey)
    }

    static func bytes(of key: UInt8) -> [UInt8] { Array(repeating: key, count: 32) }

    static func id(of key: UInt8) -> KeyID { AtRestKeys.sealingKey(bytes(of: key)).id }

    // MARK: Acting

    @discardableResult
    func submit(_ user: String, _ token: String, product: String = "pro") async throws -> Int64 {
        try await beside.query(
            PostgresStatement(
                "SELECT renewald.submit($1, 'google', 'com.example.reader', $2, $3)",
                [.text(user), .text(product), .text(token)], isReadOnly: false))[0].int64(0)
    }

    /// So many users, each with a token that says `planted`.
    func submitMany(_ count: Int) async throws {
        try await beside.script(
            """
            SELECT count(*) FROM renewald.submit_many((
                SELECT jsonb_agg(jsonb_build_object('user_id', 'user ' || n, 'store', 'google',
                    'app', 'com.example.reader', 'product', 'pro', 'token', 'planted ' || n))
                FROM generate_series(1, \(count)) AS n))
            """)
    }

    /// Everything is due, and is leased and claimed by a worker of its own.
    func claim(by ledger: PostgresLedger? = nil) async throws -> (Lease, [Claim]) {
        let ledger = ledger ?? self.ledger
        try await script(
            """
            UPDATE renewald.schedule SET due_at = clock_timestamp() - interval '1 second'
            WHERE due_at < '9000-01-01';
            UPDATE renewald.shard SET lease_until = 'epoch', clean = true
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
                    limit: 10_000))
        }
        return (lease, claims.sorted { $0.purchase.id < $1.purchase.id })
    }

    /// Claims all, and commits what was heard, with whole answers as evidence.
    @discardableResult
    func check(
        by ledger: PostgresLedger? = nil, shared: Policy.Shared = .keep,
        hearing hear: (Claim) -> Observation = KeptFleet.inForce
    ) async throws -> CommitReport {
        let (lease, claims) = try await claim(by: ledger)
        return try await commit(claims, lease, by: ledger, shared: shared, hearing: hear)
    }

    func commit(
        _ claims: [Claim], _ lease: Lease, by ledger: PostgresLedger? = nil,
        shared: Policy.Shared = .keep, hearing hear: (Claim) -> Observation = KeptFleet.inForce
    ) async throws -> CommitReport {
        var rules = Rules()
        rules.policy.shared = shared
        let outcomes = claims.map { claim in
            let moment = Moment(now: claim.claimedAt, jitter: 0.5)
            let answer = Answer.verdict(hear(claim))
            var outcome = decide(claim, hearing: answer, at: moment, under: rules)
            guard outcome.matters else { return outcome }
            let call = Evidence.Call(
                name: "get", status: 200, bytes: 6, digest: "digest of \(claim.purchase.id)",
                raw: "answer of a store, planted for \(claim.purchase.token.text)")
            outcome.evidence = Evidence(answer.kind, heard: answer.words, calls: [call])
            return outcome
        }
        return try await (ledger ?? self.ledger).commit(
            outcomes, under: lease, at: claims.map(\.claimedAt).max() ?? .never)
    }

    // MARK: Looking

    func script(_ sql: String) async throws { try await beside.script(sql) }

    func list(_ sql: String) async throws -> [String] {
        try await beside.query(PostgresStatement(sql)).rows.map {
            $0.isNull(0) ? "-" : try $0.text(0)
        }
    }

    func number(_ sql: String) async throws -> Int64 {
        try await beside.query(PostgresStatement("SELECT (\(sql))::int8 AS n"))[0].int64("n")
    }

    /// The tokens that stores would be asked with, by the ids of their purchases.
    func tokens(by ledger: PostgresLedger? = nil) async throws -> [Int64: String] {
        var tokens: [Int64: String] = [:]
        for user in try await list("SELECT DISTINCT user_id FROM renewald.purchase") {
            for claim in try await (ledger ?? self.ledger).claims(ofUser: UserID(user)) {
                tokens[claim.purchase.id] = claim.purchase.token.text
            }
        }
        return tokens
    }

    /// All that is in the tables of tokens and answers, but for what encryption adds.
    func clearRows() async throws -> [String] {
        try await list(
            """
            SELECT concat_ws('|', shard, id, token, store_user_id, asked_with, product,
                sealed, sealed_asked_with, sealed_as, digest)
            FROM renewald.credential ORDER BY id
            """)
            + (try await list(
                """
                SELECT concat_ws('|', purchase_id, at, call_bodies, sealed_bodies)
                FROM renewald.evidence ORDER BY purchase_id, at
                """))
    }

    func problems() async throws -> [String] {
        try await list(
            """
            SELECT user_id || ' ' || problem FROM renewald.purchases WHERE problem IS NOT NULL
            ORDER BY user_id
            """)
    }

    /// What `pg_dump` writes.
    func dump() async throws -> String {
        try await ChildProcess.run(
            "pg_dump", ["--format=plain", "--dbname=\(conninfo)"], within: .seconds(120)
        ).standardOutput
    }
}
