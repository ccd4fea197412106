import Renewal

/// The `kind` of an answer, which is the only thing in it that says what was asked about.
enum GoogleKind: String, Hashable, Sendable, CaseIterable {
    case subscription = "androidpublisher#subscriptionPurchaseV2"
    case legacySubscription = "androidpublisher#subscriptionPurchase"
    case product = "androidpublisher#productPurchaseV2"
    case legacyProduct = "androidpublisher#productPurchase"

    /// A kind that is missing or not known is no fault: nothing else depends on it.
    ///
    /// - Throws: `.mismatch` when the answer is of another kind.
    func require(_ text: String?) throws(StoreFailure) {
        guard let text, let kind = GoogleKind(rawValue: text), kind != self else { return }
        throw .mismatch(what: "kind of purchase")
    }
}
