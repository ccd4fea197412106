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
        let answer = JSON.object(capacity: purchases.count * 300 + 100) { json in
            json.member("at", instant)
            json.objects("purchases", purchases) { json, purchase in
                json.names(of: purchase)
                json.access(
                    of: purchase, purchase.timeline.life(at: instant), at: instant,
                    hasBase: purchases.hasBase(purchase, at: instant))
            }
        }
        return Reply(200, answer)
    }

    /// How many purchases of each store are in each state, and how many give access.
    private func summarize(_ request: Request) throws(ControlError) -> Reply {
        let at = try ControlReader.instant(request.query("at"), "at")
        let machine = SimulatedClock.machineNow
        let answer = world.withLock { world in
            let now = world.now(machine)
            let instant = at ?? now
            var states: [String: Int] = [:]
            var entitled: [StoreName: Int] = [:]
            for number in 1..<(world.purchases.count + 1) {
                let purchase = world.purchase(number)
                let timeline = purchase.timeline
                guard timeline.start <= instant else { continue }
                let life = world.life(number, at: instant, isPresent: instant == now)
                states[life.phase.word, default: 0] += 1
                if life.isEntitled, world.purchases.hasBase(purchase, at: instant) {
                    entitled[timeline.store, default: 0] += 1
                }
            }
            return JSON.object { json in
                json.member("at", instant)
                json.member("purchases", states.values.reduce(0, +))
                json.object("entitled") { json in
                    for store in StoreName.allCases {
                        json.member(store.rawValue, entitled[store] ?? 0)
                    }
                }
                json.object("states") { json in
                    for (word, count) in states.sorted(by: { $0.key < $1.key }) {
                        json.member(word, count)
                    }
                }
            }
        }
        return Reply(200, answer)
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
