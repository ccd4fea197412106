import Renewal

/// What is in a message: exactly one of the notifications, by its name. Its type hardly matters,
/// because the purchase is asked about anyway, also for a kind that is not known.
///
/// <https://developer.android.com/google/play/billing/rtdn-reference>
struct GoogleNotification: Decodable, Sendable {
    let packageName: AppID?
    private let eventTimeMillis: LooseInteger?
    /// By name; empty subjects where they have a shape of another age.
    private let subjects: [String: Subject]

    struct Subject: Decodable, Sendable {
        var purchaseToken: StoreToken?
        var notificationType: LooseInteger?
        /// Of a voided purchase, and of a charge-back under review.
        var orderId: OrderID?
        /// Of a voided purchase: 1 of the whole, 2 of a part of the quantity.
        var refundType: LooseInteger?
        /// Of a charge-back under review: what the answer has to name.
        var pendingRefundToken: StoreToken?
        var refundReason: LooseInteger?
        var obfuscatedAccountId: LooseText?

        var order: OrderID? { orderId?.readable }
        var token: StoreToken? { purchaseToken?.readable }
    }

    /// The names that this program knows.
    private enum Kind: String, CaseIterable {
        case subscriptionNotification, oneTimeProductNotification, voidedPurchaseNotification
        /// From the console's button.
        case testNotification
        /// A charge-back under review: no revocation.
        case pendingRefundReviewNotification
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Name.self)
        packageName = try members.decodeIfPresent(
            AppID.self, forKey: Name(stringValue: "packageName"))
        eventTimeMillis = try members.decodeIfPresent(
            LooseInteger.self, forKey: Name(stringValue: "eventTimeMillis"))
        var subjects: [String: Subject] = [:]
        for name in members.allKeys where name.stringValue.hasSuffix("Notification") {
            subjects[name.stringValue] =
                (try? members.decode(Subject.self, forKey: name)) ?? Subject()
        }
        self.subjects = subjects
    }

    private subscript(kind: Kind) -> Subject? { subjects[kind.rawValue] }

    private var unknownNames: [String] {
        subjects.keys.filter { Kind(rawValue: $0) == nil }.sorted()
    }
}

// What is made of it. `id` is the message's.
extension GoogleNotification {
    /// Of the purchase that it is about, by whatever name.
    func hint(_ id: String) -> Hint? {
        let known: [Kind] = [
            .subscriptionNotification, .oneTimeProductNotification, .voidedPurchaseNotification,
        ]
        let candidates = known.map { self[$0] } + unknownNames.map { subjects[$0] }
        guard let token = candidates.lazy.compactMap({ $0?.token }).first else { return nil }
        let clue = clue(id)
        return Hint(
            id: "google notification \(id)", subject: .token(token), clue: clue,
            happenedAt: clue == nil ? nil : happenedAt)
    }

    private var happenedAt: Timestamp? {
        eventTimeMillis?.value.flatMap { value in
            value < 0 ? nil : Timestamp(millisecondsSinceEpoch: value)
        }
    }

    /// Whether it names a purchase by a token that is none.
    var namesNoToken: Bool {
        subjects.values.contains { $0.purchaseToken != nil && $0.token == nil }
    }

    /// What the answer about a running subscription will not show.
    private func clue(_ id: String) -> Clue? {
        if let void = self[.voidedPurchaseNotification] {
            return void.voidedOrder.map(Clue.refund) ?? .revoked(news: NewsID(id))
        }
        if self[.oneTimeProductNotification]?.notificationType?.value == Self.productCanceled {
            return .revoked(news: NewsID(id))
        }
        switch self[.subscriptionNotification]?.notificationType?.value {
        case Self.pauseChanged: return .pause(news: NewsID(id))
        case Self.revoked: return .revoked(news: NewsID(id))
        default: return nil
        }
    }

    /// `SUBSCRIPTION_PAUSE_SCHEDULE_CHANGED`: scheduled, moved or called off.
    private static let pauseChanged: Int64 = 11
    /// `SUBSCRIPTION_REVOKED`
    private static let revoked: Int64 = 12
    /// `ONE_TIME_PRODUCT_CANCELED`: a payment that never came, or one that was given back.
    private static let productCanceled: Int64 = 2

    /// The order was taken back: what is asked about its refund is settled.
    func ruling(_ id: String) -> RefundRuling? {
        self[.voidedPurchaseNotification]?.voidedOrder.map {
            RefundRuling(id: "google ruling \(id)", order: $0, outcome: .refunded)
        }
    }

    /// Nil where it asks nothing, or does not say about what, or gives nothing to answer with.
    /// `sentAt` is when Pub/Sub had the message, `now` is by the database's clock.
    func question(_ id: String, sentAt: Timestamp?, at now: Timestamp) -> RefundQuestion? {
        guard let review = self[.pendingRefundReviewNotification], let order = review.order,
            let token = review.pendingRefundToken?.readable
        else { return nil }
        // A date of the future would promise time that there is not.
        let askedAt = min(happenedAt ?? sentAt ?? now, now)
        return RefundQuestion(
            id: "google question \(id)", originalID: GoogleOrderID.base(of: order), order: order,
            environment: .production, token: token,
            reason: review.refundReason?.value.map { "\($0)" }, askedAt: askedAt,
            answerBy: askedAt + Self.timeToAnswer, accountToken: review.obfuscatedAccountId?.value)
    }

    /// <https://developers.google.com/android-publisher/api-ref/rest/v3/orders/reviewrefund>
    private static let timeToAnswer = Duration.hours(24)

    /// What nobody here makes anything of, beside a look at the purchase.
    func unhandled(_ id: String) -> [UnhandledNews] {
        var types: [(name: String, isExpected: Bool)] = unknownNames.map { ($0, false) }
        for (kind, known) in Self.knownTypes {
            guard let subject = self[kind], let type = subject.notificationType?.value,
                !known.contains(type)
            else { continue }
            types.append(("\(kind.rawValue) \(type)", false))
        }
        if self[.testNotification] != nil {
            types.append((Kind.testNotification.rawValue, true))
        }
        if self[.pendingRefundReviewNotification] != nil,
            question(id, sentAt: nil, at: .never) == nil
        {
            types.append((Kind.pendingRefundReviewNotification.rawValue, false))
        }
        return types.enumerated().map { number, type in
            UnhandledNews(
                id: "google unhandled \(id) \(number)", type: type.name,
                isExpected: type.isExpected)
        }
    }

    private static let knownTypes: [Kind: Set<Int64>] = [
        .subscriptionNotification: Set(1...13).union([17, 18, 19, 20, 22]),
        .oneTimeProductNotification: [1, 2],
    ]
}

extension GoogleNotification.Subject {
    /// The order that was voided as a whole; nil where a part of the quantity was, or where nobody
    /// knows yet how much.
    fileprivate var voidedOrder: OrderID? {
        refundType.map { $0.value == Self.fullRefund } ?? true ? order : nil
    }

    /// `REFUND_TYPE_FULL_REFUND`
    private static let fullRefund: Int64 = 1
}
