import Crypto

/// The bodies of SQS calls; all members are optional on the wire.
private struct QueueRequest: Decodable {
    var QueueUrl: String?
    var MaxNumberOfMessages: Int?
    var Entries: [Entry]?

    struct Entry: Decodable {
        var Id: String?
        var ReceiptHandle: String?
    }
}

/// An SQS queue that is subscribed to the topic of Amazon's notifications: the little of it that a
/// reader needs. A call that waits for messages is answered at once.
///
/// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/Welcome.html
struct AmazonQueueHandler: Sendable {
    /// Of the one queue that there is.
    static let path = "/000000000000/renewald"
    private static let pullLimit = 10

    let calls: StoreCalls
    let key: AWSKey

    var routes: [Route] { [Route("POST", "/", .queue, answer)] }

    private func answer(_ request: Request) -> Reply {
        calls.answer(
            request, of: .amazon,
            { world, call throws(Refusal) in
                let machine = SimulatedClock.machineNow
                if let flaw = key.flaw(of: request, service: "sqs", at: machine) {
                    throw Refusal(Self.failure(flaw))
                }
                guard let body = request.decode(QueueRequest.self) else {
                    throw Refusal(Self.failure(400, "SerializationException"))
                }
                guard body.QueueUrl?.hasSuffix(Self.path) == true else {
                    throw Refusal(Self.failure(400, "QueueDoesNotExist"))
                }
                world.publishAmazonNews(at: call.now)
                return .reply(
                    try Self.act(request.signedFields["x-amz-target"], body, call.now, &world))
            })
    }

    private static func act(
        _ target: String?, _ body: QueueRequest, _ now: Instant, _ world: inout World
    ) throws(Refusal) -> Reply {
        switch target {
        case "AmazonSQS.ReceiveMessage":
            let limit = body.MaxNumberOfMessages ?? 1
            guard (1...pullLimit).contains(limit) else {
                throw Refusal(failure(400, "InvalidParameterValue"))
            }
            return received(world.amazonTopic.pull(path, limit: limit, at: now))
        case "AmazonSQS.DeleteMessageBatch":
            let entries = body.Entries ?? []
            guard (1...pullLimit).contains(entries.count) else {
                throw Refusal(failure(400, "EmptyBatchRequest"))
            }
            return deleted(
                entries.map { entry in
                    (
                        entry.Id ?? "",
                        world.amazonTopic.acknowledge(path, [entry.ReceiptHandle ?? ""])
                    )
                })
        case "AmazonSQS.GetQueueAttributes":
            let waiting = world.amazonTopic.waiting(path)
            return Reply(
                200,
                .object { json in
                    json.object("Attributes") {
                        $0.member("ApproximateNumberOfMessages", quoted: Int64(waiting))
                    }
                })
        default: throw Refusal(failure(400, "UnknownOperationException"))
        }
    }
}

// The bodies of answers.
extension AmazonQueueHandler {
    private static func received(_ deliveries: [Topic.Delivery]) -> Reply {
        guard !deliveries.isEmpty else { return Reply(200, .emptyObject) }
        let answer = JSON.object(capacity: deliveries.count * 1200) { json in
            json.objects("Messages", deliveries) { json, delivery in
                let body = envelope(delivery.message)
                json.member("MessageId", id(delivery.message, "1"))
                json.member("ReceiptHandle", delivery.ackID)
                json.member("MD5OfBody", AWSKey.hex(Insecure.MD5.hash(data: body.bytes)))
                json.member("Body", body.text)
            }
        }
        return Reply(200, answer)
    }

    /// As SNS wraps a message.
    private static func envelope(_ message: Topic.Message) -> JSON {
        .object { json in
            json.member("Type", "Notification")
            json.member("MessageId", id(message, "2"))
            json.member("TopicArn", "arn:aws:sns:\(AWSKey.region):000000000000:storesim")
            json.member("Message", message.data.text)
            json.member("Timestamp", message.published)
            json.member("SignatureVersion", "1")
        }
    }

    private static func id(_ message: Topic.Message, _ kind: String) -> String {
        let number = String(message.number)
        let zeros = String(repeating: "0", count: max(12 - number.count, 0))
        return "0000000\(kind)-0000-4000-8000-" + zeros + number
    }

    private static func deleted(_ entries: [(id: String, isKnown: Bool)]) -> Reply {
        let answer = JSON.object { json in
            json.objects("Successful", entries.filter(\.isKnown)) { $0.member("Id", $1.id) }
            json.objects("Failed", entries.filter { !$0.isKnown }) { json, entry in
                json.member("Id", entry.id)
                json.member("Code", "ReceiptHandleIsInvalid")
                json.member("SenderFault", true)
            }
        }
        return Reply(200, answer)
    }

    private static func failure(_ flaw: AWSKey.Flaw) -> Reply {
        switch flaw {
        case .noSignature: failure(403, "MissingAuthenticationToken")
        case .unknownKey: failure(403, "InvalidClientTokenId")
        case .wrongSignature: failure(403, "SignatureDoesNotMatch")
        case .tooOld: failure(403, "RequestExpired")
        }
    }

    private static func failure(_ status: Int, _ type: String) -> Reply {
        let answer = JSON.object { json in
            json.member("__type", "com.amazonaws.sqs#" + type)
            json.member("message", type)
        }
        var reply = Reply(status, answer)
        // Clients go by the older name where there is one.
        if type == "QueueDoesNotExist" {
            reply.headers.append(
                ("x-amzn-query-error", "AWS.SimpleQueueService.NonExistentQueue;Sender"))
        }
        return reply
    }
}
