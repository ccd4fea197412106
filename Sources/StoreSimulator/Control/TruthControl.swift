/// `/control/truth`: what is so, whatever the stores answer.
struct TruthControl: Sendable {
    let world: SharedWorld

    var routes: [Route] {
        [
            .control("GET", "truth", list),
            .control("GET", "truth/summary", summarize),
        ]
    }

    private func list(_ request: Request) throws(ControlError) -> Reply {
        let at = try ControlReader.instant(request.query("at"), "at")
        let machine = SimulatedClock.machineNow
        let (purchases, now) = world.withLock { ($0.purchases, $0.now(machine)) }
        let instant = at ?? now
        var json = JSONText(capacity: purchases.count * 300 + 100)
        json.raw("{\"at\":")
        json.time(instant)
        json.raw(",\"purchases\":[")
        for (index, purchase) in purchases.enumerated() {
            if index > 0 { json.raw(",") }
            let life = purchase.timeline.life(at: instant)
            json.raw("{")
            json.names(of: purchase)
            json.raw(",\"state\":")
            json.plain(life.phase.word)
            json.raw(",\"entitled\":")
            json.boolean(instant >= purchase.timeline.start && life.isEntitled)
            json.products(of: purchase, life, at: instant)
            json.raw("}")
        }
        json.raw("]}")
        return Reply(200, json)
    }

    /// How many purchases of each store are in each state, and how many give access.
    private func summarize(_ request: Request) throws(ControlError) -> Reply {
        let at = try ControlReader.instant(request.query("at"), "at")
        let machine = SimulatedClock.machineNow
        var json = JSONText()
        world.withLock { world in
            let now = world.now(machine)
            let instant = at ?? now
            var states: [String: Int64] = [:]
            var entitled: [StoreName: Int64] = [:]
            var bought: Int64 = 0
            for number in 1..<(world.purchases.count + 1) {
                let timeline = world.purchase(number).timeline
                guard timeline.start <= instant else { continue }
                let life = world.life(number, at: instant, isPresent: instant == now)
                bought += 1
                states[life.phase.word, default: 0] += 1
                if life.isEntitled { entitled[timeline.store, default: 0] += 1 }
            }
            json.raw("{\"at\":")
            json.time(instant)
            json.raw(",\"purchases\":")
            json.number(bought)
            json.raw(",\"entitled\":{")
            json.members(StoreName.allCases.map { ($0.rawValue, entitled[$0] ?? 0) })
            json.raw("},\"states\":{")
            json.members(states.sorted { $0.key < $1.key })
            json.raw("}}")
        }
        return Reply(200, json)
    }
}

extension JSONText {
    fileprivate mutating func members(_ members: [(String, Int64)]) {
        for (index, (name, value)) in members.enumerated() {
            if index > 0 { raw(",") }
            plain(name)
            raw(":")
            number(value)
        }
    }
}

extension Phase {
    /// One word for the control calls.
    var word: String {
        switch self {
        case .pending: "pending"
        case .abandoned: "abandoned"
        case .running: "active"
        case .silent: "silent"
        case .grace: "grace"
        case .hold: "hold"
        case .paused: "paused"
        case .ended(_, .cancelled), .ended(_, .expired), .ended(_, .priceDeclined),
            .ended(_, .unavailable):
            "expired"
        case .ended(_, .paymentFailed): "payment_failed"
        case .ended(_, .refunded): "refunded"
        case .ended(_, .revoked): "revoked"
        case .ended(_, .replaced): "replaced"
        }
    }
}
