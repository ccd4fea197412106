import Renewal

extension GoogleStore {
    /// Adds to an observation that periods of it, or a part of what is in force, have been
    /// refunded, where that was heard and Google's order management says so too: orders of this
    /// very token. One call, and only after such news. What Google does not show yet, or without a
    /// usable answer, is looked into again at the next check; the decision says how often.
    ///
    /// <https://developers.google.com/android-publisher/api-ref/rest/v3/orders/batchget>
    func noteRefunds(
        of purchase: Purchase, with itemOrders: GoogleItemOrders,
        in observation: inout Observation, at now: Timestamp
    ) async {
        let renews = observation.kind == .autoRenewable
        if renews { observation.settleShownClues(of: purchase, with: itemOrders) }
        // Of what is sold once there is one order, and its own answer says that all of it is gone.
        guard renews || observation.isInForce else { return }
        let told = observation.settledClues.refundedOrders
        let doubted = renews ? nil : purchase.facts.voidedOrder
        let sought = purchase.clues.refundedOrders.union(doubted.map { [$0] } ?? [])
            .subtracting(told)
        guard !sought.isEmpty else { return }
        let current = observation.isInForce ? observation.orderID ?? purchase.facts.orderID : nil
        let running = itemOrders.running.union(current.map { [$0] } ?? [])
        await client.transport.beforeExtraCall()
        for order in await orders(sought.sorted(), at: now) where sought.contains(order.id) {
            let clue = Clue.refund(of: order.id)
            // The only one that what is sold once can have.
            if !renews, purchase.facts.orderID == nil, order.token == purchase.token {
                observation.orderID = observation.orderID ?? order.id
            }
            guard order.isRefunded, purchase.clues.contains(clue) else {
                // The list of voids stands alone against the product and its order.
                let isVoided = order.id == doubted || purchase.hasHeard(of: clue, longBefore: now)
                if !renews, isVoided, order.isPaid, order.token == purchase.token {
                    observation.settledClues.insert(clue)
                }
                continue
            }
            if order.part != nil, order.isPart(before: purchase.cluesHeardAt[clue]) { continue }
            let isOwn = order.token == purchase.token
            let isPast = renews && !running.contains(order.id)
            // That all of a current order is gone, the answer itself tells.
            guard isPast || (isOwn && order.part != nil) else { continue }
            observation.settledClues.insert(clue)
            if isOwn, isPast, observation.takesBack, itemOrders.tell(of: order) { continue }
            if isOwn { observation.refundedParts[order.id] = order.part }
            if isOwn, !isPast, order.id != current { observation.isRefundedInPart = true }
            guard isOwn, isPast else { continue }
            observation.pastRefunds.insert(order.id)
            observation.signals.insert(.pastPeriodRefunded)
        }
    }

    /// Those that there was a usable answer about. One unknown id fails the whole call: they are
    /// asked about one by one then.
    private func orders(_ ids: [OrderID], at now: Timestamp) async -> [GoogleOrder] {
        do throws(StoreFailure) {
            let reply = try await client.get(paths.orders(ids), calling: "orders.batchGet", at: now)
            guard case .failed(.rejected) = reply, ids.count > 1 else {
                return try JSON.decode(GoogleOrdersWire.self, from: try reply.wholeAppBody())
                    .orders(at: now)
            }
            var orders: [GoogleOrder] = []
            for id in ids.prefix(Self.singleLimit) {
                await client.transport.beforeExtraCall()
                if let order = try? await order(id, at: now) { orders.append(order) }
            }
            return orders
        } catch {
            // The verdict stands without it.
            return []
        }
    }

    private static let singleLimit = 10
}

extension Observation {
    /// What the answer shows by itself, and what it tells by ending access, needs no further look
    /// and is no news when it is heard of later.
    fileprivate mutating func settleShownClues(
        of purchase: Purchase, with itemOrders: GoogleItemOrders
    ) {
        let facts = purchase.facts
        if takesBack, facts.state != .refunded {
            settledClues.formUnion(itemOrders.takenBack.map(Clue.refund))
        }
        switch status {
        case .active, .grace: guard takesBack else { return }
        case .refunded:
            if let current = orderID ?? facts.orderID,
                facts.state != .refunded || purchase.clues.contains(.refund(of: current))
            {
                settledClues.insert(.refund(of: current))
            }
        case .pending, .hold, .paused, .ended, .removedFromFamily, .replaced: break
        }
        settledClues.formUnion(purchase.clues.filter(\.isRevocation))
    }
}

extension Purchase {
    /// Whether the decision is about to believe the list of voids.
    fileprivate func hasHeard(of clue: Clue, longBefore now: Timestamp) -> Bool {
        guard let heardAt = cluesHeardAt[clue] else { return false }
        // It is looked for hourly: at one of the last looks.
        return now - heardAt >= Clue.disagreementLimit - .hours(3)
    }
}

extension Facts {
    /// The order of a product that was taken back by the list of voids alone.
    var voidedOrder: OrderID? {
        state == .refunded && doubt?.doubt == .voided ? orderID : nil
    }
}

extension GoogleOrder {
    fileprivate var isPaid: Bool { state == "PROCESSED" }

    fileprivate var isRefunded: Bool {
        part != nil || ["REFUNDED", "CANCELED"].contains(state)
            || (state == "PARTIALLY_REFUNDED" && refundedAt != nil)
    }

    /// Whether only what was given back long before the news is shown: the news is about the rest.
    fileprivate func isPart(before heardAt: Timestamp?) -> Bool {
        guard let heardAt, let partAt else { return false }
        return partAt < heardAt - .days(1)
    }
}

/// The answer of `orders.batchGet`.
private struct GoogleOrdersWire: Decodable {
    let orders: [GoogleOrderWire]?

    func orders(at now: Timestamp) throws(StoreFailure) -> [GoogleOrder] {
        var read: [GoogleOrder] = []
        for order in orders ?? [] { read.append(try order.order(at: now)) }
        return read
    }
}

extension Observation {
    var isInForce: Bool {
        switch status {
        case .active, .grace: true
        case .pending, .hold, .paused, .ended, .refunded, .removedFromFamily, .replaced: false
        }
    }

    /// Whether what is not in force any more was given back, by itself or with all the rest. On
    /// hold and in a pause ends are others, and nothing is lost for good.
    fileprivate var takesBack: Bool {
        if case .refunded = status { return true }
        return isInForce && lostParts.contains(.refunded)
    }

    /// Whether it says no more than that what was known to be paid is over.
    func endsAtItsKnownEnd(of facts: Facts) -> Bool {
        guard case .ended = status, let known = facts.paidThrough, let end = expiresAt else {
            return false
        }
        return end >= known - .minutes(1)
    }
}
