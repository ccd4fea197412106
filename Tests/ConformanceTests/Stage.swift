import Curl
import Renewal
import StoreFixtures
import Stores
import Synchronization
import TestSupport

/// A store with a fake of the wire: it is given the bytes of an answer, and asked.
protocol StoreScene: Sendable {
    var wire: Wire { get }
    /// Puts an answer on the wire, as a cell of the table names it.
    func prepare(_ cell: String, at day: Timestamp) throws
    /// Puts these bytes on the wire, with status 200, whatever is asked.
    func prepare(body: [UInt8], at day: Timestamp)
    func ask(_ purchase: Purchase, at now: Timestamp, in session: CallSession) async -> Answer
}

/// What is on the wire, and how often it was asked.
final class Wire: Sendable {
    typealias Script = @Sendable (HTTPRequest) throws(CurlError) -> HTTPResponse

    private struct State {
        var script: Script?
        var clock = TestCalendar.start
        var calls = 0
    }

    /// How far the database's clock is ahead of the store's; nil where the store sends no `Date`.
    private let ahead = Mutex<Duration?>(.zero)

    func setAhead(_ duration: Duration?) { ahead.withLock { $0 = duration } }

    private let state = Mutex(State())

    func answer(at clock: Timestamp, with script: @escaping Script) {
        state.withLock { $0 = State(script: script, clock: clock) }
    }

    /// Calls since the last answer was prepared.
    var calls: Int { state.withLock { $0.calls } }

    var transport: StoreTransport {
        StoreTransport(
            send: { [self] request async throws(CurlError) in
                let script = state.withLock { state in
                    state.calls += 1
                    return state.script
                }
                guard let script else { throw .unreachable(reason: "nothing is prepared") }
                let response = try script(request)
                guard let ahead = ahead.withLock(\.self), response.date == nil else {
                    return response
                }
                let told = state.withLock(\.clock) - ahead
                return HTTPResponse(
                    status: response.status, contentType: response.contentType,
                    retryAfter: response.retryAfter,
                    date: HTTPDate.text(
                        secondsSinceEpoch: told.microsecondsSinceEpoch / 1_000_000),
                    requestID: response.requestID, body: response.body)
            },
            wallClock: { [self] in state.withLock { $0.clock } })
    }
}

/// A user's purchases on the way through a case: all of it is the real code but the wire.
struct Stage {
    private let scene: any StoreScene
    private let rules: Rules
    private let app: AppKey
    private(set) var book: UserPurchases
    /// What was looked into: the same is no news any more.
    private var settledClues: [Int64: Set<Clue>] = [:]
    private var attempts: [Int64: Int] = [:]
    private var checkedAt: [Int64: Timestamp] = [:]
    /// What hints name of a purchase, and when they are heard.
    private var clues: [Int64: [Clue: Timestamp]] = [:]
    private var statedAt: [Int64: Timestamp] = [:]
    private var inVain: [Int64: Vain] = [:]
    private var showsDetails = false
    /// Original ids that another user has handed in.
    private let others: Set<OrderID>

    /// Everything about one step.
    struct Heard {
        var answer: Answer
        var outcome: Outcome
        var settlement: Settlement
        var at: Timestamp
        var product: ProductID
        /// What was known before.
        var before: Facts
        var showsDetails = false
    }

    init(_ item: ConformanceCase) throws {
        let store: Store
        switch item.table {
        case "amazon": (store, scene) = (.amazon, try AmazonScene(item.options))
        case "google": (store, scene) = (.google, try GoogleScene(item.options))
        default: (store, scene) = (.apple, try AppleScene(item.options))
        }
        scene.wire.setAhead(
            item.options.has("undated") ? nil : try Self.ahead(of: item.options))
        app = AppKey(store: store, id: Shop.bundle)
        rules = Rules(policy: try Self.policy(item.options), catalog: Shop.catalog)
        clues[1] = try Self.clues(item.options)
        showsDetails = item.options.has("details")
        others = Set(item.options["others"].map { [OrderID("42000101010100" + $0)] } ?? [])
        let user = UserID(item.options["user"] ?? "ada")
        let product = ProductID(item.options["product"] ?? "plus")
        let token = try item.options["token"].map { StoreToken(try AppleTokens.token($0)) }
        var purchases = [
            Purchase(
                id: 1, userID: user, app: app, token: token ?? Shop.token(1, store),
                storeUserID: store == .amazon ? "kQ4m" : nil,
                createdAt: try item.options.time("created") ?? TestCalendar.start,
                facts: Facts(product: product))
        ]
        if let second = item.options["B"] {
            purchases.append(
                Purchase(
                    id: 2, userID: user, app: app, token: Shop.token(2, store),
                    storeUserID: store == .amazon ? "kQ4m" : nil,
                    createdAt: TestCalendar.start, facts: Facts(product: ProductID(second))))
        }
        book = UserPurchases(
            userID: user, version: 1, purchases: purchases.map { .init(purchase: $0, version: 1) },
            entitlements: [])
    }

