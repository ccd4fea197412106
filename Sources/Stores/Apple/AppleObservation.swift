import Renewal

/// One subscription of an answer, its signatures verified.
struct AppleSubscription: Sendable {
    let status: Int
    @Boxed var transaction: AppleTransaction
    @Boxed var renewal: AppleRenewal?
    /// Of the answer, or of the transaction's signature.
    let time: AppleTime
    /// The end of grace, where the renewal that tells it is too old to be listened to.
    var knownGrace: Timestamp?
}

/// What a subscription comes to in our words. Which one of an answer counts is in
/// `AppleFound.swift`.
struct AppleReading: Sendable {
    var observation: Observation
    /// The unsigned status and the signed dates contradict one another.
    var isContested = false

    var answer: Answer { isContested ? observation.asContested() : .verdict(observation) }
}

extension AppleSubscription {
    /// Best first: running, then what may run again, then the latest to expire; a transaction
    /// that an upgrade has replaced comes last.
    static func precedes(_ left: AppleSubscription, _ right: AppleSubscription) -> Bool {
        left.rank != right.rank
            ? left.rank < right.rank
            : left.expiry > right.expiry
    }

    private var expiry: Int64 { transaction.expiresDate ?? 0 }

    /// Whether status and signed dates together say that it is in force.
    var isRunning: Bool { inForce != nil }

    /// Whether it is so though its payment has failed.
    var isInGrace: Bool {
        switch inForce {
        case .grace: true
        case .active, nil: false
        }
    }

    private var inForce: InForce? {
        guard let dates = try? Dates(self, window: DateWindow(now: time.now)),
            let verdict = stands(dates), !verdict.isContested
        else { return nil }
        return switch verdict.status {
        case .active: .active
        case .grace(let moved): .grace(expiryMovedUnpaid: moved)
        case .pending, .hold, .paused, .ended, .refunded, .removedFromFamily, .replaced: nil
        }
    }

    var isUpgraded: Bool { transaction.isUpgraded == true }
    /// Paid by somebody else: a family's copy, or a seat that was given.
    var isShared: Bool { transaction.isShared }

    private var rank: Int {
        if isUpgraded { return 4 }
        if isRunning { return isInGrace ? 1 : 0 }
        return status == 3 ? 2 : 3
    }

    /// Without a renewal that is older than what is known already: each of the two signed parts
    /// has an age of its own (rule 11). Of the same period, what is known of grace stays.
    func forgettingRenewal(olderThan facts: Facts) -> AppleSubscription {
        guard let known = facts.statedAt, let told = renewal?.signedDate,
            let signed = Timestamp(millisecondsSinceEpoch: told), signed + Self.sameAnswer < known
        else { return self }
        var copy = self
        copy.renewal = nil
        if facts.state == .grace, facts.period == transaction.period {
            copy.knownGrace = facts.expiresAt
        }
        return copy
    }

    /// In our words.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/status>
    ///
    /// - Throws: `.malformed` for a status that is not known and for what is no date.
    func reading(in environment: StoreEnvironment) throws(StoreFailure) -> AppleReading {
        let dates = try Dates(self, window: DateWindow(now: time.now))
        guard let (subscription, isContested) = stands(dates) else {
            throw .malformed(field: "status")
        }
        guard let product = transaction.productId, !product.isEmpty else {
            throw .malformed(field: "signedTransactionInfo.productId")
        }
        let end =
            subscription == .grace(expiryMovedUnpaid: false)
            ? dates.grace ?? dates.expires : dates.expires
        var observation = Observation(
            environment: environment, kind: transaction.kind, status: subscription,
            items: transaction.items(of: product, until: end),
            originalID: transaction.originalTransactionId, orderID: transaction.transactionId,
            period: transaction.period,
            paidThrough: dates.expires, expiresAt: end,
            willRenew: goesOn, phase: transaction.phase,
            purchasedAt: dates.purchased, signals: signals,
            group: transaction.subscriptionGroupIdentifier,
            usedIntroductory: transaction.offerType == 1 ? true : nil, statedAt: dates.stated,
            words: words(dates))
        observation.commitment = commitment
        observation.offerIsIntroductory = transaction.offerType == 1
        observation.lostParts = transaction.lostParts
        observation.accountToken = transaction.appAccountToken.map(UserID.init)
        observation.ownership = Ownership(appleName: transaction.inAppOwnershipType)
        return AppleReading(observation: observation, isContested: isContested)
    }

