import Renewal

// What to tell, and when to look again.
extension GoogleObservation {
    func signals(_ status: SubscriptionStatus) -> Set<Signal> {
        var signals: Set<Signal> = []
        switch status {
        case .active, .grace: break
        case .hold, .paused:
            // It may come back, but only as long as the token answers.
            if let expires = main?.expires, now >= expires + Self.tokenLife - Self.tokenWarning {
                signals.insert(.tokenEnding)
            }
            return signals
        case .pending, .ended, .refunded, .removedFromFamily, .replaced: return []
        }
        if main?.isToBeReplaced == true || !leaving.isEmpty {
            signals.insert(.productChangeScheduled)
        }
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

    /// What will not be there after the next renewal, beside what another takes the place of the
    /// main product.
    private var leaving: [GoogleItem] {
        inForce.filter { item in
            (item.isLeaving || item.isToBeReplaced && item != main) && item.isOwned(at: proven)
        }
    }

    var notes: SaleNotes {
        var notes = main?.notes ?? SaleNotes()
        notes.region = snapshot.notes.region
        notes.profileToken = snapshot.notes.profileToken
        notes.linkedAccount = snapshot.notes.linkedAccount
        notes.cancelReason = snapshot.notes.cancelReason
        notes.cancelComment = snapshot.notes.cancelComment
        notes.nextProduct = main?.replacement ?? leaving.lazy.compactMap(\.replacement).first
        notes.leavingProducts = leaving.map(\.product)
        return notes
    }

    func askAgainBy(_ status: SubscriptionStatus) -> Timestamp? {
        switch status {
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
        times += unlisted.compactMap(\.expiresAt)
        if let alarm = acknowledgementAlarm, alarm > now { times.append(alarm) }
        return times.min()
    }

    var words: String {
        var words = [snapshot.state.rawValue]
        if let expires = main?.expires { words.append("expiryTime \(expires.text)") }
        if let main { words.append("autoRenewEnabled \(main.renews)") }
        if case .byInstalments(let plan)? = main?.billing {
            words.append(
                "\(plan.remaining) instalments owed"
                    + (plan.isCancellationPending ? ", then cancelled" : ""))
        }
        if isUnpaid { words.append("latest order not paid") }
        if let who = snapshot.cancellation { words.append("canceled by \(who.rawValue)") }
        if snapshot.items.count > 1 { words.append("\(snapshot.items.count) items") }
        return words.joined(separator: ", ")
    }
}