    /// `ahead=60m` and `behind=60m`: the database's clock, seen from the store.
    private static func ahead(of words: Words) throws -> Duration {
        if let behind = words["behind"] { return .zero - (try TestCalendar.duration(behind)) }
        return try words["ahead"].map { try TestCalendar.duration($0) } ?? .zero
    }

    private static func policy(_ words: Words) throws -> Policy {
        var policy = Policy()
        policy.grace = words["grace"].flatMap(Policy.Choice.init) ?? policy.grace
        policy.paymentPending =
            words["payment_pending"].flatMap(Policy.Choice.init) ?? policy.paymentPending
        policy.sandbox = words["sandbox"].flatMap(Policy.Sandbox.init) ?? policy.sandbox
        policy.refund = words["refund"].flatMap(Policy.Refund.init) ?? policy.refund
        return policy
    }

    /// `voided=1@10`: the order 1 is in the list of voided purchases, heard of on day 10; with
    /// `why=store,chargeback` who wanted that, and why.
    /// `revoked=10`: news of a revocation that names no order.
    private static func clues(_ words: Words) throws -> [Clue: Timestamp] {
        var clues: [Clue: Timestamp] = [:]
        if let parts = words["voided"]?.split(separator: "@"), parts.count == 2 {
            let order = OrderID(GoogleScene.order(String(parts[0])))
            let heardAt = try TestCalendar.time(parts[1])
            clues[.refund(of: order)] = heardAt
            if let why = words["why"]?.split(separator: ","), why.count == 2 {
                clues[.void(of: order, source: String(why[0]), reason: String(why[1]))] = heardAt
            }
        }
        if let day = try words.time("revoked") { clues[.revoked(news: "77")] = day }
        return clues
    }

    /// Lets the store answer, decides, and enters what was decided into the user's book. An answer
    /// with `B: ` before it is about the second purchase.
    mutating func hear(_ cell: String, on day: String) async throws -> Heard {
        let now = try TestCalendar.time(day)
        let isSecond = cell.hasPrefix("B: ")
        try scene.prepare(isSecond ? String(cell.dropFirst(3)) : cell, at: now)
        return try await hear(of: isSecond ? 2 : 1, at: now)
    }

    /// The same with the bytes of an answer about the first purchase.
    mutating func hear(body: [UInt8], on day: String) async throws -> Heard {
        let now = try TestCalendar.time(day)
        scene.prepare(body: body, at: now)
        return try await hear(of: 1, at: now)
    }

    private struct ReplaysOtherwise: Error {
        let names: [String]
    }

    /// Design rule 14: a decision is made again from what is kept of it.
    private func replay(
        _ outcome: Outcome, hearing answer: Answer, at moment: Moment
    ) throws {
        let record = DecisionRecord(
            of: outcome, hearing: answer, at: moment, isReleasing: false)
        let read = try DecisionRecord(record.bytes, ofPurchase: outcome.claim.purchase.id)
        let again = read.decidedAgain(under: rules)
        guard again == record.decided else {
            throw ReplaysOtherwise(names: again.differences(from: record.decided))
        }
    }

    private var known: KnownPurchases {
        KnownPurchases(
            facts: { _ throws(StoreFailure) in nil },
            owner: { [others] id throws(StoreFailure) in others.contains(id) ? "bob" : nil })
    }

