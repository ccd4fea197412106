import Curl
package import Renewal

/// Pulls Google's real-time developer notifications from Cloud Pub/Sub. They are hints: unordered,
/// repeated, sometimes missing.
///
/// A subscription that nobody pulls from for 31 days is deleted by Google, unless its expiration
/// policy says never.
///
/// <https://developer.android.com/google/play/billing/rtdn-reference>
package final class GooglePubSub: Sendable {
    private let packageName: AppID
    let path: String
    let client: GoogleClient

    /// - Parameters:
    ///   - credentials: the service account must be a subscriber. Its access token has a scope of
    ///     its own, so that a fault here does not stop the checks.
    ///   - subscription: `projects/PROJECT/subscriptions/NAME`, or `NAME` alone in the project of
    ///     the service account.
    ///   - host: where Pub/Sub is.
    ///   - transport: what it needs of the world.
    /// - Throws: when the service account's file or the subscription's name cannot be used.
    package init(
        credentials: GoogleCredentials, subscription: String, host: StoreHost,
        transport: StoreTransport
    ) throws(CredentialFault) {
        let account = try GoogleServiceAccount(json: credentials.serviceAccountJSON)
        guard let path = Self.path(of: subscription, project: account.project) else {
            throw CredentialFault(
                field: "pubsub_subscription",
                sentence: "is not projects/PROJECT/subscriptions/NAME")
        }
        self.path = path
        packageName = credentials.packageName
        let tokens = GoogleTokens(
            account, scope: GoogleTokenRequest.pubsubScope,
            certificateAuthorityFile: credentials.certificateAuthorityFile, transport: transport)
        client = GoogleClient(host: host, tokens: tokens, transport: transport)
    }

    private static func path(of subscription: String, project: String?) -> String? {
        let parts = subscription.split(separator: "/", omittingEmptySubsequences: false)
            .map(String.init)
        var names = parts
        if parts.count == 1, let project {
            names = ["projects", project, "subscriptions", parts[0]]
        }
        guard names.count == 4, names[0] == "projects", names[2] == "subscriptions",
            let project = try? PathSegment(names[1], what: "project"),
            let name = try? PathSegment(names[3], what: "subscription")
        else { return nil }
        return "/v1/projects/" + project.text + "/subscriptions/" + name.text
    }

    /// One pull. What cannot be read, or is about another app, will never get better: it has a
    /// receipt too, and is only counted.
    ///
    /// - Parameters:
    ///   - limit: of the number of messages, 1 to 1,000.
    ///   - isWaiting: whether the call is held open, for a minute and a half at most, until there
    ///     is news. Otherwise it comes back at once, and may miss news that has just arrived.
    ///   - now: by the database's clock.
    /// - Returns: a page whose receipts are for `acknowledge`, once its hints are stored.
    /// - Throws: when there was no usable answer.
    package func pull(
        atMost limit: Int = 100, isWaiting: Bool, at now: Timestamp
    ) async throws(StoreFailure) -> HintPage {
        let count = min(max(limit, 1), 1000)
        let reply = try await client.post(
            path + ":pull", PullRequest(maxMessages: count, returnImmediately: !isWaiting),
            calling: "subscriptions.pull", at: now,
            deadline: isWaiting ? .seconds(100) : StoreHost.deadline)
        let pulled = try JSON.decode(Pulled.self, from: try reply.wholeAppBody())
        var page = HintPage(hints: [])
        for received in pulled.receivedMessages ?? [] {
            if let receipt = received.ackId, !receipt.isEmpty { page.receipts.append(receipt) }
            switch news(of: received.message) {
            case .about(let hint): page.hints.append(hint)
            case .nothing: break
            case .unusable: page.skipped += 1
            }
        }
        page.hasMore = pulled.receivedMessages?.count == count
        return page
    }

    /// Gives receipts back, so that their messages do not come again. A late or repeated one is no
    /// error.
    ///
    /// - Throws: when there was no usable answer: then the messages come again.
    package func acknowledge(
        _ receipts: [String], at now: Timestamp
    ) async throws(StoreFailure) {
        var rest = receipts[...]
        while !rest.isEmpty {
            let batch = rest.prefix(Self.receiptLimit)
            rest = rest.dropFirst(Self.receiptLimit)
            let reply = try await client.post(
                path + ":acknowledge", Acknowledgement(ackIds: Array(batch)),
                calling: "subscriptions.acknowledge", at: now)
            _ = try reply.wholeAppBody()
        }
    }

    /// A request may be 512 KiB long.
    private static let receiptLimit = 1000

    private enum News {
        case about(Hint)
        /// Understood, and not about a purchase that can be asked about.
        case nothing
        case unusable
    }

    private func news(of message: Message?) -> News {
        guard let message, let data = Self.bytes(message.data),
            let notification = try? JSON.decode(GoogleNotification.self, from: data),
            notification.packageName == packageName
        else { return .unusable }
        guard let token = notification.token else {
            return notification.isWithoutPurchase ? .nothing : .unusable
        }
        guard let id = message.messageId ?? message.message_id, !token.isEmpty else {
            return .unusable
        }
        return .about(
            Hint(
                id: "google notification \(id)", subject: .token(token), clue: notification.clue(id)
            ))
    }

    /// Either alphabet, padded or not.
    private static func bytes(_ data: String?) -> [UInt8]? {
        guard let data else { return nil }
        let text = data.utf8.prefix { $0 != UInt8(ascii: "=") }
        return Base64.decodeStandard(text) ?? Base64.decodeURLSafe(text)
    }

    private struct PullRequest: Encodable {
        let maxMessages: Int
        let returnImmediately: Bool
    }

    private struct Acknowledgement: Encodable {
        let ackIds: [String]
    }

    /// <https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions/pull>
    private struct Pulled: Decodable {
        let receivedMessages: [Received]?
    }

    private struct Received: Decodable {
        let ackId: String?
        let message: Message?
    }

    private struct Message: Decodable {
        /// Base64.
        let data: String?
        let messageId: String?
        /// As messages that are pushed have it.
        let message_id: String?
    }
}

