/// Everything a decision depends on beside the purchase and the answer.
package struct Rules: Hashable, Sendable {
    package var policy: Policy
    package var catalog: Catalog
    /// The longest that a purchase that may still change waits for its next check.
    package var longestWait: Duration

    package init(
        policy: Policy = Policy(), catalog: Catalog = Catalog(),
        longestWait: Duration = .days(30)
    ) {
        self.policy = policy
        self.catalog = catalog
        self.longestWait = longestWait
    }

    /// Whether what is known could come to something else by these; when it is asked about next is
    /// left out.
    package func decidesOtherwise(than other: Rules) -> Bool {
        policy != other.policy || catalog != other.catalog
    }
}

/// What the operator has decided: `[policy]` and `[safety]` of the configuration.
package struct Policy: Hashable, Sendable {
    package enum Choice: String, Hashable, Sendable, CaseIterable { case keep, revoke }
    package enum Sandbox: String, Hashable, Sendable, CaseIterable { case grant, ignore }
    package enum Refund: String, Hashable, Sendable, CaseIterable {
        case immediate
        case periodEnd = "period_end"
    }
    package enum Shared: String, Hashable, Sendable, CaseIterable { case keep, move, allow }

    /// Access while payment has failed and the store gives grace.
    package var grace = Choice.keep
    /// Access while Google says that payment is pending and still extends.
    package var paymentPending = Choice.keep
    /// Extra time before `expired` or `cancelled` revokes.
    package var leniency = Duration.zero
    /// Whether sandbox purchases grant.
    package var sandbox = Sandbox.grant
    package var refund = Refund.immediate
    /// A token submitted for a second user.
    package var shared = Shared.keep
    /// Whether it is worked out what each user may be offered.
    package var keepsOffers = true
    /// Least time before the second opinion of design rule 2 about what was granted.
    package var confirmAfter = Duration.hours(6)
    /// How long a replaced purchase keeps access while its successor has not been submitted.
    package var successorWait = Duration.hours(1)
    /// Without a verdict for this long, and with the paid time over, access ends (design rule 3).
    package var maxStaleness = Duration.days(30)
    package var breaker = BreakerPolicy()

    package init() {}

    /// Least time before the second opinion: what never was granted has nothing to lose, and a
    /// short wait for somebody who has just bought it.
    func confirmAfter(of facts: Facts) -> Duration {
        facts.wasGranted ? confirmAfter : min(confirmAfter, .minutes(10))
    }
}

/// Which product gives what.
package struct Catalog: Hashable, Sendable {
    package struct Product: Hashable, Sendable {
        /// Nil where the configuration does not write it: what the store says decides then.
        package let kind: ProductKind?
        /// For non-renewing products and trials sold at zero.
        package let duration: Duration?
        package let entitlements: [EntitlementID]

        package init(
            kind: ProductKind?, duration: Duration? = nil, entitlements: [EntitlementID]
        ) {
            self.kind = kind
            self.duration = duration
            self.entitlements = entitlements
        }
    }

    package let products: [ProductID: Product]

    package init(_ products: [ProductID: Product] = [:]) {
        self.products = products
    }

    /// The configured product of the first name that has one.
    package func product(named names: [ProductID]) -> Product? {
        for name in names {
            if let product = products[name] { return product }
        }
        return nil
    }

    /// Whether what was granted is a consumable all of a sudden, which never grants. What the
    /// configuration calls it counts, where it calls it anything.
    func contradicts(_ facts: Facts, _ observation: Observation) -> Bool {
        guard let item = observation.items.first, product(named: item.names) == nil,
            facts.access == .granted, let known = facts.kind
        else { return false }
        return observation.kind == .consumable && known != .consumable
    }

    /// What the names give. A product that is not configured grants its own id, unless it is a
    /// consumable, which never is an entitlement.
    package func entitlements(
        named names: [ProductID], kind: ProductKind
    ) -> [EntitlementID] {
        if let product = product(named: names) {
            return product.kind ?? kind == .consumable ? [] : product.entitlements
        }
        guard kind != .consumable, let own = names.last else { return [] }
        return [own.entitlement]
    }
}
