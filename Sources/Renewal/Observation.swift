/// A verdict of a store in our own terms, the same for every store.
package struct Observation: Hashable, Sendable {
    package var environment: StoreEnvironment
    package var kind: ProductKind
    /// Where the purchase stands, and by whose record that is known.
    package var observed: ObservedStatus
    /// What is in force now, the main product first. A store with one product gives one item.
    package var items: [Item]
    /// Apple's original transaction id, Google's base order id, Amazon's receipt id.
    package var originalID: OrderID?
    /// The latest paid order.
    package var orderID: OrderID?
    /// Names the latest paid period. Nil where the store does not; the date tells then.
    package var period: OrderID?
    /// End of the last paid period. Nil when the answer does not tell: what was known stays.
    package var paidThrough: Timestamp?
    /// End of access as the store says now. Nil when the answer does not tell.
    package var expiresAt: Timestamp?
    /// Whether it goes on, after what its buyer has committed to where there is such a thing.
    package var willRenew: Bool?
    /// What its buyer has committed to. Nil where the answer does not tell.
    package var commitment: Commitment?
    package var phase: Phase?
    /// When the current period or product was bought.
    package var purchasedAt: Timestamp?
    /// Conditions that hold now.
    package var signals: Set<Signal>
    /// The token of the link of the chain that this purchase continues.
    package var predecessorToken: StoreToken?
    /// What the store shall be asked with from now on, instead of the token: the transaction id
    /// that a legacy receipt was found to hold, or the store's newest receipt. A secret.
    package var nextToken: StoreToken?
    /// By `nextToken` the purchase leaves a deprecated protocol for good.
    package var isMigrated = false
    /// The group of subscriptions of which a customer holds one at a time (Apple). Nil where the
    /// store has no such groups: the product is its own group then.
    package var group: GroupID?
    /// Whether a trial or an introductory offer of this group has ever been used. Nil when the
    /// answer does not tell.
    package var usedIntroductory: Bool?
    /// The account of the app's own that the app named at the purchase: Apple's `appAccountToken`,
    /// Google's `obfuscatedExternalAccountId`. Nil where the answer does not tell: what was known
    /// stays. It identifies: compared by bytes.
    package var accountToken: UserID?
    /// Nil where the answer does not tell.
    package var ownership: Ownership?
    /// Whether the phase is one of an introductory offer, of which a customer gets one; nil where
    /// the store has no other offers. A trial may be a promotional one.
    package var offerIsIntroductory: Bool?
    /// The store still waits for somebody to acknowledge the purchase (Google, three days long).
    package var awaitsAcknowledgement = false
    /// When the store said it, where it says so; otherwise the time of the answer counts.
    package var statedAt: Timestamp?
    /// Something of the purchase changes then that its state and its end do not tell: an item with
    /// an end of its own, a limit for acknowledging. Asked again at that time at the latest.
    package var askAgainBy: Timestamp?
    /// Orders of earlier periods that are refunded and were not told of before: what the signal
    /// `pastPeriodRefunded` is about, where the store names them.
    package var pastRefunds: Set<OrderID> = []
    /// A part of what was bought was given back since the last answer, and the rest is in force.
    package var isRefundedInPart = false
    /// Orders that a part of was given back, where the store says how much.
    package var refundedParts: [OrderID: RefundedPart] = [:]
    /// For events alone.
    package var notes = SaleNotes()
    package var lostParts = LostParts()
    /// Clues that were looked into, whatever was found: they need not be kept.
    package var settledClues: Set<Clue> = []
    /// The answer in the store's own words, such as `status 2, expirationIntent 1`: for people.
    /// Holds no token, receipt, name or address.
    package var words: String

    package init(
        environment: StoreEnvironment, kind: ProductKind = .autoRenewable,
        status: SubscriptionStatus,
        items: [Item], originalID: OrderID? = nil, orderID: OrderID? = nil, period: OrderID? = nil,
        paidThrough: Timestamp? = nil, expiresAt: Timestamp? = nil, willRenew: Bool? = nil,
        phase: Phase? = nil, purchasedAt: Timestamp? = nil, signals: Set<Signal> = [],
        predecessorToken: StoreToken? = nil, nextToken: StoreToken? = nil, isMigrated: Bool = false,
        group: GroupID? = nil, usedIntroductory: Bool? = nil, statedAt: Timestamp? = nil,
        askAgainBy: Timestamp? = nil, words: String = ""
    ) {
        self.environment = environment
        self.kind = kind
        observed = .own(status)
        self.items = items
        self.originalID = originalID
        self.orderID = orderID
        self.period = period
        self.paidThrough = paidThrough
        self.expiresAt = expiresAt
        self.willRenew = willRenew
        self.phase = phase
        self.purchasedAt = purchasedAt
        self.signals = signals
        self.predecessorToken = predecessorToken
        self.nextToken = nextToken
        self.isMigrated = isMigrated
        self.group = group
        self.usedIntroductory = usedIntroductory
        self.statedAt = statedAt
        self.askAgainBy = askAgainBy
        self.words = words
    }
}

extension Observation {
    /// Whether it names a later paid period than the known one. An add-on's own period goes on
    /// where its base has ended.
    package func isPaidAnew(since facts: Facts) -> Bool {
        guard let paidThrough, period != facts.period else { return false }
        return facts.paidThrough.map { paidThrough > $0 } ?? true
    }

