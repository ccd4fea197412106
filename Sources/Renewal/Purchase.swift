/// One stored receipt, token or transaction id, and all that is known of it.
package struct Purchase: Hashable, Sendable {
    package let id: Int64
    package let userID: UserID
    package let app: AppKey
    /// What a store is asked with: what was submitted, or what the store has named since. A
    /// secret: never in a log, an error or an event.
    package let token: StoreToken
    /// Amazon's user id; nil elsewhere.
    package let storeUserID: StoreUserID?
    package let createdAt: Timestamp
    /// Another user has handed in the same token.
    package let isClaimedByOthers: Bool
    /// The other user who has handed it in since, where that is not settled yet.
    package private(set) var claimant: UserID?
    package internal(set) var facts: Facts
    /// When the claimant has handed it in. Read with a claim only.
    package var claimedAt: Timestamp?
    /// All other users who have handed it in and have no purchase of their own for it, the latest
    /// first. Read with a claim only.
    package var claimants: [UserID] = []
    /// Whether anybody but its owner has handed it in and has no purchase of their own for it. The
    /// owner may have done so again since.
    var isClaimed: Bool { claimant != nil || !claimants.isEmpty }
    /// What hints have named and no check has looked into yet.
    package var clues: Set<Clue> = []
    /// When each of these was first heard of, by the database's clock.
    package var cluesHeardAt: [Clue: Timestamp] = [:]
    /// Orders whose refund was looked into, and is no news any more. Read with a claim only.
    package var knownRefunds: Set<OrderID> = []
    /// When the last verdict was heard. Read with a claim only.
    package var checkedAt: Timestamp?
    /// Since when its store has been asked in vain. Read with a claim only.
    package var inVainSince: Timestamp?

    package init(
        id: Int64, userID: UserID, app: AppKey, token: StoreToken,
        storeUserID: StoreUserID? = nil,
        createdAt: Timestamp, isClaimedByOthers: Bool = false,
        claimant: UserID? = nil, facts: Facts
    ) {
        self.id = id
        self.userID = userID
        self.app = app
        self.token = token
        self.storeUserID = storeUserID
        self.createdAt = createdAt
        self.isClaimedByOthers = isClaimedByOthers
        self.claimant = claimant
        self.facts = facts
    }

    /// Whether an answer that contradicts what is known may be an older copy: for a day in which
    /// each answer did. Later the store means it. The time is the database's.
    package func mayBeAhead(at now: Timestamp) -> Bool {
        inVainSince.map { now - $0 < .days(1) } ?? true
    }

    /// Leaves out a claimant who is none of those who may claim it.
    ///
    /// - Parameters:
    ///   - claimants: those who may, as many as were read.
    ///   - limit: so many are read at most.
    package mutating func forgetClaimant(unlessAmong claimants: [UserID], limit: Int) {
        guard let claimant, claimants.count < limit, !claimants.contains(claimant) else { return }
        self.claimant = nil
    }

    /// The same purchase in the hands of the user who has claimed it.
    func handed(to user: UserID, with facts: Facts) -> Purchase {
        Purchase(
            id: id, userID: user, app: app, token: token, storeUserID: storeUserID,
            createdAt: createdAt, isClaimedByOthers: true, facts: facts)
    }
}

