/// What a control call to buy something says, read and checked.
struct PurchaseOrder {
    var store: StoreName
    var body: PurchaseRequest
    var terms: Terms
    var start: Instant?
    var buyer: Purchase.Buyer
}

/// What a control call does to a purchase: to its life, or by making another one.
enum ControlAct: Hashable {
    case deed(Deed)
    case topUp
    case resubscribe
}

extension ControlReader {
    static func terms(
        _ body: PurchaseRequest, _ store: StoreName
    ) throws(ControlError) -> Terms {
        let period = try period(body.period ?? "P1M", "period") ?? .none
        guard period.months > 0 || period.milliseconds >= 10 * Instant.second else {
            throw ControlError("period is shorter than ten seconds")
        }
        var terms = Terms(
            store: store, period: period, trial: try self.period(body.trial, "trial"),
            grace: try self.period(body.grace, "grace"), hold: try self.period(body.hold, "hold"),
            renewsBefore: try self.period(body.renewsBefore, "renews_before"),
            isPending: body.pending ?? false)
        terms.kind = try word(body.kind ?? "auto_renewable", "kind")
        terms.quantity = body.quantity ?? 1
        guard (1...10).contains(terms.quantity), terms.quantity == 1 || terms.kind == .consumable
        else { throw ControlError("quantity is not between 1 and 10, or not of a consumable") }
        if let offer = body.offer { terms.offer = try self.offer(offer, period) }
        terms.addOns = body.addOns ?? []
        terms.plan = try plan(body, store)
        guard store == .google || terms.addOns.isEmpty else {
            throw ControlError("only Google has add-ons")
        }
        try readApples(body, store, &terms)
        terms.acknowledgeWithin = try acknowledgeWithin(body, terms, store)
        terms.sale = try sale(body)
        return terms
    }

    private static func sale(_ body: PurchaseRequest) throws(ControlError) -> Sale {
        var sale = Sale()
        sale.country = body.country
        sale.currency = body.currency ?? sale.currency
        if let text = body.price {
            guard let price = Double(text), (0...1_000_000_000).contains(price) else {
                throw ControlError("price is not a number such as 6.99")
            }
            sale.priceMicros = Int64((price * 1_000_000).rounded())
        }
        sale.basePlan = body.basePlan
        sale.offerTags = body.offerTags ?? []
        sale.profile = body.profile
        sale.linkedAccount = body.linkedAccount
        return sale
    }

    private static func offer(
        _ body: OfferRequest, _ ordinary: Period
    ) throws(ControlError) -> Offer {
        var offer = Offer(period: try period(body.period, "offer.period") ?? ordinary)
        offer.kind = try word(body.kind ?? "introductory", "offer.kind")
        offer.discount = try word(body.discount ?? "free_trial", "offer.discount")
        offer.cycles = body.cycles ?? 1
        offer.id = body.id
        guard (1...100).contains(offer.cycles) else {
            throw ControlError("offer.cycles is not between 1 and 100")
        }
        return offer
    }

    /// What only Apple sells.
    private static func readApples(
        _ body: PurchaseRequest, _ store: StoreName, _ terms: inout Terms
    ) throws(ControlError) {
        guard body.seats != nil || body.skus != nil || body.type != nil else { return }
        guard store == .apple, terms.kind == .autoRenewable else {
            throw ControlError("only a subscription of Apple's has seats, skus or a type")
        }
        if let seats = body.seats {
            guard (1...1000).contains(seats) else {
                throw ControlError("seats is not between 1 and 1000")
            }
            (terms.seats, terms.isMultiSeat) = (seats, true)
        }
        (terms.skus, terms.typeName) = (body.skus ?? [], body.type)
    }

    private static func plan(
        _ body: PurchaseRequest, _ store: StoreName
    ) throws(ControlError) -> Terms.Plan {
        switch (body.plan, store) {
        case (nil, _), ("renewing", _): return .renewing
        case ("prepaid", .google): return .prepaid
        case ("commitment", .apple):
            let payments = body.payments ?? 12
            guard (2...100).contains(payments) else {
                throw ControlError("payments is not between 2 and 100")
            }
            return .installments(payments)
        case ("installments", .google):
            guard let payments = body.payments, (2...100).contains(payments) else {
                throw ControlError("payments is not between 2 and 100")
            }
            return .installments(payments)
        default:
            throw ControlError(
                "plan is not renewing; at Google prepaid or installments; at Apple commitment")
        }
    }

    /// Three days; half a prepaid time that is shorter than a week. Amazon waits two weeks.
    private static func acknowledgeWithin(
        _ body: PurchaseRequest, _ terms: Terms, _ store: StoreName
    ) throws(ControlError) -> Period? {
        if store == .amazon, body.acknowledged == false {
            return try period(body.acknowledgeWithin, "acknowledge_within") ?? .days(14)
        }
        // What was bought in Play itself, the app has had no chance to acknowledge.
        guard store == .google,
            body.acknowledged == false
                || body.acknowledged == nil
                    && body.resubscribes != nil
        else { return nil }
        if let within = try period(body.acknowledgeWithin, "acknowledge_within") { return within }
        let isShort = terms.period.months == 0 && terms.period.milliseconds < 7 * Instant.day
        return terms.plan == .prepaid && isShort
            ? Period(milliseconds: terms.period.milliseconds / 2) : .days(3)
    }

