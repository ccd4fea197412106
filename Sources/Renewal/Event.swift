/// What we tell others. Written in the transaction that changes the state it follows from.
package struct Event: Hashable, Sendable {
    package let kind: EventKind
    package let userID: UserID
    /// Nil for a notice, which is about a purchase.
    package let entitlement: EntitlementID?
    package let purchaseID: Int64
    package let app: AppKey
    package let environment: StoreEnvironment?
    package let product: ProductID
    package let orderID: OrderID?
    /// When it took effect, by the store where it says so, otherwise the time of the decision.
    package let effectiveAt: Timestamp
    /// Whether the time is the store's: decided again, it is the same.
    package let isDated: Bool
    package let expiresAt: Timestamp?
    package let detail: Detail

    package init(
        _ kind: EventKind, userID: UserID, entitlement: EntitlementID?, purchaseID: Int64,
        app: AppKey,
        environment: StoreEnvironment?, product: ProductID, orderID: OrderID?,
        effectiveAt: Timestamp, isDated: Bool = false, expiresAt: Timestamp?,
        detail: Detail = Detail()
    ) {
        self.kind = kind
        self.userID = userID
        self.entitlement = entitlement
        self.purchaseID = purchaseID
        self.app = app
        self.environment = environment
        self.product = product
        self.orderID = orderID
        self.effectiveAt = effectiveAt
        self.isDated = isDated
        self.expiresAt = expiresAt
        self.detail = detail
    }
}

/// Kind and reason of an event, as one: no kind can carry another kind's reason.
package enum EventKind: Hashable, Sendable {
    case grant(GrantReason)
    case revoke(RevokeReason)
    case notice(NoticeReason)

    package var isRevoke: Bool {
        if case .revoke = self { true } else { false }
    }

    package var name: String {
        switch self {
        case .grant: "grant"
        case .revoke: "revoke"
        case .notice: "notice"
        }
    }

    package var reason: String {
        switch self {
        case .grant(let reason): reason.rawValue
        case .revoke(let reason): reason.rawValue
        case .notice(let reason): reason.rawValue
        }
    }
}

package enum GrantReason: String, Hashable, Sendable, CaseIterable {
    case purchased, resubscribed, recovered, resumed
    case refundReversed = "refund_reversed"
    case transferred, manual
    case productChanged = "product_changed"
    case restored
}

package enum RevokeReason: String, Hashable, Sendable, CaseIterable {
    case expired, cancelled
    case paymentFailed = "payment_failed"
    case paymentPending = "payment_pending"
    case refunded
    case familyRemoved = "family_removed"
    case paused
    case priceIncreaseDeclined = "price_increase_declined"
    case productUnavailable = "product_unavailable"
    case productChanged = "product_changed"
    case transferred, manual, invalid, unverifiable
}

package enum NoticeReason: String, Hashable, Sendable, CaseIterable {
    case renewed
    case paymentPending = "payment_pending"
    case paymentRecovered = "payment_recovered"
    case autoRenewOff = "auto_renew_off"
    case autoRenewOn = "auto_renew_on"
    case pauseScheduled = "pause_scheduled"
    case priceIncreasePending = "price_increase_pending"
    case productChangeScheduled = "product_change_scheduled"
    case extended
    case trialConverted = "trial_converted"
    case refundOfPastPeriod = "refund_of_past_period"
    case refunded, unacknowledged
    case sharedReceipt = "shared_receipt"
    case environmentChanged = "environment_changed"
    case tokenEnding = "token_ending"
    case migrated
    /// A store asks what the app wants, with a deadline.
    case refundRequested = "refund_requested"
    case refundDeclined = "refund_declined"
    /// The store does not accept a token that never was granted.
    case rejected
}

/// What `renewald.events.detail` holds.
package struct Detail: Hashable, Sendable {
    /// The store's own words, for people.
    package var heard: String?
    /// The expiry was moved unpaid (design rule 4).
    package var falseRenewal: Bool?
    /// The product before a product change.
    package var previousProduct: ProductID?
    /// The end has moved because the duration in the configuration has.
    package var durationChanged: Bool?
    /// The order, or Apple's transaction, that a refund of a past period is about.
    package var refundedOrder: OrderID?
    /// The other user who has handed in the purchase that a notice is about.
    package var claimedBy: UserID?
    /// Until when what has been cancelled is paid all the same.
    package var commitmentEndsAt: Timestamp?
    package var sale = SaleNotes()
    package var refund: RefundNotes?

    package init(
        heard: String? = nil, falseRenewal: Bool? = nil, previousProduct: ProductID? = nil,
        durationChanged: Bool? = nil, refundedOrder: OrderID? = nil
    ) {
        self.refundedOrder = refundedOrder
        self.heard = heard
        self.falseRenewal = falseRenewal
        self.previousProduct = previousProduct
        self.durationChanged = durationChanged
    }
}
