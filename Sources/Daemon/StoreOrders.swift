import Configuration
package import Explain
package import Renewal

extension Services {
    /// Asks each app of a store for an order, until one knows it.
    package func lookUp(
        order id: OrderID, in store: Store, at now: Timestamp
    ) async -> OrderLookup {
        let asked = clients.apps.filter { $0.store == store }
            .compactMap { app in clients.lookUp(app).map { (app: app, door: $0) } }
        guard !asked.isEmpty else { return .failed("no app of this store is configured") }
        for (app, door) in asked {
            let place = try? await UrgentCalls(configuration.stores, ledger).wait(for: app)
            if place == .failure(.paused) { return .failed(StoreFailure.paused.problem.sentence) }
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
