/// `/control/notifications`: how the notifications of Google and Amazon are delivered.
struct NotificationControl: Sendable {
    let world: SharedWorld

    var routes: [Route] { [.control("POST", "notifications", set)] }

    private struct Body: Decodable {
        var ackDeadlineSeconds: Int64?
        /// All that is kept comes again.
        var redeliver: Bool?
        /// One test notification of Google's for this app.
        var test: String?
    }

    private func set(_ request: Request) throws(ControlError) -> Reply {
        let body = try ControlReader.read(Body.self, request.body)
        if let seconds = body.ackDeadlineSeconds, !(0...600).contains(seconds) {
            throw ControlError("ack_deadline_seconds is not between 0 and 600")
        }
        let machine = SimulatedClock.machineNow
        world.withLock { world in
            let now = world.now(machine)
            world.publishGoogleNews(at: now)
            world.publishAmazonNews(at: now)
            if let seconds = body.ackDeadlineSeconds {
                world.pubSub.ackDeadline = seconds * Instant.second
                world.amazonTopic.ackDeadline = seconds * Instant.second
            }
            if body.redeliver == true {
                world.pubSub.redeliver()
                world.amazonTopic.redeliver()
            }
            if let app = body.test {
                world.pubSub.publish(Google.testNotification(app: app, at: now), at: now)
            }
        }
        return .done
    }
}
