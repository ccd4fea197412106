import Synchronization

extension Reception {
    private static let orderLimit = 1000

    /// What a path under `/androidpublisher/v3/applications/{package}/orders` asks for.
    private enum OrderCall {
        case get(String)
        case batch([String])
        case refund(String, revokes: Bool)

        var orders: [String] {
            switch self {
            case .get(let order), .refund(let order, _): [order]
            case .batch(let orders): orders
            }
        }
    }

    /// `orders/{id}`, `orders:batchGet?orderIds=…` and `orders/{id}:refund`.
    func googleOrders(_ request: Request, _ path: [Substring]) -> Reply {
        guard let package = PercentCoding.decode(path[3]), let asked = orderCall(request, path)
        else { return Failures.status(404, .google) }
        return world.withLock { world in
            let found = asked.orders.first.flatMap { world.find(order: $0) }
            let call = world.receive(.google, found?.number, request)
            let reply =
                call.failure() ?? refusal(request, package, world, call)
                ?? world.refusal(overQuota: call, app: package, request)
                ?? ordersAnswer(asked, package, call, &world)
            world.calls.answered(reply.status)
            return call.deliver(reply)
        }
    }

    private func orderCall(_ request: Request, _ path: [Substring]) -> OrderCall? {
        if path.count == 5, path[4] == "orders:batchGet", request.method == "GET" {
            return .batch(request.queries("orderIds"))
        }
        guard path.count == 6, path[4] == "orders", var order = PercentCoding.decode(path[5])
        else { return nil }
        let verb = ":refund"
        if order.hasSuffix(verb) {
            order.removeLast(verb.count)
            guard request.method == "POST" else { return nil }
            return .refund(order, revokes: request.query("revoke")?.lowercased() == "true")
        }
        return request.method == "GET" ? .get(order) : nil
    }

    private func ordersAnswer(
        _ asked: OrderCall, _ package: String, _ call: Call, _ world: inout World
    ) -> Reply {
        let ids = asked.orders
        guard (1...Self.orderLimit).contains(ids.count), Set(ids).count == ids.count else {
            return Failures.status(400, .google)
        }
        var found: [Google.Order] = []
        for id in ids {
            guard let order = order(id, package, call, &world) else {
                let message = "The order was not found."
                return Reply(404, Google.failure(404, "orderNotFound", message))
            }
            found.append(order)
        }
        var json = JSONText(capacity: ids.count * 1200)
        switch asked {
        case .get: if let order = found.first { Google.append(order, to: &json) }
        case .batch:
            json.raw("{\"orders\":[")
            for (index, order) in found.enumerated() {
                if index > 0 { json.raw(",") }
                Google.append(order, to: &json)
            }
            json.raw("]}")
        case .refund(_, let revokes):
            guard let order = found.first else { return Failures.status(404, .google) }
            return refund(order, revokes: revokes, call.now, &world)
        }
        return Reply(200, json)
    }

    private func order(
        _ id: String, _ package: String, _ call: Call, _ world: inout World
    ) -> Google.Order? {
        guard let found = world.find(order: id) else { return nil }
        let purchase = world.purchase(found.number)
        guard purchase.app == package, purchase.timeline.start <= call.now else { return nil }
        let life = world.life(found.number, at: call.now)
        return Google.order(purchase, life, number: found.charge, at: call.now)
    }

    /// Only the newest order takes the access along; of another one the money goes back.
    private func refund(
        _ order: Google.Order, revokes: Bool, _ now: Instant, _ world: inout World
    ) -> Reply {
        let number = order.purchase.number
        let life = world.life(number, at: now)
        let isNewest = order.number == life.charges.count - 1
        let deed = isNewest ? (revokes ? Deed.revoke : .refundMoney) : .refundPast
        guard order.state == .processed, isNewest || order.number == life.charges.count - 2,
            life.objection(to: deed, store: .google) == nil
        else {
            return Reply(
                400,
                Google.failure(400, "orderNotRefundable", "The order cannot be refunded."))
        }
        world.add(deed, to: number, at: now)
        return Reply(200, Self.emptyObject)
    }
}
