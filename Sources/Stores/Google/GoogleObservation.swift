import Renewal

/// Reads an answer of `purchases.subscriptionsv2.get` in our words.
///
/// <https://developer.android.com/google/play/billing/lifecycle/subscriptions>
struct GoogleObservation: Sendable {
    private let wire: GoogleSubscription
    private let facts: Facts
    private let now: Timestamp
    private let items: [GoogleItem]
    /// What gives access while the state allows any.
    private let inForce: [GoogleItem]
    private let main: GoogleItem?
    private let state: GoogleState
    private let resumesAt: Timestamp?
    private let startedAt: Timestamp?

    /// - Throws: `.malformed` with the field that is missing or makes no sense.
    init(
        _ wire: GoogleSubscription, facts: Facts, at now: Timestamp
    ) throws(StoreFailure) {
        let window = DateWindow(now: now)
        self.wire = wire
        self.facts = facts
        self.now = now
        guard let state = GoogleState(wire.subscriptionState) else {
            throw .malformed(field: "subscriptionState")
        }
        self.state = state
        var items: [GoogleItem] = []
        for item in wire.lineItems ?? [] { items.append(try GoogleItem(item, window: window)) }
        self.items = items
        inForce = GoogleItem.inForce(items, state: state, at: now)
        main = GoogleItem.main(inForce.isEmpty ? items : inForce, preferring: facts.product)
        resumesAt = try window.date(
            rfc3339: wire.pausedStateContext?.autoResumeTime,
            field: "pausedStateContext.autoResumeTime")
        startedAt = try window.date(rfc3339: wire.startTime, field: "startTime")
        if !state.isPending { try requireExpiry() }
        try requireSamePurchase()
    }

    /// The answer does not name its token. All renewals of one share their base order, so another
    /// base order for the very same product is another purchase.
    private func requireSamePurchase() throws(StoreFailure) {
        guard let known = facts.originalID, let originalID, known != originalID else { return }
        guard main?.product != facts.product else { throw .mismatch(what: "purchase") }
    }

    private func requireExpiry() throws(StoreFailure) {
        guard main != nil else { throw .malformed(field: "lineItems") }
        guard main?.expires != nil else { throw .malformed(field: "lineItems.expiryTime") }
    }

    var observation: Observation {
        let standing = standing
        return Observation(
            environment: wire.testPurchase == nil ? .production : .sandbox,
            standing: standing, items: observedItems, originalID: originalID,
            orderID: main?.paidOrder, period: main?.paidOrder,
            paidThrough: paidThrough(standing), expiresAt: main?.expires, willRenew: willRenew,
            phase: main?.phase, purchasedAt: startedAt, signals: signals(standing),
            predecessorToken: state.isPending ? nil : wire.linkedPurchaseToken, words: words)
    }

    private var standing: Standing {
        switch state {
        case .active:
            if inForce.isEmpty {
                .hold
            } else {
                isUnpaid ? .grace(expiryMovedUnpaid: true) : .active
            }
        case .inGracePeriod: inForce.isEmpty ? .hold : .grace(expiryMovedUnpaid: true)
        case .onHold: .hold
        case .paused: .paused(until: resumesAt)
        case .pending: .pending
        case .pendingPurchaseCanceled: .ended(.periodEnded, at: nil)
        case .canceled: inForce.isEmpty ? ended : .active
        case .expired: ended
        }
    }

    /// The silent first day after a declined renewal: the state does not say so yet, but the
    /// latest order is not a paid one and the expiry lies beyond what was paid.
    private var isUnpaid: Bool {
        guard let latest = wire.latestOrderId, let known = facts.paidThrough,
            let expires = main?.expires
        else { return false }
        return expires > known && !items.contains { $0.paidOrder == latest }
    }

    /// A period that was cut short without a successor was taken back.
    private var ended: Standing {
        let expires = main?.expires
        let canceled = wire.canceledStateContext
        if canceled?.replacementCancellation != nil { return .replaced(at: expires) }
        if state == .expired, let expires, let known = facts.paidThrough,
            expires < known - .minutes(1)
        {
            return .refunded(at: expires)
        }
        if canceled?.userInitiatedCancellation != nil { return .ended(.userCancelled, at: expires) }
        if canceled?.systemInitiatedCancellation != nil {
            return .ended(.paymentFailed, at: expires)
        }
        return .ended(.periodEnded, at: expires)
    }

