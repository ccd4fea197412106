/// What one decision changes for its user, to be committed whole.
package struct Settlement: Hashable, Sendable {
    /// Purchases to store: the one decided about, and those it has taken over from.
    package internal(set) var purchases: [Purchase] = []
    package internal(set) var entitlements: [Entitlement] = []
    package internal(set) var events: [Event] = []
    /// What the user may be offered from now on, where that has changed. Nil is no longer kept.
    package internal(set) var offers: [OfferID: Offer?] = [:]
    /// Of older links of the chain: what the breaker holds, and why it would be lost.
    package internal(set) var heldLosses: [Int64: [EntitlementID: RevokeReason]] = [:]
    /// Other purchases of the user that live by the same order, of what has ended: they are to be
    /// asked about at once.
    package internal(set) var siblings: Set<Int64> = []

    /// Whether the user loses anything.
    package var revokes: Bool { !revoked.isEmpty }

    /// What the user loses.
    var revoked: Set<EntitlementID> {
        Set(
            events.compactMap { event in
                if case .revoke = event.kind { event.entitlement } else { nil }
            })
    }
}

/// The older link of a chain, as it was before a newer one of another user has taken over.
package struct OlderLink: Hashable, Sendable {
    /// What it gave.
    let gave: Set<EntitlementID>
    let lossReason: RevokeReason?

    var wasInForce: Bool { !gave.isEmpty }

    init(_ facts: Facts) {
        gave = Set(facts.holdings.map(\.entitlement))
        lossReason = facts.lossReason
    }
}
