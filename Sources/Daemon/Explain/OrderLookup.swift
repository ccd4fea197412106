package import Renewal

/// What a store says of an order that the ledger does not know.
package enum OrderLookup: Hashable, Sendable {
    /// Ids by which the ledger may know the purchase; none when the store does not know the order.
    /// May be tokens.
    case told(ids: [OrderID])
    /// Why there is no answer, as a sentence.
    case failed(String)

    /// Whose order id it looks like: `MK5TTTVWJH` is Apple's, `GPA.3301-7742-9918-40211..0` is
    /// Google's.
    package static func store(ofOrder order: OrderID) -> Store? {
        let id = order.text
        if id.hasPrefix("GPA."), id.utf8.count <= longest { return .google }
        let isApple =
            id.first == "M" && appleLength.contains(id.utf8.count)
            && id.utf8.allSatisfy { (65...90).contains($0) || (48...57).contains($0) }
        return isApple ? .apple : nil
    }

    private static let appleLength = 8...14
    private static let longest = 64
}

extension Services {
    /// Asks each app of a store for an order, until one knows it.
    package func lookUp(
        order id: OrderID, in store: Store, at now: Timestamp
    ) async -> OrderLookup {
        let asked = clients.apps.filter { $0.store == store }
            .compactMap { app in clients.lookUp(app).map { (app: app, door: $0) } }
        guard !asked.isEmpty else { return .failed("nothing is configured to ask it with") }
        for (app, door) in asked {
            _ = try? await UrgentCalls(configuration.stores, ledger).wait(for: app)
            do throws(StoreFailure) {
                let ids = try await door(id, now)
                if !ids.isEmpty { return .told(ids: ids) }
            } catch {
                return .failed(error.problem.sentence)
            }
        }
        return .told(ids: [])
    }
}
