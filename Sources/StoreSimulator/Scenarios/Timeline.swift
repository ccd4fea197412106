/// One of the three stores that are played here.
enum StoreName: String, CaseIterable, Hashable, Sendable {
    case apple
    case google
    case amazon
}

/// What was agreed when a subscription was bought.
struct Terms: Hashable, Sendable {
    /// What kind of product it is.
    enum Kind: String, CaseIterable, Sendable {
        case autoRenewable = "auto_renewable"
        /// Ends after one period, which no answer tells: the seller must know it. Google and
        /// Amazon sell it as a product that is bought once, or again and again.
        case nonRenewing = "non_renewing"
        case nonConsumable = "non_consumable"
        /// Never an entitlement.
        case consumable
    }

    var kind = Kind.autoRenewable
    /// What one charge pays for.
    var period: Period
    /// A free time before the first charge; nil for none.
    var trial: Period?
    /// How long access goes on after a failed charge, once the store admits the failure.
    var grace: Period
    /// How long the store tries to collect after grace, without access. Amazon has no such time.
    var hold: Period
    /// How long before its end a period is renewed: up to a day at Apple, zero elsewhere.
    var renewsBefore: Period
    /// Google's silent day: the charge has failed, the state is still ACTIVE.
    var silence: Period
    /// Sold with a payment that is still to come; only Google.
    var isPending: Bool
    /// The reduced price at the begin, where it is not the free time of `trial`.
    var offer: Offer?
    var plan = Plan.renewing
    /// How many of a consumable.
    var quantity = 1
    /// Apple: how many people it is bought for, where it is sold by the seat.
    var seats = 1
    var isMultiSeat = false
    /// Apple: what the app sells in one subscription by names of its own (Advanced Commerce).
    var skus: [String] = []
    /// Apple: a `type` that is not one of the four that are known.
    var typeName: String?
    /// How long the seller may take to acknowledge; nil when that was done at the purchase. Then
    /// Google gives the money back.
    var acknowledgeWithin: Period?
    /// Google: what is sold beside the product in the same subscription.
    var addOns: [String] = []
    var sale = Sale()

    /// How a subscription is paid for; only Google knows prepaid ones, and Amazon neither.
    enum Plan: Hashable, Sendable {
        case renewing
        /// Ends after one period; time is added by another purchase.
        case prepaid
        /// Renews, and cannot be cancelled before so many payments.
        case installments(Int)
    }

    /// The terms of `store` where nothing else was said: six days of grace; then Google holds for
    /// thirty days, Apple retries until sixty days after the end, Amazon gives up.
    init(
        store: StoreName, period: Period, trial: Period? = nil, grace: Period? = nil,
        hold: Period? = nil, renewsBefore: Period? = nil, isPending: Bool = false
    ) {
        self.period = period
        self.trial = trial
        let grace = grace ?? .days(6)
        self.grace = grace
        self.isPending = isPending && store == .google
        switch store {
        case .apple:
            let retry = max(0, 60 * Instant.day - grace.milliseconds)
            self.hold = hold ?? Period(milliseconds: retry)
            self.renewsBefore = renewsBefore ?? Period(milliseconds: Instant.hour)
            silence = .none
        case .google:
            self.hold = hold ?? .days(30)
            self.renewsBefore = .none
            silence = .days(1)
        case .amazon:
            self.hold = .none
            self.renewsBefore = .none
            silence = .none
        }
    }
}

/// What is told of a sale and changes nothing in its course.
struct Sale: Hashable, Sendable {
    /// ISO 3166-1 alpha-2; nil for the store's usual one.
    var country: String?
    /// Of a period, in millionths.
    var priceMicros: Int64 = 6_990_000
    var currency = "EUR"
    var basePlan: String?
    var offerTags: [String] = []
    /// Whom the app named beside the account.
    var profile: String?
    var linkedAccount: String?
}

/// A reduced price for a time.
struct Offer: Hashable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case introductory
        case promotional
        case code
        case winBack = "win_back"
        case retention
    }

    enum Discount: String, CaseIterable, Sendable {
        case freeTrial = "free_trial"
        /// So many ordinary periods at another price.
        case payAsYouGo = "pay_as_you_go"
        /// One payment for a time of its own length.
        case payUpFront = "pay_up_front"
        /// The same, by its name of 2025.
        case oneTime = "one_time"
    }

    var kind = Kind.introductory
    var discount = Discount.freeTrial
    /// How long it is; of an offer to pay as one goes, the time of one payment.
    var period: Period
    var cycles = 1
    var id: String?
}

