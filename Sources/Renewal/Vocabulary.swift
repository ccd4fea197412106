/// Who sold it.
package enum Store: String, Hashable, Sendable, CaseIterable {
    case apple, google, amazon
}

/// Learned once for each purchase, then kept (design rule 9).
package enum StoreEnvironment: String, Hashable, Sendable, CaseIterable {
    case production, sandbox
}

/// One app in one store: the unit of credentials, quota and circuit.
package struct AppKey: Hashable, Sendable {
    package let store: Store
    /// The bundle id or package name.
    package let id: AppID

    package init(store: Store, id: AppID) {
        self.store = store
        self.id = id
    }

    /// As people write it: `google/com.example.reader`. Nil for what is nothing such.
    package init?(named name: String) {
        guard let slash = name.firstIndex(of: "/"), slash != name.indices.last,
            let store = Store(rawValue: String(name[..<slash]))
        else { return nil }
        self.init(store: store, id: AppID(String(name[name.index(after: slash)...])))
    }

    package var name: String { "\(store.rawValue)/\(id)" }
}

package enum ProductKind: String, Hashable, Sendable, CaseIterable {
    case autoRenewable = "auto_renewable"
    case nonRenewing = "non_renewing"
    case nonConsumable = "non_consumable"
    case consumable
}

/// What a purchase is, as `renewald.purchases.state` shows it.
package enum PurchaseState: String, Hashable, Sendable, CaseIterable {
    /// Never checked.
    case new
    /// Not paid yet.
    case pending
    case active
    /// Payment failed, access goes on.
    case grace
    /// Payment failed, access is suspended: account hold, billing retry.
    case hold
    case paused
    case expired
    case refunded
    /// Family sharing ended, or moved to another user.
    case revoked
    /// A newer link of its chain has taken over.
    case superseded
    case invalid
}

/// Whether a purchase gives access, as `renewald.purchases.access` shows it.
package enum Access: String, Hashable, Sendable, CaseIterable {
    case granted
    case none
    /// The breaker holds a revoke.
    case held
}

/// How a user came to have a purchase.
package enum Ownership: String, Hashable, Sendable, CaseIterable {
    case purchased
    case familyShared = "family_shared"
    /// One of several seats.
    case assigned
}

/// What the current period was bought as.
package enum Phase: String, Hashable, Sendable, CaseIterable {
    case trial, introductory, regular
}