    /// Where it stands by its own record. The status is not signed, but the dates are: where they
    /// contradict it, in either direction, its bad news needs a second opinion (rule 2). Nil for a
    /// status that is not known.
    private func stands(_ dates: Dates) -> (status: SubscriptionStatus, isContested: Bool)? {
        // An upgrade takes the old period back as well.
        if isUpgraded { return (.replaced(at: nil), false) }
        if let revoked = dates.revoked, transaction.isTakenBack {
            return (takenBack(revoked), ![2, 3, 5].contains(status))
        }
        if let revoked = transaction.itemsRevokedAt { return (.refunded(at: revoked), false) }
        let runs = dates.expires.map { $0 > time.instant + Self.tolerance } ?? false
        let graceRuns = dates.grace.map { $0 > time.instant } ?? false
        switch status {
        case 1 where runs, 4 where runs: return (.active, false)
        case 1: return lateStands(dates, graceRuns: graceRuns)
        case 2: return (.ended(endCause, at: dates.expires), runs || graceRuns)
        case 3: return (.hold, runs || graceRuns)
        case 4:
            let end = dates.grace ?? dates.expires.map { $0 + Self.longestGrace } ?? time.instant
            guard !time.isProven || end + Self.lateness >= time.instant else {
                return (.hold, true)
            }
            return (.grace(expiryMovedUnpaid: false), false)
        case 5: return (takenBack(nil), true)
        default: return nil
        }
    }

    /// Active, and the signed period is over: for a while that is a renewal that is not shown yet.
    private func lateStands(
        _ dates: Dates, graceRuns: Bool
    ) -> (status: SubscriptionStatus, isContested: Bool) {
        let isRetrying = renewal?.isInBillingRetryPeriod == true
        let isLate =
            time.isProven && dates.expires.map { $0 + Self.lateness < time.instant } ?? true
        if graceRuns || isRetrying && !isLate { return (.grace(expiryMovedUnpaid: false), false) }
        guard isLate else { return (.active, false) }
        return (isRetrying ? .hold : .ended(endCause, at: dates.expires), true)
    }

    private func takenBack(_ at: Timestamp?) -> SubscriptionStatus {
        transaction.isFamilyRemoval ? .removedFromFamily(at: at) : .refunded(at: at)
    }

    /// A status flips at the very end of its period; clocks differ by less than this.
    private static let tolerance = Duration.minutes(1)
    /// So long after its end a period may still be shown as active: Apple renews within a day.
    private static let lateness = Duration.days(1)
    /// Where the end of grace is not told.
    private static let longestGrace = Duration.days(28)
    /// The two signatures of one answer are not made at the same instant.
    private static let sameAnswer = Duration.minutes(5)

    private var endCause: EndCause {
        switch renewal?.expirationIntent {
        case 1: .userCancelled
        case 2: .paymentFailed
        case 3: .priceIncreaseDeclined
        case 4: .productUnavailable
        case nil where isTurnedOff: .userCancelled
        default: .periodEnded
        }
    }

    private var signals: Set<Signal> {
        guard isRunning, let renewal else { return [] }
        var signals: Set<Signal> = []
        if renewal.priceIncreaseStatus == 0 { signals.insert(.priceIncreasePending) }
        if let next = nextProduct, next != transaction.productId {
            signals.insert(.productChangeScheduled)
        }
        return signals
    }