/// What is in a message: exactly one of the notifications. Its kind hardly matters, because the
/// purchase is asked about anyway, also for a kind that is not known.
struct GoogleNotification: Decodable, Sendable {
    let packageName: AppID?
    let subscriptionNotification: Subject?
    let oneTimeProductNotification: Subject?
    let voidedPurchaseNotification: Subject?
    /// From the console's button.
    let testNotification: Presence?
    /// A charge-back under review: no revocation.
    let pendingRefundReviewNotification: Presence?

    struct Subject: Decodable, Sendable {
        let purchaseToken: StoreToken?
        let notificationType: LooseInteger?
        /// Of a voided purchase.
        let orderId: OrderID?
        /// Of a voided purchase: 1 of the whole, 2 of a part of the quantity.
        let refundType: LooseInteger?

        var order: OrderID? { orderId.flatMap { $0.isEmpty ? nil : $0 } }
    }

    /// What the answer about a running subscription will not show. `id` is the message's.
    func clue(_ id: String) -> Clue? {
        if let void = voidedPurchaseNotification {
            let isPart = void.refundType?.value == Self.partOfTheQuantity
            return (isPart ? nil : void.order.map(Clue.refund)) ?? .revoked(news: NewsID(id))
        }
        if oneTimeProductNotification?.notificationType?.value == Self.productCanceled {
            return .revoked(news: NewsID(id))
        }
        switch subscriptionNotification?.notificationType?.value {
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
    /// `REFUND_TYPE_QUANTITY_BASED_PARTIAL_REFUND`
    private static let partOfTheQuantity: Int64 = 2

    var token: StoreToken? {
        (subscriptionNotification ?? oneTimeProductNotification ?? voidedPurchaseNotification)?
            .purchaseToken
    }

    var isWithoutPurchase: Bool {
        testNotification != nil || pendingRefundReviewNotification != nil
    }
}
