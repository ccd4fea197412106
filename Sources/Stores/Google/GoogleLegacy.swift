import Renewal

/// The answer of `purchases.subscriptions.get`, version 1: it names neither its product nor its
/// state. Numbers of 64 bits are sent as texts; a number is taken for what it is, quoted or not.
///
/// When the user cancelled is not read: it is no end of access.
///
/// <https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptions>
struct GoogleLegacySubscription: Decodable, Sendable {
    let kind: LooseText?
    let startTimeMillis: LenientInteger?
    /// Moved on in grace though nothing is paid, and back to the end of the paid period on hold.
    let expiryTimeMillis: LenientInteger?
    /// Only while a pause is wanted or running.
    let autoResumeTimeMillis: LenientInteger?
    /// True through grace, hold and pause.
    let autoRenewing: LenientFlag?
    /// 0 pending, 1 received, 2 free trial, 3 pending change of plan.
    let paymentState: LenientInteger?
    /// 0 the user, 1 Google for want of payment, 2 replaced, 3 the developer.
    let cancelReason: LenientInteger?
    /// The latest order, be it paid or declined.
    let orderId: OrderID?
    let linkedPurchaseToken: StoreToken?
    /// 0 a licence tester's, 1 by a promotion code.
    let purchaseType: LenientInteger?
    let priceChange: PriceChange?
    /// There also after the lower price has ended.
    let introductoryPriceInfo: IntroductoryPrice?
    /// 0 not yet, 1 done.
    let acknowledgementState: LenientInteger?
    let obfuscatedExternalAccountId: LooseText?
    let obfuscatedExternalProfileId: LooseText?
    let externalAccountId: LooseText?
    let countryCode: LooseText?
    let priceCurrencyCode: LooseText?
    let priceAmountMicros: LooseInteger?
    let cancelSurveyResult: Tolerant<Survey>?

    struct Survey: Decodable, Hashable, Sendable {
        /// 0 another, 1 not used enough, 2 technical, 3 the price, 4 a better app.
        let cancelSurveyReason: LooseInteger?
        /// Only of another reason.
        let userInputCancelReason: LooseText?
    }

    struct PriceChange: Decodable, Sendable {
        /// 0 outstanding, 1 accepted.
        let state: LenientInteger?
    }

    struct IntroductoryPrice: Decodable, Sendable {
        /// How many periods have the lower price.
        let introductoryPriceCycles: LenientInteger?
    }
}

extension GoogleLegacySubscription {
    /// `proven` is the time up to which an end has passed for certain; nil is `now`.
    ///
    /// - Throws: `.malformed` with the field that is missing or makes no sense; `.mismatch` for the
    ///   answer to another question.
    func snapshot(
        of facts: Facts, knowing clues: Set<Clue> = [], at now: Timestamp,
        provenUpTo proven: Timestamp? = nil
    ) throws(StoreFailure) -> GoogleSnapshot {
        try GoogleKind.legacySubscription.require(kind?.value)
        let window = DateWindow(now: now)
        let expires = try window.date(
            milliseconds: expiryTimeMillis?.value, field: "expiryTimeMillis")
        let resumes = try window.date(
            milliseconds: autoResumeTimeMillis?.value, field: "autoResumeTimeMillis")
        let renews = try self.renews()
        let state = try state(
            of: facts, until: expires, resumes: resumes, renews: renews, at: now,
            provenUpTo: proven ?? now)
        let payment = payment(facts, until: expires, renews: renews, at: now)
        var item = GoogleItem(
            product: facts.product, expires: state.isPending ? nil : expires,
            paidOrder: paidOrder(facts, until: expires, payment, clues), renews: renews)
        item.phase = phase
        item.usedOffer = introductoryPriceInfo == nil ? nil : true
        item.isToBeReplaced = paymentState?.value == 3
        item.hasPriceIncreasePending = priceChange?.state?.value == 0
        item.notes.price = priceAmountMicros?.value.flatMap {
            Money(currency: priceCurrencyCode?.value, micros: $0)
        }
        var snapshot = GoogleSnapshot(state: state, items: [item])
        snapshot.payment = payment
        snapshot.latestOrder = orderId
        snapshot.predecessorToken = linkedPurchaseToken
        snapshot.accountToken = obfuscatedExternalAccountId?.value.map(UserID.init)
        snapshot.startedAt = try window.past(
            milliseconds: startTimeMillis?.value, field: "startTimeMillis")
        snapshot.resumesAt = resumes
        snapshot.cancellation = renews ? nil : cancellation
        snapshot.isTest = purchaseType?.value == 0
        snapshot.awaitsAcknowledgement = acknowledgementState?.value == 0
        snapshot.notes = SaleNotes(self)
        return snapshot
    }

    /// A missing switch is off only where a reason says so too: it alone would end access.
    private func renews() throws(StoreFailure) -> Bool {
        if let autoRenewing { return autoRenewing.value }
        guard cancelReason != nil else { throw .malformed(field: "autoRenewing") }
        return false
    }

    /// Whether any period was paid: it is known, or the latest order is that of a renewal.
    private func hasBeenPaid(_ facts: Facts) -> Bool {
        facts.paidThrough != nil || facts.wasGranted
            || orderId.map { GoogleOrderID($0).renewal != nil } ?? false
    }

