import Synchronization

/// The control calls about purchases, and the truth about them.
extension Reception {
    static let defaultApp = "com.example.reader"
    private static let countLimit = 1_000_000

    func addPurchases(_ request: Request) throws(ControlError) -> Reply {
        let body = try ControlReader.read(PurchaseRequest.self, request.body)
        let store = try ControlReader.store(body.store)
        let terms = try terms(body, store)
        let start = try ControlReader.instant(body.start, "start")
        guard
            let environment = Purchase.Environment(rawValue: body.environment ?? "production")
        else { throw ControlError("environment is not production or sandbox") }
        let count = body.count ?? 1
        guard (1...Self.countLimit).contains(count), !body.product.isEmpty else {
            throw ControlError("count is not between 1 and \(Self.countLimit), or no product")
        }
        let machine = SimulatedClock.machineNow
        let result: Result<[Purchase], ControlError> = world.withLock { world in
            let now = world.now(machine)
            if let old = body.replaces {
                guard world.has(old), world.purchase(old).store == store else {
                    return .failure(ControlError("there is no purchase to replace", status: 404))
                }
                return .success([world.replace(old, product: body.product, terms: terms, now)])
            }
            let timeline = Timeline(
                store: store, product: body.product, start: start ?? now, terms: terms)
            return .success(
                (1...count).map { place in
                    let user = body.user.map { count == 1 ? $0 : "\($0)\(place)" }
                    var buyer = Purchase.Buyer(
                        app: body.app ?? Self.defaultApp, environment: environment, user: user,
                        customer: body.customer)
                    buyer.group = body.group ?? buyer.group
                    return world.add(buyer, timeline)
                })
        }
        var json = JSONText(capacity: count * 300)
        json.raw("{\"purchases\":[")
        for (index, purchase) in try result.get().enumerated() {
            if index > 0 { json.raw(",") }
            json.raw("{")
            json.names(of: purchase)
            json.raw("}")
        }
        json.raw("]}")
        return Reply(200, json)
    }

    private func terms(
        _ body: PurchaseRequest, _ store: StoreName
    ) throws(ControlError) -> Terms {
        let period = try ControlReader.period(body.period ?? "P1M", "period") ?? .none
        guard period.months > 0 || period.milliseconds >= 10 * Instant.second else {
            throw ControlError("period is shorter than ten seconds")
        }
        guard let kind = Terms.Kind(rawValue: body.kind ?? "auto_renewable") else {
            let kinds = Terms.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError("kind is none of \(kinds)")
        }
        guard kind != .nonRenewing || store == .apple else {
            throw ControlError("only Apple sells non-renewing subscriptions")
        }
        var terms = Terms(
            store: store, period: period, trial: try ControlReader.period(body.trial, "trial"),
            grace: try ControlReader.period(body.grace, "grace"),
            hold: try ControlReader.period(body.hold, "hold"),
            renewsBefore: try ControlReader.period(body.renewsBefore, "renews_before"),
            isPending: body.pending ?? false)
        terms.kind = kind
        return terms
    }

    private func number(_ text: Substring) throws(ControlError) -> Int {
        guard let number = Int(text), world.withLock({ $0.has(number) }) else {
            throw ControlError("there is no such purchase", status: 404)
        }
        return number
    }

    func describe(_ text: Substring) throws(ControlError) -> Reply {
        let number = try number(text)
        let machine = SimulatedClock.machineNow
        var json = JSONText()
        world.withLock { world in
            let now = world.now(machine)
            json.describe(world.purchase(number), world.life(number, at: now), at: now)
        }
        return Reply(200, json)
    }

    func act(
        _ request: Request, _ text: Substring, _ action: Substring
    ) throws(ControlError) -> Reply {
        let number = try number(text)
        let body = try ControlReader.read(DeedRequest.self, request.body)
        let store = world.withLock { $0.purchase(number).store }
        let deed = try ControlReader.deed(action, body, store)
        let machine = SimulatedClock.machineNow
        var json = JSONText()
        let objection: String? = world.withLock { world in
            let now = world.now(machine)
            if let objection = world.life(number, at: now).objection(to: deed, store: store) {
                return objection
            }
            var replacement: Purchase?
            if deed == .supersede {
                let old = world.purchase(number)
                replacement = world.replace(
                    number, product: body.product ?? "", terms: old.timeline.terms, now)
            } else {
                world.add(deed, to: number, at: now)
            }
            json.describe(
                world.purchase(number), world.life(number, at: now), at: now,
                replacement: replacement)
            return nil
        }
        if let objection { throw ControlError(objection, status: 409) }
        return Reply(200, json)
    }

