import Renewal
import TestSupport

/// A user's purchases on the way through a story: hears one answer after another, keeps what the
/// core says shall be kept.
struct Stage {
    private(set) var book: UserPurchases
    /// The user who has claimed purchase A.
    private(set) var bobsBook = UserPurchases(
        userID: "bob", version: 1, purchases: [], entitlements: [])
    /// Which purchase continues a token.
    private var successors: [StoreToken: Int64] = [:]
    private var attempts: [Int64: Int] = [:]
    private var checkedAt: [Int64: Timestamp] = [:]
    private var statedAt: [Int64: Timestamp] = [:]
    private var inVain: [Int64: Vain] = [:]
    private var settledClues: Set<Clue> = []
    var rules: Rules
    private let jitter: Double
    /// The breaker has tripped.
    private let isTripped: Bool

    init(
        _ story: Story, jitter: Double = 0.5, isTripped: Bool = false,
        longestWait: Duration = .days(30)
    ) throws {
        self.isTripped = isTripped
        rules = Rules(
            policy: try policy(story.policy), catalog: shop, longestWait: longestWait)
        self.jitter = jitter
        var purchases: [Purchase] = []
        var bobs: [Purchase] = []
        for (id, cell) in [(Int64(1), story.known), (2, story.secondKnown)] {
            guard let cell else { continue }
            let known = KnownWords(cell)
            let purchase = try known.purchase(id: id)
            if known.isBobs { bobs.append(purchase) } else { purchases.append(purchase) }
            checkedAt[id] = try known.checkedAt()
            inVain[id] = try known.inVain()
        }
        book = UserPurchases(
            userID: "user", version: 1,
            purchases: purchases.map { .init(purchase: $0, version: 1) },
            entitlements: Self.rows(of: purchases))
        bobsBook = UserPurchases(
            userID: "bob", version: 1, purchases: bobs.map { .init(purchase: $0, version: 1) },
            entitlements: Self.rows(of: bobs))
    }

    /// Plays a step and puts what followed into the words of the table.
    mutating func play(_ step: Story.Step) throws -> [String] {
        let (outcome, settlement) = try hear(step.heard, at: step.time)
        let asksAgain = outcome.schedule.nextCheckAt - (try TestCalendar.time(step.time))
        let bobs = holds(bobsBook).map { "bob:\($0)" }
        let held = holds(book) + bobs
        let facts = try purchase(step.heard.hasPrefix("B: ") ? 2 : 1).facts
        return [
            facts.state.rawValue, facts.access.rawValue,
            told(settlement, outcome), held.isEmpty ? "-" : held.joined(separator: ", "),
            outcome.schedule.nextCheckAt == .never ? "never" : TestCalendar.text(asksAgain),
        ]
    }

    /// Decides about an answer and enters what was decided into the book.
    mutating func hear(_ heard: String, at time: String) throws -> (Outcome, [Settlement]) {
        let now = try TestCalendar.time(time)
        let isSecond = heard.hasPrefix("B: ")
        let id: Int64 = isSecond ? 2 : 1
        let purchase = try purchase(id)
        let answer = try HeardWords(
            heard.dropFirst(isSecond ? 3 : 0), about: purchase.facts
        ).answer()
        let claim = claim(purchase, at: now)
        let moment = Moment(
            now: now, jitter: jitter,
            storeNow: try Self.storeNow(heard.dropFirst(isSecond ? 3 : 0), at: now))
        var outcome = decide(claim, hearing: answer, at: moment, under: rules)
        if let successor = successors[purchase.token],
            let late = outcome.superseded(by: successor)
        {
            outcome = late
        }
        if let token = outcome.change?.olderLink { successors[token] = id }
        attempts[id] = outcome.schedule.attempts
        if outcome.isVerdict { checkedAt[id] = now }
        statedAt[id] = outcome.schedule.statedAt
        inVain[id] = outcome.schedule.inVain
        settledClues.formUnion(outcome.schedule.settledClues)
        let settlement = settle(&outcome, at: now)
        if let next = outcome.change?.nextToken { book.rename(id, next) }
        return (outcome, settlement)
    }

    /// What the store says of the time, where a cell says `ahead=60m`, `behind=60m` or `undated`.
    private static func storeNow(
        _ cell: some StringProtocol, at now: Timestamp
    ) throws -> Timestamp? {
        let words = Words(cell)
        if words.has("undated") { return nil }
        if let behind = words["behind"] { return now + (try TestCalendar.duration(behind)) }
        return try words["ahead"].map { now - (try TestCalendar.duration($0)) } ?? now
    }

