/// Version 2 of the App Store's notifications: what Apple tells of a life.
///
/// https://developer.apple.com/documentation/appstoreservernotifications
struct AppleNotification: Sendable {
    var type: String
    var subtype: String?
    var purchase: Purchase
    var happening: Happening
    /// Which of the purchase's happenings it is about.
    var place: Int

    static let types: Set<String> = [
        "SUBSCRIBED", "DID_RENEW", "DID_CHANGE_RENEWAL_STATUS", "DID_CHANGE_RENEWAL_PREF",
        "OFFER_REDEEMED", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "EXPIRED",
        "PRICE_INCREASE", "PRICE_CHANGE", "REFUND", "REFUND_DECLINED", "REFUND_REVERSED",
        "CONSUMPTION_REQUEST", "REVOKE", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION",
        "ONE_TIME_CHARGE", "EXTERNAL_PURCHASE_TOKEN", "RESCIND_CONSENT", "METADATA_UPDATE",
        "MIGRATION", "TEST",
    ]

    /// All that was told of a purchase up to now, oldest first.
    static func all(_ purchase: Purchase, _ life: Life) -> [AppleNotification] {
        life.happenings.enumerated().compactMap { place, happening in
            words(happening.kind, purchase.timeline.terms.kind).map { type, subtype in
                AppleNotification(
                    type: type, subtype: subtype, purchase: purchase, happening: happening,
                    place: place)
            }
        }
    }

    private static func words(
        _ kind: Happening.Kind, _ product: Terms.Kind
    ) -> (type: String, subtype: String?)? {
        switch kind {
        case .bought:
            product == .autoRenewable ? ("SUBSCRIBED", "INITIAL_BUY") : ("ONE_TIME_CHARGE", nil)
        case .boughtAgain: ("SUBSCRIBED", "RESUBSCRIBE")
        case .renewed: ("DID_RENEW", nil)
        case .recovered: ("DID_RENEW", "BILLING_RECOVERY")
        case .autoRenewOff, .cancellationScheduled:
            ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED")
        case .autoRenewOn: ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED")
        case .grace: ("DID_FAIL_TO_RENEW", "GRACE_PERIOD")
        case .hold(afterGrace: true): ("GRACE_PERIOD_EXPIRED", nil)
        case .hold(afterGrace: false): ("DID_FAIL_TO_RENEW", nil)
        case .ended(let ending): expiry(ending, product)
        case .gaveBack(.revoke, _): ("REVOKE", nil)
        case .gaveBack, .moneyBack: ("REFUND", nil)
        case .seatsBack: ("REFUND", "SEATS")
        case .migrated: ("MIGRATION", nil)
        case .refundReversed: ("REFUND_REVERSED", nil)
        case .upgraded: ("DID_CHANGE_RENEWAL_PREF", "UPGRADE")
        case .changePlanned: ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE")
        case .priceAsked: ("PRICE_INCREASE", "PENDING")
        case .priceAccepted: ("PRICE_INCREASE", "ACCEPTED")
        case .extended: ("RENEWAL_EXTENDED", nil)
        case .pausePlanned, .paused, .resumed, .itemsChanged, .pendingCancelled, .untold: nil
        }
    }

    private static func expiry(
        _ ending: Ending, _ product: Terms.Kind
    ) -> (type: String, subtype: String?)? {
        guard product == .autoRenewable else { return nil }
        return switch ending {
        case .cancelled: ("EXPIRED", "VOLUNTARY")
        case .paymentFailed: ("EXPIRED", "BILLING_RETRY")
        case .priceDeclined: ("EXPIRED", "PRICE_INCREASE")
        case .unavailable: ("EXPIRED", "PRODUCT_NOT_FOR_SALE")
        case .expired: ("EXPIRED", nil)
        case .refunded, .revoked, .replaced: nil
        }
    }

    var sent: Instant { happening.at + Instant.second }

    /// The same for the same happening, whenever it is asked for.
    var id: String {
        var seeded = Seeded(
            seed: UInt64(purchase.number) &* 0x1_0000_0001 &+ UInt64(place) ^ 0x6e6f_7469)
        return seeded.uuid()
    }

    /// The decoded payload, once its inner parts are signed.
    func payload(signer: AppleSigner) throws -> JSON {
        let life = purchase.timeline.life(at: happening.at)
        return try Self.payload(type, subtype, id, at: sent) { json in
            Apple.appMembers(purchase.app, purchase.environment, to: &json)
            json.member("bundleVersion", AppReceipt.appVersion)
            if life.charges.indices.contains(happening.charge) {
                let transaction = Apple.transaction(
                    purchase, life.charges[happening.charge], signedAt: sent)
                json.member("signedTransactionInfo", plain: try signer.sign(transaction))
            }
            if let status = Apple.status(purchase, life, signedAt: sent) {
                json.member("signedRenewalInfo", plain: try signer.sign(status.renewal))
                json.member("status", status.status)
            }
        }
    }

    /// The payload of a test, which is about nobody.
    static func test(
        app: String, _ environment: Purchase.Environment, id: String, at instant: Instant
    ) -> JSON {
        payload("TEST", nil, id, at: instant) { json in
            Apple.appMembers(app, environment, to: &json)
        }
    }

    /// `member` is what the notification is about.
    static func payload(
        _ type: String, _ subtype: String?, _ id: String, at sent: Instant,
        in member: String = "data", _ data: (inout JSONWriter) throws -> Void
    ) rethrows -> JSON {
        try .object(capacity: 12_000) { json in
            json.member("notificationType", type)
            json.member("subtype", subtype)
            json.member("notificationUUID", id)
            try json.object(member, data)
            json.member("version", "2.0")
            json.member("signedDate", sent.milliseconds)
        }
    }
}

