/// In what the stores differ, for the rules and for sentences. No other file of the core names one.
package struct StoreTraits: Hashable, Sendable {
    /// As it calls itself: `Apple`.
    package let vendor: String
    /// As a sentence names it: `the App Store`.
    package let marketplace: String
    /// Whether a token is what the store gives access by, and no id that may be shown.
    package let hasSecretTokens: Bool
    /// Whether orders have ids of their own, which are no tokens.
    package let namesOrders: Bool
    /// Where its notifications are pulled from, as `renewald.unhandled_news` calls it.
    package let newsSource: String
    /// Which of its ids only one purchase may have.
    let identity: Identity
    /// The bound within which every purchase in force is asked about: a refund shows itself.
    let sweep: Duration
    /// Whether it renews up to a day before the end.
    let renewsEarly: Bool
    /// Whether the same name may be sold again at any time: nothing closes it for good.
    let resubscribesForEver: Bool
    /// How long a token answers after its subscription's end; nil where that has no limit.
    let tokenLife: Duration?
    /// Whether a token names the one that it continues: two purchases are one subscription.
    let linksTokens: Bool
    /// Whether a subscription may be an add-on of another one, and end with it.
    let sellsAddOns: Bool
    /// Whether its list of voided purchases is a word of its own, beside what a product reads.
    let listsVoids: Bool
    /// What is wrong with a purchase that nobody has acknowledged in time.
    let unacknowledged: String
    /// How soon such a purchase is asked about again: a twelfth of the time that it is given.
    let warnedWithin: Duration
    /// Whether it keeps the first answer to a question about a refund, and says so of none: it must
    /// not be told twice.
    let keepsFirstAnswer: Bool
    /// Whether it works out by itself how much of what renews was used, and takes no other figure.
    let measuresUse: Bool
    /// Whether it takes no answer about a refund without the customer's consent.
    package let wantsConsent: Bool
    /// Whether it moves the end of an unpaid period day by day while it collects.
    let movesUnpaidEnds: Bool
    /// Whether periods have no name but their end. A term never gets shorter then.
    let namesPeriodsByEnd: Bool

    /// Whether its questions name a purchase by an order that is no key of the ledger's otherwise.
    package var asksByOrder: Bool { namesOrders && identity == .token }

    enum Identity: Hashable, Sendable {
        case token
        /// The same purchase may be submitted in several forms.
        case originalID
    }
}

extension Store {
    package var traits: StoreTraits {
        switch self {
        case .apple: .apple
        case .google: .google
        case .amazon: .amazon
        }
    }
}

extension StoreTraits {
    /// An original transaction id belongs to a customer for ever.
    fileprivate static let apple = StoreTraits(
        vendor: "Apple", marketplace: "the App Store", hasSecretTokens: false,
        namesOrders: true, newsSource: "apple",
        identity: .originalID, sweep: .days(7), renewsEarly: true,
        resubscribesForEver: true, tokenLife: nil, linksTokens: false,
        sellsAddOns: false, listsVoids: false, unacknowledged: "not acknowledged",
        warnedWithin: .hours(6),
        keepsFirstAnswer: false,
        measuresUse: true, wantsConsent: true, movesUnpaidEnds: false, namesPeriodsByEnd: false)

    /// A token answers until 60 days after its expiry, then 410.
    fileprivate static let google = StoreTraits(
        vendor: "Google", marketplace: "Google Play", hasSecretTokens: true,
        namesOrders: true, newsSource: "pubsub",
        identity: .token, sweep: .days(7), renewsEarly: false,
        resubscribesForEver: false, tokenLife: .days(60), linksTokens: true, sellsAddOns: false,
        listsVoids: true,
        unacknowledged: "not acknowledged a day after the purchase; Google refunds it",
        warnedWithin: .hours(6), keepsFirstAnswer: true, measuresUse: false, wantsConsent: false,
        movesUnpaidEnds: true,
        namesPeriodsByEnd: false)

    /// Without news of refunds it is asked more often.
    fileprivate static let amazon = StoreTraits(
        vendor: "Amazon", marketplace: "the Amazon Appstore", hasSecretTokens: true,
        namesOrders: false, newsSource: "sqs",
        identity: .token, sweep: .hours(44), renewsEarly: false,
        resubscribesForEver: false, tokenLife: nil, linksTokens: false, sellsAddOns: true,
        listsVoids: false,
        unacknowledged: "not fulfilled a day after the purchase; Amazon cancels it after 14 days",
        warnedWithin: .hours(28),
        keepsFirstAnswer: false, measuresUse: false, wantsConsent: false, movesUnpaidEnds: false,
        namesPeriodsByEnd: true)
}