    private func words(_ dates: Dates) -> String {
        var words = ["status \(status)"]
        if let intent = renewal?.expirationIntent { words.append("expirationIntent \(intent)") }
        if let renews = renewal?.autoRenewStatus { words.append("autoRenewStatus \(renews)") }
        if isUpgraded { words.append("isUpgraded") }
        words += commitmentWords
        for (name, date) in [
            ("expiresDate", dates.expires), ("gracePeriodExpiresDate", dates.grace),
            ("revocationDate", dates.revoked),
        ] {
            if let date { words.append("\(name) \(date.text)") }
        }
        return words.joined(separator: ", ")
    }
}

/// The dates of a subscription, each checked to be one.
private struct Dates {
    /// End of the paid period; nil where a product has none.
    let expires: Timestamp?
    let grace: Timestamp?
    let revoked: Timestamp?
    let purchased: Timestamp?
    let stated: Timestamp?

    init(_ subscription: AppleSubscription, window: DateWindow) throws(StoreFailure) {
        let transaction = subscription.transaction
        let outer = "signedTransactionInfo"
        expires = try window.date(
            milliseconds: transaction.expiresDate, field: "\(outer).expiresDate")
        revoked = try window.date(
            milliseconds: transaction.revocationDate, field: "\(outer).revocationDate")
        // Of the period: the original date stays the first one when it is bought anew.
        purchased = try window.date(
            milliseconds: transaction.purchaseDate ?? transaction.originalPurchaseDate,
            field: "\(outer).purchaseDate")
        grace =
            try window.date(
                milliseconds: subscription.renewal?.gracePeriodExpiresDate,
                field: "signedRenewalInfo.gracePeriodExpiresDate")
            ?? subscription.knownGrace
        // The transaction is what access hangs on: a renewal that is newer makes it no newer.
        let signed = transaction.signedDate ?? subscription.renewal?.signedDate
        stated =
            try window.date(milliseconds: signed, field: "signedDate")
            ?? subscription.time.told
        guard expires != nil || revoked != nil else {
            throw .malformed(field: "\(outer).expiresDate")
        }
    }
}

extension AppleTransaction {
    /// <https://developer.apple.com/documentation/appstoreserverapi/type>
    var kind: ProductKind {
        switch type {
        // It has an expiry date and a subscription status, so it can be nothing else.
        case "Auto-Renewable Subscription", nil: .autoRenewable
        // A type that is not known yet, with an end of its own.
        case _ where isSubscription: .autoRenewable
        case "Non-Renewing Subscription": .nonRenewing
        case "Non-Consumable": .nonConsumable
        case "Consumable": .consumable
        // One that is not known yet, without an end.
        default: .nonConsumable
        }
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/offertype>
    var phase: Phase {
        // Offers of every type may be free.
        if offerDiscountType == "FREE_TRIAL" { return .trial }
        return offerType == 1 ? .introductory : .regular
    }

    var isFamilyRemoval: Bool { revocationType == "FAMILY_REVOKE" || isShared }

    var isShared: Bool {
        inAppOwnershipType == "FAMILY_SHARED" || inAppOwnershipType == "ASSIGNED"
    }
}

extension Ownership {
    /// Nil for what is not known, which is kept out: it decides nothing.
    init?(appleName name: String?) {
        switch name {
        case "PURCHASED": self = .purchased
        case "FAMILY_SHARED": self = .familyShared
        case "ASSIGNED": self = .assigned
        default: return nil
        }
    }
}

extension StoreEnvironment {
    /// As Apple writes it. Xcode's environments, whose data nobody has signed, have no case here.
    var appleName: String {
        switch self {
        case .production: "Production"
        case .sandbox: "Sandbox"
        }
    }

    /// - Throws: `.mismatch` where an answer names another one. Only of the two that there are it
    ///   is told as a change.
    func check(appleName name: String?) throws(StoreFailure) {
        guard let name, name != appleName else { return }
        let isOther = name == other.appleName
        throw .mismatch(
            what: isOther ? StoreFailure.environment : "environment, one that is not known")
    }

    var other: StoreEnvironment {
        switch self {
        case .production: .sandbox
        case .sandbox: .production
        }
    }
}
