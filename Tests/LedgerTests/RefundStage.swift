import Ledger
import Postgres
import Renewal

/// A stage on which a store asks about refunds.
struct RefundStage {
    let stage: Stage
    let app: AppKey
    let worker = WorkerID.random()

    private var source: SourceID { SourceID("\(app.store.rawValue) \(app.id) questions") }

    init(_ store: Store = .google) async throws {
        stage = try await Stage()
        app = AppKey(store: store, id: "com.example.reader")
        var round = HintRound(lease: .seconds(3600))
        round.wanted = [source]
        _ = try await stage.ledger.hintRound(round, by: worker)
        _ = try await stage.ledger.configure([app], by: worker)
    }

    func now() async throws -> Timestamp {
        Timestamp(
            microsecondsSinceEpoch: try await stage.beside.query(
                PostgresStatement("SELECT clock_timestamp() AS now"))[0].timestamp("now"))
    }

    /// A question of the store; times count from now.
    func question(
        _ id: NewsID = "1", order: OrderID = "order..1", original: OrderID = "order",
        token: StoreToken? = "pending token", reason: String? = "4",
        asked: Duration = .zero, within: Duration = .seconds(86_400), account: String? = nil
    ) async throws -> RefundQuestion {
        let now = try await now()
        return RefundQuestion(
            id: id, originalID: original, order: order, environment: .production, token: token,
            reason: reason, askedAt: now + asked, answerBy: now + within, accountToken: account)
    }

    @discardableResult
    func hear(
        _ questions: [RefundQuestion] = [], rulings: [RefundRuling] = [], hints: [Hint] = [],
        position: String? = nil, by ledger: PostgresLedger? = nil
    ) async throws -> HintReport? {
        var page = HintPage(hints: hints, position: position)
        page.questions = questions
        page.rulings = rulings
        return try await (ledger ?? stage.ledger).take(
            HintDelivery(
                page, from: source, about: app, by: worker, lease: .seconds(3600),
                began: try await now()))
    }

    /// Rows of the view, each as its words: the columns that are asked for.
    func requests(_ columns: String) async throws -> [String] {
        try await stage.list(
            "SELECT concat_ws(' ', \(columns)) FROM renewald.refund_requests ORDER BY id")
    }

    func events(_ columns: String = "reason, user_id") async throws -> [String] {
        try await stage.list(
            "SELECT concat_ws(' ', \(columns)) FROM renewald.events_after(0) WHERE kind = 'notice'")
    }

    /// One purchase of the user, in force, whose order is `order` and last renewal `order..1`.
    @discardableResult
    func settled(_ user: String = "ann") async throws -> Claim {
        let lease = try await stage.takeAll()
        try await stage.submit(
            user, "token of \(user)", store: app.store.rawValue, app: app.id.text)
        let claims = try await stage.due(lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        try await stage.ledger.release(lease)
        return claims[0]
    }

    /// What `[refunds]` of the configuration says.
    func rule(_ answer: String, consented: Bool = false) async throws {
        try await stage.beside.query(
            PostgresStatement(
                """
                UPDATE renewald.refund_rule SET answer = $1, customer_consented = $2
                """, [.text(answer), .bool(consented)], isReadOnly: false))
    }
}
