/// The notifications that Apple has sent, and those of a test.
struct AppleNotificationsHandler: Sendable {
    let calls: StoreCalls
    let tokens: AppleTokens
    let signer: AppleSigner

    var routes: [Route] {
        [
            Route("POST", "/inApps/v1/notifications/history", .notifications, history),
            Route("POST", "/inApps/v1/notifications/test", .notifications, askTest),
            Route("GET", "/inApps/v1/notifications/test/{token}", .notifications, test),
        ]
    }

    private func answer(
        _ request: Request,
        _ answer: (inout World, Call, _ bundle: String) throws(Refusal) -> Answer
    ) -> Reply {
        let bundle = tokens.bundle(of: request)
        return calls.answer(
            request, of: .apple, from: { _, _ throws(Refusal) in try bundle.proven() },
            { world, call throws(Refusal) in try answer(&world, call, try bundle.proven()) })
    }

    private func history(_ request: Request) -> Reply {
        answer(request) { world, call, bundle throws(Refusal) in
            let query = try AppleNotificationQuery(request, now: call.now)
            let (page, next) = try page(query, call.now, bundle, request.host, &world)
            let flaw = AppleSigner.Flaw(call.fault?.kind)
            return .signed {
                let signed = try page.map { notification in
                    let payload = try notification.payload(signer)
                    return (try signer.sign(payload, flaw: flaw), notification.sent)
                }
                return Reply(200, AppleNotification.body(signed, nextPage: next))
            }
        }
    }

    private func page(
        _ query: AppleNotificationQuery, _ now: Instant, _ bundle: String, _ host: StoreHost,
        _ world: inout World
    ) throws(Refusal) -> (page: [AppleBulletin], next: String?) {
        var numbers = world.purchases.filter {
            $0.store == .apple && $0.app == bundle && $0.environment == host.environment
        }.map(\.number)
        if let id = query.transaction {
            guard let found = world.find(transaction: id[...]), numbers.contains(found.number)
            else { throw Refusal(Failures.notFound(.apple)) }
            numbers = [found.number]
        }
        var wanted: [AppleBulletin] = []
        for number in numbers where world.purchase(number).timeline.start <= now {
            let life = world.life(number, at: now)
            let told = AppleNotification.all(world.purchase(number), life)
                .map(AppleBulletin.init)
            let reviews = world.desk.reviews.filter { $0.purchase == number }
            let asked = reviews.flatMap { AppleBulletin.all($0, world.purchase(number), life) }
            wanted += (told + asked).filter(query.wants)
        }
        if query.transaction == nil {
            wanted += announcements(bundle, host, now, &world).filter(query.wants)
        }
        wanted.sort {
            ($0.sent, $0.order.0, $0.order.1) < ($1.sent, $1.order.0, $1.order.1)
        }
        let page = Array(wanted.dropFirst(query.index).prefix(AppleNotificationQuery.pageLimit))
        let next = query.index + page.count
        return (page, next < wanted.count ? query.page(at: next) : nil)
    }

    /// What names no purchase is told in production.
    private func announcements(
        _ bundle: String, _ host: StoreHost, _ now: Instant, _ world: inout World
    ) -> [AppleBulletin] {
        world.desk.announcements.enumerated().compactMap { place, announcement in
            let purchase = announcement.purchase.map { world.purchase($0) }
            guard announcement.app == bundle,
                (purchase?.environment ?? .production) == host.environment
            else { return nil }
            let charge = purchase.flatMap { world.life($0.number, at: now).latest }
            return AppleBulletin(announcement, place: place, purchase, charge)
        }
    }

    private func askTest(_ request: Request) -> Reply {
        answer(request) { world, call, _ in
            let token = world.askTest(at: call.now)
            return .reply(Reply(200, .object { $0.member("testNotificationToken", token) }))
        }
    }

    private func test(_ request: Request) -> Reply {
        let token = request["token"]
        return answer(request) { world, call, bundle throws(Refusal) in
            guard token.count > 20, token.contains("_") else {
                throw Refusal(4_000_020, "Invalid request. Invalid test notification token.")
            }
            guard let instant = world.tests[token] else {
                throw Refusal(4_040_008, "Test notification not found.")
            }
            let flaw = AppleSigner.Flaw(call.fault?.kind)
            return .signed {
                let payload = AppleNotification.test(
                    app: bundle, request.host.environment, id: String(token.prefix(36)),
                    at: instant)
                let signed = try signer.sign(payload, flaw: flaw)
                return Reply(200, AppleNotification.body(signed, sent: instant))
            }
        }
    }
}

extension StoreHost {
    var environment: Purchase.Environment { self == .production ? .production : .sandbox }
}
