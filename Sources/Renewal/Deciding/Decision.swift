/// What a check does to a purchase. Only the core makes changes, and nobody else can alter one
/// (design rule 1).
package indirect enum Decision: Hashable, Sendable {
    /// Nothing is stored but when to ask again.
    case unchanged
    case changed(Change)
    /// The purchase goes to another user, with all that belongs to it.
    case handed(to: UserID, Change)
    /// Every user who has claimed the purchase gets one of their own, to be asked about by itself.
    case shared(Change)

    /// A change by which everything stays as it was known is none.
    init(_ change: Change, of known: Facts) {
        let isNone =
            change.facts == known && change.notices.isEmpty && change.nextToken == nil
        self = isNone ? .unchanged : .changed(change)
    }

    package var change: Change? {
        switch self {
        case .unchanged: nil
        case .changed(let change), .handed(_, let change), .shared(let change): change
        }
    }
}

/// What becomes of a purchase, and what there is to tell of it.
package struct Change: Hashable, Sendable {
    /// The facts as they shall be.
    package internal(set) var facts: Facts
    /// Told whatever the user's other purchases give.
    package internal(set) var notices: [Notice] = []
    var reasons = Reasons()
    /// When it took effect.
    var effectiveAt: Timestamp
    /// Whether that is the store's time, or follows from it.
    var isDated = false
    var detail = Detail()
    /// The purchase that this one has taken over from.
    package internal(set) var predecessorToken: StoreToken?
    /// The older link of the chain that a paid purchase continues: handed in later, it gives
    /// nothing.
    package internal(set) var olderLink: StoreToken?
    /// What the store shall be asked with from now on; nil when that stays as it is. A secret.
    package internal(set) var nextToken: StoreToken?
    /// What the breaker holds, and why it would be lost.
    package internal(set) var heldLosses: [EntitlementID: RevokeReason] = [:]

    package struct Notice: Hashable, Sendable {
        package let reason: NoticeReason
        package let detail: Detail

        init(_ reason: NoticeReason, detail: Detail = Detail()) {
            self.reason = reason
            self.detail = detail
        }
    }
}

/// Why a user gains or loses entitlements, should a change come to that.
struct Reasons: Hashable, Sendable {
    var gain = GrantReason.purchased
    var loss = RevokeReason.expired
    /// What is lost by itself, for a reason of its own or before the rest.
    var losses: [EntitlementID: RevokeReason] = [:]
    /// What goes from one user to another.
    var transferred: Set<EntitlementID> = []

    /// What has run out while something else is lost.
    var expired: Set<EntitlementID> { Set(losses.filter { $0.value == .expired }.keys) }

    func gain(of entitlement: EntitlementID) -> GrantReason {
        transferred.contains(entitlement) ? .transferred : gain
    }

    func loss(of entitlement: EntitlementID) -> RevokeReason {
        transferred.contains(entitlement) ? .transferred : losses[entitlement] ?? loss
    }
}