    func truth(_ request: Request) throws(ControlError) -> Reply {
        let at = try ControlReader.instant(request.query("at"), "at")
        let machine = SimulatedClock.machineNow
        let (purchases, now) = world.withLock { ($0.purchases, $0.now(machine)) }
        let instant = at ?? now
        var json = JSONText(capacity: purchases.count * 300 + 100)
        json.raw("{\"at\":")
        json.time(instant)
        json.raw(",\"purchases\":[")
        for (index, purchase) in purchases.enumerated() {
            if index > 0 { json.raw(",") }
            let life = purchase.timeline.life(at: instant)
            json.raw("{")
            json.names(of: purchase)
            json.raw(",\"state\":")
            json.plain(life.phase.word)
            json.raw(",\"entitled\":")
            json.boolean(instant >= purchase.timeline.start && life.isEntitled)
            json.raw("}")
        }
        json.raw("]}")
        return Reply(200, json)
    }
}

extension World {
    /// Ends a purchase because another takes its place, and makes that other one. Google carries
    /// the paid time over to the new token.
    mutating func replace(
        _ number: Int, product: String, terms: Terms, _ now: Instant
    ) -> Purchase {
        let life = life(number, at: now)
        let old = purchase(number)
        if case .ended = life.phase {} else { add(.supersede, to: number, at: now) }
        let end = old.store == .google && life.isEntitled ? life.latest?.end : nil
        var terms = terms
        terms.trial = nil
        let timeline = Timeline(
            store: old.store, product: product, start: now, terms: terms,
            firstEnd: end.flatMap { $0 > now ? $0 : nil })
        return add(old.buyer, timeline, replaces: old.token)
    }
}

extension Phase {
    /// One word for the control calls.
    var word: String {
        switch self {
        case .pending: "pending"
        case .abandoned: "abandoned"
        case .running: "active"
        case .silent: "silent"
        case .grace: "grace"
        case .hold: "hold"
        case .paused: "paused"
        case .ended(_, .cancelled), .ended(_, .expired): "expired"
        case .ended(_, .paymentFailed): "payment_failed"
        case .ended(_, .refunded): "refunded"
        case .ended(_, .revoked): "revoked"
        case .ended(_, .replaced): "replaced"
        }
    }
}

extension JSONText {
    mutating func numberOrNull(_ value: Int?) {
        guard let value else { return raw("null") }
        number(Int64(value))
    }

    /// The members that say which purchase it is.
    fileprivate mutating func names(of purchase: Purchase) {
        raw("\"id\":")
        number(Int64(purchase.number))
        raw(",\"store\":")
        plain(purchase.store.rawValue)
        raw(",\"app\":")
        string(purchase.app)
        raw(",\"environment\":")
        plain(purchase.environment.rawValue)
        raw(",\"product\":")
        string(purchase.timeline.product)
        raw(",\"token\":")
        plain(purchase.token)
        if purchase.store == .amazon {
            raw(",\"store_user_id\":")
            plain(purchase.storeUser)
        }
        if let user = purchase.user {
            raw(",\"user\":")
            string(user)
        }
    }

    fileprivate mutating func describe(
        _ purchase: Purchase, _ life: Life, at now: Instant, replacement: Purchase? = nil
    ) {
        raw("{")
        names(of: purchase)
        raw(",\"now\":")
        time(now)
        raw(",\"state\":")
        plain(life.phase.word)
        raw(",\"entitled\":")
        boolean(now >= purchase.timeline.start && life.isEntitled)
        raw(",\"auto_renews\":")
        boolean(life.autoRenews)
        raw(",\"payment_works\":")
        boolean(life.paymentWorks)
        raw(",\"charges\":[")
        for charge in life.charges {
            if charge.number > 0 { raw(",") }
            describe(charge)
        }
        raw("],\"acts\":[")
        for (index, act) in purchase.timeline.acts.enumerated() {
            if index > 0 { raw(",") }
            raw("{\"at\":")
            time(act.at)
            raw(",\"deed\":")
            string("\(act.deed)")
            raw("}")
        }
        raw("]")
        if let replacement {
            raw(",\"replacement\":{")
            names(of: replacement)
            raw("}")
        }
        raw("}")
    }

    private mutating func describe(_ charge: Charge) {
        raw("{\"product\":")
        string(charge.product)
        raw(",\"paid_at\":")
        time(charge.paidAt)
        raw(",\"start\":")
        time(charge.start)
        raw(",\"end\":")
        time(charge.end)
        raw(",\"trial\":")
        boolean(charge.isTrial)
        raw(",\"given_back\":")
        boolean(charge.givenBack != nil)
        raw("}")
    }
}
