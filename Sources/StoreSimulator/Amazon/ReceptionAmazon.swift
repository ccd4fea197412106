import Synchronization

extension Reception {
    /// `/version/1.0/verifyReceiptId/developer/{secret}/user/{user}/receiptId/{receipt}`, the same
    /// behind `/sandbox` or on the sandbox port.
    func amazon(_ request: Request, _ path: [Substring], _ host: StoreHost) -> Reply {
        let isSandbox = host == .sandbox || path.first == "sandbox"
        let path = path.first == "sandbox" ? Array(path.dropFirst()) : path
        guard path.count == 9, path[0] == "version", path[1] == "1.0",
            path[2] == "verifyReceiptId", path[3] == "developer", path[5] == "user",
            path[7] == "receiptId"
        else { return Reply(404, Amazon.failure("Unknown operation")) }
        let receipt = PercentCoding.decode(path[8]) ?? ""
        let user = PercentCoding.decode(path[6]) ?? ""
        let knowsSecret = PercentCoding.decode(path[4]) == credentials.amazonSecret
        return world.withLock { world in
            let number = world.find(.amazon, token: receipt)
            let call = world.receive(.amazon, number, request)
            let reply =
                call.failure()
                ?? {
                    // The Cloud Sandbox takes any secret.
                    guard knowsSecret || isSandbox else { return Failures.unauthorized(.amazon) }
                    let app = number.map { world.purchase($0).app } ?? Self.defaultApp
                    if let refusal = world.refusal(overQuota: call, app: app, request) {
                        return refusal
                    }
                    return amazonAnswer(call, user, isSandbox, &world)
                }()
            world.calls.answered(reply.status)
            return call.deliver(reply)
        }
    }

    private func amazonAnswer(
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
        let life = world.life(number, at: instant, isPresent: instant == call.now)
        if life.isAccountClosed { return Failures.gone(.amazon) }
        return Reply(200, Amazon.receipt(purchase, life))
    }
}
