import Renewal

// What an older copy of Google's data may say: that is in force again what was given back, or
// that is over what has been renewed or extended since. The order tells. For a day after the last
// verdict nothing is believed against it, for a month where it is soon to be given back: for ever
// would lock out who paid, or leave access to who did not, where the account may not read orders.
extension GoogleStore {
    /// Keeps the parts that read as cut short, where their orders read as paid or are not shown,
    /// and asks again soon.
    ///
    /// - Throws: `.mismatch` where the main product is cut short so; and where an order still reads
    ///   as given back, or is not shown, of what is in force again.
    func requireCurrent(
        _ observation: inout Observation, of purchase: Purchase,
        with orders: inout GoogleItemOrders, at now: Timestamp
    ) async throws(StoreFailure) {
        try await keepDoubtfulParts(in: &observation, of: purchase, with: &orders, at: now)
        guard observation.isInForce else { return }
        let facts = purchase.facts
        let isOfToday = purchase.isChecked(within: .days(1), of: now)
        let older = StoreFailure.mismatch(what: "time, before it was refunded")
        // A consumable has no access to give back, unless it was sold together with others.
        let gives = facts.kind != .consumable || observation.items.count > 1
        // It shows what was given back, and no more of the rest than is known: that is over.
        let isAsKnown =
            observation.lostParts.contains(.refunded) && observation.period == facts.period
        if facts.state == .refunded, facts.voidedOrder == nil, gives, !isAsKnown,
            observation.isOfKnownOrder(of: facts)
        {
            switch try await standing(of: facts.orderID, of: purchase, at: now) {
            case .paid: break
            case .givenBack: throw older
            case .beingGivenBack: if purchase.isChecked(within: .days(30), of: now) { throw older }
            case .givenBackInPart, .unknown: if isOfToday { throw older }
            }
        }
        // What was refunded as goodwill goes on, and may give nothing that others do not give.
        guard isOfToday else { return }
        let doubted = orders.joining.intersection(purchase.knownRefunds)
            .union(orders.returning.map { [$0] } ?? [])
        for id in doubted.sorted()
        where try await standing(of: id, of: purchase, at: now) != .paid {
            throw older
        }
    }

    private func keepDoubtfulParts(
        in observation: inout Observation, of purchase: Purchase,
        with orders: inout GoogleItemOrders, at now: Timestamp
    ) async throws(StoreFailure) {
        guard let checkedAt = purchase.checkedAt, purchase.isChecked(within: .days(1), of: now)
        else { return }
        let heard = purchase.clues.refundedOrders
        for cut in orders.cutShort where !heard.contains(cut.order) {
            // Google was late to tell, or has told before.
            if let end = cut.longOver, end >= checkedAt - .days(1) { continue }
            switch try await standing(of: cut.order, of: purchase, at: now) {
            case .givenBack, .givenBackInPart, .beingGivenBack: continue
            case .paid, .unknown: break
            }
            guard let part = cut.part else {
                throw .mismatch(what: "time, before its end moved on")
            }
            guard part.expiresAt.map({ $0 > now }) ?? true else { continue }
            observation.items.append(part)
            for product in part.names { observation.lostParts[product] = nil }
            orders.takenBack.remove(cut.order)
            observation.askAgainBy = min(observation.askAgainBy ?? .never, now + .minutes(15))
        }
    }

    private enum Standing {
        case paid, givenBack, givenBackInPart, unknown
        /// Soon, or it never was charged.
        case beingGivenBack
    }

    private func standing(
        of id: OrderID?, of purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) -> Standing {
        guard let id else { return .unknown }
        await client.transport.beforeExtraCall()
        let order: GoogleOrder?
        do throws(StoreFailure) {
            order = try await self.order(id, at: now)
        } catch {
            if case .throttled = error { throw error }
            return .unknown
        }
        guard let order, order.token == purchase.token else { return .unknown }
        return switch order.state {
        case "PROCESSED": .paid
        case "REFUNDED": .givenBack
        case "PARTIALLY_REFUNDED": .givenBackInPart
        case "PENDING_REFUND", "CANCELED": .beingGivenBack
        default: .unknown
        }
    }
}

extension Purchase {
    fileprivate func isChecked(within age: Duration, of now: Timestamp) -> Bool {
        checkedAt.map { now - $0 < age } ?? false
    }
}

extension Observation {
    /// Whether it is about the order that is known. What is sold once has but one, or none; of a
    /// subscription an answer that names none is so while it shows nothing later to be paid.
    fileprivate func isOfKnownOrder(of facts: Facts) -> Bool {
        guard orderID == nil, kind == .autoRenewable else {
            return orderID == nil || orderID == facts.orderID
        }
        guard facts.orderID != nil, let known = facts.paidThrough else { return false }
        return paidThrough.map { $0 <= known + .minutes(1) } ?? true
    }
}