    private func state(
        of facts: Facts, until expires: Timestamp?, resumes: Timestamp?, renews: Bool,
        at now: Timestamp, provenUpTo proven: Timestamp
    ) throws(StoreFailure) -> GoogleState {
        let isPending = paymentState?.value == 0
        if isPending, !hasBeenPaid(facts) {
            return cancelReason == nil ? .pending : .pendingPurchaseCanceled
        }
        guard let expires else {
            // Given up before it was ever paid: there is no end of what never began.
            if paymentState == nil, cancelReason != nil, !hasBeenPaid(facts) {
                return .pendingPurchaseCanceled
            }
            throw .malformed(field: "expiryTimeMillis")
        }
        let isOver = expires <= proven
        guard renews else {
            return isOver || cancellation == .replacement ? .expired : .canceled
        }
        // Grace and hold look the same but for the expiry. Before the paid period is over, what
        // waits for its payment is an order of the next one.
        if isPending, isOver {
            if let resumes, resumes > proven { return .paused }
            if isBeingCharged(at: expires, facts, at: proven) { return .active }
            return isToMoveOn(from: expires, facts, at: proven) ? .inGracePeriod : .onHold
        }
        if isPending, expires > facts.paidThrough ?? now { return .inGracePeriod }
        if isOver, let resumes, resumes > proven { return .paused }
        return .active
    }

    /// Whether the known paid period has just run out: Google charges about now, and lets access go
    /// on for a day even where that is declined and no grace is configured.
    private func isBeingCharged(
        at expires: Timestamp, _ facts: Facts, at proven: Timestamp
    ) -> Bool {
        // A tester's periods are minutes.
        guard purchaseType?.value != 0, facts.access == .granted, facts.state == .active,
            let paid = facts.paidThrough, expires >= paid - .minutes(1),
            expires <= paid + .minutes(1)
        else { return false }
        return proven - expires < .days(1)
    }

    /// Whether the end of grace is moved on to the next day about now: hold sets it back to that of
    /// the paid period, and a copy of Google's data may be some minutes behind. What was first seen
    /// in grace is known by its end alone.
    private func isToMoveOn(
        from expires: Timestamp, _ facts: Facts, at proven: Timestamp
    ) -> Bool {
        guard facts.access == .granted || facts.state == .grace else { return false }
        let grace = facts.state == .grace ? facts.expiresAt : nil
        let last = facts.paidThrough.map { $0 + .minutes(1) } ?? grace.map { $0 - .minutes(1) }
        guard let last else { return false }
        return expires > last && proven - expires < GoogleItem.moveDelay
    }

    /// A declined order is named, too: in grace and on hold, and after these have run out. What is
    /// cancelled and ends where it was known to, paid or not, was not paid again.
    private func paidOrder(
        _ facts: Facts, until expires: Timestamp?, _ payment: GooglePayment, _ clues: Set<Clue>
    ) -> OrderID? {
        guard paymentState?.value != 0, cancelReason?.value != 1 else { return nil }
        guard payment == .notSaid, cancelReason != nil, let latest = orderId,
            let known = facts.period, GoogleOrderID(known).isBefore(GoogleOrderID(latest)),
            let paid = facts.paidThrough, let expires,
            // Only what was paid is given back.
            !clues.refundedOrders.contains(latest)
        else { return orderId }
        var last = paid
        if let end = facts.expiresAt, end > paid {
            switch facts.state {
            case .grace, .hold: last = end + GoogleItem.renewalWindow
            case .refunded, .expired: last = end
            case .new, .pending, .active, .paused, .revoked, .superseded, .invalid: break
            }
        }
        return expires <= last + .minutes(1) ? known : latest
    }

    /// A change of plan that waits says nothing of a period beyond the known one, unless that ends
    /// further away than Google moves what is not paid.
    private func payment(
        _ facts: Facts, until expires: Timestamp?, renews: Bool, at now: Timestamp
    ) -> GooglePayment {
        let isInTrouble = facts.state == .grace || facts.state == .hold
        switch paymentState?.value {
        case 0: return .unpaid
        // Of what is cancelled it may stand there, whatever was paid.
        case 1, 2: return isInTrouble && !renews ? .notSaid : .paid
        case 3:
            guard let known = facts.paidThrough ?? (isInTrouble ? facts.expiresAt : nil) else {
                return .paid
            }
            let moved = max(known, facts.expiresAt ?? known, now) + GoogleItem.renewalWindow
            return expires.map { $0 > moved } ?? false ? .paid : .notSaid
        default: return .notSaid
        }
    }

    private var cancellation: GoogleCancellation? {
        switch cancelReason?.value {
        case 0: .user
        case 1: .system
        case 2: .replacement
        case 3: .developer
        case nil: nil
        default: .other
        }
    }

    private var renewal: Int? { orderId.flatMap { GoogleOrderID($0).renewal } }

    private var phase: Phase? {
        switch paymentState?.value {
        case 2: return .trial
        case 1: break
        // Nothing is said of the payment of what is cancelled. A renewal is no trial.
        case nil where cancelReason?.value == 0 && renewal != nil: break
        default: return nil
        }
        let paidPeriods = (renewal ?? -1) + 2
        let cycles = introductoryPriceInfo?.introductoryPriceCycles?.value ?? 0
        return Int64(paidPeriods) <= cycles ? .introductory : .regular
    }
}
