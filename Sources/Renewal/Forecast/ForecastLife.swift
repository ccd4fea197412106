/// A purchase that stands for others like it: lives on as its customer is expected to, and is asked
/// about as the daemon asks, by the same decision and the same schedule.
struct ForecastLife {
    private let terms: ForecastTerms
    private let habits: Habits
    private let start: Timestamp
    private var chance: ForecastChance
    private var standing: ForecastStanding
    private var facts: Facts
    private var schedule: Schedule?
    private let createdAt: Timestamp
    private let kind: ProductKind
    private let app: AppKey
    private var nextCheckAt: Timestamp
    /// When the store's news of the last change arrives.
    private var newsAt: Timestamp?
    /// Changes at the store that no check has shown yet.
    private var unseen: [(change: Forecast.Change, at: Timestamp)] = []

    private static let token = StoreToken("forecast")
    private static let user = UserID("forecast")
    private static let product = ProductID("forecast")
    /// Checks of one life: a rhythm that never rests is no rhythm.
    private static let checkLimit = 5000

    /// - Parameters:
    ///   - group: what it is one of.
    ///   - index: which of them, so that no two are the same.
    ///   - start: now.
    ///   - terms: how the store is asked.
    ///   - habits: what customers do.
    init(
        _ group: FleetOutline.Group, index: UInt64, from start: Timestamp, _ terms: ForecastTerms,
        _ habits: Habits
    ) {
        var chance = ForecastChance(index)
        let end = group.end.map { start + chance.within($0) }
        let due = group.due.map { start + max(chance.within($0), .zero) }
        self.terms = terms
        self.habits = habits
        self.start = start
        kind = group.kind
        app = AppKey(store: terms.store, id: "forecast")
        createdAt = start - group.age
        nextCheckAt = due ?? .never
        if let after = group.dueAfterEnd, let end { nextCheckAt = max(end + after, start) }
        // As the schedule has it: what is in force is asked about when its period is over.
        if group.state == .active, let end, end > start {
            nextCheckAt = min(nextCheckAt, end + .seconds(5 + 25 * chance.next()))
        }
        // What was never asked about stands as if it had just been bought.
        let first = group.state == .new ? due ?? start : start
        standing = ForecastStanding(
            of: group, of: terms.store, end: end, now: first, habits, &chance)
        standing.fate = ForecastChance.spread(index)
        facts = Facts(group, standing, product: Self.product, at: start)
        self.chance = chance
    }

    /// Whether a payment is due that may fail.
    var mayFail: Bool {
        standing.status == .active && standing.renews && !standing.isCutShort
            && standing.until != nil
    }

    /// Whether its next payment fails.
    var fails: Bool {
        get { standing.fails }
        set {
            standing.fails = newValue
            standing.until = standing.closes(terms.store, &chance)
        }
    }

    /// Lives until then, and tells of each check and of each change that a check has shown.
    mutating func live(
        until horizon: Timestamp, _ tell: (ForecastCheck) -> Void
    ) {
        for _ in 0..<Self.checkLimit {
            let arrival = newsArrival
            let isWoken = arrival.map { $0 < nextCheckAt } ?? false
            let due = isWoken ? arrival ?? nextCheckAt : nextCheckAt
            guard due < horizon else { return }
            // Nobody looks before the next turn of the poll, but where news wakes them.
            let now = isWoken ? due : due + terms.poll * chance.next()
            if isWoken { newsAt = nil }
            advance(to: now)
            let part = Forecast.Part(of: facts, in: terms.store, at: now)
            var check = ForecastCheck(at: now, isWoken ? .news : part)
            check.weightUntilThen = sweepWeight(at: now)
            ask(at: now)
            check.seen = seen(at: now)
            if facts.access == .granted {
                check.openUntil = nextCheckAt
                check.weight = sweepWeight(at: now)
            }
            tell(check)
        }
    }

    private func sweepWeight(at now: Timestamp) -> SweepWeight? {
        guard facts.doubt == nil else { return nil }
        return SweepWeight(
            of: facts.state, givesAccess: true, kind: kind, renews: facts.autoRenew ?? true,
            isFree: false, age: now - createdAt,
            over: now - (facts.expiresAt ?? facts.paidThrough ?? now), news: terms.news)
    }

    /// When the next news comes: of a change that has been, or of the one to come.
    private var newsArrival: Timestamp? {
        guard let interval = terms.newsOfAll else { return nil }
        if let newsAt { return newsAt }
        return standing.until.map { $0 + interval / 2 + ForecastTerms.newsDelay }
    }

