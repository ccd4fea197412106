import Curl
package import Renewal
import Synchronization

/// Pulls Google's real-time developer notifications from Cloud Pub/Sub. They are hints: unordered,
/// repeated, sometimes missing.
///
/// A subscription that nobody pulls from for 31 days is deleted by Google, unless its expiration
/// policy says never.
///
/// <https://developer.android.com/google/play/billing/rtdn-reference>
package struct GooglePubSub: Sendable {
    private let packageName: AppID
    let path: String
    private(set) var client: GoogleClient
    private let size = PullSize()

    /// - Parameters:
    ///   - credentials: the service account must be a subscriber. Its access token has a scope of
    ///     its own, so that a fault here does not stop the checks.
    ///   - subscription: `projects/PROJECT/subscriptions/NAME`, or `NAME` alone in the project of
    ///     the service account.
    ///   - host: where Pub/Sub is.
    ///   - transport: what it needs of the world.
    /// - Throws: when the subscription's name cannot be used.
    package init(
        credentials: GoogleCredentials, subscription: String, host: StoreHost,
        transport: StoreTransport
    ) throws(CredentialFault) {
        let account = credentials.account
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

    /// The same, for one piece of work.
    package func within(_ session: CallSession) -> GooglePubSub {
        var source = self
        source.client.transport.session = session
        return source
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
    /// receipt too, and is only counted and recorded. After an answer that is too large fewer
    /// messages are asked for.
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
        let count = size.messages(atMost: min(max(limit, 1), 1000))
        let reply: GoogleReply
        do throws(StoreFailure) {
            reply = try await client.post(
                path + ":pull", PullRequest(maxMessages: count, returnImmediately: !isWaiting),
                calling: "subscriptions.pull", at: now,
                deadline: isWaiting ? .seconds(100) : StoreHost.deadline,
                limitBytes: Self.bodyLimitBytes)
        } catch {
            if error == StoreFailure(CurlError.tooLarge(limitBytes: Self.bodyLimitBytes)) {
                size.shrink()
            }
            throw error
        }
        let pulled = try JSON.decode(Pulled.self, from: try reply.wholeAppBody())
        size.grow(beyond: count)
        var page = HintPage(hints: [])
        for received in (pulled.receivedMessages ?? []).map(\.value) {
            if let receipt = received?.ackId?.value { page.receipts.append(receipt) }
            received?.message?.value?.add(to: &page, of: packageName, at: now)
                ?? GoogleMessage.addUnreadable(to: &page, "no message")
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

    /// One message of 10 MB, the largest that there is, in base64; some thousand notifications.
    ///
    /// <https://cloud.google.com/pubsub/quotas#resource_limits>
    private static let bodyLimitBytes = 16 << 20

    /// A request may be 512 KiB long.
    private static let receiptLimit = 1000

    private struct PullRequest: Encodable {
        let maxMessages: Int
        let returnImmediately: Bool
    }

    private struct Acknowledgement: Encodable {
        let ackIds: [String]
    }

    /// <https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions/pull>
    private struct Pulled: Decodable {
        let receivedMessages: [Tolerant<Received>]?
    }

    private struct Received: Decodable {
        let ackId: LooseText?
        let message: Tolerant<GoogleMessage>?
    }
}

/// How many messages are pulled at once: a single one, which always fits, after an answer that was
/// too large, and twice as many after each that was not. Shared by all copies of a source.
private final class PullSize: Sendable {
    private let most = Mutex(PullSize.limit)
    private static let limit = 1000

    func messages(atMost wanted: Int) -> Int { min(wanted, most.withLock { $0 }) }

    func shrink() { most.withLock { $0 = 1 } }

    func grow(beyond count: Int) {
        most.withLock { most in
            if most < Self.limit { most = min(max(most, 2 * count), Self.limit) }
        }
    }
}