// The bodies of answers, around signed payloads.
extension AppleNotification {
    static func body(_ page: [(payload: [UInt8], sent: Instant)], nextPage: String?) -> JSON {
        .object(capacity: page.reduce(300) { $0 + $1.payload.count + 120 }) { json in
            json.member("paginationToken", nextPage)
            json.member("hasMore", nextPage != nil)
            json.objects("notificationHistory", page) { json, notification in
                members(notification.payload, sent: notification.sent, to: &json)
            }
        }
    }

    static func body(_ signed: [UInt8], sent: Instant) -> JSON {
        .object(capacity: signed.count + 120) { members(signed, sent: sent, to: &$0) }
    }

    /// A notification and that it arrived at once.
    private static func members(_ signed: [UInt8], sent: Instant, to json: inout JSONWriter) {
        json.member("signedPayload", plain: signed)
        json.objects("sendAttempts", [sent]) { json, sent in
            json.member("attemptDate", sent.milliseconds)
            json.member("sendAttemptResult", "SUCCESS")
        }
    }
}

/// A request for the notification history, read and checked.
struct AppleNotificationQuery {
    static let pageLimit = 20

    var start: Instant
    var end: Instant
    var type: String?
    var subtype: String?
    var transaction: String?
    var onlyFailures = false
    /// How many were given before.
    var index = 0

    /// As it stands in the body; what has the wrong type is kept apart from what is absent.
    private struct Body: Decodable {
        var startDate: Int64?
        var endDate: Int64?
        var notificationType: String?
        var notificationSubtype: String?
        var transactionId: String?
        var onlyFailures: Bool?

        private enum CodingKeys: String, CodingKey {
            case startDate, endDate, notificationType, notificationSubtype, transactionId
            case onlyFailures
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            startDate = try? members.decode(Int64.self, forKey: .startDate)
            endDate = try? members.decode(Int64.self, forKey: .endDate)
            notificationType = try members.decodeIfPresent(String.self, forKey: .notificationType)
            notificationSubtype = try members.decodeIfPresent(
                String.self, forKey: .notificationSubtype)
            transactionId = try members.decodeIfPresent(String.self, forKey: .transactionId)
            onlyFailures = try members.decodeIfPresent(Bool.self, forKey: .onlyFailures)
        }
    }

    /// Reads body and query; the refusal is the body that the vendor's API gives.
    init(_ request: Request, now: Instant) throws(Refusal) {
        guard let body = request.decode(Body.self) else { throw Refusal(4_000_000, "Bad request.") }
        guard let start = body.startDate else {
            throw Refusal(4_000_015, "Invalid request. Invalid start date.")
        }
        guard let end = body.endDate else {
            throw Refusal(4_000_016, "Invalid request. Invalid end date.")
        }
        self.start = Instant(milliseconds: start)
        self.end = min(now, Instant(milliseconds: end))
        let days: Int64 = request.host == .production ? 180 : 30
        guard self.start >= now + -days * Instant.day else {
            throw Refusal(
                4_000_012,
                "Invalid request. The start date is earlier than the allowed start date.")
        }
        guard self.end > self.start else {
            throw Refusal(
                4_000_013, "Invalid request. The end date precedes the start date or equals it.")
        }
        onlyFailures = body.onlyFailures ?? false
        subtype = body.notificationSubtype
        try filter(by: body)
        if let page = request.query("paginationToken"), !take(page: page) {
            throw Refusal(4_000_014, "Invalid request. Invalid pagination token.")
        }
    }

    private mutating func filter(by body: Body) throws(Refusal) {
        if let type = body.notificationType {
            guard AppleNotification.types.contains(type) else {
                throw Refusal(4_000_018, "Invalid request. Invalid notification type.")
            }
            guard body.transactionId == nil else {
                throw Refusal(
                    4_000_019,
                    "Invalid request. Supply a transaction id or a notification type, not both.")
            }
            self.type = type
        }
        if let id = body.transactionId {
            guard !id.isEmpty, id.utf8.allSatisfy({ (48...57).contains($0) }) else {
                throw Refusal(4_000_006, "Invalid transaction id.")
            }
            transaction = id
        }
    }

    /// A page token belongs to the body that it was given for.
    private var fingerprint: Int64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        let parts = [
            "\(start.milliseconds)", type ?? "", subtype ?? "", transaction ?? "",
            "\(onlyFailures)",
        ]
        for byte in parts.joined(separator: "|").utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        return Int64(hash >> 2)
    }

    /// The end goes along: what comes while a client reads the pages must not shift them.
    func page(at index: Int) -> String {
        let text = "\(fingerprint)_\(end.milliseconds)_\(index)"
        return String(decoding: Base64.url(text.utf8), as: UTF8.self)
    }

    private mutating func take(page: String) -> Bool {
        guard let bytes = Base64.bytes(ofURL: page[...].utf8) else { return false }
        let numbers = String(decoding: bytes, as: UTF8.self).split(separator: "_")
            .compactMap { Int64($0) }
        guard numbers.count == 3, numbers[0] == fingerprint, numbers[2] >= 0 else { return false }
        end = Instant(milliseconds: numbers[1])
        index = Int(numbers[2])
        return true
    }

    func wants(_ notification: AppleBulletin) -> Bool {
        let sent = notification.sent
        return !onlyFailures && sent >= start && sent < end
            && (type.map { $0 == notification.type } ?? true)
            && (subtype.map { $0 == notification.subtype } ?? true)
    }
}
