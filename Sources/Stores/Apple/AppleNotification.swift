import Renewal

/// App Store Server Notifications, *responseBodyV2DecodedPayload*.
struct AppleNotification: AppleSignedPayload {
    let notificationType: String?
    let notificationUUID: NewsID?
    /// Absent where it is about something else than a purchase.
    let subject: Subject?
    let signedDate: Int64?

    struct Subject: Hashable, Sendable {
        let bundleId: AppID?
        let environment: String?
        let signedTransactionInfo: String?
        let consumptionRequestReason: String?
    }

    init(_ json: JSONObject) throws(StoreFailure) {
        notificationType = try json.text("notificationType")
        notificationUUID = try json.id("notificationUUID")
        subject = (try? json.object("data")).flatMap { try? Subject($0) }
        signedDate = try json.integer("signedDate")
    }

    /// When it was made.
    var signedAt: Timestamp? {
        signedDate.flatMap { Timestamp(millisecondsSinceEpoch: $0) }
    }

    /// As whoever has written it wants it to be read; nil where it cannot be read at all.
    init?(unverified text: String) {
        guard let jws = CompactJWS(text),
            let claimed = try? Self(jws.unverified(calling: "signedPayload")),
            claimed.notificationUUID?.isEmpty == false
        else { return nil }
        self = claimed
    }
}

extension AppleNotification.Subject {
    fileprivate init(_ json: JSONObject) throws(StoreFailure) {
        bundleId = try json.id("bundleId")
        environment = try json.text("environment")
        signedTransactionInfo = try json.text("signedTransactionInfo")
        let reason = try? json.text("consumptionRequestReason")
        consumptionRequestReason = reason?.isEmpty == false ? reason : nil
    }
}

/// What a notification is to us.
///
/// <https://developer.apple.com/documentation/appstoreservernotifications/notificationtype>
private enum AppleNewsKind {
    /// Something may have changed in the purchase: it is asked about.
    case change
    case refund
    /// Apple asks what is known of a purchase whose refund is under review.
    case question
    case declined
    /// Known, and of no use here.
    case useless
    case unknown

    init(_ notification: AppleNotification) {
        self =
            switch notification.notificationType {
            case "SUBSCRIBED", "DID_RENEW", "DID_CHANGE_RENEWAL_PREF",
                "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED", "EXPIRED", "DID_FAIL_TO_RENEW",
                "GRACE_PERIOD_EXPIRED", "PRICE_INCREASE", "PRICE_CHANGE", "REFUND_REVERSED",
                "REVOKE", "RENEWAL_EXTENDED", "ONE_TIME_CHARGE", "METADATA_UPDATE", "MIGRATION",
                "UNCLAIM_SEATS":
                .change
            case "REFUND": .refund
            case "CONSUMPTION_REQUEST": .question
            case "REFUND_DECLINED": .declined
            case "TEST", "RESCIND_CONSENT", "EXTERNAL_PURCHASE_TOKEN": .useless
            // Of many subscriptions at once, as the app's server has asked for; about one that
            // could not be extended it is news of no change.
            case "RENEWAL_EXTENSION": notification.subject == nil ? .useless : .change
            default: .unknown
            }
    }
}

/// What one notification has told.
struct AppleNews: Sendable {
    /// Apple's name of it.
    let uuid: NewsID
    /// Two where the purchase has got another name: by the new one and by the former one.
    var hints: [Hint] = []
    var question: RefundQuestion?
    var ruling: RefundRuling?
    var unhandled: UnhandledNews?
    /// False where it is forged, about another app or cannot be read.
    var isReadable = true

    fileprivate init(_ uuid: NewsID) { self.uuid = uuid }

    fileprivate static func unreadable(_ uuid: NewsID) -> AppleNews {
        var news = AppleNews(uuid)
        news.isReadable = false
        news.unhandled = UnhandledNews(
            id: "unreadable \(uuid)", type: UnhandledNews.unreadable, isExpected: false)
        return news
    }

    /// By what it is known again when the last minutes are read once more; nil for what a forger
    /// may have named.
    var memory: String? {
        isReadable || uuid.text.hasPrefix("~") ? uuid.prefixForMemory : nil
    }

    func add(to page: inout HintPage) {
        page.hints += hints
        if let question { page.questions.append(question) }
        if let ruling { page.rulings.append(ruling) }
        if let unhandled { page.unhandled.append(unhandled) }
        if !isReadable { page.skipped += 1 }
    }
}

