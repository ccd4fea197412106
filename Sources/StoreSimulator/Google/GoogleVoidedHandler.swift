/// The list of voided purchases.
struct GoogleVoidedHandler: Sendable {
    private static let pageLimit = 1000
    private static let window = 30 * Instant.day

    let calls: StoreCalls

    var routes: [Route] {
        [Route("GET", Google.path + "/purchases/voidedpurchases", .voided, list)]
    }

    private func list(_ request: Request) -> Reply {
        calls.answer(
            request, of: .google,
            from: { world, call throws(Refusal) in
                try GoogleAccess.package(of: request, call, &world)
            },
            { world, call in .reply(page(request, call.now, &world)) })
    }

    /// The voids of an app's purchases in a moving window of thirty days. Only `type=1` shows
    /// subscriptions; a page token brings its window and its type along.
    private func page(_ request: Request, _ now: Instant, _ world: inout World) -> Reply {
        let package = request["package"]
        guard let window = VoidedWindow(request, now, oldest: now + -Self.window) else {
            return Failures.status(400, .google)
        }
        let limit = request.query("maxResults").flatMap { Int($0) } ?? Self.pageLimit
        guard (1...Self.pageLimit).contains(limit) else {
            return Failures.status(400, .google)
        }
        var voids: [Google.VoidedPurchase] = []
        for purchase in world.purchases
        where purchase.store == .google && purchase.app == package && purchase.mayHaveVoids {
            let isShown =
                window.showsSubscriptions || purchase.timeline.terms.kind != .autoRenewable
            if isShown { voids += Google.voids(purchase, world.life(purchase.number, at: now)) }
        }
        let showsParts =
            request.query("includeQuantityBasedPartialRefund")?.lowercased() == "true"
        let inWindow = voids.filter { void in
            void.voided >= window.start && void.voided < window.end
                && (void.quantity == nil || showsParts)
        }
        .sorted { ($0.voided, $0.order) < ($1.voided, $1.order) }
        let page = inWindow.dropFirst(window.index).prefix(limit)
        let isLast = window.index + page.count >= inWindow.count
        return Reply(
            200,
            Google.voidedPage(
                page, nextPage: isLast ? nil : window.token(at: window.index + page.count)))
    }
}

/// Which voids are asked for. Its text form is the page token.
private struct VoidedWindow {
    var start: Instant
    var end: Instant
    var index = 0
    var showsSubscriptions: Bool

    init?(_ request: Request, _ now: Instant, oldest: Instant) {
        if let token = request.query("token") {
            guard let bytes = Base64.bytes(ofURL: token[...].utf8) else { return nil }
            let numbers = String(decoding: bytes, as: UTF8.self).split(separator: ".")
                .compactMap { Int64($0) }
            guard numbers.count == 4, numbers[2] >= 0 else { return nil }
            start = Instant(milliseconds: numbers[0])
            end = Instant(milliseconds: numbers[1])
            index = Int(numbers[2])
            showsSubscriptions = numbers[3] == 1
            return
        }
        let asked = ["startTime", "endTime"].map { request.query($0) }
        let times = asked.map { $0.flatMap { Int64($0) }.map { Instant(milliseconds: $0) } }
        for (text, time) in zip(asked, times) where text != nil && time == nil { return nil }
        start = max(times[0] ?? oldest, oldest)
        end = min(times[1] ?? now + 1, now + 1)
        showsSubscriptions = request.query("type") == "1"
    }

    func token(at index: Int) -> String {
        let kind = showsSubscriptions ? 1 : 0
        let text = "\(start.milliseconds).\(end.milliseconds).\(index).\(kind)"
        return String(decoding: Base64.url(text.utf8), as: UTF8.self)
    }
}
