import Renewal

extension GoogleStore {
    /// Adds to the observation of a running subscription that earlier periods of it have been
    /// refunded, where that was heard and Google's order management says so too: orders of this
    /// very token. One call, and only after such news; what Google does not show yet, or without a
    /// usable answer, is looked into again at the next check.
    ///
    /// <https://developers.google.com/android-publisher/api-ref/rest/v3/orders/batchget>
    func noteRefunds(
        of purchase: Purchase, in observation: inout Observation, at now: Timestamp
    ) async {
        var past = purchase.clues.refundedOrders
        if let current = observation.orderID, past.remove(current) != nil,
            case .refunded = observation.standing
        {
            observation.settledClues.insert(.refund(of: current))
        }
        guard !past.isEmpty, observation.kind == .autoRenewable, observation.isInForce else {
            return
        }
        await client.transport.beforeExtraCall()
        do throws(StoreFailure) {
            for order in try await orders(past.sorted(), at: now)
            where past.contains(order.id) && order.isRefunded {
                observation.settledClues.insert(.refund(of: order.id))
                guard order.token == purchase.token else { continue }
                observation.pastRefunds.insert(order.id)
                observation.signals.insert(.pastPeriodRefunded)
            }
        } catch {
            // The verdict stands without it.
        }
    }

    /// One unknown id fails the whole call.
    private func orders(
        _ ids: [OrderID], at now: Timestamp
    ) async throws(StoreFailure) -> [GoogleOrder] {
        let body = try await client.get(
            paths.orders(ids), calling: "orders.batchGet", at: now
        ).wholeAppBody()
        var orders: [GoogleOrder] = []
        for order in try JSON.decode(GoogleOrdersWire.self, from: body).orders ?? [] {
            orders.append(try order.order(at: now))
        }
        return orders
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
}

extension Observation {
    var isInForce: Bool {
        switch standing {
        case .active, .grace: true
        case .pending, .hold, .paused, .ended, .refunded, .removedFromFamily, .replaced: false
        }
    }
}
