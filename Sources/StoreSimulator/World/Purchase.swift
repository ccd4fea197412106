/// One purchase in one of the stores: who it is to the outside, and its timeline.
struct Purchase: Sendable {
    enum Environment: String, Sendable {
        case production
        case sandbox
    }

    /// Who bought, and what does not change over a purchase's life.
    struct Buyer: Hashable, Sendable {
        var app: String
        var environment: Environment
        /// What the app set as the account of its user; nil when it set none.
        var user: String?
        /// Apple: purchases of one customer are answered together; nil is a customer of its own.
        var customer: String?
        /// Apple's subscription group.
        var group: String
        /// Apple: bought by another member of the family.
        var isFamilyShared = false
        /// Apple: it has one of the seats that somebody else pays.
        var isAssigned = false
        /// Amazon: bought in Live App Testing.
        var isBeta = false
        /// Amazon: the subscriptions that this one is an add-on of, and the customer's id there.
        var bases: [Base] = []
        var storeUser: String?

        init(
            app: String, environment: Environment = .production, user: String? = nil,
            customer: String? = nil, group: String = "21098765"
        ) {
            self.app = app
            self.environment = environment
            self.user = user
            self.customer = customer
            self.group = group
        }
    }

    /// A subscription that another one is an add-on of.
    struct Base: Hashable, Sendable {
        var number: Int
        var receipt: String
    }

    /// From 1; also what control calls name it by.
    let number: Int
    let store: StoreName
    let buyer: Buyer
    /// What a client stores: original transaction id, purchase token, receipt id.
    let token: String
    /// Amazon's user id; empty for the others.
    let storeUser: String
    /// Google's order id without `..n`; empty for the others.
    let order: String
    /// The token of the purchase that this one replaced.
    let replaces: String?
    /// The product of that one.
    var replacedProduct: String?
    /// Google: the token of the expired purchase that this one was made again from, in Play.
    var resubscribes: String?
    /// What the seller sent along when he acknowledged.
    var developerPayload = ""
    var acknowledgedUser: String?
    private(set) var timeline: Timeline

    private var life: Life

    init(
        number: Int, buyer: Buyer, timeline: Timeline, replaces: String?, ids: inout Seeded
    ) {
        self.number = number
        self.buyer = buyer
        store = timeline.store
        self.replaces = replaces
        self.timeline = timeline
        life = Life(of: timeline)
        switch timeline.store {
        case .apple:
            token = String(AppleNumbers.original(number, buyer.environment))
            (storeUser, order) = ("", "")
        case .google:
            token = ids.googleToken()
            (storeUser, order) = ("", ids.googleOrder())
        case .amazon:
            token = ids.amazonReceipt(sandbox: buyer.environment == .sandbox)
            (storeUser, order) = (buyer.storeUser ?? ids.amazonUser(), "")
        }
    }

    var app: String { buyer.app }
    var environment: Environment { buyer.environment }
    var user: String? { buyer.user ?? acknowledgedUser }
    var isFamilyShared: Bool { buyer.isFamilyShared }
    var isBeta: Bool { buyer.isBeta }
    var group: String { buyer.group }

    /// The life at `now`, kept between calls so that a long one is not lived again for each answer.
    mutating func life(at now: Instant) -> Life {
        if !life.canAdvance(to: now) {
            life = Life(of: timeline)
        }
        life.advance(along: timeline, to: now)
        return life
    }

    /// False when no charge can have been given back.
    var mayHaveVoids: Bool {
        timeline.terms.acknowledgeWithin != nil
            || timeline.acts.contains { act in
                switch act.deed {
                case .refund, .refundPast, .revoke, .chargeBack, .refundPart: true
                default: false
                }
            }
    }

    mutating func add(_ deed: Deed, at instant: Instant, why: Why = Why()) {
        timeline.add(deed, at: instant, why: why)
        life = Life(of: timeline)
    }
}

/// Apple's decimal ids: each purchase owns a block of numbers, so that an id of any of its
/// transactions leads to it without a table.
enum AppleNumbers {
    static let blockSize: Int64 = 100_000
    private static let production: Int64 = 420_000_000_000_000
    private static let sandbox: Int64 = 2_000_000_000_000_000
    private static let lineItems: Int64 = 80_000_000_000_000

    static func original(_ number: Int, _ environment: Purchase.Environment) -> Int64 {
        (environment == .production ? production : sandbox) + Int64(number) * blockSize
    }

    /// The id of the charge with this number; that of the sign-up is the original id.
    static func transaction(_ purchase: Purchase, charge: Int) -> Int64 {
        original(purchase.number, purchase.environment) + Int64(charge)
    }

    /// What a customer finds in his mail: an `M`, and letters and digits that stand for the id.
    static func order(_ purchase: Purchase, charge: Int) -> String {
        "M" + String(transaction(purchase, charge: charge), radix: 36, uppercase: true)
    }

    /// The transaction of an order id; nil for what is none.
    static func transaction(order: Substring) -> Int64? {
        guard order.first == "M" else { return nil }
        return Int64(order.dropFirst(), radix: 36)
    }

    static func lineItem(_ purchase: Purchase, charge: Int) -> Int64 {
        transaction(purchase, charge: charge) + lineItems
    }

    /// The original id of what was migrated.
    static func migrated(_ purchase: Purchase) -> Int64 {
        original(purchase.number, purchase.environment) + migratedPlace
    }

    private static let migratedPlace: Int64 = 90_000

    /// Purchase number, environment and charge that a transaction id belongs to.
    static func find(_ id: Int64) -> (number: Int, Purchase.Environment, charge: Int)? {
        guard id > production else { return nil }
        let environment: Purchase.Environment = id > sandbox ? .sandbox : .production
        let offset = id - (environment == .sandbox ? sandbox : production)
        let place = offset % blockSize
        return (
            Int(offset / blockSize), environment, place == migratedPlace ? 0 : Int(place)
        )
    }
}
