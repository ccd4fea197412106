import Renewal

/// A line item, its fields checked.
struct GoogleItem: Hashable, Sendable {
    let product: String
    /// Nil when it is not owned yet.
    let expires: Timestamp?
    let paidOrder: String?
    let renews: Bool
    let phase: Phase?
    /// The product that takes its place at the next renewal.
    let replacement: String?
    let hasPriceIncreasePending: Bool

    init(_ wire: GoogleSubscription.LineItem, window: DateWindow) throws(StoreFailure) {
        guard let productID = wire.productId, !productID.isEmpty else {
            throw .malformed(field: "lineItems.productId")
        }
        product = productID
        expires = try window.date(rfc3339: wire.expiryTime, field: "lineItems.expiryTime")
        paidOrder = wire.latestSuccessfulOrderId
        let plan = wire.autoRenewingPlan
        renews =
            plan?.autoRenewEnabled == true
            && plan?.installmentDetails?.pendingCancellation == nil
        phase = wire.offerPhase?.phase
        replacement = wire.deferredItemReplacement?.productId
        hasPriceIncreasePending = plan?.priceChangeDetails?.isIncreasePending == true
    }

    /// The items that are owned now. In a running state one that renews is kept for two days
    /// beyond its expiry, while Google still collects without a word; the last one too.
    static func inForce(
        _ items: [GoogleItem], state: GoogleState, at now: Timestamp
    ) -> [GoogleItem] {
        let unexpired = items.filter { $0.isOwned(at: now) }
        switch state {
        case .canceled: return unexpired
        case .pending, .pendingPurchaseCanceled, .paused, .onHold, .expired: return []
        case .active, .inGracePeriod:
            let earlier = now - renewalWindow
            let kept = items.filter {
                $0.isOwned(at: now) || ($0.renews && $0.isOwned(at: earlier))
            }
            return kept.isEmpty ? items.filter { $0.isOwned(at: earlier) } : kept
        }
    }

    private static let renewalWindow = Duration.hours(48)

    private func isOwned(at instant: Timestamp) -> Bool {
        expires.map { $0 > instant } ?? false
    }

    /// The item of the known product, otherwise the one that lasts longest.
    static func main(_ items: [GoogleItem], preferring product: String) -> GoogleItem? {
        let owned = items.filter { $0.expires != nil }
        let candidates = owned.isEmpty ? items : owned
        if let known = candidates.first(where: { $0.product == product }) { return known }
        return candidates.max { left, right in
            guard let start = left.expires, let end = right.expires else { return false }
            return start < end
        }
    }
}

extension GoogleSubscription.OfferPhase {
    fileprivate var phase: Phase? {
        if freeTrial != nil { return .trial }
        if introductoryPrice != nil { return .introductory }
        if basePrice != nil { return .regular }
        return switch prorationPeriod?.originalOfferPhaseType {
        case "FREE_TRIAL": .trial
        case "INTRODUCTORY": .introductory
        case "BASE": .regular
        default: nil
        }
    }
}

extension GoogleSubscription.PriceChange {
    fileprivate var isIncreasePending: Bool {
        priceChangeState == "OUTSTANDING"
            && (priceChangeMode == "PRICE_INCREASE" || priceChangeMode == "OPT_OUT_PRICE_INCREASE")
    }
}