    /// Without the expiry of an unpaid or taken back period: what was known stays, and the next
    /// reading compares with it again.
    private func paidThrough(_ standing: Standing) -> Timestamp? {
        switch standing {
        case .active, .paused, .ended: main?.expires
        case .grace, .hold, .pending, .refunded, .removedFromFamily, .replaced: nil
        }
    }

    private var observedItems: [Item] {
        guard let main else { return [] }
        let others = inForce.filter { $0.product != main.product }
        return ([main] + others).map { Item(names: [$0.product], expiresAt: $0.expires) }
    }

    private var originalID: String? {
        (main?.paidOrder ?? wire.latestOrderId).map(GoogleOrderID.base)
    }

    /// An item that another is to replace renews when that one does.
    private var willRenew: Bool? {
        guard let main else { return nil }
        guard let next = main.replacement else { return main.renews }
        return items.first { $0.product == next }?.renews ?? main.renews
    }

    private func signals(_ standing: Standing) -> Set<Signal> {
        switch standing {
        case .active, .grace: break
        case .pending, .hold, .paused, .ended, .refunded, .removedFromFamily, .replaced: return []
        }
        var signals: Set<Signal> = []
        if main?.replacement != nil { signals.insert(.productChangeScheduled) }
        if main?.hasPriceIncreasePending == true { signals.insert(.priceIncreasePending) }
        if wire.acknowledgementState == "ACKNOWLEDGEMENT_STATE_PENDING", let startedAt,
            now - startedAt > .hours(24)
        {
            signals.insert(.unacknowledged)
        }
        return signals
    }

    private var words: String {
        var words = [state.rawValue]
        if let expires = main?.expires { words.append("expiryTime \(CalendarTime.text(expires))") }
        if let main { words.append("autoRenewEnabled \(main.renews)") }
        if isUnpaid { words.append("latestOrderId not paid") }
        if let canceled = wire.canceledStateContext { words.append("canceled by \(canceled.who)") }
        if items.count > 1 { words.append("\(items.count) items") }
        return words.joined(separator: ", ")
    }
}

/// Google Play Developer API, `SubscriptionState` of *purchases.subscriptionsv2*.
enum GoogleState: String, Hashable, Sendable, CaseIterable {
    case pending = "PENDING"
    case active = "ACTIVE"
    case paused = "PAUSED"
    case inGracePeriod = "IN_GRACE_PERIOD"
    case onHold = "ON_HOLD"
    case canceled = "CANCELED"
    case expired = "EXPIRED"
    case pendingPurchaseCanceled = "PENDING_PURCHASE_CANCELED"

    init?(_ text: String?) {
        let prefix = "SUBSCRIPTION_STATE_"
        guard let text, text.hasPrefix(prefix) else { return nil }
        self.init(rawValue: String(text.dropFirst(prefix.count)))
    }

    /// Whether nothing of it has ever been owned.
    var isPending: Bool { self == .pending || self == .pendingPurchaseCanceled }
}

/// Order ids: a base for the sign-up, and `..0`, `..1` and so on for its renewals.
enum GoogleOrderID {
    static func base(of id: String) -> String {
        guard let dots = id.lastIndex(of: "."), dots > id.startIndex,
            id[id.index(before: dots)] == "."
        else { return id }
        let number = id[id.index(after: dots)...]
        guard !number.isEmpty, number.allSatisfy(\.isNumber) else { return id }
        return String(id[..<id.index(before: dots)])
    }
}

extension GoogleSubscription.Canceled {
    fileprivate var who: String {
        if userInitiatedCancellation != nil { return "user" }
        if systemInitiatedCancellation != nil { return "system" }
        if developerInitiatedCancellation != nil { return "developer" }
        return replacementCancellation != nil ? "replacement" : "somebody else"
    }
}
