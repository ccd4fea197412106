import Renewal
import Synchronization

/// Orders that Google has taken back, heard from the voided purchases and not looked into yet. Of a
/// running subscription no answer tells that an earlier period was refunded.
///
/// Kept in the memory of the process: after a restart such a refund goes untold, which ends no
/// access either way.
final class GoogleVoidedOrders: Sendable {
    private let orders = Mutex<[String: Set<String>]>([:])
    /// Purchases at most.
    private static let limit = 10_000

    func note(_ order: String, ofToken token: String) {
        orders.withLock { orders in
            guard orders[token] != nil || orders.count < Self.limit else { return }
            orders[token, default: []].insert(order)
        }
    }

    func heard(ofToken token: String) -> Set<String> {
        orders.withLock { $0[token] ?? [] }
    }

    func forget(token: String) {
        orders.withLock { _ = $0.removeValue(forKey: token) }
    }
}

extension GoogleStore {
    /// Adds to the observation of a running subscription that one of its earlier periods has been
    /// refunded, where that was heard and Google's order management says so too: an order of this
    /// very token. One call, and only after such news; without a usable answer it is looked into
    /// again at the next check.
    ///
    /// <https://developers.google.com/android-publisher/api-ref/rest/v3/orders/batchget>
    func noteRefunds(
        of purchase: Purchase, in observation: inout Observation, at now: Timestamp
    ) async {
        let past = voidedOrders.heard(ofToken: purchase.token)
            .filter { $0 != observation.orderID }
        guard !past.isEmpty, observation.kind == .autoRenewable, observation.isInForce else {
            return
        }
        await client.transport.beforeExtraCall()
        do throws(StoreFailure) {
            let orders = try await orders(past.sorted(), at: now)
            voidedOrders.forget(token: purchase.token)
            let isRefunded = orders.contains { order in
                order.token == purchase.token
                    && ["REFUNDED", "CANCELED", "PARTIALLY_REFUNDED"].contains(order.state)
            }
            if isRefunded { observation.signals.insert(.pastPeriodRefunded) }
        } catch {
            // The verdict stands without it.
        }
    }

    /// One unknown id fails the whole call.
    private func orders(
        _ ids: [String], at now: Timestamp
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

/// The answer of `orders.batchGet`.
private struct GoogleOrdersWire: Decodable {
    let orders: [GoogleOrderWire]?
}

extension Observation {
    fileprivate var isInForce: Bool {
        switch standing {
        case .active, .grace: true
        case .pending, .hold, .paused, .ended, .refunded, .removedFromFamily, .replaced: false
        }
    }
}
