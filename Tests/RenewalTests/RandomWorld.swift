import Renewal
import TestSupport

/// A user with a few purchases, another one who claims some of them, and a store that says anything
/// at any time.
struct RandomWorld {
    let rules: Rules
    private(set) var book: UserPurchases
    private(set) var otherBook: UserPurchases
    private(set) var now = TestCalendar.start
    private var attempts: [Int64: Int] = [:]
    private(set) var checkedAt: [Int64: Timestamp] = [:]
    private var statedAt: [Int64: Timestamp] = [:]
    private var inVain: [Int64: Vain] = [:]
    private let isOneTime: Set<Int64>

    /// One answer, and all that came of it.
    struct Turn {
        let claim: Claim
        let answer: Answer
        let now: Timestamp
        let outcome: Outcome
        let settlement: Settlement
        let before: UserPurchases
        let after: UserPurchases
        /// What came of it for the user who got the purchase.
        var handed: Handed?
    }

    struct Handed {
        let settlement: Settlement
        let before: UserPurchases
        let after: UserPurchases
    }

    init(_ chance: inout SeededGenerator) {
        var policy = Policy()
        policy.grace = Self.any(Policy.Choice.allCases, &chance)
        policy.paymentPending = Self.any(Policy.Choice.allCases, &chance)
        policy.sandbox = Self.any(Policy.Sandbox.allCases, &chance)
        policy.refund = Self.any(Policy.Refund.allCases, &chance)
        policy.leniency = Self.any([.zero, .zero, .hours(6), .days(2)], &chance)
        policy.shared = Self.any(Policy.Shared.allCases, &chance)
        rules = Rules(policy: policy, catalog: shop)
        var oneTime: Set<Int64> = []
        let purchases = (1...Int64.random(in: 1...4, using: &chance)).map { id in
            let store = Self.any(Store.allCases, &chance)
            let isOneTime = Bool.random(using: &chance) && Bool.random(using: &chance)
            if isOneTime { oneTime.insert(id) }
            let products = isOneTime ? Self.oneTimeProducts : Self.subscriptions
            return Purchase(
                id: id, userID: "user", app: AppKey(store: store, id: "com.example.reader"),
                token: token(of: id), createdAt: TestCalendar.start,
                facts: Facts(product: Self.any(products, &chance)))
        }
        isOneTime = oneTime
        book = UserPurchases(
            userID: "user", version: 1,
            purchases: purchases.map { .init(purchase: $0, version: 1) },
            entitlements: [])
        otherBook = UserPurchases(userID: "other", version: 1, purchases: [], entitlements: [])
    }

    /// Lets some time pass and one purchase hear something.
    mutating func turn(_ chance: inout SeededGenerator) throws -> Turn {
        now = now + Self.any([.seconds(30), .minutes(11), .hours(7), .days(3), .days(20)], &chance)
        let id = Self.any(
            (Array(book.purchases.keys) + otherBook.purchases.keys).sorted(), &chance)
        // Whoever has it is the one the turn is about.
        if book.purchases[id] == nil { swap(&book, &otherBook) }
        guard let known = book.purchases[id]?.purchase else {
            throw UnreadableCell(cell: "purchase \(id)")
        }
        let purchase = claimed(known, &chance)
        var claim = Claim(
            purchase: purchase, shard: 0, lane: 0, dueAt: now, version: 1,
            attempts: attempts[id] ?? 0, crashes: 0, checkedAt: checkedAt[id], claimedAt: now)
        claim.statedAt = statedAt[id]
        claim.inVain = inVain[id]
        let answer = answer(about: purchase, &chance)
        let jitter = Self.any([0, 0.999, Double.random(in: 0..<1, using: &chance)], &chance)
        let outcome = decide(
            claim, hearing: answer, at: Moment(now: now, jitter: jitter), under: rules
        ).awaitingSuccessor(in: book, at: now)
        attempts[id] = outcome.schedule.attempts
        if outcome.isVerdict { checkedAt[id] = now }
        statedAt[id] = outcome.schedule.statedAt
        inVain[id] = outcome.schedule.inVain
        let before = book
        guard case .handed = outcome.decision else {
            let settlement = book.settle(outcome, at: now)
            return Turn(
                claim: claim, answer: answer, now: now, outcome: outcome,
                settlement: settlement, before: before, after: book)
        }
        let otherBefore = otherBook
        let (lost, gained) = book.handOver(outcome, to: &otherBook, at: now)
        return Turn(
            claim: claim, answer: answer, now: now, outcome: outcome, settlement: lost,
            before: before, after: book,
            handed: Handed(settlement: gained, before: otherBefore, after: otherBook))
    }

