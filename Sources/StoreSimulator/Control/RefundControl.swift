/// `/control/refunds`: what the stores ask about refunds, what they were told, and what comes of
/// it. `/control/announcements`: notifications beside the lives.
struct RefundControl: Sendable {
    let world: SharedWorld

    var routes: [Route] {
        [
            .control("POST", "refunds", ask), .control("GET", "refunds", show),
            .control("POST", "refunds/{review}/decide", decide),
            .control("POST", "announcements", announce),
        ]
    }

    private struct Question: Decodable {
        var purchase: Int
        /// The number of the charge; the newest where nothing is said.
        var charge: Int?
        /// Apple: such as `UNINTENDED_PURCHASE`; Google: a number.
        var reason: String?
    }

    private func ask(_ request: Request) throws(ControlError) -> Reply {
        let body = try ControlReader.read(Question.self, request.body)
        let number = try world.purchase(named: "\(body.purchase)")
        let machine = SimulatedClock.machineNow
        return try world.withLock { world throws(ControlError) -> Reply in
            let now = world.now(machine)
            let purchase = world.purchase(number)
            guard purchase.store != .amazon else {
                throw ControlError("Amazon asks nothing about refunds", status: 409)
            }
            let charges = world.life(number, at: now).charges
            let charge = body.charge ?? charges.count - 1
            guard charges.indices.contains(charge) else {
                throw ControlError("there is no such charge", status: 409)
            }
            world.publishGoogleNews(at: now)
            guard
                let id = world.desk.ask(purchase, charge: charge, reason: body.reason, at: now),
                let review = world.desk.review(id)
            else { throw ControlError("the store asks no more about it", status: 409) }
            if purchase.store == .google {
                world.pubSub.publish(
                    Google.refundReview(purchase, review, at: now), at: now)
            }
            return Reply(200, .object { Self.describe(review, purchase, to: &$0) })
        }
    }

    private func show(_ request: Request) throws(ControlError) -> Reply {
        let reviews = world.withLock { world in
            world.desk.reviews.map { ($0, world.purchase($0.purchase)) }
        }
        return Reply(
            200,
            .object { json in
                json.objects("refunds", reviews) { Self.describe($1.0, $1.1, to: &$0) }
            })
    }

    private static func describe(
        _ review: Review, _ purchase: Purchase, to json: inout JSONWriter
    ) {
        json.member("id", review.number)
        json.member("purchase", review.purchase)
        json.member("charge", review.charge)
        json.member("token", purchase.store == .google ? review.token : nil)
        json.member("asked", review.asked.count)
        json.member("outcome", review.outcome?.rawValue)
        json.objects("replies", review.replies) { json, reply in
            json.member("at", reply.at.text)
            json.member("kept", reply.isKept)
            json.member("body", reply.body)
        }
    }

    private struct Decision: Decodable {
        var outcome: String
    }

    /// A refund is a deed of the life, told as any other; a refusal is told by Apple only.
    private func decide(_ request: Request) throws(ControlError) -> Reply {
        let body = try ControlReader.read(Decision.self, request.body)
        guard let outcome = Review.Outcome(rawValue: body.outcome) else {
            throw ControlError("outcome is not refunded or declined")
        }
        let number = Int(request["review"]) ?? 0
        let machine = SimulatedClock.machineNow
        try world.withLock { world throws(ControlError) in
            let now = world.now(machine)
            guard let review = world.desk.review(number) else {
                throw ControlError("there is no such review", status: 404)
            }
            guard review.outcome == nil else {
                throw ControlError("it is decided", status: 409)
            }
            let purchase = world.purchase(review.purchase)
            if outcome == .refunded {
                let life = world.life(review.purchase, at: now)
                let isNewest = review.charge == life.charges.count - 1
                let deed: Deed =
                    isNewest ? (purchase.store == .apple ? .refund : .chargeBack) : .refundPast
                if let objection = life.objection(to: deed, store: purchase.store) {
                    throw ControlError(objection, status: 409)
                }
                world.perform(deed, on: review.purchase, at: now)
            }
            world.desk.change(number) { review in
                review.outcome = outcome
                if outcome == .declined { review.declinedAt = now }
            }
        }
        return .done
    }

    private struct News: Decodable {
        var store: String
        /// Such as `RESCIND_CONSENT`, or `dreamNotification`.
        var type: String
        var subtype: String?
        var app: String?
        /// The purchase that it names, if any.
        var purchase: Int?
    }

    private func announce(_ request: Request) throws(ControlError) -> Reply {
        let body = try ControlReader.read(News.self, request.body)
        let store = try ControlReader.store(body.store)
        let number = try body.purchase.map { named throws(ControlError) in
            try world.purchase(named: "\(named)")
        }
        let machine = SimulatedClock.machineNow
        try world.withLock { world throws(ControlError) in
            let now = world.now(machine)
            let purchase = number.map { world.purchase($0) }
            let announcement = Announcement(
                type: body.type, subtype: body.subtype,
                app: body.app ?? purchase?.app ?? World.defaultApp, purchase: number, at: now)
            switch store {
            case .apple: world.desk.announce(announcement)
            case .google:
                world.publishGoogleNews(at: now)
                world.pubSub.publish(Google.announcement(announcement, purchase), at: now)
            case .amazon: throw ControlError("Amazon's news cannot be pulled", status: 409)
            }
        }
        return .done
    }
}
