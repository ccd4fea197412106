import Renewal

/// Reads a receipt in our words. There is no state in it: `cancelDate` alone says that access is
/// over, and a `renewalDate` in the past does not. An add-on ends with its base
/// (`AmazonAddOnBase.swift`).
struct AmazonObservation: Sendable {
    private let receipt: AmazonReceipt
    private let environment: StoreEnvironment
    private let facts: Facts
    private let now: Timestamp
    private let proven: Timestamp
    private let kind: ProductKind
    private let product: ProductID
    private let receiptID: OrderID
    private let purchased: Timestamp?
    private let renewal: Timestamp?
    private let cancelled: Timestamp?
    private let grace: Timestamp?
    private let trialEnd: Timestamp?

    /// `proven` is the time up to which an end has passed for certain; nil is `now`.
    ///
    /// Fails with `.mismatch` when the answer is not about the receipt that was asked about, and
    /// with `.malformed` and the wrong field.
    /// `host` is where the answer comes from: production knows testers' receipts too.
    init(
        _ receipt: AmazonReceipt, asked: StoreToken, from host: StoreEnvironment, facts: Facts,
        at now: Timestamp, provenUpTo proven: Timestamp? = nil
    ) throws(StoreFailure) {
        guard let receiptID = receipt.receiptId else { throw .malformed(field: "receiptId") }
        guard receiptID == OrderID(asked.text) else { throw .mismatch(what: "receipt") }
        guard let kind = receipt.kind else { throw .malformed(field: "productType") }
        guard !facts.contradict(kind) else { throw .mismatch(what: "type of product") }
        guard let product = receipt.productId, !product.isEmpty else {
            throw .malformed(field: "productId")
        }
        let window = DateWindow(now: now)
        self.receipt = receipt
        environment = receipt.isTest ? .sandbox : host
        self.facts = facts
        self.now = now
        self.proven = proven ?? now
        self.kind = kind
        self.product = product
        self.receiptID = receiptID
        purchased = try window.past(milliseconds: receipt.purchaseDate, field: "purchaseDate")
        renewal = try window.date(milliseconds: receipt.renewalDate, field: "renewalDate")
        // Each later date would read as an older copy.
        guard renewal.map({ $0 <= now + Self.longestTerm }) ?? true else {
            throw .malformed(field: "renewalDate")
        }
        cancelled = try window.date(milliseconds: receipt.cancelDate, field: "cancelDate")
        let graceEnd = try window.date(
            milliseconds: receipt.gracePeriodEndDate, field: "gracePeriodEndDate")
        let trial = try window.date(
            milliseconds: receipt.freeTrialEndDate, field: "freeTrialEndDate")
        // Test receipts come with both ends set to the renewal, and are in neither.
        let isTest = environment == .sandbox
        grace = isTest && graceEnd == renewal ? nil : graceEnd
        trialEnd = isTest && trial == renewal && graceEnd == renewal ? nil : trial
    }

    /// No term is longer than a year; as much again for a trial, or what is to come with it.
    private static let longestTerm = Duration.days(2 * 366)

    var observation: Observation {
        let status = status
        let end = expiresAt(status)
        var observation = Observation(
            environment: environment, kind: kind, status: status,
            items: lacksTerm ? [] : [Item(names: names, expiresAt: end)], originalID: receiptID,
            period: period(status), paidThrough: paidThrough(status),
            expiresAt: end, willRenew: willRenew, phase: phase, purchasedAt: purchased,
            signals: signals(status), usedIntroductory: usedIntroductory,
            askAgainBy: askAgainBy, words: words)
        observation.notes.region = receipt.countryCode
        if observation.signals.contains(.productChangeScheduled) {
            observation.notes.nextProduct = receipt.deferredSku
        }
        return observation
    }

