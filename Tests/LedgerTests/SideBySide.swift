import LedgerModel
import Postgres
import Renewal
import Synchronization
import TestSupport

@testable import Ledger

/// The real ledger, and the model that simulated fleets live on, with the same users, purchases and
/// answers. What is decided happens at a time that leaps, the same for both.
final class SideBySide: Sendable {
    let stage: Stage
    let lease: Lease
    let model: ModelLedger
    private let modelLease: Lease
    private let rules: Rules
    private let clock: Clock

    /// The database's time, as the model has it.
    private final class Clock: Sendable {
        let time = Mutex(Timestamp(microsecondsSinceEpoch: 0))
    }

    static let app = AppKey(store: .google, id: "com.example.reader")
    static let users = (0..<6).map { "user \($0)" }

    init(under rules: Rules) async throws {
        self.rules = rules
        stage = try await Stage()
        lease = try await stage.takeAll()
        clock = Clock()
        model = ModelLedger(now: { [clock] in clock.time.withLock(\.self) })
        let worker = WorkerID.random()
        let now = try await stage.beside.query(PostgresStatement("SELECT now()"))[0].instant("now")
        clock.time.withLock { $0 = now }
        let taken = try await model.takeShards(worker, limit: 256, lease: .days(30))
        modelLease = Lease(
            worker: worker,
            epochs: Dictionary(taken.map { ($0.shard, $0.epoch) }, uniquingKeysWith: { $1 }))
    }

    func submit(_ user: String, _ token: String, product: ProductID) async throws {
        let row = try await stage.beside.query(
            PostgresStatement(
                """
                SELECT renewald.submit($1, 'google', $2, $3, $4) AS id, now() AS at,
                    renewald.shard_of($1) AS shard
                """,
                [.text(user), .text(Self.app.id), .text(product.text), .text(token)],
                isReadOnly: false))[0]
        let at = try row.instant("at")
        clock.time.withLock { $0 = at }
        model.tell(shard: try row.int16("shard"), of: UserID(user))
        let id = model.submit(
            UserID(user), Self.app, product: product, token: StoreToken(token))
        try require(try row.int64("id"), id, "id")
    }

    /// All purchases of both, as they were claimed: each a pair.
    func claims() async throws -> [(real: Claim, model: Claim)] {
        try await stage.makeAllDue()
        let real = try await stage.due(lease)
        clock.time.withLock { $0 = real.first?.claimedAt ?? $0 }
        model.makeAllDue()
        let claims = try await model.claim(
            ClaimRequest(
                Lane(number: 1, app: Self.app),
                from: modelLease.epochs.keys.sorted().map(Place.start(of:)), perShard: 1000,
                limit: 1000)
        ).sorted { $0.purchaseID < $1.purchaseID }
        try require(real.map(\.purchaseID), claims.map(\.purchaseID), "due")
        for (real, model) in zip(real, claims) {
            var (told, expected) = (real.purchase, model.purchase)
            // Each by its own clock.
            (told.checkedAt, expected.checkedAt) = (nil, nil)
            try require(told, expected, "purchase")
            try require(Remembered(real), Remembered(model), "\(real.purchase)")
        }
        return Array(zip(real, claims))
    }

    /// What is known of a purchase beside its facts.
    private struct Remembered: Equatable {
        let attempts: Int
        let statedAt: Timestamp?
        let inVain: Vain?
        let problem: String?

        init(_ claim: Claim) {
            attempts = claim.attempts
            statedAt = claim.statedAt
            inVain = claim.inVain
            problem = claim.problem
        }
    }

    /// Decides and commits the same of both.
    func commit(
        _ heard: [(real: Claim, model: Claim, answer: Answer)], at now: Timestamp,
        isReleasing: Bool
    ) async throws -> CommitReport {
        let moment = Moment(now: now, jitter: 0.5)
        func outcomes(_ claims: [Claim]) -> [Outcome] {
            zip(claims, heard).map { claim, heard in
                decide(
                    claim, hearing: heard.answer, at: moment, under: rules,
                    isReleasing: isReleasing)
            }
        }
        let real = try await stage.ledger.commit(
            outcomes(heard.map(\.real)), under: lease, at: now)
        let model = try await model.commit(
            outcomes(heard.map(\.model)), under: modelLease, at: now)
        let told = [real.events, model.events].map { $0.map { String(describing: $0) }.sorted() }
        try require(told[0], told[1], "events")
        try require(real.dropped.map(\.purchaseID), model.dropped.map(\.purchaseID), "dropped")
        try require(real.refused, [], "refused")
        try require(real.trips, model.trips, "trips")
        try await compareEntitlements()
        return real
    }

    private func require<Value: Equatable>(_ real: Value, _ model: Value, _ what: String) throws {
        if real != model { throw Difference(what: what, real: "\(real)", model: "\(model)") }
    }

    struct Difference: Error, CustomStringConvertible {
        let what: String
        let real: String
        let model: String
        var description: String { "\(what):\n  the real one \(real)\n  the model    \(model)" }
    }

    private func compareEntitlements() async throws {
        let real = try await stage.list(
            """
            SELECT concat_ws(' ', user_id, entitlement, active, purchase_id, reason)
            FROM renewald.entitlement ORDER BY 1
            """)
        let model = model.accounts.flatMap { user, account in
            account.entitlements.values.map {
                "\(user) \($0.entitlement) \($0.active ? "t" : "f") \($0.purchaseID) \($0.reason)"
            }
        }
        try require(real.sorted(), model.sorted(), "entitlements")
        try require(try await stage.broken(), [], "audit")
    }
}
