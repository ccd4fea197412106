import Renewal

/// A real-time notification of Amazon. Its type hardly matters, because the purchase is asked about
/// anyway, also for a type that is not known.
///
/// <https://developer.amazon.com/docs/in-app-purchasing/rtn-example.html>
struct AmazonNotification: Decodable {
    let appPackageName: AppID?
    let notificationType: LooseText?
    let receiptId: StoreToken?
    /// When it was made: milliseconds.
    let timestamp: Tolerant<LenientInteger>?
    /// An empty array where there are none.
    let relatedReceipts: Tolerant<Related>?

    struct Related: Decodable, Hashable, Sendable {
        /// Of the subscription that a change of plan has ended at once.
        let cancelledReceiptId: StoreToken?
    }

    /// What SNS wraps a notification in.
    ///
    /// <https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html>
    private struct Envelope: Decodable {
        let `Type`: String?
        let MessageId: String?
        let Message: String?
    }
}

extension AmazonNotification {
    /// Adds what a message of the queue says to a page. One that cannot be read, or that is about
    /// another app, is counted and recorded.
    ///
    /// - Parameters:
    ///   - body: an envelope of SNS, or the notification itself where the subscription delivers raw
    ///     messages.
    ///   - message: the queue's name for it.
    ///   - page: what it is added to.
    ///   - app: whose notifications are wanted.
    ///   - now: when it was received.
    static func add(
        _ body: String?, of message: String?, to page: inout HintPage, of app: AppID,
        at now: Timestamp
    ) {
        let envelope = body.flatMap { try? JSON.decode(Envelope.self, from: $0.utf8) }
        // The same news has one name in the topic; a queue may deliver it twice.
        guard let id = envelope?.MessageId ?? message, NewsID(id).isReadable() else {
            let id = envelope?.MessageId ?? message ?? "no id"
            return addUnhandled(UnhandledNews.unreadable, id, to: &page)
        }
        if let type = envelope?.Type, type != "Notification" {
            // A subscription that nobody has confirmed yet, or that has ended.
            let known = confirmations.first { $0 == type } ?? UnhandledNews.unreadable
            return addUnhandled(known, id, to: &page)
        }
        guard let text = envelope?.Message ?? body,
            let news = try? JSON.decode(AmazonNotification.self, from: text.utf8),
            news.appPackageName == app, let receipt = news.receiptId?.readable
        else { return addUnhandled(UnhandledNews.unreadable, id, to: &page) }
        // An answer may not show for a while that it is over. What comes late may be about a term
        // before the one that is known.
        let isEnd = news.notificationType?.value.map(ends.contains) ?? false
        let madeAt = news.timestamp?.value.flatMap { Timestamp(millisecondsSinceEpoch: $0.value) }
        let isLate = madeAt.map { now - $0 > .days(1) } ?? false
        page.hints.append(
            Hint(
                id: "amazon notification \(id)", subject: .token(receipt),
                clue: isEnd && !isLate ? .revoked(news: NewsID("amazon \(id)")) : nil))
        if let ended = news.relatedReceipts?.value?.cancelledReceiptId?.readable,
            ended != receipt
        {
            page.hints.append(Hint(id: "amazon related \(id)", subject: .token(ended)))
        }
        if let type = news.notificationType?.value, !types.contains(type) {
            page.unhandled.append(
                UnhandledNews(id: "amazon unhandled \(id)", type: type, isExpected: false))
        }
    }

    private static func addUnhandled(_ type: String, _ id: String, to page: inout HintPage) {
        if type == UnhandledNews.unreadable { page.skipped += 1 }
        page.unhandled.append(
            UnhandledNews(id: "amazon unhandled \(id)", type: type, isExpected: false))
    }

    private static let confirmations = ["SubscriptionConfirmation", "UnsubscribeConfirmation"]

    private static let ends: Set<String> = [
        "CONSUMABLE_CANCELLED", "ENTITLEMENT_CANCELLED", "SUBSCRIPTION_CANCELLED",
        "SUBSCRIPTION_EXPIRED",
    ]

    private static let types: Set<String> = [
        "CONSUMABLE_PURCHASED", "CONSUMABLE_CANCELLED", "ENTITLEMENT_PURCHASED",
        "ENTITLEMENT_CANCELLED", "SUBSCRIPTION_PURCHASED", "SUBSCRIPTION_RENEWED",
        "SUBSCRIPTION_CONVERTED_FREE_TRIAL_TO_PAID", "SUBSCRIPTION_AUTO_RENEWAL_ON",
        "SUBSCRIPTION_AUTO_RENEWAL_OFF", "SUBSCRIPTION_SCHEDULED_TO_END",
        "SUBSCRIPTION_IN_GRACE_PERIOD", "SUBSCRIPTION_OUT_OF_GRACE_PERIOD",
        "SUBSCRIPTION_MODIFIED_IMMEDIATE", "SUBSCRIPTION_MODIFIED_DEFERRED",
        "SUBSCRIPTION_CANCELLED", "SUBSCRIPTION_EXPIRED",
    ]
}
