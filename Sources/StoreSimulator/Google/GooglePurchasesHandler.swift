/// Subscriptions and one-time products of the Play Developer API, both in two versions: what is
/// told of a purchase, and what is done to it.
struct GooglePurchasesHandler: Sendable {
    /// The four collections of purchases.
    private enum Collection: CaseIterable {
        case subscription
        case subscriptionV1
        case product
        case productV1

        /// Behind `…/purchases`.
        var path: String {
            switch self {
            case .subscription: "/subscriptionsv2/tokens/{token}"
            case .subscriptionV1: "/subscriptions/{product}/tokens/{token}"
            case .product: "/productsv2/tokens/{token}"
            case .productV1: "/products/{product}/tokens/{token}"
            }
        }

        var endpoint: Endpoint {
            switch self {
            case .subscription: .subscription
            case .subscriptionV1: .subscriptionV1
            case .product: .product
            case .productV1: .productV1
            }
        }

        var isSubscription: Bool { self == .subscription || self == .subscriptionV1 }
    }

    let calls: StoreCalls

    var routes: [Route] {
        Collection.allCases.flatMap { collection in
            let path = Google.path + "/purchases" + collection.path
            let read = Route("GET", path, collection.endpoint) { get(collection, $0) }
            let writes = GoogleVerb.allCases.map { verb in
                Route("POST", "\(path):\(verb.rawValue)", collection.endpoint) { request in
                    answer(collection, request) { purchase, life, call, world in
                        GoogleWrites.write(verb, purchase, life, call.now, request, &world)
                    }
                }
            }
            return [read] + writes
        }
    }

    private func get(_ collection: Collection, _ request: Request) -> Reply {
        answer(collection, request) { purchase, life, call, _ in
            switch collection {
            case .subscription:
                Reply(200, Google.subscription(purchase, life, at: call.instant(purchase)))
            case .subscriptionV1:
                Reply(200, Google.legacySubscription(purchase, life, at: call.instant(purchase)))
            case .product: Reply(200, Google.productVersion2(purchase, life))
            case .productV1: Reply(200, Google.product(purchase, life))
            }
        }
    }

    private func answer(
        _ collection: Collection, _ request: Request,
        _ answer: (Purchase, Life, Call, inout World) -> Reply
    ) -> Reply {
        calls.answer(
            request, of: .google, about: { $0.find(.google, token: request["token"]) },
            from: { world, call throws(Refusal) in
                try GoogleAccess.package(of: request, call, &world)
            },
            { world, call throws(Refusal) in
                let (purchase, life) = try subject(collection, request, call, &world)
                return .reply(answer(purchase, life, call, &world))
            })
    }

    /// The purchase that is meant, as it stood at the instant that is told of.
    private func subject(
        _ collection: Collection, _ request: Request, _ call: Call, _ world: inout World
    ) throws(Refusal) -> (Purchase, Life) {
        guard Google.isToken(request["token"]) else { throw Refusal(Failures.status(400, .google)) }
        guard let number = call.subject(world), world.purchase(number).timeline.start <= call.now
        else { throw Refusal(Failures.notFound(.google)) }
        let purchase = world.purchase(number)
        guard purchase.app == request["package"] else {
            throw Refusal(
                Google.refusal(
                    400, "purchaseTokenDoesNotMatchPackageName",
                    "The purchase token does not match the package name.", location: "token"))
        }
        let instant = call.instant(purchase)
        let life = call.life(of: number, at: instant, in: &world)
        // A token of the other kind of product, or another product's.
        let product = life.latest?.product ?? purchase.timeline.product
        guard collection.isSubscription == life.isRenewable,
            [product, ""].contains(request["product"])
        else { throw Refusal(Failures.status(400, .google)) }
        if life.isAccountClosed { throw Refusal(Google.deadToken) }
        if Google.isGone(life, at: instant) { throw Refusal(Failures.gone(.google)) }
        return (purchase, life)
    }
}
