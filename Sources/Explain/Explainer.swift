package import Ledger
package import Renewal

/// Finds whom a question is about: a user id, or an id of one of the user's orders.
package struct Explainer: Sendable {
    /// All that the ledger has of a user.
    package typealias Histories = @Sendable (UserID) async throws(LedgerError) -> UserHistory
    /// Whose purchases an id of an order names.
    package typealias Owners = @Sendable (OrderID) async throws(LedgerError) -> [UserID]
    /// Asks a store for an order.
    package typealias Stores = @Sendable (Store, OrderID, Timestamp) async -> OrderLookup

    private let history: Histories
    private let owners: Owners
    private let stores: Stores?

    /// - Parameters:
    ///   - history: reads what the ledger has of a user.
    ///   - owners: reads whose purchases an id of an order names.
    ///   - stores: asks a store; nil never to ask one.
    package init(
        history: @escaping Histories, owners: @escaping Owners, stores: Stores?
    ) {
        self.history = history
        self.owners = owners
        self.stores = stores
    }

    /// Reads; a store is asked only about an order that the ledger does not know.
    package func explain(_ question: String) async throws(LedgerError) -> Explanation {
        let own = try await history(UserID(question))
        if !own.purchases.isEmpty || !own.transferred.isEmpty || !own.entitlements.isEmpty
            || !own.claimed.isEmpty || !own.unreadable.isEmpty
        {
            return Explanation(finding: .user, now: own.now, users: [own])
        }
        let order = OrderID(question)
        let owners = try await owners(order)
        guard owners.isEmpty else {
            return Explanation(
                finding: .order, now: own.now, users: try await histories(owners))
        }
        guard let store = OrderLookup.store(ofOrder: order) else {
            return Explanation(finding: .nothing, now: own.now, users: [])
        }
        return try await explain(order: order, of: store, at: own.now)
    }

    private func explain(
        order: OrderID, of store: Store, at now: Timestamp
    ) async throws(LedgerError) -> Explanation {
        guard let stores else {
            return nothing("\(store.opening) was not asked for this order (--offline)", now)
        }
        switch await stores(store, order, now) {
        case .failed(let reason):
            return nothing(
                "\(store.opening) could not be asked for this order: \(reason)", now, as: .unknown)
        case .told(let ids):
            if ids.isEmpty { return nothing("\(store.opening) does not know this order", now) }
            var found: Set<UserID> = []
            for id in Set(ids) { found.formUnion(try await owners(id)) }
            if found.isEmpty {
                return nothing(
                    "\(store.opening) knows this order, but nobody has submitted its purchase", now)
            }
            return Explanation(
                finding: .store, now: now,
                notes: ["\(store.opening) has named the purchase that this order belongs to"],
                users: try await histories(found.sorted()))
        }
    }

    private func nothing(
        _ note: String, _ now: Timestamp, as finding: Explanation.Finding = .nothing
    ) -> Explanation {
        Explanation(finding: finding, now: now, notes: [note], users: [])
    }

    private func histories(_ users: [UserID]) async throws(LedgerError) -> [UserHistory] {
        var histories: [UserHistory] = []
        for user in users { histories.append(try await history(user)) }
        return histories
    }
}
