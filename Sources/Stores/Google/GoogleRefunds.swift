import Renewal

extension GoogleStore {
    /// Adds to the observation of a subscription that periods of it have been refunded, where that
    /// was heard and Google's order management says so too: orders of this very token. One call,
    /// and only after such news. What Google does not show yet, or without a usable answer, is
    /// looked into again at the next check; the decision says how often.
    ///
    /// <https://developers.google.com/android-publisher/api-ref/rest/v3/orders/batchget>
    func noteRefunds(
        of purchase: Purchase, in observation: inout Observation, at now: Timestamp
    ) async {
        guard observation.kind == .autoRenewable else { return }
        observation.settleShownClues(of: purchase)
        let told = observation.settledClues.refundedOrders
        var past = purchase.clues.refundedOrders.subtracting(told)
        // The answer itself tells of the current order while it runs.
        if let current = observation.orderID, observation.isInForce { past.remove(current) }
        if !past.isEmpty {
            await client.transport.beforeExtraCall()
            for order in await orders(past.sorted(), at: now)
            where past.contains(order.id) && order.isRefunded {
                observation.settledClues.insert(.refund(of: order.id))
                guard order.token == purchase.token else { continue }
                observation.pastRefunds.insert(order.id)
                observation.signals.insert(.pastPeriodRefunded)
            }
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
    fileprivate mutating func settleShownClues(of purchase: Purchase) {
        let facts = purchase.facts
        switch status {
        case .active, .grace: return
        case .refunded:
            if let current = orderID ?? facts.orderID,
                facts.state != .refunded || purchase.clues.contains(.refund(of: current))
            {
                settledClues.insert(.refund(of: current))
            }
        case .pending, .hold, .paused, .ended, .removedFromFamily, .replaced: break
        }
        settledClues.formUnion(
            purchase.clues.filter { clue in
                if case .revoked = clue { true } else { false }
            })
    }
}

extension GoogleOrder {
    fileprivate var isRefunded: Bool {
        ["REFUNDED", "CANCELED", "PARTIALLY_REFUNDED"].contains(state)
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
}
