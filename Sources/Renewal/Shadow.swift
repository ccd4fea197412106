// What another system believes, beside what we know: who is right about whom is not said here, but
// why they differ (design section 10).

/// Who grants where two systems differ.
package enum ShadowClass: String, Hashable, Sendable, CaseIterable {
    /// Access that no store confirms: somebody keeps what is not paid.
    case theyGrant = "they_grant"
    /// Access that they do not give: somebody is locked out of what is paid.
    case weGrant = "we_grant"
}

/// Why two systems differ about a user and an entitlement.
package enum ShadowCause: String, Hashable, Sendable, CaseIterable {
    /// The money was given back, or the store has taken the purchase away from its user.
    case refundUnseen = "refund_unseen"
    /// It is paid, or was paid again.
    case renewalUnseen = "renewal_unseen"
    /// Its time is over.
    case expiryUnseen = "expiry_unseen"
    /// An end that a store has moved without being paid, or a payment that has not come.
    case falseRenewal = "false_renewal"
    /// The payment has failed, and the store gives grace.
    case grace
    /// The payment has failed or is paused, and the store gives no access; of what we grant, the
    /// breaker holds the revoke.
    case hold
    /// It is a purchase of the sandbox.
    case environment
    /// No product of the user gives that entitlement; of what we grant, they have no such one.
    case productNotMapped = "product_not_mapped"
    /// No purchase is that user's: nobody has submitted one, the store has never known what was
    /// submitted, or another user has what both have handed in.
    case unknownUser = "unknown_user"
    /// No store has answered for it yet.
    case notYetChecked = "not_yet_checked"
}

/// A user and an entitlement about which two systems differ, with what we know of it.
package struct ShadowCase: Hashable, Sendable {
    package let entitlement: EntitlementID
    package let who: ShadowClass
    /// All purchases of the user.
    package let purchases: [Evidence]
    /// Those of others that the user has handed in as well.
    package let claimed: [Evidence]
    /// Which purchase the entitlement hung on last; nil where it was never held.
    package let lastHeldBy: Int64?
    /// Which product of that purchase gave it then.
    package let lastProduct: ProductID?
    /// They know the entitlement, of whomever.
    package let isKnownToThem: Bool

    /// A purchase, and what its store has said of it last.
    package struct Evidence: Hashable, Sendable {
        package let id: Int64
        package let createdAt: Timestamp
        package let facts: Facts
        /// Nil where it is not kept.
        package let heard: Observation?
        /// Since it was paid last its end was moved without payment.
        package let wasMovedUnpaid: Bool

        package init(
            id: Int64, createdAt: Timestamp, facts: Facts, heard: Observation?,
            wasMovedUnpaid: Bool
        ) {
            self.id = id
            self.createdAt = createdAt
            self.facts = facts
            self.heard = heard
            self.wasMovedUnpaid = wasMovedUnpaid
        }
    }

    package init(
        _ entitlement: EntitlementID, _ who: ShadowClass, purchases: [Evidence],
        claimed: [Evidence] = [], lastHeldBy: Int64?, lastProduct: ProductID? = nil,
        isKnownToThem: Bool
    ) {
        self.entitlement = entitlement
        self.who = who
        self.purchases = purchases
        self.claimed = claimed
        self.lastHeldBy = lastHeldBy
        self.lastProduct = lastProduct
        self.isKnownToThem = isKnownToThem
    }
}

extension ShadowCase {
    /// Why they differ, from the purchase that the entitlement hangs on.
    ///
    /// - Parameter catalog: which product gives what.
    /// - Returns: one cause, the first that explains it.
    package func cause(under catalog: Catalog) -> ShadowCause {
        switch who {
        case .theyGrant: causeOfTheirs(catalog)
        case .weGrant: causeOfOurs
        }
    }

    /// When that came about of which they do not know.
    ///
    /// - Parameters:
    ///   - catalog: which product gives what.
    ///   - told: when the last grant or revoke of the entitlement took effect.
    ///   - now: nothing is later.
    /// - Returns: nil where no time is known.
    package func since(
        under catalog: Catalog, told: Timestamp?, at now: Timestamp
    ) -> Timestamp? {
        guard let purchase = decisive(catalog) else { return nil }
        if let told, told <= now { return told }
        let end: Timestamp? =
            switch who {
            case .theyGrant: purchase.facts.expiresAt ?? purchase.facts.paidThrough
            case .weGrant: nil
            }
        return end.flatMap { $0 <= now ? $0 : nil }
    }

    private var holders: [Evidence] {
        purchases.filter { $0.holds(entitlement) }
    }

