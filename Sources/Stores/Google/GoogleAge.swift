import Renewal

// Whether an answer is about this purchase, and about its present.
extension GoogleObservation {
    /// How an answer stands to what is known.
    enum Age: Hashable {
        case current
        /// A copy of Google's data that lags behind: it names an earlier paid order.
        case behind
        /// The same, but Google has also said that it was taken back: an earlier order may be what
        /// is left then.
        case takenBack
    }

    /// While access is given, an earlier order is not believed at all; a word that ends it only
    /// with a later end, as what has been going on for longer is no news of today.
    var ageOfAnswer: Age {
        if isBeforeChange || isFromBeforeItWasPaid || isFromBeforeItMovedOn { return .behind }
        guard let known = facts.period, let main, let paid = main.paidOrder, known != paid,
            main.product == facts.product, GoogleOrderID(paid).isBefore(GoogleOrderID(known))
        else { return .current }
        switch snapshot.state {
        case .pending, .pendingPurchaseCanceled, .unknown: return .current
        case .active, .inGracePeriod, .onHold, .paused:
            return facts.access == .granted || endsEarlier ? .behind : .current
        case .canceled: return facts.access == .granted && endsEarlier ? .behind : .current
        case .expired:
            guard facts.access == .granted, endsEarlier else { return .current }
            return isSaidToBeTakenBack ? .takenBack : .behind
        }
    }

    /// The product that is in force is listed as one that is not owned yet: from before a change of
    /// plan took effect.
    private var isBeforeChange: Bool {
        guard facts.access == .granted, facts.paidThrough != nil, !snapshot.state.isPending,
            main?.product != facts.product
        else { return false }
        return snapshot.items.contains { $0.product == facts.product && $0.expires == nil }
    }

    /// Version 1, which names no paid order then: an order that is known to be paid, or an earlier
    /// one, waits for its payment.
    private var isFromBeforeItWasPaid: Bool {
        guard snapshot.payment == .unpaid, facts.access == .granted, endsEarlier,
            let known = facts.period, let latest = snapshot.latestOrder
        else { return false }
        return latest == known || GoogleOrderID(latest).isBefore(GoogleOrderID(known))
    }

    /// Version 1, in grace: the end that was moved on has been moved on further since. Hold sets it
    /// back to that of the paid period, which may be later than was ever seen to be paid, or was
    /// never seen: once the known end is over, an earlier one counts.
    private var isFromBeforeItMovedOn: Bool {
        guard snapshot.payment == .unpaid, facts.state == .grace,
            let known = facts.expiresAt, let expires = main?.expires,
            proven < known + GoogleItem.moveDelay
        else { return false }
        let isMoved = facts.paidThrough.map { expires > $0 + .minutes(1) } ?? true
        return isMoved && expires < known - .minutes(1)
    }

    /// Whether what was not to renew is over before its known end, by the known order, and nothing
    /// says why: so it was before the end was moved on. What was to renew is in no copy over.
    var isCutShortForNoReason: Bool {
        guard snapshot.state == .expired, isCutShort, facts.access == .granted,
            facts.autoRenew == false, facts.state != .refunded, age == .current,
            !isSaidToBeTakenBack
        else { return false }
        return snapshot.cancellation != .replacement
    }

    /// Whether an earlier order is what is left of a period that was taken back: that period stays
    /// the known one, by which the end of its refund is known.
    var isLeftOfTakenBack: Bool {
        guard facts.state == .refunded, snapshot.state == .expired, endsEarlier,
            let known = facts.period, let paid = main?.paidOrder
        else { return false }
        return GoogleOrderID(paid).isBefore(GoogleOrderID(known))
    }

    private var endsEarlier: Bool {
        guard let known = facts.paidThrough ?? facts.expiresAt, let expires = main?.expires else {
            return false
        }
        return expires < known - .minutes(1)
    }

    private var isSaidToBeTakenBack: Bool {
        snapshot.cancellation == .developer || isKnownOrderVoided || isSaidToBeRevoked
    }

    var isSaidToBeRevoked: Bool {
        clues.contains(where: \.isRevocation)
    }

