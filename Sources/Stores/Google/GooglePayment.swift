import Renewal

/// What an answer says of the payment of the period that it shows.
enum GooglePayment: Hashable, Sendable {
    /// Version 2: the orders tell.
    case byOrders
    case paid, unpaid
    /// Version 1 without `paymentState`, or with one that is not known. Never there when cancelled.
    case notSaid
}

// What was paid. A moved expiry is no payment (design rule 4).
extension GoogleObservation {
    /// Whether the end lies beyond what is known to be paid. Nil where that is not known.
    var isMoved: Bool? {
        guard let known = knownPaidThrough, let expires = main?.expires else { return nil }
        return expires > known
    }

    /// Whether the expiry has moved and nothing says that this was paid: the silent first day after
    /// a declined renewal, when the state does not say so yet; or cancelled in the middle of grace.
    var isUnpaid: Bool {
        guard let main, let expires = main.expires, isMoved != false else { return false }
        switch snapshot.payment {
        case .paid: return false
        case .unpaid: return true
        case .byOrders: return isUnpaidByOrders(main, until: expires)
        case .notSaid:
            guard snapshot.state == .canceled else { return isInTrouble }
            // In hold and in a pause the end stands still: a later one that the developer ended was
            // paid.
            let stoodStill = facts.state == .hold || facts.state == .paused
            if stoodStill, snapshot.cancellation == .developer { return false }
            return isInTrouble ? !isFarBeyondGrace(expires) : isShortlyMoved(expires)
        }
    }

    private func isUnpaidByOrders(_ main: GoogleItem, until expires: Timestamp) -> Bool {
        let isLatestUnpaid = snapshot.latestOrder.map { latest in
            !snapshot.items.contains { $0.paidOrder == latest }
        }
        if let paid = main.paidOrder, paid != facts.period {
            guard facts.period == nil, isLatestUnpaid == true else { return false }
        } else if isInTrouble, main.product == facts.product {
            return true
        }
        // At first sight nothing shows whether it moved. Google moves it by a day at a time.
        guard isMoved != nil else {
            return isLatestUnpaid == true && expires <= latest + GoogleItem.renewalWindow
        }
        return isLatestUnpaid ?? (facts.period != nil && isShortlyMoved(expires))
    }

    /// Whether what is in trouble is another item: the main one has another order than was known,
    /// to an end further away than Google moves what is unpaid.
    var isPaidInTrouble: Bool {
        guard snapshot.items.count > 1, let main, let paid = main.paidOrder,
            paid != facts.period || facts.paidThrough == nil
        else { return false }
        return isBeyondTrouble(main.expires)
    }

    /// Whether an end is further away than that of what is not paid: on hold that falls back.
    private func isBeyondTrouble(_ end: Timestamp?) -> Bool {
        let moved = snapshot.state == .onHold ? Duration.zero : GoogleItem.renewalWindow
        return end.map { $0 > latest + moved } ?? false
    }

    private var isInTrouble: Bool { facts.state == .grace || facts.state == .hold }

    /// Moved once the paid period was over, and to the next days only. A tester's periods are too
    /// short for this to tell anything.
    private func isShortlyMoved(_ expires: Timestamp) -> Bool {
        guard let known = knownPaidThrough, !snapshot.isTest else { return false }
        return known <= latest && expires <= latest + GoogleItem.renewalWindow
    }

    /// Another period, which can only have been paid: grace moves on by a day at a time.
    private func isFarBeyondGrace(_ expires: Timestamp) -> Bool {
        expires > max(facts.expiresAt ?? latest, latest) + GoogleItem.renewalWindow
    }

    /// An answer without a word about the payment claims nothing new to be paid.
    private var isUnproven: Bool {
        snapshot.payment == .notSaid && snapshot.state != .canceled && snapshot.state != .expired
            && isMoved != false
    }

    /// The paid order. Version 1 names the latest one, whatever became of it.
    var provenOrder: OrderID? {
        guard age == .current else { return nil }
        // Only what was paid is taken back.
        if isTakenBackUnseen { return endedOrder }
        guard !isUnproven, !isUnknownAtFirstSight, !isLeftOfTakenBack, !isStateBehind else {
            return nil
        }
        return snapshot.payment == .notSaid && isUnpaid ? nil : main?.paidOrder
    }

    /// Whether the state may be of before the payment that the orders show already: another one
    /// than the known is paid, to an end further away than Google moves what is not, and none is
    /// named that is not. When the state shows it, it is new.
    private var isStateBehind: Bool {
        guard snapshot.state == .inGracePeriod || snapshot.state == .onHold, !isPaidInTrouble,
            let known = facts.period, let paid = main?.paidOrder, isBeyondTrouble(main?.expires)
        else { return false }
        let others = [snapshot.latestOrder, snapshot.declinedOrder].compactMap(\.self)
        return paid != known && others.allSatisfy { $0 == paid }
    }

    /// Without the expiry of an unpaid or taken back period: what was known stays, and the next
    /// reading compares with it again. The same period that was cut short is taken back also where
    /// its new end has not come yet by our clock.
    func paidThrough(_ status: SubscriptionStatus) -> Timestamp? {
        switch status {
        case .active:
            isUnproven || isUnknownAtFirstSight || isCutShort && main?.paidOrder == facts.period
                ? nil : main?.expires
        case .paused, .ended: isMovedWithoutOrder ? nil : main?.expires
        case .grace, .hold: isPaidInTrouble ? main?.expires : nil
        case .pending, .refunded, .removedFromFamily, .replaced: nil
        }
    }

    private var isMovedWithoutOrder: Bool {
        guard let known = facts.paidThrough, let main, let expires = main.expires else {
            return false
        }
        return expires > known + .minutes(1)
            && (main.paidOrder == nil || main.paidOrder == facts.period)
    }

    /// A cancelled renewal of version 1 at first sight, near its end: it may be in grace.
    private var isUnknownAtFirstSight: Bool {
        guard snapshot.payment == .notSaid, isMoved == nil, let main, let expires = main.expires,
            let order = main.paidOrder, GoogleOrderID(order).renewal != nil
        else { return false }
        return expires <= latest + GoogleItem.renewalWindow
    }
}
