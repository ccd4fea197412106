/// The answer of `purchases.subscriptionsv2.get`. Members with a default value are left out by
/// Google; enumerations are kept as text, so that an unknown value does not spoil the rest.
///
/// <https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2>
struct GoogleSubscription: Decodable, Sendable {
    /// RFC 3339; missing while the first payment is pending.
    let startTime: String?
    let subscriptionState: String?
    let lineItems: [LineItem]?
    /// The last order whatever its outcome: paid, pending or declined.
    let latestOrderId: String?
    let linkedPurchaseToken: String?
    let pausedStateContext: Paused?
    let canceledStateContext: Canceled?
    let testPurchase: Presence?
    let acknowledgementState: String?

    struct Paused: Decodable, Sendable {
        let autoResumeTime: String?
    }

    /// Exactly one member is present.
    struct Canceled: Decodable, Sendable {
        let userInitiatedCancellation: Presence?
        let systemInitiatedCancellation: Presence?
        let developerInitiatedCancellation: Presence?
        let replacementCancellation: Presence?
    }

    struct LineItem: Decodable, Sendable {
        let productId: String?
        /// RFC 3339; missing on an item that is not owned yet.
        let expiryTime: String?
        /// The last paid order of this item.
        let latestSuccessfulOrderId: String?
        let autoRenewingPlan: AutoRenewingPlan?
        let offerPhase: OfferPhase?
        let deferredItemReplacement: Replacement?
    }

    struct AutoRenewingPlan: Decodable, Sendable {
        let autoRenewEnabled: Bool?
        let priceChangeDetails: PriceChange?
        let installmentDetails: Installments?
    }

    struct PriceChange: Decodable, Sendable {
        let priceChangeMode: String?
        let priceChangeState: String?
    }

    struct Installments: Decodable, Sendable {
        /// The subscription ends with its commitment.
        let pendingCancellation: Presence?
    }

    struct OfferPhase: Decodable, Sendable {
        let basePrice: Presence?
        let freeTrial: Presence?
        let introductoryPrice: Presence?
        let prorationPeriod: Proration?
    }

    struct Proration: Decodable, Sendable {
        let originalOfferPhaseType: String?
    }

    struct Replacement: Decodable, Sendable {
        let productId: String?
    }
}

/// The envelope of an error.
///
/// <https://developers.google.com/android-publisher/errors>
struct GoogleErrorBody: Decodable, Sendable {
    let error: Content

    struct Content: Decodable, Sendable {
        let status: String?
        let errors: [Detail]?
    }

    struct Detail: Decodable, Sendable {
        let reason: String?
    }
}
