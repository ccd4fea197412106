import Curl
package import Renewal

/// Pulls Amazon's real-time notifications from an SQS queue that is subscribed to their topic. They
/// are hints: unordered, repeated, sometimes missing.
///
/// <https://developer.amazon.com/docs/in-app-purchasing/real-time-notifications.html>,
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/Welcome.html>
package struct AmazonQueue: Sendable {
    private let app: AppID
    /// Its whole address, as AWS names it.
    private let address: String
    private let host: StoreHost
    private let authority: String
    private let signature: AWSSignature
    private var transport: StoreTransport

    /// - Parameters:
    ///   - address: of the queue, such as
    ///     `https://sqs.eu-west-1.amazonaws.com/123456789012/renewald`.
    ///   - certificateAuthorityFile: the only authorities to trust; nil is the system's.
    ///   - credentials: of a user who may receive and delete its messages.
    ///   - app: whose notifications are wanted.
    ///   - transport: what it needs of the world.
    /// - Throws: when the address is none of a queue.
    package init(
        at address: String, certificateAuthorityFile: String?, credentials: AWSCredentials,
        of app: AppID, transport: StoreTransport
    ) throws(CredentialFault) {
        guard let authority = URLText.authority(of: address),
            let host = StoreHost(
                baseURL: String(address[..<authority.endIndex]),
                certificateAuthorityFile: certificateAuthorityFile),
            address[authority.endIndex...].utf8.contains(where: { $0 != UInt8(ascii: "/") })
        else {
            throw CredentialFault(
                field: "sqs_queue",
                sentence: "is not the address of a queue, such as "
                    + "https://sqs.eu-west-1.amazonaws.com/123456789012/renewald")
        }
        self.app = app
        self.address = address
        self.host = host
        self.authority = String(authority)
        self.transport = transport
        signature = AWSSignature(credentials: credentials, service: "sqs")
    }

    /// The same, for one piece of work.
    package func within(_ session: CallSession) -> AmazonQueue {
        var source = self
        source.transport.session = session
        return source
    }

    /// One pull. What cannot be read, or is about another app, will never get better: it has a
    /// receipt too, and is only counted and recorded.
    ///
    /// - Parameter now: by the database's clock.
    /// - Returns: a page whose receipts are for `acknowledge`, once its hints are stored.
    /// - Throws: when there was no usable answer.
    package func pull(at now: Timestamp) async throws(StoreFailure) -> HintPage {
        let body = try await reply(
            to: "ReceiveMessage",
            Receive(
                QueueUrl: address, MaxNumberOfMessages: Self.most,
                WaitTimeSeconds: Self.secondsToWait), at: now)
        let messages = try JSON.decode(Received.self, from: body).Messages ?? []
        var page = HintPage(hints: [])
        for message in messages.map(\.value) {
            if let receipt = message?.ReceiptHandle?.value { page.receipts.append(receipt) }
            AmazonNotification.add(
                message?.Body?.value, of: message?.MessageId?.value, to: &page, of: app, at: now)
        }
        // A queue gives fewer than it has, from those of its servers that it asks.
        page.hasMore = !messages.isEmpty
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
            let entries = rest.prefix(Self.most).enumerated().map { number, receipt in
                Delete.Entry(Id: "\(number)", ReceiptHandle: receipt)
            }
            rest = rest.dropFirst(Self.most)
            let body = try await reply(
                to: "DeleteMessageBatch", Delete(QueueUrl: address, Entries: entries), at: now)
            // What is the sender's fault, such as a receipt that has run out, no call will mend.
            let failed = try JSON.decode(Deleted.self, from: body).Failed ?? []
            if failed.contains(where: { $0.SenderFault != true }) {
                throw .unreachable(reason: "messages could not be deleted")
            }
        }
    }

    /// Looks at the queue; no message is pulled.
    ///
    /// - Throws: `.refused` where the user is not taken or may not look, or there is no such queue,
    ///   or whatever kept it from being known.
    package func probe(at now: Timestamp) async throws(StoreFailure) {
        _ = try await reply(
            to: "GetQueueAttributes",
            Look(QueueUrl: address, AttributeNames: ["ApproximateNumberOfMessages"]), at: now)
    }

    /// As many as AWS gives and takes at once.
    private static let most = 10
    /// A call that waits asks all servers of the queue; one that does not may miss what is there.
    private static let secondsToWait = 1
    /// Whatever somebody has put into the queue: ten messages of 1 MiB, each in quotes.
    private static let bodyLimitBytes = 32 << 20

    private func reply(
        to action: String, _ body: some Encodable, at now: Timestamp
    ) async throws(StoreFailure) -> [UInt8] {
        var request = host.request(
            path: "/",
            headers: [
                HTTPHeader("Content-Type", "application/x-amz-json-1.0"),
                HTTPHeader("X-Amz-Target", "AmazonSQS.\(action)"),
            ])
        request.method = .post
        request.bodyLimitBytes = Self.bodyLimitBytes
        request.body = JSON.encode(body)
        request.headers += signature.headers(
            for: request, to: AWSSignature.Target(authority: authority),
            at: transport.wallClock())
        let response = try await transport.response(to: request, calling: action)
        return try AmazonQueueReply(response, at: now).body.get()
    }
}

// As AWS names the fields.
extension AmazonQueue {
    private struct Receive: Encodable {
        let QueueUrl: String
        let MaxNumberOfMessages: Int
        let WaitTimeSeconds: Int
    }

    private struct Received: Decodable {
        let Messages: [Tolerant<Message>]?
    }

    private struct Message: Decodable {
        let MessageId: LooseText?
        let ReceiptHandle: LooseText?
        let Body: LooseText?
    }

    private struct Delete: Encodable {
        let QueueUrl: String
        let Entries: [Entry]

        struct Entry: Encodable {
            let Id: String
            let ReceiptHandle: String
        }
    }

    private struct Deleted: Decodable {
        let Failed: [Failure]?

        struct Failure: Decodable {
            let SenderFault: Bool?
        }
    }

    private struct Look: Encodable {
        let QueueUrl: String
        let AttributeNames: [String]
    }
}
