/// What one charge (or a free trial) bought.
struct Charge: Hashable, Sendable {
    /// 0 is the sign-up, 1 the first renewal.
    var number: Int
    var product: String
    var paidAt: Instant
    var start: Instant
    var end: Instant
    var isTrial: Bool
    /// The user bought it (sign-up, upgrade, coming back), against a renewal by itself.
    var isPurchase: Bool
    var isUpgraded = false
    var givenBack: GivenBack?
    /// The reduced price it was bought at.
    var offer: Offer?
    var quantity = 1
    /// Apple: an added transaction of a period that is paid already, or one with such beside it.
    var isAddition = false
    var paysTogether = false
    /// Of so many seats as `quantity` says, how many were refunded, and when the last of them was.
    var seatsBack = 0
    var seatsBackAt: Instant?
    /// Which payment of a commitment it is, from 1, of how many, and when that ends.
    var instalment: Int?
    var instalments: Int?
    var commitmentEnd: Instant?
    /// Apple: what the app sells in it by names of its own, and what of that was refunded.
    var skus: [String] = []
    var skusBack: [String: Instant] = [:]
    /// The subscription has another original id since.
    var isMigrated = false
    /// When its money went back although it still counts, and how many of a quantity.
    var moneyBackAt: Instant?
    var moneyBackQuantity: Int?
    /// Parts of its money that went back although it still counts.
    var parts: [Part] = []

    struct Part: Hashable, Sendable {
        var at: Instant
        /// Of the price.
        var tenThousandths: Int64
    }

    /// Paid less by an introductory offer, against a free time.
    var isIntroductory: Bool { !isTrial && offer?.kind == .introductory }
}

/// Why a charge no longer counts, and since when.
struct GivenBack: Hashable, Sendable {
    enum Cause: Hashable, Sendable {
        case refund
        case revoke
        case chargeBack
        /// Nobody acknowledged the purchase in time.
        case unacknowledged
    }

    var at: Instant
    var cause: Cause
    var why = Why()

    var reason: Int64? { why.reason }
}