    /// Now and then the other user hands it in as well.
    private func claimed(_ purchase: Purchase, _ chance: inout SeededGenerator) -> Purchase {
        let isClaimed = Int.random(in: 0..<6, using: &chance) == 0
        var claimed = Purchase(
            id: purchase.id, userID: book.userID, app: purchase.app, token: purchase.token,
            createdAt: purchase.createdAt,
            isClaimedByOthers: isClaimed || purchase.isClaimedByOthers,
            claimant: isClaimed ? otherBook.userID : nil, facts: purchase.facts)
        if claimed.isClaimedByOthers { claimed.claimants = [otherBook.userID] }
        if isClaimed { claimed.claimedAt = now - .days(Int.random(in: 0...2, using: &chance)) }
        return claimed
    }

    private static let subscriptions: [ProductID] = [
        "pro_month", "pro_year", "gold_month", "bundle", "plus",
    ]
    private static let oneTimeProducts: [ProductID] = [
        "lifetime", "free_week", "pass30", "coins",
    ]

    private static func any<Element>(
        _ choices: [Element], _ chance: inout SeededGenerator
    ) -> Element {
        choices[Int.random(in: choices.indices, using: &chance)]
    }

    private func answer(about purchase: Purchase, _ chance: inout SeededGenerator) -> Answer {
        switch Int.random(in: 0..<10, using: &chance) {
        case 0, 1:
            .failure(
                Self.any(
                    [
                        .unreachable(reason: "time-out"), .throttled(retryAfter: nil),
                        .throttled(retryAfter: .seconds(90)), .refused(reason: "401"),
                        .malformed(field: "expiryTime"), .signature(reason: "chain"),
                        .mismatch(what: "app"), .rejected(reason: "400"),
                        .unsupported(reason: "no"),
                    ], &chance))
        case 2: .doubt(Self.any([.notFound, .gone, .noLongerValid, .unproven], &chance))
        case 3: observation(of: purchase, &chance).asContested()
        default: .verdict(observation(of: purchase, &chance))
        }
    }

    private func observation(
        of purchase: Purchase, _ chance: inout SeededGenerator
    ) -> Observation {
        let status = status(of: purchase, &chance)
        let mayChange =
            !isOneTime.contains(purchase.id) && Int.random(in: 0..<6, using: &chance) == 0
        let product = mayChange ? Self.any(Self.subscriptions, &chance) : purchase.facts.product
        var observation = Observation(
            environment: Int.random(in: 0..<12, using: &chance) == 0 ? .sandbox : .production,
            kind: shop.product(named: [product])?.kind ?? .autoRenewable, status: status,
            items: [Item(names: [product], expiresAt: nil)])
        observation.statedAt = Self.any([nil, now, now - .days(1), now + .days(9)], &chance)
        observation.purchasedAt =
            isOneTime.contains(purchase.id)
            ? TestCalendar.start : Self.any([TestCalendar.start, now], &chance)
        observation.accountToken = Self.any(
            [nil, nil, nil, "user", "other", "third"] as [UserID?], &chance)
        observation.willRenew = Self.any([nil, true, false], &chance)
        observation.signals = Set(
            Signal.allCases.filter { _ in Int.random(in: 0..<20, using: &chance) == 0 })
        if case .active = status, !isOneTime.contains(purchase.id) {
            let end = now + Self.any([.days(-1), .days(7), .days(30), .days(365)], &chance)
            observation.paidThrough = end
            observation.expiresAt = end
            observation.period = Self.any([nil, "p\(TestCalendar.text(end))"], &chance)
        } else if case .grace = status {
            observation.expiresAt = now + .days(1)
        }
        if Int.random(in: 0..<8, using: &chance) == 0 {
            let other = Self.any(book.purchases.keys.sorted(), &chance)
            // A chain has one direction: the later purchase continues the earlier one.
            if other < purchase.id { observation.predecessorToken = token(of: other) }
        }
        return observation
    }

    private func status(
        of purchase: Purchase, _ chance: inout SeededGenerator
    ) -> SubscriptionStatus {
        let date = Self.any([nil, now, now - .days(2)], &chance)
        let oneTime: [SubscriptionStatus] = [.active, .active, .refunded(at: date)]
        let renewing: [SubscriptionStatus] = [
            .active, .active, .active, .grace(expiryMovedUnpaid: true),
            .grace(expiryMovedUnpaid: false), .hold, .paused(until: date), .pending,
            .ended(.periodEnded, at: date), .ended(.userCancelled, at: date),
            .ended(.paymentFailed, at: date), .refunded(at: date), .removedFromFamily(at: date),
            .replaced(at: date),
        ]
        return Self.any(isOneTime.contains(purchase.id) ? oneTime : renewing, &chance)
    }
}