    private mutating func advance(to now: Timestamp) {
        while let until = standing.until, until <= now {
            standing = standing.next(of: terms.store, at: until, habits, &chance)
            if let change = standing.beginsWith {
                unseen.append((change, max(standing.begunAt ?? until, until)))
            }
            guard let interval = terms.newsOfAll, standing.isNews else { continue }
            let arrival = until + interval * chance.next() + ForecastTerms.newsDelay
            if arrival > now { newsAt = max(newsAt ?? arrival, arrival) }
        }
    }

    private mutating func ask(at now: Timestamp) {
        let claim = Claim(
            purchase: Purchase(
                id: 1, userID: Self.user, app: app, token: Self.token, createdAt: createdAt,
                facts: facts),
            shard: 0, lane: 1, dueAt: nextCheckAt, version: 1, attempts: schedule?.attempts ?? 1,
            crashes: 0, checkedAt: nil, claimedAt: now)
        let outcome = decide(
            claim, hearing: answer(at: now), at: Moment(now: now, jitter: chance.next()),
            under: terms.rules)
        facts = outcome.facts
        schedule = outcome.schedule
        nextCheckAt = outcome.schedule.nextCheckAt
    }

    private func answer(at now: Timestamp) -> Answer {
        if facts.state == .invalid { return .doubt(.notFound) }
        if let end = standing.end, let life = terms.store.traits.tokenLife, end + life < now {
            return .doubt(.gone)
        }
        var observation = Observation(
            environment: .production, kind: kind, status: standing.status,
            items: [Item(names: [Self.product], expiresAt: standing.end)],
            orderID: OrderID("\(standing.period)"), period: OrderID("\(standing.period)"),
            paidThrough: standing.paidThrough, expiresAt: standing.end)
        if kind == .autoRenewable { observation.willRenew = standing.renews }
        return .verdict(observation)
    }

    /// The changes that this check has shown, with how long they were there.
    private mutating func seen(at now: Timestamp) -> [(Forecast.Change, Duration)] {
        // With a policy of leniency an end is told when that is over.
        let isShown = { (change: Forecast.Change, access: Access) in
            change != .expiry || access == .none
        }
        let shown = unseen.filter { isShown($0.change, facts.access) }
        unseen.removeAll { isShown($0.change, facts.access) }
        return shown.map { ($0.change, max(now - $0.at, .zero)) }
    }
}

/// A check of a forecast.
struct ForecastCheck {
    let at: Timestamp
    let part: Forecast.Part
    var seen: [(change: Forecast.Change, lag: Duration)] = []
    /// When the next one is, where the purchase gives access: a refund in between is not known
    /// before.
    var openUntil: Timestamp?
    /// How seldom the sweep asks about it meanwhile; nil where it does not.
    var weight: SweepWeight?
    /// The same until this check.
    var weightUntilThen: SweepWeight?

    init(at: Timestamp, _ part: Forecast.Part) {
        self.at = at
        self.part = part
    }
}

extension Facts {
    /// As they are of a purchase that stands so.
    fileprivate init(
        _ group: FleetOutline.Group, _ standing: ForecastStanding, product: ProductID,
        at now: Timestamp
    ) {
        let isInForce = group.state == .active || group.state == .grace
        let isKnown = group.state != .new && group.state != .pending
        self.init(
            storedProduct: product, state: group.state, access: isInForce ? .granted : .none,
            lossReason: isInForce || !isKnown ? nil : .expired,
            holdings: isInForce
                ? [
                    Holding(
                        entitlement: product.entitlement, product: product,
                        expiresAt: standing.end)
                ] : [])
        guard isKnown else { return }
        environment = .production
        kind = group.kind
        paidThrough = standing.paidThrough
        expiresAt = standing.end
        autoRenew = standing.renews
        orderID = OrderID("\(standing.period)")
        period = orderID
        if group.state == .superseded {
            doubt = PendingDoubt(doubt: .replaced, since: now - group.age)
        }
        if group.isDoubted { doubt = PendingDoubt(doubt: .notFound, since: now - .hours(3)) }
    }
}

extension Forecast.Part {
    /// What a check of a purchase is for that no news has asked for.
    ///
    /// - Parameters:
    ///   - facts: what was known before.
    ///   - store: which store it is of.
    ///   - now: the time of the check.
    package init(of facts: Facts, in store: Store, at now: Timestamp) {
        if facts.doubt != nil, facts.state != .superseded {
            self = .secondOpinion
            return
        }
        switch facts.state {
        case .new: self = .firstSight
        case .pending, .grace, .hold: self = .paymentTrouble
        case .paused: self = .pause
        case .expired, .refunded, .revoked, .superseded, .invalid: self = .ended
        case .active:
            let end = facts.expiresAt ?? facts.paidThrough
            let lead: Duration = store.traits.renewsEarly ? .hours(1) : .zero
            self = end.map { $0 - lead <= now } ?? false ? .expiry : .sweep
        }
    }
}
