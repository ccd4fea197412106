package import Renewal

/// What the database knows of purchases that are not the one asked about.
package struct KnownPurchases: Sendable {
    /// By the token that it was handed in with; nil where nobody has handed it in.
    package var facts: @Sendable (StoreToken) async throws(StoreFailure) -> Facts?
    /// Whose the purchase with that original id is; nil where nobody has handed it in.
    package var owner: @Sendable (OrderID) async throws(StoreFailure) -> UserID?

    package init(
        facts: @escaping @Sendable (StoreToken) async throws(StoreFailure) -> Facts?,
        owner: @escaping @Sendable (OrderID) async throws(StoreFailure) -> UserID?
    ) {
        self.facts = facts
        self.owner = owner
    }

    /// Nobody has handed in anything else.
    package static let none = KnownPurchases(
        facts: { _ throws(StoreFailure) in nil }, owner: { _ throws(StoreFailure) in nil })
}