    static func buyer(
        _ body: PurchaseRequest, app: String
    ) throws(ControlError) -> Purchase.Buyer {
        guard
            let environment = Purchase.Environment(rawValue: body.environment ?? "production")
        else { throw ControlError("environment is not production or sandbox") }
        var buyer = Purchase.Buyer(
            app: body.app ?? app, environment: environment, user: body.user,
            customer: body.customer)
        buyer.group = body.group ?? buyer.group
        buyer.isBeta = body.beta ?? false
        switch body.ownership {
        case nil, "purchased": break
        case "family_shared": buyer.isFamilyShared = true
        case "assigned": buyer.isAssigned = true
        default: throw ControlError("ownership is not purchased, family_shared or assigned")
        }
        return buyer
    }

    /// One of the words of an enumeration.
    private static func word<Word: RawRepresentable & CaseIterable>(
        _ text: String, _ name: String
    ) throws(ControlError) -> Word where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError("\(name) is none of \(words)")
        }
        return word
    }

    static func act(
        _ action: Substring, _ request: DeedRequest, _ store: StoreName
    ) throws(ControlError) -> ControlAct {
        switch action {
        case "top_up": .topUp
        case "resubscribe": .resubscribe
        default: .deed(try deed(action, request, store))
        }
    }
}

extension World {
    /// How a purchase takes another one's place.
    enum Replacement {
        case atOnce
        /// At the next renewal; until then the new purchase is of the old product.
        case deferred
        /// The same product, for a longer time.
        case topUp
    }

    mutating func fulfil(
        _ order: PurchaseOrder, count: Int, now: Instant
    ) -> Result<[Purchase], ControlError> {
        let body = order.body
        if let old = body.replaces ?? body.resubscribes {
            guard has(old), purchase(old).store == order.store else {
                return .failure(ControlError("there is no purchase to replace", status: 404))
            }
            if body.resubscribes != nil {
                return .success([resubscribe(old, now, terms: order.terms, body.product)])
            }
            let manner = body.when == "renewal" ? Replacement.deferred : .atOnce
            return .success([replace(old, product: body.product, terms: order.terms, now, manner)])
        }
        let timeline = Timeline(
            store: order.store, product: body.product, start: order.start ?? now,
            terms: order.terms)
        let bases = body.bases ?? []
        guard
            bases.allSatisfy({
                order.store == .amazon && has($0) && purchase($0).store == .amazon
            })
        else {
            return .failure(ControlError("there is no such base at Amazon", status: 404))
        }
        var bought = order.buyer
        bought.bases = bases.map { .init(number: $0, receipt: purchase($0).token) }
        bought.storeUser = bases.first.map { purchase($0).storeUser }
        return .success(
            (1...count).map { place in
                var buyer = bought
                if count > 1, let user = buyer.user { buyer.user = "\(user)\(place)" }
                return add(buyer, timeline)
            })
    }

    /// Ends a purchase because another takes its place, and makes that other one. Google carries
    /// the paid time over to the new token. While the new one is not paid the old one stays.
    mutating func replace(
        _ number: Int, product: String, terms: Terms, _ now: Instant,
        _ manner: Replacement = .atOnce
    ) -> Purchase {
        let life = life(number, at: now)
        let old = purchase(number)
        let oldProduct = life.latest?.product ?? old.timeline.product
        if case .ended = life.phase {
        } else if !terms.isPending {
            add(.supersede, to: number, at: now)
        }
        var end = old.store == .google && life.isEntitled ? life.latest?.end : nil
        if manner == .topUp { end = end?.adding(terms.period) }
        var terms = terms
        (terms.trial, terms.offer) = (nil, nil)
        var timeline = Timeline(
            store: old.store, product: manner == .deferred ? oldProduct : product, start: now,
            terms: terms, firstEnd: end.flatMap { $0 > now ? $0 : nil })
        if manner == .deferred { timeline.nextProduct = product }
        let new = add(old.buyer, timeline, replaces: old.token)
        change(new.number) { $0.replacedProduct = manner == .topUp ? nil : oldProduct }
        return purchase(new.number)
    }

    /// Google: bought again in Play after the end. The new token does not link to the old one.
    mutating func resubscribe(
        _ number: Int, _ now: Instant, terms: Terms? = nil, _ product: String? = nil
    ) -> Purchase {
        let old = purchase(number)
        var fresh = terms ?? old.timeline.terms
        if terms == nil {
            (fresh.trial, fresh.offer, fresh.acknowledgeWithin) = (nil, nil, .days(3))
        }
        let timeline = Timeline(
            store: old.store, product: product ?? old.timeline.product, start: now, terms: fresh)
        var buyer = old.buyer
        buyer.user = nil
        let new = add(buyer, timeline)
        change(new.number) { $0.resubscribes = old.token }
        return purchase(new.number)
    }

    /// Does a deed, and what follows from it for the purchase that this one replaces.
    mutating func perform(
        _ deed: Deed, on number: Int, at now: Instant, why: Why = Why()
    ) {
        add(deed, to: number, at: now, why: why)
        guard deed == .complete, let token = purchase(number).replaces,
            let old = find(purchase(number).store, token: token)
        else { return }
        if case .ended = life(old, at: now).phase { return }
        add(.supersede, to: old, at: now)
    }
}
