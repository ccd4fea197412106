import Renewal

/// The answer of `purchases.subscriptionsv2.get`. Members with a default value are left out by
/// Google; enumerations are kept as text, so that an unknown value does not spoil the rest.
///
/// <https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2>
struct GoogleSubscription: Decodable, Sendable {
    /// RFC 3339; missing while the first payment is pending.
    let startTime: String?
    let subscriptionState: String?
    let lineItems: [LineItem]?
    /// The last order whatever its outcome: paid, pending or declined. Deprecated.
    let latestOrderId: String?
    let linkedPurchaseToken: String?
    let pausedStateContext: Paused?
    let canceledStateContext: Canceled?
    let inGracePeriodStateContext: Declined?
    let onHoldStateContext: Declined?
    let testPurchase: Presence?
    let acknowledgementState: String?
    let outOfAppPurchaseContext: OutOfApp?

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

    struct Declined: Decodable, Sendable {
        let renewalDeclined: Order?

        struct Order: Decodable, Sendable {
            let pendingOrderId: String?
        }
    }

    /// Subscribed again in Play after the old one had lapsed. Gone once it is acknowledged.
    struct OutOfApp: Decodable, Sendable {
        let expiredPurchaseToken: String?
    }

    struct LineItem: Decodable, Sendable {
        let productId: String?
        /// RFC 3339; missing on an item that is not owned yet.
        let expiryTime: String?
        /// The last paid order of this item.
        let latestSuccessfulOrderId: String?
        let autoRenewingPlan: AutoRenewingPlan?
        let prepaidPlan: Presence?
        let offerDetails: Offer?
        let offerPhase: OfferPhase?
        let deferredItemReplacement: Replacement?
    }

    struct AutoRenewingPlan: Decodable, Sendable {
        let autoRenewEnabled: Bool?
        let priceChangeDetails: PriceChange?
        let priceStepUpConsentDetails: StepUp?
        let installmentDetails: Installments?
    }

    struct PriceChange: Decodable, Sendable {
        let priceChangeMode: String?
        let priceChangeState: String?
    }

    /// South Korea: a price that rises after an offer needs consent.
    struct StepUp: Decodable, Sendable {
        let state: String?
    }

    struct Installments: Decodable, Sendable {
        /// The subscription ends with its commitment.
        let pendingCancellation: Presence?
    }

    struct Offer: Decodable, Sendable {
        /// Only of discounted offers. It stays after the discount.
        let offerId: String?
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

extension GoogleSubscription {
    /// - Throws: `.malformed` with the field that is missing or makes no sense.
    func snapshot(at now: Timestamp) throws(StoreFailure) -> GoogleSnapshot {
        let window = DateWindow(now: now)
        guard let state = GoogleState(subscriptionState) else {
            throw .malformed(field: "subscriptionState")
        }
        var items: [GoogleItem] = []
        for item in lineItems ?? [] { items.append(try item.checked(window)) }
        var snapshot = GoogleSnapshot(state: state, items: items)
        snapshot.latestOrder = latestOrderId
        snapshot.declinedOrder =
            (inGracePeriodStateContext ?? onHoldStateContext)?.renewalDeclined?.pendingOrderId
        snapshot.predecessorToken =
            linkedPurchaseToken ?? outOfAppPurchaseContext?.expiredPurchaseToken
        snapshot.startedAt = try window.date(rfc3339: startTime, field: "startTime")
        snapshot.resumesAt = try window.date(
            rfc3339: pausedStateContext?.autoResumeTime,
            field: "pausedStateContext.autoResumeTime")
        snapshot.cancellation = canceledStateContext?.who
        snapshot.isTest = testPurchase != nil
        snapshot.awaitsAcknowledgement =
            acknowledgementState == "ACKNOWLEDGEMENT_STATE_PENDING"
        return snapshot
    }
}

extension GoogleSubscription.LineItem {
    fileprivate func checked(_ window: DateWindow) throws(StoreFailure) -> GoogleItem {
        guard let productId, !productId.isEmpty else {
            throw .malformed(field: "lineItems.productId")
        }
        let plan = autoRenewingPlan
        var item = GoogleItem(
            product: productId,
            expires: try window.date(rfc3339: expiryTime, field: "lineItems.expiryTime"),
            paidOrder: latestSuccessfulOrderId,
            renews: plan?.autoRenewEnabled == true
                && plan?.installmentDetails?.pendingCancellation == nil)
        item.isPrepaid = prepaidPlan != nil
        item.phase = offerPhase?.phase
        item.usedOffer = offerDetails.map { $0.offerId != nil }
        item.isToBeReplaced = deferredItemReplacement != nil
        item.replacement = deferredItemReplacement?.productId
        item.hasPriceIncreasePending =
            plan?.priceChangeDetails?.isIncreasePending == true
            || plan?.priceStepUpConsentDetails?.state?.hasSuffix("PENDING") == true
        return item
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

extension GoogleSubscription.Canceled {
    fileprivate var who: GoogleCancellation {
        if userInitiatedCancellation != nil { return .user }
        if systemInitiatedCancellation != nil { return .system }
        if developerInitiatedCancellation != nil { return .developer }
        return replacementCancellation != nil ? .replacement : .other
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
