import Renewal

/// Reads what Google says of a subscription in our words.
///
/// <https://developer.android.com/google/play/billing/lifecycle/subscriptions>
struct GoogleObservation: Sendable {
    private let snapshot: GoogleSnapshot
    private let facts: Facts
    private let now: Timestamp
    /// What gives access while the state allows any.
    private let inForce: [GoogleItem]
    private let main: GoogleItem?

    /// - Throws: `.malformed` with the field that is missing, `.mismatch` for an older answer.
    init(_ snapshot: GoogleSnapshot, facts: Facts, at now: Timestamp) throws(StoreFailure) {
        self.snapshot = snapshot
        self.facts = facts
        self.now = now
        let items = snapshot.items
        inForce = GoogleItem.inForce(items, state: snapshot.state, at: now)
        main = GoogleItem.main(inForce.isEmpty ? items : inForce, preferring: facts.product)
        try requireExpiry()
        guard !isOlderThanKnown else { throw .mismatch(what: "period, an older one") }
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

    /// A copy of Google's data that lags behind names an earlier paid period than the known one.
    /// It is not believed while access is given; a refund may well bring back an earlier order, so
    /// the states that end a purchase are.
    private var isOlderThanKnown: Bool {
        switch snapshot.state {
        case .canceled, .expired, .pending, .pendingPurchaseCanceled: return false
        case .active, .inGracePeriod, .onHold, .paused: break
        }
        guard facts.access == .granted, let known = facts.period, let paid = main?.paidOrder,
            known != paid, main?.product == facts.product
        else { return false }
        return GoogleOrderID(paid).isBefore(GoogleOrderID(known))
    }

    /// An order of the answer when none of its orders is of the known series. The answer does not
    /// name its token, so whose it is remains to be shown.
    var foreignOrder: OrderID? {
        guard let known = facts.originalID else { return nil }
        let orders = snapshot.orders(first: main)
        guard !orders.contains(where: { GoogleOrderID.base(of: $0) == known }) else { return nil }
        return orders.first
    }

    var observation: Observation {
        let standing = standing
        var observation = Observation(
            environment: snapshot.isTest ? .sandbox : .production,
            standing: standing, items: observedItems, originalID: originalID,
            orderID: main?.paidOrder, period: main?.paidOrder,
            paidThrough: paidThrough(standing), expiresAt: main?.expires, willRenew: willRenew,
            phase: main?.phase, purchasedAt: snapshot.startedAt, signals: signals(standing),
            predecessorToken: snapshot.state.isPending ? nil : snapshot.predecessorToken,
            usedIntroductory: usedIntroductory, askAgainBy: askAgainBy(standing), words: words)
        observation.accountToken = snapshot.accountToken
        observation.awaitsAcknowledgement =
            snapshot.awaitsAcknowledgement && !snapshot.state.isPending
        return observation
    }

    private var standing: Standing {
        switch snapshot.state {
        case .active:
            if inForce.isEmpty {
                .hold
            } else {
                isUnpaid ? .grace(expiryMovedUnpaid: true) : .active
            }
        case .inGracePeriod:
            inForce.isEmpty ? .hold : .grace(expiryMovedUnpaid: isMoved)
        case .onHold: .hold
        case .paused: .paused(until: snapshot.resumesAt)
        case .pending: .pending
        case .pendingPurchaseCanceled: .ended(.periodEnded, at: nil)
        case .canceled: inForce.isEmpty ? ended : .active
        case .expired: ended
        }
    }

    /// Whether the end of access lies beyond what was paid, as far as that is known.
    private var isMoved: Bool {
        guard let known = facts.paidThrough, let expires = main?.expires else { return true }
        return expires > known
    }

    /// The silent first day after a declined renewal: the state does not say so yet, but the
    /// expiry has moved and no newer order was paid. Either the latest order shows it, or, without
    /// one, that the expiry has moved by little once the paid period was over.
    private var isUnpaid: Bool {
        guard let known = facts.paidThrough, let main, let expires = main.expires,
            expires > known,
            facts.period == nil || main.paidOrder == nil
                || main.paidOrder == facts.period
        else { return false }
        if let latest = snapshot.latestOrder {
            return !snapshot.items.contains { $0.paidOrder == latest }
        }
        return facts.period != nil && known <= now && expires - known <= GoogleItem.renewalWindow
    }

    /// A period that was cut short without a successor was taken back.
    private var ended: Standing {
        let expires = main?.expires
        let isFuture = expires.map { $0 > now } ?? false
        if snapshot.cancellation == .replacement {
            return .replaced(at: isFuture ? nil : expires)
        }
        if snapshot.state == .expired, let expires, let known = facts.paidThrough,
            expires < known - .minutes(1)
        {
            return .refunded(at: isFuture ? nil : expires)
        }
        return .ended(endCause, at: expires)
    }

    /// Google cancels for want of payment, and also where the user did not accept a higher price.
    private var endCause: EndCause {
        switch snapshot.cancellation {
        case .user: return .userCancelled
        case .system:
            let isDeclined =
                facts.signals.contains(.priceIncreasePending)
                || main?.hasPriceIncreasePending == true
            let wasUnpaid = facts.state == .hold || facts.state == .grace
            return isDeclined && !wasUnpaid ? .priceIncreaseDeclined : .paymentFailed
        case .developer, .replacement, .other, nil: return .periodEnded
        }
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

    private var originalID: OrderID? {
        (main?.paidOrder ?? snapshot.latestOrder).map(GoogleOrderID.base)
    }

    /// An item that another is to replace renews when that one does.
    private var willRenew: Bool? {
        guard let main else { return nil }
        guard let next = main.replacement else { return main.renews }
        return snapshot.items.first { $0.product == next }?.renews ?? main.renews
    }

    private var usedIntroductory: Bool? {
        if main?.phase == .trial || main?.phase == .introductory { return true }
        return main?.usedOffer
    }
}

// What to tell, and when to look again.
extension GoogleObservation {
    private func signals(_ standing: Standing) -> Set<Signal> {
        var signals: Set<Signal> = []
        switch standing {
        case .active, .grace: break
        case .hold, .paused:
            // It may come back, but only as long as the token answers.
            if let expires = main?.expires, now >= expires + Self.tokenLife - Self.tokenWarning {
                signals.insert(.tokenEnding)
            }
            return signals
        case .pending, .ended, .refunded, .removedFromFamily, .replaced: return []
        }
        if main?.isToBeReplaced == true { signals.insert(.productChangeScheduled) }
        if main?.hasPriceIncreasePending == true { signals.insert(.priceIncreasePending) }
        if let resumes = snapshot.resumesAt, resumes > now { signals.insert(.pauseScheduled) }
        if let alarm = acknowledgementAlarm, now > alarm { signals.insert(.unacknowledged) }
        return signals
    }

    /// A token answers until 60 days after its expiry.
    private static let tokenLife = Duration.days(60)
    private static let tokenWarning = Duration.days(14)

    /// A third of the time that Google gives: three days, for a short prepaid plan half of it.
    ///
    /// <https://developer.android.com/google/play/billing/integrate#process>
    private var acknowledgementAlarm: Timestamp? {
        guard snapshot.awaitsAcknowledgement, let start = snapshot.startedAt else { return nil }
        guard let main, main.isPrepaid, let expires = main.expires, expires > start,
            expires - start < .days(7)
        else { return start + .hours(24) }
        return start + min((expires - start) / 6, .hours(24))
    }

    private func askAgainBy(_ standing: Standing) -> Timestamp? {
        switch standing {
        case .active, .grace: break
        case .pending, .hold, .paused, .ended, .refunded, .removedFromFamily, .replaced: return nil
        }
        var times = inForce.filter { $0.product != main?.product }.compactMap { item in
            item.expires.map { expires in
                // Late: kept for a while, and looked at ever more slowly.
                expires > now
                    ? expires : now + ((now - expires) / 2).clamped(.minutes(15), .hours(6))
            }
        }
        if let alarm = acknowledgementAlarm, alarm > now { times.append(alarm) }
        return times.min()
    }

    private var words: String {
        var words = [snapshot.state.rawValue]
        if let expires = main?.expires { words.append("expiryTime \(CalendarTime.text(expires))") }
        if let main { words.append("autoRenewEnabled \(main.renews)") }
        if isUnpaid { words.append("latest order not paid") }
        if let who = snapshot.cancellation { words.append("canceled by \(who.rawValue)") }
        if snapshot.items.count > 1 { words.append("\(snapshot.items.count) items") }
        return words.joined(separator: ", ")
    }
}
