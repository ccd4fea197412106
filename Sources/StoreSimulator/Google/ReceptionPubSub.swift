import FoundationEssentials
import NIOCore
import Synchronization

/// The bodies of Pub/Sub calls; all members are optional on the wire.
private struct PubSubRequest: Decodable {
    struct Publication: Decodable {
        var data: String?
    }

    var maxMessages: Int?
    var ackIds: [String]?
    var ackDeadlineSeconds: Int64?
    var messages: [Publication]?
    var permissions: [String]?
}

/// `/v1/projects/{project}/subscriptions/{name}:pull` and its siblings. A pull answers at once,
/// with an empty object when there is nothing.
extension Reception {
    private static let pullLimit = 1000

    func pubSub(_ request: Request, _ path: [Substring]) -> Reply {
        guard path.count == 5, path[1] == "projects", path[3] == "subscriptions",
            let last = PercentCoding.decode(path[4])
        else { return Self.pubSubError(404, "Not found.", "NOT_FOUND") }
        let parts = last.split(separator: ":", maxSplits: 1)
        let name = "projects/\(path[2])/subscriptions/\(parts.first ?? "")"
        let verb = parts.count == 2 ? parts[1] : ""
        return world.withLock { world in
            let call = world.receive(.google, nil, request)
            let reply =
                call.failure() ?? pubSubRefusal(request, world, call)
                ?? pubSubAnswer(request, name, verb, call.now, &world)
            world.calls.answered(reply.status)
            return call.deliver(reply)
        }
    }

    private func pubSubRefusal(
        _ request: Request, _ world: borrowing World, _ call: Call
    ) -> Reply? {
        guard let authorization = request.authorization, authorization.hasPrefix("Bearer "),
            let bearer = world.bearers[String(authorization.dropFirst(7))], bearer.end > call.now
        else {
            let message =
                "Request had invalid authentication credentials. Expected OAuth 2 access token."
            return Self.pubSubError(401, message, "UNAUTHENTICATED")
        }
        guard bearer.scopes.isDisjoint(with: Self.pubSubScopes) else { return nil }
        let message = "Request had insufficient authentication scopes."
        return Self.pubSubError(403, message, "PERMISSION_DENIED")
    }

    private func pubSubAnswer(
        _ request: Request, _ name: String, _ verb: Substring, _ now: Instant,
        _ world: inout World
    ) -> Reply {
        let bytes = request.body.isEmpty ? Array("{}".utf8) : request.body
        guard let body = try? JSONDecoder().decode(PubSubRequest.self, from: Data(bytes)) else {
            return Self.pubSubError(400, "Invalid JSON payload received.", "INVALID_ARGUMENT")
        }
        if request.method == "PUT", verb.isEmpty {
            world.publishNews(at: now)
            world.pubSub.subscribe(name)
            var json = JSONText(capacity: 120)
            json.raw("{\"name\":")
            json.string(name)
            json.raw("}")
            return Reply(200, json)
        }
        if request.method == "POST", verb == "testIamPermissions" {
            return permissions(world.pubSub.has(name) ? body.permissions ?? [] : [])
        }
        if request.method == "GET", verb.isEmpty, world.pubSub.has(name) {
            return subscription(name)
        }
        guard request.method == "POST", world.pubSub.has(name) else {
            return Self.pubSubError(
                404, "Resource not found (resource=\(name.split(separator: "/").last ?? "")).",
                "NOT_FOUND")
        }
        switch verb {
        case "pull":
            guard let limit = body.maxMessages, limit > 0 else {
                return Self.pubSubError(
                    400, "The value for max_messages is too small.", "INVALID_ARGUMENT")
            }
            world.publishNews(at: now)
            return pulled(world.pubSub.pull(name, limit: min(limit, Self.pullLimit), at: now))
        case "acknowledge":
            let ids = body.ackIds ?? []
            guard !ids.isEmpty, world.pubSub.acknowledge(name, ids) else {
                return Self.invalidAckID
            }
        case "modifyAckDeadline":
            let ids = body.ackIds ?? []
            let seconds = body.ackDeadlineSeconds ?? 0
            guard !ids.isEmpty, (0...600).contains(seconds),
                world.pubSub.extend(name, ids, by: seconds * Instant.second, at: now)
            else { return Self.invalidAckID }
        default: return Self.pubSubError(404, "Not found.", "NOT_FOUND")
        }
        return Reply(200, Self.emptyObject)
    }

