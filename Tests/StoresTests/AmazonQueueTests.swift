import Curl
import Renewal
import TestSupport
import Testing

@testable import Stores

/// Notifications of Amazon in an SQS queue: what is asked, how it is signed, and what is made of
/// the answers.
struct AmazonQueueTests {
    private static let now = GoogleFixture.now
    private static let address = "https://sqs.eu-west-1.amazonaws.com/123456789012/renewald"

    private static func queue(
        _ world: FakeWorld, at address: String = address
    ) throws -> AmazonQueue {
        try AmazonQueue(
            at: address, certificateAuthorityFile: nil,
            credentials: AWSCredentials(
                accessKeyID: "AKIDEXAMPLE", secretAccessKey: Secret("plutonium"),
                region: "eu-west-1"),
            of: "com.example.reader", transport: world.transport)
    }

    private static func world(_ body: String, status: Int = 200) -> FakeWorld {
        FakeWorld(clock: now) { _ in .json(body, status: status) }
    }

    /// A message of the queue; the notification is wrapped as SNS does it, or raw.
    private static func message(
        _ number: Int, _ notification: String, isRaw: Bool = false
    ) -> String {
        let quoted = text(notification)
        let envelope =
            #"{"Type":"Notification","MessageId":"n\#(number)","TopicArn":"arn:aws:sns:x","#
            + #""Message":\#(quoted),"SignatureVersion":"1"}"#
        return #"{"MessageId":"m\#(number)","ReceiptHandle":"r\#(number)","#
            + #""Body":\#(text(isRaw ? notification : envelope))}"#
    }

    private static func text(_ value: String) -> String {
        String(decoding: JSON.encode(value), as: UTF8.self)
    }

    private static func notification(
        _ type: String, _ receipt: String = "q1:3:11", app: String = "com.example.reader",
        related: String = "{}", madeAt: Timestamp = now
    ) -> String {
        #"{"appPackageName":"\#(app)","notificationType":"\#(type)","receiptId":"\#(receipt)","#
            + #""appUserId":"u","relatedReceipts":\#(related),"#
            + #""timestamp":\#(madeAt.microsecondsSinceEpoch / 1000),"betaProductTransaction":false}"#
    }

    // MARK: The signature

    /// The example of AWS's documentation, which is a call of another service.
    @Test func signsAsAWSDocumentsIt() throws {
        let signature = AWSSignature(
            credentials: AWSCredentials(
                accessKeyID: "AKIDEXAMPLE",
                secretAccessKey: Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
                region: "us-east-1"), service: "iam")
        let request = HTTPRequest(
            url: "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
            headers: [
                HTTPHeader("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
            ])
        let headers = signature.headers(
            for: request,
            to: AWSSignature.Target(
                authority: "iam.amazonaws.com", query: "Action=ListUsers&Version=2010-05-08"),
            at: try #require(CalendarTime.timestamp(rfc3339: "2015-08-30T12:36:00Z")))
        #expect(headers.map(\.name) == ["X-Amz-Date", "Authorization"])
        #expect(headers[0].value == "20150830T123600Z")
        #expect(
            headers[1].value
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
                + "SignedHeaders=content-type;host;x-amz-date, Signature="
                + "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7")
    }

    // MARK: Pulling

    @Test func asksForAsMuchAsThereMayBe() async throws {
        let world = Self.world("{}")
        #expect(try await Self.queue(world).pull(at: Self.now) == HintPage(hints: []))
        let request = try #require(world.requests.last)
        #expect(request.method == .post)
        #expect(request.url == "https://sqs.eu-west-1.amazonaws.com/")
        #expect(request.header("X-Amz-Target") == "AmazonSQS.ReceiveMessage")
        #expect(request.header("Content-Type") == "application/x-amz-json-1.0")
        #expect(
            String(decoding: request.body ?? [], as: UTF8.self)
                == #"{"MaxNumberOfMessages":10,"QueueUrl":"\#(Self.address)","WaitTimeSeconds":1}"#)
        let authorization = try #require(request.header("Authorization"))
        #expect(authorization.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260220/"))
        #expect(
            authorization.contains(
                "SignedHeaders=accept;content-type;host;x-amz-date;x-amz-target,"))
    }

