/// The Receipt Verification Service of Amazon, and its Cloud Sandbox.
struct AmazonReceiptHandler: Sendable {
    let calls: StoreCalls
    /// The developer's shared secret.
    let secret: String

    /// The sandbox has its own port, and stands behind `/sandbox` too.
    var routes: [Route] {
        let path =
            "/version/1.0/verifyReceiptId/developer/{secret}/user/{user}/receiptId/{receipt}"
        return [
            Route(nil, path, .receipt) { verify($0, isSandbox: $0.host == .sandbox) },
            Route(nil, "/sandbox" + path, .receipt) { verify($0, isSandbox: true) },
        ]
    }

    private func verify(_ request: Request, isSandbox: Bool) -> Reply {
        let knowsSecret = request["secret"] == secret
        return calls.answer(
            request, of: .amazon, about: { $0.find(.amazon, token: request["receipt"]) },
            from: { world, call throws(Refusal) in
                // The Cloud Sandbox takes any secret.
                guard knowsSecret || isSandbox else {
                    throw Refusal(Failures.unauthorized(.amazon))
                }
                return call.number.map { world.purchase($0).app } ?? World.defaultApp
            },
            { world, call in .reply(receipt(call, request["user"], isSandbox, &world)) })
    }

    private func receipt(
        _ call: Call, _ user: String, _ isSandbox: Bool, _ world: inout World
    ) -> Reply {
        guard let asked = call.number, let number = call.subject(world),
            (world.purchase(asked).environment == .sandbox) == isSandbox,
            world.purchase(asked).timeline.start <= call.now
        else { return Failures.notFound(.amazon) }
        guard world.purchase(asked).storeUser == user else {
            return Failures.status(497, .amazon)
        }
        let purchase = world.purchase(number)
        let instant = call.instant(purchase)
        let life = call.life(of: number, at: instant, in: &world)
        if life.isAccountClosed { return Failures.gone(.amazon) }
        return Reply(200, Amazon.receipt(purchase, life))
    }
}
