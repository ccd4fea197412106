/// One entry of the notification history, before it is signed.
struct AppleBulletin: Sendable {
    var type: String
    var subtype: String?
    var sent: Instant
    /// The purchase's number, then the place within what is told of it.
    var order: (Int, Int)
    var payload: @Sendable (AppleSigner) throws -> JSON

    init(_ notification: AppleNotification) {
        type = notification.type
        subtype = notification.subtype
        sent = notification.sent
        order = (notification.purchase.number, notification.place)
        payload = { try notification.payload(signer: $0) }
    }

    /// What a review of a refund has told: its questions, and that it was declined. A refund is
    /// told by the life.
    static func all(_ review: Review, _ purchase: Purchase, _ life: Life) -> [AppleBulletin] {
        guard life.charges.indices.contains(review.charge) else { return [] }
        let charge = life.charges[review.charge]
        let asked = review.asked.enumerated().map { number, at in
            AppleBulletin(
                "CONSUMPTION_REQUEST", purchase, charge, reason: review.reason, at: at,
                place: 1_000_000 + review.number * 10 + number)
        }
        guard let at = review.declinedAt else { return asked }
        return asked + [
            AppleBulletin(
                "REFUND_DECLINED", purchase, charge, reason: nil, at: at,
                place: 1_000_000 + review.number * 10 + 9)
        ]
    }

    private init(
        _ type: String, _ purchase: Purchase, _ charge: Charge, reason: String?, at: Instant,
        place: Int
    ) {
        self.type = type
        sent = at
        order = (purchase.number, place)
        payload = { signer in
            try AppleNotification.payload(type, nil, Self.id(purchase.number, place), at: at) {
                json in
                Apple.appMembers(purchase.app, purchase.environment, to: &json)
                json.member("bundleVersion", AppReceipt.appVersion)
                json.member("consumptionRequestReason", reason)
                let transaction = Apple.transaction(purchase, charge, signedAt: at)
                json.member("signedTransactionInfo", plain: try signer.sign(transaction))
            }
        }
    }

    /// What is announced beside the lives: each type in the member that Apple gives it.
    init(_ announcement: Announcement, place: Int, _ purchase: Purchase?, _ charge: Charge?) {
        type = announcement.type
        subtype = announcement.subtype
        sent = announcement.at
        order = (0, place)
        let member: String =
            switch announcement.type {
            case "RESCIND_CONSENT": "appData"
            case "EXTERNAL_PURCHASE_TOKEN": "externalPurchaseToken"
            default: "data"
            }
        payload = { signer in
            try AppleNotification.payload(
                announcement.type, announcement.subtype, Self.id(0, place), at: announcement.at,
                in: member
            ) { json in
                if member == "externalPurchaseToken" {
                    json.member("externalPurchaseId", Self.id(1, place))
                    json.member("tokenCreationDate", announcement.at.milliseconds)
                    json.member("appAppleId", Apple.appID)
                    return json.member("bundleId", announcement.app)
                }
                Apple.appMembers(
                    announcement.app, purchase?.environment ?? .production, to: &json)
                guard let purchase, let charge else { return }
                let transaction = Apple.transaction(purchase, charge, signedAt: announcement.at)
                json.member("signedTransactionInfo", plain: try signer.sign(transaction))
            }
        }
    }

    private static func id(_ number: Int, _ place: Int) -> String {
        var seeded = Seeded(seed: UInt64(number) &* 0x1_0000_0001 &+ UInt64(place) ^ 0x6275_6c6c)
        return seeded.uuid()
    }
}

/// The body of Send Consumption Information.
///
/// https://developer.apple.com/documentation/appstoreserverapi/consumptionrequest
struct AppleConsumption: Decodable {
    private enum CodingKeys: String, CodingKey {
        case customerConsented, deliveryStatus, sampleContentProvided, consumptionPercentage
        case refundPreference
    }

    private let isConsented: Bool?
    private let delivery: String?
    private let sample: Bool?
    private let percentage: Int?
    private let preference: String?
    private let hasPercentage: Bool
    private let hasPreference: Bool

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        isConsented = try? members.decode(Bool.self, forKey: .customerConsented)
        delivery = try? members.decode(String.self, forKey: .deliveryStatus)
        sample = try? members.decode(Bool.self, forKey: .sampleContentProvided)
        percentage = try? members.decode(Int.self, forKey: .consumptionPercentage)
        preference = try? members.decode(String.self, forKey: .refundPreference)
        hasPercentage = members.contains(.consumptionPercentage)
        hasPreference = members.contains(.refundPreference)
    }

    /// Refuses as Apple does. Where the code is not published the general one is given.
    func check(isRenewable: Bool) throws(Refusal) {
        guard isConsented == true else {
            throw Refusal(4_000_035, "Invalid request. Customer has not consented.")
        }
        guard let delivery, Self.deliveries.contains(delivery) else {
            throw Refusal(4_000_036, "Invalid request. Invalid delivery status.")
        }
        guard sample != nil else {
            throw Refusal(4_000_041, "Invalid request. Invalid sample content provided.")
        }
        if hasPreference {
            guard let preference, Self.preferences.contains(preference) else {
                throw Refusal(4_000_000, "Invalid request. Invalid refund preference.")
            }
        }
        guard hasPercentage else { return }
        guard !isRenewable else {
            throw Refusal(
                4_000_000, "Invalid request. Auto-renewable subscriptions have no percentage.")
        }
        guard let percentage, (0...100_000).contains(percentage) else {
            throw Refusal(4_000_000, "Invalid request. Percentage is out of range.")
        }
        guard delivery == "DELIVERED" || percentage == 0 else {
            throw Refusal(4_000_000, "Invalid request. Undelivered, percentage is not zero.")
        }
        guard preference != "GRANT_PRORATED" || (1..<100_000).contains(percentage) else {
            throw Refusal(4_000_000, "Invalid request. Nothing to prorate.")
        }
    }

    private static let deliveries: Set<String> = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM",
        "UNDELIVERED_SERVER_OUTAGE", "UNDELIVERED_OTHER",
    ]
    private static let preferences: Set<String> = ["GRANT_FULL", "GRANT_PRORATED", "DECLINE"]
}