    /// Whether what is over is a period that nobody has seen, and Google has said that it was taken
    /// back. What was so before stays so.
    var isTakenBackUnseen: Bool {
        guard snapshot.state == .expired || snapshot.state == .canceled && inForce.isEmpty,
            let main, let order = endedOrder
        else { return false }
        // By then it may have been changed for another product.
        guard facts.access == .none else {
            return order != facts.period
                && (clues.refundedOrders.contains(order) || isSaidToBeRevoked)
        }
        guard main.product == facts.product else { return false }
        guard facts.state == .refunded, order == facts.period else { return false }
        // By the policy it ended with what was paid: later than the store says, or before that.
        let (end, known) = (main.expires ?? .never, facts.expiresAt ?? .never)
        return end <= known || facts.paidThrough.map { end > $0 + .minutes(1) } ?? false
    }

    /// Whether what ran on unpaid beyond the paid period was taken back: its end moved on from the
    /// paid one, so that it shows nothing by itself. What Google or the user ends for want of
    /// payment is over by that, whatever was given back before.
    var isTakenBackInTrouble: Bool {
        guard snapshot.state == .expired, facts.access == .granted, let main,
            main.product == facts.product, let expires = main.expires,
            let paid = facts.paidThrough, expires > paid + .minutes(1),
            snapshot.payment != .byOrders || main.paidOrder == facts.period
        else { return false }
        if isSaidToBeRevoked { return true }
        switch snapshot.cancellation {
        case .user, .system, .replacement: return false
        case .developer, .other, nil: break
        }
        let isCutShort =
            snapshot.cancellation == .developer && facts.state == .grace
            && facts.expiresAt.map { expires < $0 - .minutes(1) } ?? false
        return isCutShort || isKnownOrderVoided
    }

    /// The last order, of what is over. Version 1 names a declined one too, and that cannot be
    /// taken back.
    var endedOrder: OrderID? {
        main?.paidOrder ?? (snapshot.payment == .byOrders ? nil : snapshot.latestOrder)
    }

    /// Google's list of voided purchases, or its news, names the very order that is in force.
    private var isKnownOrderVoided: Bool {
        facts.period.map { clues.refundedOrders.contains($0) } ?? false
    }

    /// What was paid does not wait for its first payment: a copy that lags behind says so, or a new
    /// order that waits beside the running period.
    var isFromBeforePayment: Bool {
        guard snapshot.state.isPending, !facts.isOtherEnvironment(isTest: snapshot.isTest) else {
            return false
        }
        switch facts.state {
        case .active, .grace, .hold, .paused: return true
        case .expired, .refunded, .revoked: return facts.access == .granted || facts.wasGranted
        case .new, .pending, .superseded, .invalid: return facts.access == .granted
        }
    }

    /// What shows that the answer, which does not name its token, is about this purchase.
    var proof: GoogleProof {
        let orders = snapshot.orders(first: main)
        guard let known = facts.originalID else {
            return facts.access == .granted ? .unless(orders.first) : .given
        }
        guard let first = orders.first else { return .none }
        let isOfSeries = orders.contains { GoogleOrderID.base(of: $0) == known }
        return isOfSeries ? .given : .by(order: first)
    }

    /// Whether bad news of this answer needs a second opinion, because the answer or what was
    /// known contradicts it.
    var isContested: Bool {
        guard facts.access == .granted else { return false }
        if age == .takenBack { return !isKnownOrderVoided }
        if snapshot.state == .canceled, isCutShort { return true }
        return !snapshot.state.isPending
            && !snapshot.items.contains { $0.product == facts.product }
            && !isMainToBeReplaced
    }

    /// Whether it was told that the main product will change; where there are several products, it
    /// may have been another one that will go.
    private var isMainToBeReplaced: Bool {
        facts.signals.contains(.productChangeScheduled)
            && Set(facts.holdings.map(\.product)).count <= 1
    }
}

/// What shows that an answer of Google's is about the purchase that was asked about.
enum GoogleProof: Hashable, Sendable {
    /// An order of the known series, or nothing is known yet.
    case given
    /// Google must say that this order is of this purchase.
    case by(order: OrderID)
    /// No order is known to compare with: good news counts, and bad news needs a second opinion
    /// unless Google says that this order is of this purchase. Nil where the answer has none.
    case unless(OrderID?)
    /// The answer names no order though the series is known: it stands in for the right one.
    case none
}