    private var status: SubscriptionStatus {
        guard let cancelled else {
            return isInGrace ? .grace(expiryMovedUnpaid: false) : .active
        }
        // An end to come: in force until then.
        guard cancelled <= proven else { return .active }
        guard kind == .autoRenewable else { return .refunded(at: cancelled) }
        if receipt.cancelReason == 4 { return .replaced(at: cancelled) }
        // There is no word for a refund: a term that ended more than a day early was taken back. A
        // trial is free, and what was told to have ended then stays so.
        let isFree = facts.phase == .trial || trialEnd.map { cancelled <= $0 } ?? false
        let isKnown = facts.state == .expired && facts.expiresAt == cancelled
        if !isFree, !isKnown, let known = facts.paidThrough,
            cancelled < known - .days(1)
        {
            return .refunded(at: cancelled)
        }
        return switch receipt.cancelReason {
        case 1: .ended(.userCancelled, at: cancelled)
        case 2: .ended(.paymentFailed, at: cancelled)
        default: .ended(.periodEnded, at: cancelled)
        }
    }

    /// A grace that has run out, or is not named any more, goes on until the renewal date moves:
    /// that alone says that it was paid.
    private var isInGrace: Bool {
        guard kind == .autoRenewable else { return false }
        if let grace, grace > proven { return true }
        return facts.state == .grace && (isRenewalDue || renewal == nil)
    }

    private func expiresAt(_ status: SubscriptionStatus) -> Timestamp? {
        guard kind == .autoRenewable else { return nil }
        return cancelled ?? (isInGrace ? grace ?? renewal : renewal ?? endOfTrial)
    }

    /// A free trial of which renewal was turned off ends with it: no renewal names the end then.
    private var endOfTrial: Timestamp? {
        receipt.autoRenewing == false && isInTrial ? trialEnd : nil
    }

    /// The end of the paid term; in grace only where it cannot be one that was moved unpaid.
    private func paidThrough(_ status: SubscriptionStatus) -> Timestamp? {
        switch status {
        case .active: cancelled == nil ? renewal : nil
        case .grace: isRenewalDue ? renewal : nil
        case .pending, .hold, .paused, .ended, .refunded, .removedFromFamily, .replaced: nil
        }
    }

    /// A renewal has no number, but its date moves on.
    private func period(_ status: SubscriptionStatus) -> OrderID? {
        guard kind == .autoRenewable else { return nil }
        if case .grace = status, !isRenewalDue { return nil }
        return receipt.renewalDate.map { OrderID(String($0)) }
    }

    private var isRenewalDue: Bool { renewal.map { $0 <= now } ?? false }

    private var names: [ProductID] {
        guard let term = receipt.termSku, !term.isEmpty, term != product else { return [product] }
        return [term, product]
    }

    /// Whether it does not tell the term of what is held: that stays what it is.
    private var lacksTerm: Bool {
        kind == .autoRenewable && receipt.termSku?.isEmpty ?? true && facts.product == product
            && facts.access == .granted
    }

    private var willRenew: Bool? {
        guard kind == .autoRenewable else { return nil }
        return cancelled == nil ? receipt.autoRenewing : false
    }

    private var phase: Phase? {
        guard kind == .autoRenewable else { return nil }
        if isInTrial { return .trial }
        return receipt.isIntroductory ? .introductory : .regular
    }

    /// A trial goes on until a paid term follows it: its renewal is shown some time after its end,
    /// and with auto-renew off neither is.
    private var isInTrial: Bool {
        guard let trialEnd else {
            let hasMovedOn = renewal.map { $0 > (facts.paidThrough ?? $0 - .days(1)) } ?? false
            let isUnpaid = isInGrace || !hasMovedOn
            return facts.phase == .trial && isUnpaid && cancelled.map { $0 > proven } ?? true
        }
        if trialEnd > now { return true }
        return facts.phase == .trial && (isInGrace || renewal.map { $0 <= trialEnd } ?? true)
    }

    /// Afterwards the answer names neither any more.
    private var usedIntroductory: Bool? {
        trialEnd != nil || receipt.hasUsedIntroductory ? true : nil
    }