    package var status: SubscriptionStatus { observed.status }

    /// Whether something else than the purchase's own record speaks.
    package var isSubstitute: Bool {
        switch observed {
        case .own: false
        case .substitute: true
        }
    }

    /// The answer, when what was observed is not the purchase's own record but stands in for it:
    /// good news is a verdict, and all else at most a doubt.
    package func asSubstitute(otherwise doubt: Doubt = .unproven) -> Answer {
        let inForce: InForce
        switch status {
        case .active: inForce = .active
        case .grace(let moved): inForce = .grace(expiryMovedUnpaid: moved)
        case .pending, .hold, .paused, .ended, .refunded, .removedFromFamily, .replaced:
            return .doubt(doubt)
        }
        var observation = self
        observation.observed = .substitute(inForce)
        return .verdict(observation)
    }
}

/// Whose record an observation is made from (design rule 1): what a substitute says can be in
/// force and nothing worse, so that its bad news never reaches the decision as a verdict.
package enum ObservedStatus: Hashable, Sendable {
    /// The record of the purchase itself, found by its own name. It may say anything.
    case own(SubscriptionStatus)
    /// Something that stands in for it where the answer lacks the purchase's own record: another
    /// transaction of its group, a family member's copy, another list, an older receipt.
    case substitute(InForce)

    package var status: SubscriptionStatus {
        switch self {
        case .own(let status): status
        case .substitute(.active): .active
        case .substitute(.grace(let moved)): .grace(expiryMovedUnpaid: moved)
        }
    }
}

/// The standings that give access.
package enum InForce: Hashable, Sendable {
    case active
    case grace(expiryMovedUnpaid: Bool)
}

/// What the buyer of a subscription has committed to pay, period by period (design rule 16).
package enum Commitment: Hashable, Sendable {
    /// Nothing: it renews period by period, or was paid at once.
    case absent
    /// `renewsNext` is whether the next period is owed and will be charged; nil where the answer
    /// does not tell.
    case until(Timestamp, renewsNext: Bool?)

    var owesNext: Bool {
        if case .until(_, renewsNext: true) = self { true } else { false }
    }
}

/// One product of a purchase.
package struct Item: Hashable, Sendable {
    /// The names to look the product's rule up by, best first; Amazon has two (term, parent).
    /// The last one is the product itself.
    package let names: [ProductID]
    /// End of this item's access; nil is for ever, or as the purchase's own.
    package let expiresAt: Timestamp?

    package init(names: [ProductID], expiresAt: Timestamp?) {
        self.names = names
        self.expiresAt = expiresAt
    }
}

/// Where a purchase stands with its store.
package enum SubscriptionStatus: Hashable, Sendable {
    /// The first payment is awaited.
    case pending
    /// In force and paid; also when it has been cancelled and still runs.
    case active
    /// Payment failed, access goes on. `expiryMovedUnpaid`: the store has moved the expiry though
    /// nothing was paid (Google's false renewal, design rule 4).
    case grace(expiryMovedUnpaid: Bool)
    /// Payment failed, access is suspended, the store still collects.
    case hold
    case paused(until: Timestamp?)
    case ended(EndCause, at: Timestamp?)
    case refunded(at: Timestamp?)
    case removedFromFamily(at: Timestamp?)
    /// Another link of the chain has replaced it.
    case replaced(at: Timestamp?)

    /// When it was taken back, where the store says so.
    package var endedAt: Timestamp? {
        switch self {
        case .ended(_, let at), .refunded(let at), .removedFromFamily(let at), .replaced(let at): at
        case .pending, .active, .grace, .hold, .paused: nil
        }
    }
}

extension Observation {
    package var givesAccess: Bool {
        switch status {
        case .active, .grace: true
        case .pending, .hold, .paused, .ended, .refunded, .removedFromFamily, .replaced: false
        }
    }
}

extension EndCause {
    package var reason: RevokeReason {
        switch self {
        case .periodEnded: .expired
        case .userCancelled: .cancelled
        case .paymentFailed: .paymentFailed
        case .priceIncreaseDeclined: .priceIncreaseDeclined
        case .productUnavailable: .productUnavailable
        }
    }
}

/// Why a paid period was not followed by another.
package enum EndCause: Hashable, Sendable, CaseIterable {
    /// The store gives no other cause.
    case periodEnded
    case userCancelled
    case paymentFailed
    case priceIncreaseDeclined
    case productUnavailable
}

/// A condition of a purchase that is told once, as a notice, when it begins.
package enum Signal: String, Hashable, Sendable, CaseIterable {
    case pauseScheduled = "pause_scheduled"
    case priceIncreasePending = "price_increase_pending"
    case productChangeScheduled = "product_change_scheduled"
    case unacknowledged
    case sharedReceipt = "shared_receipt"
    case environmentChanged = "environment_changed"
    case tokenEnding = "token_ending"
    case pastPeriodRefunded = "refund_of_past_period"

    /// The notice that tells it.
    package var notice: NoticeReason {
        switch self {
        case .pauseScheduled: .pauseScheduled
        case .priceIncreasePending: .priceIncreasePending
        case .productChangeScheduled: .productChangeScheduled
        case .unacknowledged: .unacknowledged
        case .sharedReceipt: .sharedReceipt
        case .environmentChanged: .environmentChanged
        case .tokenEnding: .tokenEnding
        case .pastPeriodRefunded: .refundOfPastPeriod
        }
    }
}
