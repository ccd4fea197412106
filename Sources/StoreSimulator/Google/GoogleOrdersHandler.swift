/// What was paid: orders of the Play Developer API.
struct GoogleOrdersHandler: Sendable {
    private static let batchLimit = 1000

    let calls: StoreCalls

    var routes: [Route] {
        [
            Route("GET", Google.path + "/orders/{order}", .orders) { request in
                answer(request, [request["order"]]) { orders, _, _ in
                    Reply(200, Google.order(orders[0]))
                }
            },
            Route("GET", Google.path + "/orders:batchGet", .orders) { request in
                answer(request, request.queries("orderIds")) { orders, _, _ in
                    Reply(200, Google.orders(orders))
                }
            },
            Route("POST", Google.path + "/orders/{order}:refund", .orders) { request in
                answer(request, [request["order"]]) { orders, now, world in
                    let revokes = request.query("revoke")?.lowercased() == "true"
                    return refund(orders[0], revokes: revokes, now, &world)
                }
            },
        ]
    }

    private func answer(
        _ request: Request, _ ids: [String],
        _ answer: ([Google.Order], _ now: Instant, inout World) -> Reply
    ) -> Reply {
        calls.answer(
            request, of: .google,
            about: { world in ids.first.flatMap { world.find(order: $0)?.number } },
            from: { world, call throws(Refusal) in
                try GoogleAccess.package(of: request, call, &world)
            },
            { world, call throws(Refusal) in
                guard (1...Self.batchLimit).contains(ids.count), Set(ids).count == ids.count else {
                    throw Refusal(Failures.status(400, .google))
                }
                var orders: [Google.Order] = []
                for id in ids {
                    guard let order = order(id, request["package"], call, &world) else {
                        throw Refusal(
                            Google.refusal(404, "orderNotFound", "The order was not found."))
                    }
                    orders.append(order)
                }
                return .reply(answer(orders, call.now, &world))
            })
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
            return Google.refusal(400, "orderNotRefundable", "The order cannot be refunded.")
        }
        world.add(deed, to: number, at: now)
        return Reply(200, .emptyObject)
    }
}