extension Terms {
    /// The offer that a purchase begins with.
    var firstOffer: Offer? { offer ?? trial.map { Offer(period: $0) } }
}

/// What somebody does to a subscription.
enum Deed: Hashable, Sendable {
    /// One more period is paid now; a lapsed Apple subscription is bought again.
    case renew
    /// Automatic renewal off, and on again.
    case cancel
    case uncancel
    /// The means of payment stops working, and works again.
    case failPayment
    case fixPayment
    /// The newest charge is given back and access ends.
    case refund
    /// The charge before the newest is given back; access goes on.
    case refundPast
    case reverseRefund
    /// Access is taken away: family sharing ended (Apple), the developer revoked (Google),
    /// customer service cancelled (Amazon).
    case revoke
    /// At the end of the paid period, for so long; only Google.
    case pause(Period)
    case resume
    /// The paid period ends now.
    case expire
    /// Another product of the group from now on, in the same subscription; only Apple.
    case upgrade(product: String, period: Period? = nil)
    /// Another product from the next renewal on; Apple and Amazon.
    case changeAtRenewal(product: String, period: Period? = nil)
    /// Another purchase has taken this one's place.
    case supersede
    /// The pending payment arrives, or never will.
    case complete
    case abandon
    /// The seller has given what was bought; a consumable is used up.
    case acknowledge
    case consume
    /// The paid period ends so much later, without a payment.
    case extend(Period)
    /// A higher price from the next renewal on, which the customer must accept; and he does.
    case askPrice
    case acceptPrice
    /// The product is no longer sold: it ends instead of renewing.
    case withdraw
    /// The newest charge is taken back by the bank.
    case chargeBack
    /// The money of the newest charge goes back, access stays; only Google.
    case refundMoney
    /// The money of so many of a consumable goes back.
    case refundPart(quantity: Int)
    /// A part of the money of the newest charge, or of the one before it, goes back; access stays.
    /// In ten thousandths of its price; only Google.
    case refundShare(Int64, isPast: Bool)
    /// Amazon: the app says what became of the purchase.
    case fulfil(result: String)
    /// Google's add-ons.
    case addItem(product: String)
    case removeItem(product: String)
    case revokeItem(product: String)
    /// Apple: seats, items by their SKU, another original id.
    case addSeats(Int)
    case refundSeats(Int)
    case refundSKU(String)
    case migrate
    /// The customer's account is gone; nothing answers for the purchase any more.
    case closeAccount
}

/// A deed and when it was done.
struct Act: Hashable, Sendable {
    var at: Instant
    var deed: Deed
    var why = Why()
}

/// Why something is done.
struct Why: Hashable, Sendable {
    /// The store's own numbers for why, and for who wanted it; nil for the usual ones.
    var reason: Int64?
    var source: Int64?
    /// In the customer's words.
    var comment: String?
}

/// The whole life of one purchase, as values only. Every answer of a store, and the truth about
/// access, is a function of a timeline and an instant.
struct Timeline: Hashable, Sendable {
    var store: StoreName
    var product: String
    var start: Instant
    var terms: Terms
    /// Where the first period ends when a predecessor's time is carried over.
    var firstEnd: Instant?
    /// The product from the first renewal on, where a change was put off until then.
    var nextProduct: String?
    /// In order of time.
    private(set) var acts: [Act] = []

    init(
        store: StoreName, product: String, start: Instant, terms: Terms, firstEnd: Instant? = nil
    ) {
        self.store = store
        self.product = product
        self.start = start
        self.terms = terms
        self.firstEnd = firstEnd
    }

    /// Adds a deed; those of the same instant keep the order in which they were added.
    mutating func add(_ deed: Deed, at instant: Instant, why: Why = Why()) {
        let place = acts.lastIndex { $0.at <= instant }.map { $0 + 1 } ?? 0
        acts.insert(Act(at: instant, deed: deed, why: why), at: place)
    }

    /// All that is true of the purchase at `instant`.
    func life(at instant: Instant) -> Life {
        var life = Life(of: self)
        life.advance(along: self, to: instant)
        return life
    }

    /// The ground truth: does this purchase give access at `instant`?
    func entitled(at instant: Instant) -> Bool {
        instant >= start && life(at: instant).isEntitled
    }
}
