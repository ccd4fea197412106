/// What the union and the offers of a user are taken from, kept up to date purchase by purchase: a
/// user may have thousands, and each step looks at what it moves alone.
struct UserTallies: Hashable, Sendable {
    /// Which purchases give each entitlement, the longest lasting first.
    private var givers: [EntitlementID: [Giver]] = [:]
    /// The user's subscriptions by group, as far as a store has spoken of them.
    private(set) var subscriptions: [OfferID: SubscriptionTally] = [:]
    /// How many purchases of a product have lapsed.
    private var lapsed: [ProductOfApp: Int] = [:]

    private struct ProductOfApp: Hashable {
        let app: AppKey
        let product: ProductID
    }

    /// One holding of a purchase, by where it stands among those that give the same.
    struct Giver: Hashable, Comparable {
        let end: Timestamp
        let rank: Int8
        let purchaseID: Int64
        /// Among the holdings of the purchase.
        let place: Int

        static func < (left: Giver, right: Giver) -> Bool {
            guard left.end == right.end else { return left.end > right.end }
            // Of two that last as long the one that says the best of the user.
            guard left.rank == right.rank else { return left.rank > right.rank }
            return (left.purchaseID, left.place) < (right.purchaseID, right.place)
        }
    }

    /// Moves a purchase from how it stood to how it stands; nil where it was, or is, another's.
    mutating func move(from known: Purchase?, to purchase: Purchase?) {
        if let known { count(known, by: -1) }
        if let purchase { count(purchase, by: 1) }
    }

    /// What is the best of those that give each entitlement.
    var best: [EntitlementID: Giver] { givers.compactMapValues(\.first) }

    /// Whether the same product of the same app was held before by another token and has lapsed.
    func hasLapsedTwin(of purchase: Purchase, known: Purchase?) -> Bool {
        let key = ProductOfApp(app: purchase.app, product: purchase.facts.product)
        let own = known.map { $0.hasLapsed && $0.facts.product == key.product } ?? false
        return lapsed[key, default: 0] > (own ? 1 : 0)
    }

    private mutating func count(_ purchase: Purchase, by step: Int) {
        let facts = purchase.facts
        if facts.access != .none {
            for (place, holding) in facts.holdings.enumerated() {
                let giver = Giver(
                    end: holding.expiresAt ?? .never, rank: purchase.rank,
                    purchaseID: purchase.id, place: place)
                givers[holding.entitlement, default: []].keep(giver, step > 0)
                if givers[holding.entitlement] == [] { givers[holding.entitlement] = nil }
            }
        }
        if purchase.hasLapsed {
            let key = ProductOfApp(app: purchase.app, product: facts.product)
            lapsed[key, default: 0] += step
            if lapsed[key] == 0 { lapsed[key] = nil }
        }
        if facts.kind == .autoRenewable, facts.environment != nil,
            facts.state != .superseded || facts.wasGranted
        {
            let id = OfferID(app: purchase.app, group: facts.group ?? facts.product.group)
            subscriptions[id, default: SubscriptionTally()].count(facts, by: step)
            if subscriptions[id]?.isEmpty == true { subscriptions[id] = nil }
        }
    }
}

/// A user's subscriptions of one group.
struct SubscriptionTally: Hashable, Sendable {
    /// How many of one environment there are, and of how many each is true.
    struct Part: Hashable {
        private(set) var all = 0
        private var introduced = 0
        private var running = 0
        private var past = 0

        /// Whether a trial or an introductory offer has been used.
        var isUsed: Bool { introduced > 0 }
        var isSubscribed: Bool { running > 0 }
        var hasSubscribed: Bool { running + past > 0 }

        fileprivate mutating func count(_ facts: Facts, by step: Int) {
            all += step
            if facts.usedIntroductory == true { introduced += step }
            if facts.state == .active || facts.state == .grace { running += step }
            if facts.wasGranted || facts.wasPaid { past += step }
        }
    }

    private var production = Part()
    private var sandbox = Part()

    /// Those of the sandbox count only where there are no others.
    var part: Part { production.all > 0 ? production : sandbox }

    fileprivate var isEmpty: Bool { production.all + sandbox.all == 0 }

    fileprivate mutating func count(_ facts: Facts, by step: Int) {
        if facts.environment == .production {
            production.count(facts, by: step)
        } else {
            sandbox.count(facts, by: step)
        }
    }
}

extension [UserTallies.Giver] {
    /// Enters or takes out one, in order.
    fileprivate mutating func keep(_ giver: Element, _ isIn: Bool) {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle] < giver { low = middle + 1 } else { high = middle }
        }
        if isIn {
            insert(giver, at: low)
        } else if low < endIndex, self[low] == giver {
            remove(at: low)
        }
    }
}

extension Purchase {
    /// Held before, and not any more.
    fileprivate var hasLapsed: Bool { facts.access == .none && facts.lossReason != nil }

    /// The order of those that last equally long: production before sandbox, paid before unpaid,
    /// what renews before what does not.
    fileprivate var rank: Int8 {
        (facts.environment == .sandbox ? 0 : 4) + (facts.state == .grace ? 0 : 2)
            + (facts.willRenew == true ? 1 : 0)
    }
}

extension Facts {
    /// Whether it has lapsed after it was in force at its store, which may have been before anybody
    /// handed it in.
    var wasPaid: Bool {
        switch state {
        case .hold, .paused, .expired, .refunded, .revoked: (paidThrough ?? expiresAt) != nil
        case .new, .pending, .active, .grace, .superseded, .invalid: false
        }
    }
}
