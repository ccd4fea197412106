/// One group of subscriptions of one app.
package struct OfferID: Hashable, Sendable {
    package let app: AppKey
    /// As the store names it; the product where the store has no groups.
    package let group: GroupID

    package init(app: AppKey, group: GroupID) {
        self.app = app
        self.group = group
    }
}

/// What a user may be offered in a group: a row of `renewald.offers`.
package struct Offer: Hashable, Sendable {
    package let introductoryEligible: Bool
    package let promotionalEligible: Bool
    package let reason: Reason
    /// Since when it is so.
    package let asOf: Timestamp

    /// What decides, the gravest first.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// A trial or an introductory offer has been used.
        case introductoryUsed = "introductory_used"
        /// A subscription is in force or in grace.
        case subscribed
        /// A subscription has lapsed, and no such offer was ever used.
        case lapsed
        /// None has been in force yet.
        case neverSubscribed = "never_subscribed"
    }

    package init(
        introductoryEligible: Bool, promotionalEligible: Bool, reason: Reason, asOf: Timestamp
    ) {
        self.introductoryEligible = introductoryEligible
        self.promotionalEligible = promotionalEligible
        self.reason = reason
        self.asOf = asOf
    }

    init(_ reason: Reason, hasSubscribed: Bool, asOf: Timestamp) {
        self.init(
            introductoryEligible: reason == .lapsed || reason == .neverSubscribed,
            promotionalEligible: hasSubscribed, reason: reason, asOf: asOf)
    }
}

extension UserPurchases {
    /// Works out anew what the user may be offered (design section 4, the last paragraph).
    ///
    /// - Returns: the rows that have changed; none while everything is as it was.
    mutating func reviseOffers(keeping: Bool, at now: Timestamp) -> [OfferID: Offer?] {
        var changes: [OfferID: Offer?] = [:]
        let groups = keeping ? tallies.subscriptions : [:]
        for id in Set(groups.keys).union(offers.keys) {
            let known = offers[id]
            let offer = keeping ? Self.offer(groups[id]?.part, known, at: now) : nil
            guard offer != known else { continue }
            offers[id] = offer
            changes.updateValue(offer, forKey: id)
        }
        return changes
    }

    /// A group without a subscription is one that all have left: for another product, or for
    /// another user. What was used there stays used.
    private static func offer(
        _ subscriptions: SubscriptionTally.Part?, _ known: Offer?, at now: Timestamp
    ) -> Offer? {
        let isUsed = known?.reason == .introductoryUsed || subscriptions?.isUsed == true
        let isSubscribed = subscriptions?.isSubscribed == true
        let hasSubscribed =
            known?.promotionalEligible == true || subscriptions?.hasSubscribed == true
        let reason: Offer.Reason
        switch (isUsed, isSubscribed, hasSubscribed) {
        case (true, _, _): reason = .introductoryUsed
        case (false, true, _): reason = .subscribed
        case (false, false, true): reason = .lapsed
        case (false, false, false): reason = .neverSubscribed
        }
        let offer = Offer(reason, hasSubscribed: hasSubscribed, asOf: known?.asOf ?? now)
        return offer == known ? known : Offer(reason, hasSubscribed: hasSubscribed, asOf: now)
    }
}
