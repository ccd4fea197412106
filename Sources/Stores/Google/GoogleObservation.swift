import Renewal

/// Reads what Google says of a subscription in our words.
///
/// <https://developer.android.com/google/play/billing/lifecycle/subscriptions>
struct GoogleObservation: Sendable {
    let snapshot: GoogleSnapshot
    let facts: Facts
    let clues: Set<Clue>
    let now: Timestamp
    /// Up to when an end has passed for certain.
    let proven: Timestamp
    /// What the time may be, by the later clock: whether a period was over when its end moved.
    let latest: Timestamp
    /// What gives access while the state allows any.
    let inForce: [GoogleItem]
    let main: GoogleItem?
    /// How the answer stands to what is known.
    private(set) var age = Age.current

    /// - Parameters:
    ///   - snapshot: what the answer shows.
    ///   - facts: what is known.
    ///   - clues: of the purchase, which no check has looked into yet.
    ///   - moment: the database's time and the store's.
    /// - Throws: `.malformed` with the field that is missing, `.mismatch` for an older answer.
    init(
        _ snapshot: GoogleSnapshot, facts: Facts, clues: Set<Clue> = [], at moment: Moment
    ) throws(StoreFailure) {
        self.snapshot = snapshot
        self.facts = facts
        self.clues = clues
        now = moment.now
        proven = moment.proven
        latest = moment.latest
        let items = snapshot.items
        inForce = GoogleItem.inForce(items, state: snapshot.state, at: proven) {
            $0.isGivenBack(knowing: facts, clues)
        }
        main = GoogleItem.main(inForce.isEmpty ? items : inForce, preferring: facts.product)
        // Bad news in a word that nobody knows is none, and what is known stays.
        guard snapshot.state != .unknown || facts.state == .new && !inForce.isEmpty else {
            throw .malformed(field: "subscriptionState")
        }
        try requireExpiry()
        guard !isFromBeforePayment else { throw .mismatch(what: "time, before it was paid") }
        age = ageOfAnswer
        guard age != .behind else { throw .mismatch(what: "period, an older one") }
    }

    /// What never was owned has no end. A deferred change that died before it took effect may show
    /// nothing else, and is over all the same.
    private func requireExpiry() throws(StoreFailure) {
        guard !snapshot.state.isPending else { return }
        guard let main else { throw .malformed(field: "lineItems") }
        guard main.expires != nil || snapshot.state == .expired else {
            throw .malformed(field: "lineItems.expiryTime")
        }
    }

    var observation: Observation {
        let status = status
        var observation = Observation(
            environment: snapshot.isTest ? .sandbox : .production,
            status: status, items: observedItems, originalID: originalID,
            orderID: provenOrder, period: provenOrder,
            paidThrough: paidThrough(status), expiresAt: main?.expires, willRenew: willRenew,
            phase: phase, purchasedAt: snapshot.startedAt, signals: signals(status),
            predecessorToken: snapshot.state.isPending ? nil : snapshot.predecessorToken,
            usedIntroductory: usedIntroductory, askAgainBy: askAgainBy(status), words: words)
        observation.commitment = commitment(status)
        observation.lostParts = lostParts
        observation.accountToken = snapshot.accountToken
        observation.notes = notes
        observation.awaitsAcknowledgement =
            snapshot.awaitsAcknowledgement && !snapshot.state.isPending
        return observation
    }

    /// Google decides when a period is over, not our clock: active is active also past its end,
    /// and an answer that leaves it so for long is stale, which the decision watches.
    private var status: SubscriptionStatus {
        switch snapshot.state {
        case .active: isUnpaid ? .grace(expiryMovedUnpaid: true) : .active
        case .inGracePeriod: .grace(expiryMovedUnpaid: isMoved != false && !isPaidInTrouble)
        case .onHold: .hold
        case .paused: .paused(until: snapshot.resumesAt)
        case .pending: .pending
        case .pendingPurchaseCanceled: .ended(.periodEnded, at: nil)
        case .canceled where inForce.isEmpty: ended
        case .canceled: isUnpaid ? .grace(expiryMovedUnpaid: true) : .active
        case .expired: ended
        case .unknown: .active
        }
    }

    /// A period that was cut short without a successor was taken back.
    private var ended: SubscriptionStatus {
        let expires = main?.expires
        let isFuture = expires.map { $0 > now } ?? false
        if snapshot.cancellation == .replacement {
            return .replaced(at: isFuture ? nil : expires)
        }
        if age == .takenBack { return .refunded(at: nil) }
        if isTakenBackUnseen || isTakenBackInTrouble || snapshot.state == .expired && isCutShort {
            return .refunded(at: isFuture ? nil : expires)
        }
        return .ended(endCause, at: expires)
    }

    /// Whether what is shown to be over was paid for a longer time. Another item's end tells
    /// nothing of this one's.
    var isCutShort: Bool {
        guard let main, let expires = main.expires, let known = facts.paidThrough else {
            return false
        }
        return main.product == facts.product && expires < known - .minutes(1)
    }

    /// Google cancels for want of payment, and also where the user did not accept a higher price.
    var endCause: EndCause {
        switch snapshot.cancellation {
        case .user: return .userCancelled
        case .system:
            let isDeclined =
                facts.signals.contains(.priceIncreasePending)
                || main?.hasPriceIncreasePending == true
            let wasUnpaid =
                facts.state == .hold || facts.state == .grace || isRenewalDeclined
            return isDeclined && !wasUnpaid ? .priceIncreaseDeclined : .paymentFailed
        case .developer, .replacement, .other, nil: return .periodEnded
        }
    }

    /// Whether the latest order is one of a renewal that was not paid. Whoever does not accept a
    /// higher price is not charged. Version 1 names no paid order besides: there the end tells.
    private var isRenewalDeclined: Bool {
        guard let main, let latest = snapshot.latestOrder else { return false }
        if main.paidOrder != nil { return !snapshot.items.contains { $0.paidOrder == latest } }
        guard let known = facts.period, latest != known else { return false }
        return isMoved == false
    }

    private var originalID: OrderID? {
        guard age == .current else { return nil }
        return (main?.paidOrder ?? snapshot.latestOrder).map(GoogleOrderID.base)
    }

    /// An item that another is to replace renews when that one does; another base plan is another
    /// item of the same product.
    private var willRenew: Bool? {
        guard let main else { return nil }
        guard let next = main.replacement else { return main.renews }
        let successor = snapshot.items.first { $0.product == next && $0 != main }
        if let successor { return successor.renews }
        // Cancelled, nothing renews; otherwise an answer without the other does not tell.
        return snapshot.state == .active || snapshot.state == .inGracePeriod ? nil : main.renews
    }

    /// Of a renewal that may not be paid version 1 does not tell.
    private var phase: Phase? {
        snapshot.payment == .notSaid && provenOrder == nil ? nil : main?.phase
    }

    private var usedIntroductory: Bool? {
        if main?.phase == .trial || main?.phase == .introductory { return true }
        return main?.usedOffer
    }

    private var observedItems: [Item] {
        guard let main else { return [] }
        // Of an item that is listed twice the later end counts, in its first place.
        var seen: Set<ProductID> = [main.product]
        let others = inForce.compactMap { item in
            seen.insert(item.product).inserted
                ? GoogleItem.latest(inForce.filter { $0.product == item.product }) : nil
        }
        return ([main] + others).map { Item(names: [$0.product], expiresAt: $0.expires) } + unlisted
            + waitingForSuccessor
    }
}