    /// An end to come of what has no other end; some hours after an end whose reason Amazon fills
    /// in later.
    private var askAgainBy: Timestamp? {
        guard let cancelled else {
            return [deferredUntil, fulfilmentAlarm].compactMap { $0 }.filter { $0 > now }.min()
        }
        guard cancelled <= proven else { return kind == .autoRenewable ? nil : cancelled }
        let isReasonPending = receipt.lacksReason && now - cancelled < .days(2)
        return isReasonPending ? now + .hours(6) : nil
    }

    /// When a change of plan takes place.
    private var deferredUntil: Timestamp? {
        receipt.deferredDate.flatMap { Timestamp(millisecondsSinceEpoch: $0) }
    }

    private func signals(_ status: SubscriptionStatus) -> Set<Signal> {
        guard status == .active || isInGrace else { return [] }
        var signals: Set<Signal> = []
        if let next = receipt.deferredSku, next != receipt.termSku {
            signals.insert(.productChangeScheduled)
        }
        // What Amazon has not cancelled in time, it does not want to be told of.
        if let alarm = fulfilmentAlarm, let purchased, now > alarm, now < purchased + .days(14) {
            signals.insert(.unacknowledged)
        }
        return signals
    }

    /// When to warn of what nobody has fulfilled: a day after the purchase. Amazon cancels it
    /// after 14.
    ///
    /// <https://developer.amazon.com/docs/in-app-purchasing/iap-whats-new.html>
    private var fulfilmentAlarm: Timestamp? {
        receipt.isUnfulfilled ? purchased.map { $0 + .hours(24) } : nil
    }

    private var words: String {
        var words: [String] = []
        if let renews = receipt.autoRenewing { words.append("autoRenewing \(renews)") }
        for (name, date) in [
            ("renewalDate", renewal), ("freeTrialEndDate", trialEnd),
            ("gracePeriodEndDate", grace), ("cancelDate", cancelled),
        ] {
            if let date { words.append("\(name) \(date.text)") }
        }
        if let country = receipt.countryCode { words.append("countryCode \(country)") }
        if let reason = receipt.cancelReason { words.append("cancelReason \(reason)") }
        return words.joined(separator: ", ")
    }
}

extension Facts {
    /// Whether a receipt of that kind cannot be of this purchase: a receipt keeps its type for
    /// ever, and only a subscription has terms. Where an answer says nothing of renewal, the phase
    /// alone shows that it is one.
    fileprivate func contradict(_ kind: ProductKind) -> Bool {
        guard wasGranted else { return false }
        return kind == .autoRenewable
            ? phase == nil && period == nil && paidThrough == nil && autoRenew == nil
            : period != nil
    }
}

extension AmazonReceipt {
    fileprivate var kind: ProductKind? {
        switch productType {
        case "SUBSCRIPTION": .autoRenewable
        case "ENTITLED": .nonConsumable
        case "CONSUMABLE": .consumable
        default: hasTerms ? .autoRenewable : nil
        }
    }

    /// Whether it is of a type that is known. What has terms is a subscription whatever it is
    /// called; but bad news in words that nobody knows is none.
    var isOfKnownType: Bool {
        ["SUBSCRIPTION", "ENTITLED", "CONSUMABLE"].contains(productType)
    }

    private var hasTerms: Bool {
        renewalDate != nil || termSku != nil || freeTrialEndDate != nil
    }

    var isTest: Bool { testTransaction == true || betaProduct == true }

    fileprivate var isIntroductory: Bool { hasIntroductory(["inprogress"]) }
    fileprivate var hasUsedIntroductory: Bool { hasIntroductory(["inprogress", "completed"]) }

    private func hasIntroductory(_ statuses: [String]) -> Bool {
        (promotions ?? []).contains { promotion in
            statuses.contains(promotion.promotionStatus?.lowercased() ?? "")
                && promotion.promotionType?.lowercased().hasPrefix("introductory") == true
        }
    }
}