    /// What is told to both users, in the order in which it is told.
    private mutating func settle(
        _ outcome: inout Outcome, at now: Timestamp
    ) -> [Settlement] {
        guard outcome.claim.purchase.userID == book.userID else {
            let older = book.purchases.values.first { entry in
                entry.purchase.token == outcome.change?.predecessorToken
            }
            guard let older, let (lost, link) = book.yield(older.purchase.id, to: outcome, at: now)
            else { return [bobsBook.settle(outcome, at: now)] }
            return [lost, bobsBook.settle(outcome, continuing: link, at: now)]
        }
        guard case .handed = outcome.decision else {
            let before = book
            outcome = outcome.awaitingSuccessor(in: book, at: now)
            let settlement = book.settle(outcome, at: now)
            guard isTripped, settlement.revokes, outcome.loss(at: now) != nil else {
                return [settlement]
            }
            book = before
            outcome = outcome.held(at: now)
            return [book.settle(outcome, at: now)]
        }
        let (lost, gained) = book.handOver(outcome, to: &bobsBook, at: now)
        return [lost, gained]
    }

    func purchase(_ id: Int64) throws -> Purchase {
        guard let entry = book.purchases[id] ?? bobsBook.purchases[id] else {
            throw UnreadableCell(cell: "purchase \(id)")
        }
        return entry.purchase
    }

    private func claim(_ purchase: Purchase, at now: Timestamp) -> Claim {
        var purchase = purchase
        purchase.clues.subtract(settledClues)
        var claim = Claim(
            purchase: purchase, shard: 0, lane: 0, dueAt: now, version: 1,
            attempts: attempts[purchase.id] ?? 0, crashes: 0, checkedAt: checkedAt[purchase.id],
            claimedAt: now)
        claim.statedAt = statedAt[purchase.id]
        claim.inVain = inVain[purchase.id]
        return claim
    }

    /// `+` is a grant, `-` a revoke, `!` the problem, the rest are notices.
    private func told(_ settlement: [Settlement], _ outcome: Outcome) -> String {
        var words = settlement.events.map { event in
            let sign =
                switch event.kind {
                case .grant: "+"
                case .revoke: "-"
                case .notice: ""
                }
            let about = event.entitlement.map { $0 == "pro" ? "" : ":\($0)" } ?? ""
            let whom = event.userID == "bob" ? "bob" : ""
            return whom + sign + event.kind.reason + about
        }
        if let problem = outcome.schedule.problem { words.append("!" + problem.code.rawValue) }
        return words.isEmpty ? "-" : words.joined(separator: " ")
    }

    /// The user's active entitlements: until when, and by which purchase where not by A.
    private func holds(_ book: UserPurchases) -> [String] {
        let active = book.entitlements.values.filter(\.active)
            .sorted { $0.entitlement < $1.entitlement }
        return active.map { row in
            let end = row.expiresAt.map(TestCalendar.text) ?? "ever"
            return "\(row.purchaseID == 2 ? "B:" : "")\(row.entitlement) \(end)"
        }
    }

    /// The union as the ledger would have stored it before the story.
    private static func rows(of purchases: [Purchase]) -> [Entitlement] {
        var rows: [EntitlementID: Entitlement] = [:]
        for purchase in purchases {
            for holding in purchase.facts.holdings {
                let known = rows[holding.entitlement].map { $0.expiresAt ?? .never }
                guard known ?? TestCalendar.start < holding.expiresAt ?? .never else { continue }
                rows[holding.entitlement] = Entitlement(
                    entitlement: holding.entitlement, active: true, expiresAt: holding.expiresAt,
                    willRenew: purchase.facts.autoRenew,
                    inGrace: purchase.facts.state == .grace, reason: "purchased",
                    store: purchase.app.store, product: holding.product, purchaseID: purchase.id,
                    environment: purchase.facts.environment)
            }
        }
        return Array(rows.values)
    }
}

/// What one step has changed, for one user after the other.
extension [Settlement] {
    var purchases: [Purchase] { flatMap(\.purchases) }
    var entitlements: [Entitlement] { flatMap(\.entitlements) }
    var events: [Event] { flatMap(\.events) }
}

extension UserPurchases {
    /// As the ledger does where the store has named another token to ask with.
    fileprivate mutating func rename(_ id: Int64, _ token: StoreToken) {
        let entries = purchases.values.map { entry in
            let known = entry.purchase
            guard known.id == id else { return entry }
            let renamed = Purchase(
                id: id, userID: known.userID, app: known.app, token: token,
                createdAt: known.createdAt, isClaimedByOthers: known.isClaimedByOthers,
                claimant: known.claimant, facts: known.facts)
            return Entry(purchase: renamed, version: entry.version)
        }
        self = UserPurchases(
            userID: userID, version: version, purchases: entries,
            entitlements: Array(entitlements.values), offers: offers)
    }
}