    private mutating func hear(
        of id: Int64, at now: Timestamp, jitter: Double = 0.5
    ) async throws -> Heard {
        guard var purchase = book.purchases[id]?.purchase else {
            throw UnreadableCell(cell: "purchase \(id)")
        }
        purchase.cluesHeardAt = (clues[id] ?? [:]).filter { $0.value <= now }
        purchase.clues = Set(purchase.cluesHeardAt.keys)
        purchase.knownRefunds = (settledClues[id] ?? []).refundedOrders
        var claim = Claim(
            purchase: purchase, shard: 0, lane: 0, dueAt: now, version: 1,
            attempts: attempts[id] ?? 0, crashes: 0, checkedAt: checkedAt[id], claimedAt: now)
        claim.inVain = inVain[id]
        purchase = claim.purchase
        let session = CallSession(knowing: known)
        let hearing = session.answered(await scene.ask(purchase, at: now, in: session))
        let answer = hearing.answer
        try await scene.askWhileHeld(
            about: purchase, at: now, knowing: known, expecting: answer)
        claim.statedAt = statedAt[id]
        let moment = claim.moment(of: hearing, after: .zero, jitter: jitter)
        let decided = decide(claim, hearing: answer, at: moment, under: rules)
        try replay(decided, hearing: answer, at: moment)
        let outcome = decided.awaitingSuccessor(in: book, at: now)
        attempts[id] = outcome.schedule.attempts
        if outcome.isVerdict { checkedAt[id] = now }
        for clue in outcome.schedule.settledClues { clues[id]?[clue] = nil }
        settledClues[id, default: []].formUnion(outcome.schedule.settledClues)
        statedAt[id] = outcome.schedule.statedAt
        inVain[id] = outcome.schedule.inVain
        let settlement = book.settle(outcome, at: now)
        if let next = outcome.change?.nextToken { rename(id, next) }
        return Heard(
            answer: answer, outcome: outcome, settlement: settlement, at: now,
            product: purchase.facts.product, before: purchase.facts, showsDetails: showsDetails)
    }

    /// What the ledger does with the token that a decision names.
    private mutating func rename(_ id: Int64, _ token: StoreToken) {
        guard let known = book.purchases[id]?.purchase else { return }
        put(
            Purchase(
                id: id, userID: known.userID, app: known.app, token: token,
                storeUserID: known.storeUserID, createdAt: known.createdAt, facts: known.facts))
    }
}

// For those who make up their answers as they go.
extension Stage {
    /// A user who has bought nothing yet.
    init(_ scene: any StoreScene, in store: Store, under policy: Policy) {
        self.scene = scene
        rules = Rules(policy: policy, catalog: Shop.catalog)
        app = AppKey(store: store, id: Shop.bundle)
        book = UserPurchases(userID: "ada", version: 1, purchases: [], entitlements: [])
        others = []
    }

    /// Takes in another purchase.
    mutating func submit(
        _ id: Int64, _ token: StoreToken, of product: ProductID, at now: Timestamp
    ) {
        put(
            Purchase(
                id: id, userID: book.userID, app: app, token: token,
                storeUserID: app.store == .amazon ? "kQ4m" : nil, createdAt: now,
                facts: Facts(product: product)))
    }

    /// Keeps what a hint has named until a check has looked into it.
    mutating func keep(_ clue: Clue, of id: Int64, at now: Timestamp) {
        guard settledClues[id]?.contains(clue) != true else { return }
        clues[id, default: [:]][clue] = clues[id]?[clue] ?? now
    }

    /// Hears one answer about a purchase, as it was made at `made`.
    mutating func hear(
        _ cell: String, of id: Int64, made: Timestamp, at now: Timestamp, jitter: Double
    ) async throws -> Heard {
        try scene.prepare(cell, at: made)
        return try await hear(of: id, at: now, jitter: jitter)
    }

    private mutating func put(_ purchase: Purchase) {
        let others = book.purchases.values.filter { $0.purchase.id != purchase.id }
        book = UserPurchases(
            userID: book.userID, version: book.version,
            purchases: others + [.init(purchase: purchase, version: 1)],
            entitlements: Array(book.entitlements.values), offers: book.offers)
    }
}

/// The app of the tables and what it sells.
enum Shop {
    static let bundle: AppID = "com.example.reader"

    /// What is not listed grants its own id: `plus`, the usual subscription, grants plus.
    static let catalog = Catalog([
        "plus_year": .init(kind: .autoRenewable, entitlements: ["plus"]),
        "plus.monthly": .init(kind: .autoRenewable, entitlements: ["plus"]),
        "pass30": .init(kind: .nonRenewing, duration: .days(30), entitlements: ["plus"]),
        "memories": .init(kind: nil, entitlements: ["plus"]),
        "lifetime": .init(kind: .nonConsumable, entitlements: ["plus"]),
        "book": .init(kind: .nonConsumable, entitlements: ["book"]),
        "coins": .init(kind: .consumable, entitlements: []),
    ])

    static func kind(of product: ProductID) -> ProductKind? {
        catalog.product(named: [product])?.kind
    }

    /// What the user's first and second purchase were submitted with.
    static func token(_ id: Int64, _ store: Store) -> StoreToken {
        switch store {
        case .apple: "42000101010100\(id)"
        case .google: "token-\(id == 1 ? "A" : "B")"
        case .amazon: "Zk3v\(id == 1 ? "A" : "B")=:3:11"
        }
    }
}