    /// The purchase that decides; nil where none has to do with the entitlement. Of what is
    /// another's, only where the user has none.
    private func decisive(_ catalog: Catalog) -> Evidence? {
        if who == .weGrant, let holder = holders.first { return holder }
        let all = purchases + claimed
        if let last = all.first(where: { $0.id == lastHeldBy }) { return last }
        // What never gave it: the latest of those that could.
        func latest(of purchases: [Evidence]) -> Evidence? {
            purchases.filter { $0.gives(entitlement, under: catalog) }
                .max { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        }
        return latest(of: purchases) ?? latest(of: claimed)
    }

    // MARK: They grant

    private func causeOfTheirs(_ catalog: Catalog) -> ShadowCause {
        let all = purchases + claimed
        guard !all.isEmpty else {
            return lastHeldBy == nil ? .unknownUser : .expiryUnseen
        }
        let able = all.filter { $0.gives(entitlement, under: catalog) }
        if able.contains(where: { $0.facts.state == .new }) { return .notYetChecked }
        if able.contains(where: \.isLeftOut) { return .environment }
        if claimed.contains(where: { $0.holds(entitlement) }) {
            // What was held once has gone to another user.
            return claimed.contains { $0.id == lastHeldBy } ? .expiryUnseen : .unknownUser
        }
        guard let purchase = decisive(catalog) else { return .productNotMapped }
        // It goes on without the product that gave it: another plan, or one add-on less.
        if purchase.id == lastHeldBy, purchase.facts.access != .none, let lastProduct,
            !purchase.hasProduct(lastProduct)
        {
            return purchase.heard?.lostParts[lastProduct]?.reason == .refunded
                ? .refundUnseen : .expiryUnseen
        }
        return purchase.causeOfLoss
    }

    // MARK: We grant

    private var causeOfOurs: ShadowCause {
        let holders = holders
        guard !holders.isEmpty else { return .renewalUnseen }
        let real = holders.filter { $0.facts.environment != .sandbox }
        if real.isEmpty { return .environment }
        if !isKnownToThem { return .productNotMapped }
        if real.allSatisfy({ $0.facts.access == .held }) { return .hold }
        let given = real.filter { $0.facts.access == .granted }
        return given.allSatisfy { $0.facts.state == .grace } ? .grace : .renewalUnseen
    }
}

extension ShadowCase.Evidence {
    /// Whether its owner has the entitlement by it.
    fileprivate func holds(_ entitlement: EntitlementID) -> Bool {
        facts.access != .none && facts.holdings.contains { $0.entitlement == entitlement }
    }

    /// Whether it gives the entitlement while it is in force.
    fileprivate func gives(_ entitlement: EntitlementID, under catalog: Catalog) -> Bool {
        if facts.holdings.contains(where: { $0.entitlement == entitlement }) { return true }
        let kind = heard?.kind ?? facts.kind ?? .autoRenewable
        let items = heard.map(\.items) ?? []
        let names = items.isEmpty ? [[facts.product]] : items.map(\.names)
        return names.contains { names in
            catalog.entitlements(named: names, kind: kind).contains(entitlement)
        }
    }

    /// Whether that is one of what it is of now.
    fileprivate func hasProduct(_ product: ProductID) -> Bool {
        facts.product == product
            || heard?.items.contains { $0.names.contains(product) } ?? false
    }

    /// In force in the sandbox, which the policy does not count.
    fileprivate var isLeftOut: Bool {
        facts.environment == .sandbox && facts.access == .none
            && heard?.givesAccess
                ?? (facts.state == .active || facts.state == .grace)
    }

    /// Why it gives nothing, though they believe that it does.
    fileprivate var causeOfLoss: ShadowCause {
        switch facts.state {
        case .new: .notYetChecked
        case .pending: .falseRenewal
        // In force by the store, and it gives something else.
        case .active: .productNotMapped
        case .grace: isMovedNow || wasMovedUnpaid ? .falseRenewal : .grace
        case .hold, .paused: .hold
        case .expired where facts.lossReason == .paymentFailed && wasMovedUnpaid: .falseRenewal
        case .expired: causeOfEnd
        case .refunded, .revoked: .refundUnseen
        // No store has ever known it.
        case .invalid where facts.lossReason == nil: .unknownUser
        case .superseded, .invalid: causeOfEnd
        }
    }

    private var causeOfEnd: ShadowCause {
        switch facts.lossReason {
        case .refunded, .familyRemoved: .refundUnseen
        case .paymentPending: .falseRenewal
        case .paused: .hold
        case .expired, .cancelled, .paymentFailed, .priceIncreaseDeclined, .productUnavailable,
            .productChanged, .transferred, .manual, .invalid, .unverifiable, nil:
            .expiryUnseen
        }
    }

    private var isMovedNow: Bool {
        if case .grace(expiryMovedUnpaid: true) = heard?.status { true } else { false }
    }
}