/// What a check may change: stored whole, compared whole. Equal facts mean nothing to write. What
/// access hangs on is the core's to set.
package struct Facts: Hashable, Sendable {
    /// The current product as the store names it; what was submitted until a store has answered.
    package var product: ProductID
    package var environment: StoreEnvironment?
    package var kind: ProductKind?
    package internal(set) var state = PurchaseState.new
    package internal(set) var access = Access.none
    /// End of the last period that was paid.
    package var paidThrough: Timestamp?
    /// End of access as the store says now; beyond `paidThrough` in grace.
    package var expiresAt: Timestamp?
    /// Whether it goes on, after what its buyer has committed to where there is such a thing.
    package var autoRenew: Bool?
    /// Until when its buyer has committed to pay, period by period; nil without a commitment.
    package var commitmentEndsAt: Timestamp?
    /// Within a commitment, whether the next period is owed and will be charged, also of one that
    /// has been cancelled; nil without one.
    package var renewsNext: Bool?
    /// The latest paid order: Google's order id, Apple's transaction id, Amazon's receipt id.
    package var orderID: OrderID?
    package var originalID: OrderID?
    /// Names the latest paid period; a renewal changes it, an extension does not.
    package var period: OrderID?
    package var phase: Phase?
    /// The group of subscriptions of which a customer holds one at a time (Apple). Nil where the
    /// store has no such groups, or has not named it yet.
    package var group: GroupID?
    /// Whether a trial or an introductory offer of this group has ever been used, as far as the
    /// store tells. Nil when it was never told.
    package var usedIntroductory: Bool?
    /// The newest time at which the store stated what is stored here (design rule 11).
    package var statedAt: Timestamp?
    /// Why access was last given; nil where it never was, and where that was before it was kept.
    package var gainReason: GrantReason?
    /// Why access was last lost, or would be if the breaker did not hold it; nil while it is
    /// granted or never was.
    package internal(set) var lossReason: RevokeReason?
    /// Conditions that have been told once and still hold.
    package var signals: Set<Signal> = []
    /// Ambiguous bad news that waits for its second opinion (design rule 2).
    package var doubt: PendingDoubt?
    /// What the purchase gives now. Empty without access.
    package internal(set) var holdings: [Holding] = []
    /// Since when the breaker holds its revocation; nil where it holds none.
    package var heldSince: Timestamp?
    /// Whom the app has named to the store at the purchase.
    package var accountToken: UserID?
    package var ownership: Ownership?
    /// It was imported as it stands and no store has told of it yet: what the first sight finds is
    /// stored and not told.
    package var isBaseline = false

    /// Of what was submitted, before a store has answered.
    package init(product: ProductID) {
        self.product = product
    }

    /// As they are stored: the one way in for what access hangs on.
    package init(
        storedProduct product: ProductID, state: PurchaseState, access: Access,
        lossReason: RevokeReason? = nil, holdings: [Holding] = []
    ) {
        self.product = product
        self.state = state
        self.access = access
        self.lossReason = lossReason
        self.holdings = holdings
    }

    /// Whether access has ever been given.
    package var wasGranted: Bool { access != .none || lossReason != nil }

    /// Whether another period will be charged.
    package var willRenew: Bool? { renewsNext ?? autoRenew }

    /// The same where access has ended: nothing renews what is over, whatever was known before.
    package var willStillRenew: Bool? {
        switch state {
        case .new, .pending, .active, .grace, .hold, .paused: willRenew
        case .expired, .refunded, .revoked, .superseded, .invalid: willRenew.map { _ in false }
        }
    }

    /// Why access is as it is; nil before it was ever given.
    package var accessReason: String? {
        switch access {
        case .granted, .held: gainReason?.rawValue
        case .none: lossReason?.rawValue
        }
    }

    /// Whether no store has ever said of it that it is paid, or was.
    package var isUnconfirmed: Bool {
        switch state {
        case .new, .pending, .invalid: !wasGranted
        case .active, .grace, .hold, .paused, .expired, .refunded, .revoked, .superseded: false
        }
    }
}

/// An entitlement that a purchase gives.
package struct Holding: Hashable, Sendable {
    package let entitlement: EntitlementID
    package let product: ProductID
    /// Nil is for ever.
    package let expiresAt: Timestamp?

    package init(entitlement: EntitlementID, product: ProductID, expiresAt: Timestamp?) {
        self.entitlement = entitlement
        self.product = product
        self.expiresAt = expiresAt
    }
}

extension Facts {
    /// Whether nothing of it is left to be given back. Of several consumables the store may have
    /// given back some: the period says how many.
    package var isRefundedWhole: Bool {
        state == .refunded && (kind != .consumable || period == nil || period == orderID)
    }
}

/// The first of two opinions.
package struct PendingDoubt: Hashable, Sendable {
    package let doubt: Doubt
    package let since: Timestamp

    package init(doubt: Doubt, since: Timestamp) {
        self.doubt = doubt
        self.since = since
    }
}
