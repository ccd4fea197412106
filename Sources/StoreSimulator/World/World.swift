/// Everything that changes while the simulator runs. A value behind one lock.
struct World: Sendable {
    /// The app where nothing else is said.
    static let defaultApp = "com.example.reader"

    var clock: SimulatedClock
    var faults: FaultBook
    var calls = CallBook()
    var latencyMilliseconds: Int64 = 0
    /// Google's access tokens.
    private(set) var bearers: [String: Bearer] = [:]
    var pubSub = Topic(subscription: PubSubHandler.subscription)
    var amazonTopic = Topic(subscription: AmazonQueueHandler.path)
    var desk = RefundQuestions()
    var quotas = QuotaBook()
    /// Apple's test notifications by their tokens.
    private(set) var tests: [String: Instant] = [:]
    /// Google's order ids without `..n`, and the purchases up to which they are known.
    private var orders: [String: Int] = [:]
    private var ordersKnown = 0
    private(set) var purchases: [Purchase] = []
    private(set) var apps: Set<String>
    private var ids: Seeded
    private var byToken: [String: Int] = [:]
    private var customers: [String: [Int]] = [:]

    init(clock: SimulatedClock, seed: UInt64, apps: Set<String>) {
        self.clock = clock
        self.apps = apps
        ids = Seeded(seed: seed)
        faults = FaultBook(seed: seed)
    }

    func now(_ machine: Instant) -> Instant { clock.now(machine: machine) }

    mutating func add(
        _ buyer: Purchase.Buyer, _ timeline: Timeline, replaces: String? = nil
    ) -> Purchase {
        let purchase = Purchase(
            number: purchases.count + 1, buyer: buyer, timeline: timeline, replaces: replaces,
            ids: &ids)
        apps.insert(buyer.app)
        purchases.append(purchase)
        if purchase.store != .apple { byToken[purchase.token] = purchase.number }
        if let customer = purchase.customerKey {
            customers[customer, default: []].append(purchase.number)
        }
        return purchase
    }

    /// The numbers of all purchases of a purchase's customer, itself last.
    func purchases(ofCustomerOf number: Int) -> [Int] {
        guard let customer = purchase(number).customerKey else { return [number] }
        return (customers[customer] ?? []).filter { $0 != number } + [number]
    }

    /// Purchases are numbered from 1.
    func has(_ number: Int) -> Bool { number >= 1 && number <= purchases.count }

    func purchase(_ number: Int) -> Purchase { purchases[number - 1] }

    /// The number of the purchase with this Google token or Amazon receipt.
    func find(_ store: StoreName, token: String) -> Int? {
        guard let number = byToken[token], purchase(number).store == store else { return nil }
        return number
    }

    /// The number of the purchase that one of Apple's ids belongs to, and which of its charges.
    func find(transaction: Substring) -> (number: Int, charge: Int)? {
        guard let id = Int64(transaction), let found = AppleNumbers.find(id),
            has(found.number), purchase(found.number).store == .apple,
            purchase(found.number).environment == found.1
        else { return nil }
        return (found.number, found.charge)
    }

    /// The life of a purchase at `instant`, kept for the next call.
    mutating func life(_ number: Int, at instant: Instant) -> Life {
        purchases[number - 1].life(at: instant)
    }

    /// The same, or for another instant than the present one lived from the start.
    mutating func life(_ number: Int, at instant: Instant, isPresent: Bool) -> Life {
        isPresent
            ? life(number, at: instant) : purchase(number).timeline.life(at: instant)
    }

    mutating func add(
        _ deed: Deed, to number: Int, at instant: Instant, why: Why = Why()
    ) {
        purchases[number - 1].add(deed, at: instant, why: why)
    }

    /// Changes what is not part of a purchase's life.
    mutating func change(_ number: Int, _ change: (inout Purchase) -> Void) {
        change(&purchases[number - 1])
    }

    /// The next purchase of the same store and environment, for an answer about another one.
    func neighbour(of number: Int) -> Int {
        let own = purchase(number)
        for step in 1..<max(2, purchases.count) {
            let other = (number - 1 + step) % purchases.count + 1
            let candidate = purchase(other)
            if other != number, candidate.store == own.store,
                candidate.environment == own.environment
            {
                return other
            }
        }
        return number
    }

    /// The purchase and the number of the charge that an order id of Google's belongs to.
    mutating func find(order: String) -> (number: Int, charge: Int)? {
        while ordersKnown < purchases.count {
            let purchase = purchases[ordersKnown]
            if purchase.store == .google { orders[purchase.order] = purchase.number }
            ordersKnown += 1
        }
        guard let dots = order.firstRange(of: "..") else { return orders[order].map { ($0, 0) } }
        guard let count = Int(order[dots.upperBound...]), count >= 0,
            let number = orders[String(order[..<dots.lowerBound])]
        else { return nil }
        return (number, count + 1)
    }

    mutating func askTest(at now: Instant) -> String {
        if tests.count > 10_000 { tests = [:] }
        let token = "\(ids.uuid())_\(now.milliseconds)"
        tests[token] = now
        return token
    }

    /// A token that is good for `scopes`, or for everything.
    mutating func issueBearer(
        until end: Instant,
        scopes: Set<String> = Bearer.pubSubScopes.union([Bearer.publisherScope])
    ) -> String {
        if bearers.count > 10_000 { bearers = [:] }
        let token = ids.bearerToken()
        bearers[token] = Bearer(end: end, scopes: scopes)
        calls.issuedToken()
        return token
    }
}

/// What an access token of Google's is good for, and until when.
struct Bearer: Hashable, Sendable {
    static let publisherScope = "https://www.googleapis.com/auth/androidpublisher"
    static let pubSubScopes: Set<String> = [
        "https://www.googleapis.com/auth/pubsub", "https://www.googleapis.com/auth/cloud-platform",
    ]

    var end: Instant
    var scopes: Set<String>
}

extension [Purchase] {
    /// Whether what this one is an add-on of is in force: with the last base it ends.
    func hasBase(_ purchase: Purchase, at instant: Instant) -> Bool {
        purchase.buyer.bases.isEmpty
            || purchase.buyer.bases.contains { self[$0.number - 1].timeline.entitled(at: instant) }
    }
}

extension Purchase {
    /// What purchases of one Apple customer share; nil for one that stands alone.
    fileprivate var customerKey: String? {
        guard store == .apple, let customer = buyer.customer else { return nil }
        return "\(buyer.app)|\(buyer.environment.rawValue)|\(customer)"
    }
}
