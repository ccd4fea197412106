/// What a user holds or held: a row of `renewald.entitlements`.
package struct Entitlement: Hashable, Sendable {
    package let entitlement: EntitlementID
    package let active: Bool
    /// Nil is for ever.
    package let expiresAt: Timestamp?
    package let willRenew: Bool?
    package let inGrace: Bool
    /// The reason of the last grant or revoke.
    package let reason: String
    package let store: Store
    package let product: ProductID
    package let purchaseID: Int64
    package let environment: StoreEnvironment?

    package init(
        entitlement: EntitlementID, active: Bool, expiresAt: Timestamp?, willRenew: Bool?,
        inGrace: Bool, reason: String, store: Store, product: ProductID, purchaseID: Int64,
        environment: StoreEnvironment? = nil
    ) {
        self.entitlement = entitlement
        self.active = active
        self.expiresAt = expiresAt
        self.willRenew = willRenew
        self.inGrace = inGrace
        self.reason = reason
        self.store = store
        self.product = product
        self.purchaseID = purchaseID
        self.environment = environment
    }
}