    private func subscription(_ name: String) -> Reply {
        var json = JSONText(capacity: 200)
        json.raw("{\"name\":")
        json.string(name)
        json.raw(",\"topic\":\"projects/storesim/topics/play\",\"ackDeadlineSeconds\":10}")
        return Reply(200, json)
    }

    /// What of these the caller holds. There is no error for a subscription that does not exist.
    private func permissions(_ held: [String]) -> Reply {
        guard !held.isEmpty else { return Reply(200, Self.emptyObject) }
        var json = JSONText(capacity: 200)
        for (index, permission) in held.enumerated() {
            json.raw(index > 0 ? "," : "{\"permissions\":[")
            json.string(permission)
        }
        json.raw("]}")
        return Reply(200, json)
    }

    private func pulled(_ deliveries: [PubSub.Delivery]) -> Reply {
        guard !deliveries.isEmpty else { return Reply(200, Self.emptyObject) }
        var json = JSONText(capacity: deliveries.count * 800)
        json.raw("{\"receivedMessages\":[")
        for (index, delivery) in deliveries.enumerated() {
            json.raw(index > 0 ? ",{\"ackId\":" : "{\"ackId\":")
            json.plain(delivery.ackID)
            json.raw(",\"message\":{\"data\":\"")
            json.ready(Base64.padded(delivery.message.data.bytes))
            json.raw("\",\"messageId\":")
            json.quoted(136_969_346_945 + Int64(delivery.message.number))
            json.raw(",\"publishTime\":")
            json.time(delivery.message.published)
            json.raw("}")
            if delivery.attempt > 1 {
                json.raw(",\"deliveryAttempt\":")
                json.number(Int64(delivery.attempt))
            }
            json.raw("}")
        }
        json.raw("]}")
        return Reply(200, json)
    }

    private static var invalidAckID: Reply {
        pubSubError(
            400, "You have passed an invalid ack ID to the service.", "INVALID_ARGUMENT")
    }

    private static func pubSubError(
        _ code: Int, _ message: String, _ status: StaticString
    ) -> Reply {
        var json = JSONText(capacity: 200)
        json.raw("{\"error\":{\"code\":")
        json.number(Int64(code))
        json.raw(",\"message\":")
        json.string(message)
        json.raw(",\"status\":\"")
        json.raw(status)
        json.raw("\"}}")
        return Reply(code, json)
    }
}

/// `POST /control/notifications`: how Google's notifications are delivered.
extension Reception {
    private struct Body: Decodable {
        var ackDeadlineSeconds: Int64?
        /// All that is kept comes again.
        var redeliver: Bool?
        /// One test notification for this app.
        var test: String?
    }

    func setNotifications(_ request: Request) throws(ControlError) -> Reply {
        let body = try ControlReader.read(Body.self, request.body)
        if let seconds = body.ackDeadlineSeconds, !(0...600).contains(seconds) {
            throw ControlError("ack_deadline_seconds is not between 0 and 600")
        }
        let machine = SimulatedClock.machineNow
        world.withLock { world in
            let now = world.now(machine)
            world.publishNews(at: now)
            if let seconds = body.ackDeadlineSeconds {
                world.pubSub.ackDeadline = seconds * Instant.second
            }
            if body.redeliver == true { world.pubSub.redeliver() }
            if let app = body.test {
                world.pubSub.publish(Google.testNotification(app: app, at: now), at: now)
            }
        }
        return Self.done
    }
}