    @Test(arguments: [false, true])
    func makesAHintOfANotification(isRaw: Bool) async throws {
        let message = Self.message(1, Self.notification("SUBSCRIPTION_RENEWED"), isRaw: isRaw)
        let world = Self.world(#"{"Messages":[\#(message)]}"#)
        let page = try await Self.queue(world).pull(at: Self.now)
        let id = isRaw ? "m1" : "n1"
        #expect(
            page.hints == [
                Hint(id: NewsID("amazon notification \(id)"), subject: .token("q1:3:11"))
            ])
        #expect(page.receipts == ["r1"] && page.skipped == 0 && page.unhandled.isEmpty)
        #expect(page.hasMore, "a queue gives fewer than it has")
    }

    /// Of an end the answer may not tell yet: it is looked for.
    @Test(arguments: [
        ("SUBSCRIPTION_CANCELLED", true), ("ENTITLEMENT_CANCELLED", true),
        ("SUBSCRIPTION_AUTO_RENEWAL_OFF", false), ("SUBSCRIPTION_OUT_OF_GRACE_PERIOD", false),
    ])
    func keepsTheNewsOfAnEnd(type: String, isKept: Bool) async throws {
        let message = Self.message(1, Self.notification(type))
        let world = Self.world(#"{"Messages":[\#(message)]}"#)
        let page = try await Self.queue(world).pull(at: Self.now)
        #expect(page.hints.map(\.clue) == [isKept ? .revoked(news: "amazon n1") : nil])
    }

    /// What comes late may be about a term before the one that is known.
    @Test(arguments: [(Duration.hours(23), true), (.hours(25), false)])
    func lateNewsOfAnEndIsAReasonToLookAlone(age: Duration, isKept: Bool) async throws {
        let news = Self.notification("SUBSCRIPTION_EXPIRED", madeAt: Self.now - age)
        let world = Self.world(#"{"Messages":[\#(Self.message(1, news))]}"#)
        let page = try await Self.queue(world).pull(at: Self.now)
        #expect(page.hints.map(\.subject) == [.token("q1:3:11")])
        #expect(page.hints.map(\.clue) == [isKept ? .revoked(news: "amazon n1") : nil])
    }

    /// A change of plan at once ends another subscription.
    @Test(arguments: [
        (#"{"cancelledReceiptId":"q0:3:11"}"#, ["q1:3:11", "q0:3:11"]),
        (#"{"cancelledReceiptId":"q1:3:11"}"#, ["q1:3:11"]),
        (#"{"cancelledReceiptId":""}"#, ["q1:3:11"]), ("[]", ["q1:3:11"]), ("null", ["q1:3:11"]),
    ])
    func looksAtWhatIsRelated(related: String, tokens: [String]) async throws {
        let news = Self.notification("SUBSCRIPTION_MODIFIED_IMMEDIATE", related: related)
        let world = Self.world(#"{"Messages":[\#(Self.message(1, news))]}"#)
        let page = try await Self.queue(world).pull(at: Self.now)
        #expect(page.hints.map(\.subject) == tokens.map { .token(StoreToken($0)) })
        #expect(Set(page.hints.map(\.id)).count == page.hints.count)
    }

    /// What is of a type that is not known is a reason to look, and is recorded.
    @Test func looksAlsoForAnUnknownType() async throws {
        let world = Self.world(
            #"{"Messages":[\#(Self.message(1, Self.notification("SUBSCRIPTION_DREAMT")))]}"#)
        let page = try await Self.queue(world).pull(at: Self.now)
        #expect(page.hints.map(\.subject) == [.token("q1:3:11")])
        #expect(
            page.unhandled == [
                UnhandledNews(
                    id: "amazon unhandled n1", type: "SUBSCRIPTION_DREAMT", isExpected: false)
            ])
    }

    /// Each is counted, recorded and given back, so that it does not come for ever.
    @Test(arguments: [
        "", "no JSON", "[]", "7", #"{"Type":"Notification","MessageId":"n1"}"#,
        #"{"Type":"Notification","MessageId":"n1","Message":"no JSON"}"#,
        #"{"Type":"Notification","MessageId":"n1","Message":"{}"}"#,
        notification("SUBSCRIPTION_RENEWED", app: "com.example.other"),
        notification("SUBSCRIPTION_RENEWED", ""),
        notification("SUBSCRIPTION_RENEWED", #"q1\u0000:3:11"#),
        #"{"Type":"Notification","MessageId":"n\u00001","Message":\#(text(notification("X")))}"#,
    ])
    func recordsWhatCannotBeRead(body: String) async throws {
        let world = Self.world(
            #"{"Messages":[{"MessageId":"m1","ReceiptHandle":"r1","Body":\#(Self.text(body))},"#
                + #"{"ReceiptHandle":"r2"},{"ReceiptHandle":"r3","Body":7},null,"#
                + #"{"ReceiptHandle":4}]}"#)
        let page = try await Self.queue(world).pull(at: Self.now)
        #expect(page.hints.isEmpty && page.skipped == 5 && page.receipts == ["r1", "r2", "r3"])
        #expect(page.unhandled.map(\.type) == Array(repeating: "unreadable", count: 5))
    }

    /// Whoever subscribes the queue has to confirm it: that is said by name.
    @Test func saysThatASubscriptionIsNotConfirmed() async throws {
        let body = #"{"Type":"SubscriptionConfirmation","MessageId":"n1","Message":"You have …"}"#
        let world = Self.world(
            #"{"Messages":[{"MessageId":"m1","ReceiptHandle":"r1","Body":\#(Self.text(body))}]}"#)
        let page = try await Self.queue(world).pull(at: Self.now)
        #expect(page.unhandled.map(\.type) == ["SubscriptionConfirmation"])
        #expect(page.skipped == 0)
    }

    // MARK: Giving back

    @Test func deletesInBatches() async throws {
        let world = Self.world(#"{"Successful":[],"Failed":[{"Id":"0","SenderFault":true}]}"#)
        let queue = try Self.queue(world)
        try await queue.acknowledge([], at: Self.now)
        #expect(world.requests.isEmpty)
        try await queue.acknowledge((0..<21).map { "r\($0)" }, at: Self.now)
        #expect(world.requests.count == 3)
        #expect(world.requests[2].header("X-Amz-Target") == "AmazonSQS.DeleteMessageBatch")
        #expect(
            String(decoding: world.requests[2].body ?? [], as: UTF8.self)
                == #"{"Entries":[{"Id":"0","ReceiptHandle":"r20"}],"QueueUrl":"\#(Self.address)"}"#)
    }

    @Test func saysWhatTheQueueCouldNotDelete() async throws {
        let world = Self.world(#"{"Failed":[{"Id":"0","SenderFault":false}]}"#)
        await #expect(throws: StoreFailure.self) {
            try await Self.queue(world).acknowledge(["r1"], at: Self.now)
        }
    }

    // MARK: Failures

    private static let failures = rows(
        """
        status  type                                              heard
        400     com.amazonaws.sqs#QueueDoesNotExist               refused
        403     com.amazon.coral.service#AccessDeniedException    refused
        403     SignatureDoesNotMatch                             refused
        403     unknown                                           refused
        404     -                                                 refused
        400     com.amazonaws.sqs#RequestThrottled                throttled
        403     Throttling                                        throttled
        429     -                                                 throttled
        500     -                                                 unreachable
        503     -                                                 unreachable
        302     -                                                 malformed
        200     no JSON                                           malformed
        """)

    /// The word of an error is repeated only where it is known.
    @Test(arguments: failures)
    func sortsFailures(row: [String]) async throws {
        let type = row[1] == "unknown" ? "plutonium" : row[1]
        let body = type == "no JSON" ? "<html>" : #"{"__type":"\#(type)"}"#
        let world = Self.world(body, status: try #require(Int(row[0])))
        let queue = try Self.queue(world)
        for call in ["receive", "delete", "look"] {
            do throws(StoreFailure) {
                switch call {
                case "receive": _ = try await queue.pull(at: Self.now)
                case "delete": try await queue.acknowledge(["plutonium"], at: Self.now)
                default: try await queue.probe(at: Self.now)
                }
                // Who only looks believes any answer.
                #expect(call == "look" && row[0] == "200")
            } catch {
                #expect(error.problem.code.rawValue == row[2], "\(call)")
                #expect(!"\(error.problem)".contains("plutonium"))
            }
        }
    }

    @Test(arguments: [
        "", "renewald", "https://sqs.eu-west-1.amazonaws.com", "https://sqs.eu-west-1.example/",
        "ftp://sqs.example/1/q", "https://user@sqs.example/1/q",
    ])
    func refusesWhatIsNoQueue(address: String) {
        #expect {
            try Self.queue(Self.world("{}"), at: address)
        } throws: { error in
            (error as? CredentialFault)?.field == "sqs_queue"
        }
    }
}
