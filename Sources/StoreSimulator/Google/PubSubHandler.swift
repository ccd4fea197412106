import NIOCore

/// The bodies of Pub/Sub calls; all members are optional on the wire.
private struct PubSubRequest: Decodable {
    var maxMessages: Int?
    var ackIds: [String]?
    var ackDeadlineSeconds: Int64?
    var permissions: [String]?
}

/// Subscriptions of Cloud Pub/Sub. A pull answers at once, with an empty object when there is
/// nothing.
///
/// https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions
struct PubSubHandler: Sendable {
    /// Exists from the start.
    static let subscription = "projects/storesim/subscriptions/play"
    private static let pullLimit = 1000

    let calls: StoreCalls

    var routes: [Route] {
        let path = "/v1/projects/{project}/subscriptions/{subscription}"
        let known = [
            Route("GET", path, .pubsub) { request in
                answer(request) { name, _, _, _ in Self.subscription(name) }
            },
            Route("PUT", path, .pubsub) { answer($0, isNew: true, create) },
            Route("POST", path + ":testIamPermissions", .pubsub) { request in
                answer(request, isNew: true) { name, body, _, world in
                    Self.permissions(world.pubSub.has(name) ? body.permissions ?? [] : [])
                }
            },
            Route("POST", path + ":pull", .pubsub) { answer($0, pull) },
            Route("POST", path + ":acknowledge", .pubsub) { answer($0, acknowledge) },
            Route("POST", path + ":modifyAckDeadline", .pubsub) { answer($0, modifyDeadline) },
        ]
        // Whoever has no token is told so first, whatever they ask for.
        let unknown = Set(known.map(\.path)).map { path in
            Route(nil, path, .pubsub) { request in
                answer(request) { _, _, _, _ throws(Refusal) in throw Self.notFound }
            }
        }
        return known + unknown
    }

    private typealias Handler =
        (_ subscription: String, PubSubRequest, _ now: Instant, inout World) throws(Refusal)
        -> Reply

    /// Where `isNew`, there need not be such a subscription.
    private func answer(_ request: Request, isNew: Bool = false, _ answer: Handler) -> Reply {
        let name = "projects/\(request["project"])/subscriptions/\(request["subscription"])"
        return calls.answer(
            request, of: .google,
            { world, call throws(Refusal) in
                try Self.authorize(request, call, world)
                guard let body = request.decodeOrEmpty(PubSubRequest.self) else {
                    throw Refusal(
                        Self.failure(
                            400, "Invalid JSON payload received.", "INVALID_ARGUMENT"))
                }
                guard isNew || world.pubSub.has(name) else {
                    throw Refusal(
                        Self.failure(
                            404, "Resource not found (resource=\(request["subscription"])).",
                            "NOT_FOUND"))
                }
                return .reply(try answer(name, body, call.now, &world))
            })
    }

    private static func authorize(
        _ request: Request, _ call: Call, _ world: borrowing World
    ) throws(Refusal) {
        guard let bearer = world.bearer(of: request, at: call.now) else {
            let message =
                "Request had invalid authentication credentials. Expected OAuth 2 access token."
            throw Refusal(failure(401, message, "UNAUTHENTICATED"))
        }
        guard bearer.scopes.isDisjoint(with: Bearer.pubSubScopes) else { return }
        let message = "Request had insufficient authentication scopes."
        throw Refusal(failure(403, message, "PERMISSION_DENIED"))
    }

    private func create(
        _ name: String, _: PubSubRequest, _ now: Instant, _ world: inout World
    ) throws(Refusal) -> Reply {
        guard !name.contains(":") else {
            throw Self.notFound
        }
        world.publishGoogleNews(at: now)
        world.pubSub.subscribe(name)
        return Reply(200, .object { $0.member("name", name) })
    }

    private func pull(
        _ name: String, _ body: PubSubRequest, _ now: Instant, _ world: inout World
    ) throws(Refusal) -> Reply {
        guard let limit = body.maxMessages, limit > 0 else {
            throw Refusal(
                Self.failure(
                    400, "The value for max_messages is too small.", "INVALID_ARGUMENT"))
        }
        world.publishGoogleNews(at: now)
        return Self.pulled(world.pubSub.pull(name, limit: min(limit, Self.pullLimit), at: now))
    }

    private func acknowledge(
        _ name: String, _ body: PubSubRequest, _ now: Instant, _ world: inout World
    ) throws(Refusal) -> Reply {
        guard let ids = body.ackIds, !ids.isEmpty, world.pubSub.acknowledge(name, ids) else {
            throw Self.invalidAckID
        }
        return Reply(200, .emptyObject)
    }

    private func modifyDeadline(
        _ name: String, _ body: PubSubRequest, _ now: Instant, _ world: inout World
    ) throws(Refusal) -> Reply {
        let seconds = body.ackDeadlineSeconds ?? 0
        guard let ids = body.ackIds, !ids.isEmpty, (0...600).contains(seconds),
            world.pubSub.extend(name, ids, by: seconds * Instant.second, at: now)
        else { throw Self.invalidAckID }
        return Reply(200, .emptyObject)
    }
}

// The bodies of answers.
extension PubSubHandler {
    private static func subscription(_ name: String) -> Reply {
        let answer = JSON.object { json in
            json.member("name", name)
            json.member("topic", "projects/storesim/topics/play")
            json.member("ackDeadlineSeconds", 10)
        }
        return Reply(200, answer)
    }

    /// What of these the caller holds. There is no error for a subscription that does not exist.
    private static func permissions(_ held: [String]) -> Reply {
        guard !held.isEmpty else { return Reply(200, .emptyObject) }
        return Reply(200, .object { $0.array("permissions", held) })
    }

    private static func pulled(_ deliveries: [Topic.Delivery]) -> Reply {
        guard !deliveries.isEmpty else { return Reply(200, .emptyObject) }
        let answer = JSON.object(capacity: deliveries.count * 800) { json in
            json.objects("receivedMessages", deliveries) { json, delivery in
                json.member("ackId", delivery.ackID)
                json.object("message") { json in
                    let message = delivery.message
                    json.member("data", plain: Base64.padded(message.data.bytes))
                    json.member("messageId", quoted: 136_969_346_945 + Int64(message.number))
                    json.member("publishTime", message.published)
                }
                if delivery.attempt > 1 { json.member("deliveryAttempt", delivery.attempt) }
            }
        }
        return Reply(200, answer)
    }

    private static var notFound: Refusal { Refusal(failure(404, "Not found.", "NOT_FOUND")) }

    private static var invalidAckID: Refusal {
        Refusal(
            failure(
                400, "You have passed an invalid ack ID to the service.", "INVALID_ARGUMENT"))
    }

    static func failure(_ code: Int, _ message: String, _ status: String) -> Reply {
        let answer = JSON.object { json in
            json.object("error") { json in
                json.member("code", code)
                json.member("message", message)
                json.member("status", status)
            }
        }
        return Reply(code, answer)
    }
}