extension AppleReader {
    /// Reads a notification whose signature has yet to be checked.
    func news(_ text: String, named uuid: NewsID) async -> AppleNews {
        do throws(StoreFailure) {
            let payload = try await verifier.read(
                AppleNotification.self, from: text, calling: "signedPayload", at: now)
            try refuseFuture(payload.signedDate, "signedPayload.signedDate")
            return try news(payload, named: uuid)
        } catch {
            return .unreadable(uuid)
        }
    }

    private func news(
        _ payload: AppleNotification, named uuid: NewsID
    ) throws(StoreFailure) -> AppleNews {
        var news = AppleNews(uuid)
        let kind = AppleNewsKind(payload)
        switch kind {
        case .useless: news.unhandled = unhandled(payload, uuid, isExpected: true)
        case .unknown:
            news.unhandled = unhandled(payload, uuid, isExpected: false)
            // It may carry a purchase all the same.
            guard payload.subject?.signedTransactionInfo != nil,
                let transaction = try? transaction(of: payload)
            else { return news }
            news.hints = try hints(about: transaction, uuid)
        case .change: news.hints = try hints(about: transaction(of: payload), uuid)
        case .refund:
            let transaction = try transaction(of: payload)
            news.hints = try hints(
                about: transaction, uuid, clue: transaction.transactionId.map(Clue.refund))
            news.ruling = transaction.transactionId.map { order in
                RefundRuling(
                    id: "ruling \(uuid)", order: order, outcome: .refunded,
                    ruledAt: payload.signedAt)
            }
        case .declined:
            let order = try transaction(of: payload).order
            news.ruling = RefundRuling(
                id: "ruling \(uuid)", order: order, outcome: .declined,
                ruledAt: payload.signedAt)
        case .question:
            news.question = try question(payload, uuid)
            // The check finds the new name, by which the question knows its purchase.
            news.hints = try formerHints(about: transaction(of: payload), uuid)
        }
        return news
    }

    private func unhandled(
        _ payload: AppleNotification, _ uuid: NewsID, isExpected: Bool
    ) -> UnhandledNews {
        UnhandledNews(
            id: "unhandled \(uuid)", type: payload.notificationType ?? "",
            isExpected: isExpected)
    }

    private func hints(
        about transaction: AppleTransaction, _ uuid: NewsID, clue: Clue? = nil
    ) throws(StoreFailure) -> [Hint] {
        let hint = Hint(
            id: uuid, subject: .originalID(try transaction.originalID), clue: clue,
            accountToken: transaction.appAccountToken)
        return [hint] + formerHints(about: transaction, uuid, clue: clue)
    }

    /// By the name that Apple has replaced, which is all that is known of it until it is asked
    /// about.
    private func formerHints(
        about transaction: AppleTransaction, _ uuid: NewsID, clue: Clue? = nil
    ) -> [Hint] {
        guard let former = transaction.previousOriginalTransactionId,
            former != transaction.originalTransactionId
        else { return [] }
        return [
            Hint(
                id: NewsID("\(uuid) former"), subject: .originalID(former), clue: clue,
                accountToken: transaction.appAccountToken)
        ]
    }

    private func question(
        _ payload: AppleNotification, _ uuid: NewsID
    ) throws(StoreFailure) -> RefundQuestion {
        let transaction = try transaction(of: payload)
        guard let signedAt = payload.signedAt else {
            throw .malformed(field: "signedPayload.signedDate")
        }
        return RefundQuestion(
            id: "question \(uuid)", originalID: try transaction.originalID,
            order: try transaction.order, environment: environment,
            reason: payload.subject?.consumptionRequestReason, askedAt: signedAt,
            answerBy: signedAt + timeToAnswer, accountToken: transaction.appAccountToken)
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information>
    private var timeToAnswer: Duration { .hours(12) }

    /// - Throws: `.mismatch` for a notification of another app or environment.
    private func transaction(
        of payload: AppleNotification
    ) throws(StoreFailure) -> AppleTransaction {
        guard let data = payload.subject, data.bundleId == bundleID else {
            throw .mismatch(what: "app")
        }
        guard data.environment == environment.appleName else {
            throw .mismatch(what: StoreFailure.environment)
        }
        guard let text = data.signedTransactionInfo else {
            throw .malformed(field: "signedTransactionInfo")
        }
        return try transaction(insideOfVerified: text, "signedTransactionInfo")
    }
}

extension AppleTransaction {
    fileprivate var originalID: OrderID {
        get throws(StoreFailure) {
            guard let originalTransactionId else {
                throw .malformed(field: "originalTransactionId")
            }
            return originalTransactionId
        }
    }

    /// The very transaction that is to be paid back.
    fileprivate var order: OrderID {
        get throws(StoreFailure) {
            guard let transactionId, !transactionId.isEmpty else {
                throw .malformed(field: "transactionId")
            }
            return transactionId
        }
    }
}
