import NIOCore
import Synchronization

extension Reception {
    /// What a path under `/androidpublisher/v3/applications/{package}/purchases` asks for.
    private enum GoogleRead {
        /// `subscriptionsv2/tokens/{token}`
        case subscription(token: String)
        /// `subscriptions/{product}/tokens/{token}`
        case legacy(product: String, token: String)
        /// `productsv2/tokens/{token}`
        case product(token: String)
        /// `products/{product}/tokens/{token}`
        case legacyProduct(product: String, token: String)
        case voided

        var token: String? {
            switch self {
            case .subscription(let token), .legacy(_, let token), .product(let token),
                .legacyProduct(_, let token):
                token
            case .voided: nil
            }
        }

        /// The product id in the path.
        var product: String? {
            switch self {
            case .legacy(let product, _), .legacyProduct(let product, _): product
            case .subscription, .product, .voided: nil
            }
        }

        var isSubscription: Bool {
            switch self {
            case .subscription, .legacy: true
            case .product, .legacyProduct, .voided: false
            }
        }
    }

    func google(_ request: Request, _ path: [Substring]) -> Reply {
        if path.count > 4, path[1] == "v3", path[2] == "applications", path[4].hasPrefix("orders") {
            return googleOrders(request, path)
        }
        guard path.count > 5, path[1] == "v3", path[2] == "applications",
            path[4] == "purchases", let package = PercentCoding.decode(path[3]),
            let (read, verb) = googleRead(path.dropFirst(5))
        else { return Failures.status(404, .google) }
        guard request.method == (verb == nil ? "GET" : "POST") else {
            return Failures.status(405, .google)
        }
        return world.withLock { world in
            let number = read.token.flatMap { world.find(.google, token: $0) }
            let call = world.receive(.google, number, request)
            let reply =
                call.failure() ?? refusal(request, package, world, call)
                ?? world.refusal(overQuota: call, app: package, request)
                ?? googleAnswer(call, package, read, verb, request, &world)
            world.calls.answered(reply.status)
            return call.deliver(reply)
        }
    }

    /// What is asked for, and the verb behind a colon (`tokens/{token}:revoke`).
    private func googleRead(_ path: ArraySlice<Substring>) -> (GoogleRead, verb: GoogleVerb?)? {
        let names = path.compactMap(PercentCoding.decode)
        guard names.count == path.count, var last = names.last else { return nil }
        var verb: GoogleVerb?
        for candidate in GoogleVerb.allCases where last.hasSuffix(":" + candidate.rawValue) {
            last.removeLast(candidate.rawValue.count + 1)
            verb = candidate
        }
        switch (names.count, names[0]) {
        case (3, "subscriptionsv2") where names[1] == "tokens":
            return (.subscription(token: last), verb)
        case (4, "subscriptions") where names[2] == "tokens":
            return (.legacy(product: names[1], token: last), verb)
        case (3, "productsv2") where names[1] == "tokens":
            return (.product(token: last), verb)
        case (4, "products") where names[2] == "tokens":
            return (.legacyProduct(product: names[1], token: last), verb)
        case (1, "voidedpurchases"):
            return (.voided, nil)
        default: return nil
        }
    }

    /// The checks before the purchase itself, in the order in which the API makes them.
    func refusal(
        _ request: Request, _ package: String, _ world: borrowing World, _ call: Call
    ) -> Reply? {
        guard let authorization = request.authorization, authorization.hasPrefix("Bearer "),
            let bearer = world.bearers[String(authorization.dropFirst(7))], bearer.end > call.now
        else { return Failures.unauthorized(.google) }
        guard bearer.scopes.contains(Self.publisherScope) else {
            let message = "Request had insufficient authentication scopes."
            return Reply(
                403,
                Google.failure(
                    403, "insufficientPermissions", message, domain: "global",
                    status: "PERMISSION_DENIED"))
        }
        guard world.apps.contains(package) else {
            let message = "No application was found for the given package name."
            return Reply(404, Google.failure(404, "applicationNotFound", message))
        }
        return nil
    }

    private func googleAnswer(
        _ call: Call, _ package: String, _ read: GoogleRead, _ verb: GoogleVerb?,
        _ request: Request, _ world: inout World
    ) -> Reply {
        if case .voided = read { return voided(request, package, call.now, &world) }
        if let token = read.token, !Google.isToken(token) { return Failures.status(400, .google) }
        guard let number = call.subject(world) else { return Failures.notFound(.google) }
        let purchase = world.purchase(number)
        guard purchase.timeline.start <= call.now else { return Failures.notFound(.google) }
        guard purchase.app == package else {
            let message = "The purchase token does not match the package name."
            return Reply(
                400,
                Google.failure(
                    400, "purchaseTokenDoesNotMatchPackageName", message, location: "token"))
        }
        let instant = call.instant(purchase)
        let life = world.life(number, at: instant, isPresent: instant == call.now)
        // A token of the other kind of product, or another product's.
        let product = life.latest?.product ?? purchase.timeline.product
        guard read.isSubscription == life.isRenewable, (read.product ?? product) == product else {
            return Failures.status(400, .google)
        }
        if life.isAccountClosed { return Google.deadToken }
        if Google.isGone(life, at: instant) { return Failures.gone(.google) }
        if let verb { return write(verb, number, life, call.now, request, &world) }
        switch read {
        case .subscription: return Reply(200, Google.subscription(purchase, life, at: instant))
        case .legacy: return Reply(200, Google.legacySubscription(purchase, life, at: instant))
        case .product: return Reply(200, Google.productVersion2(purchase, life))
        case .legacyProduct: return Reply(200, Google.product(purchase, life))
        case .voided: return Failures.status(404, .google)
        }
    }
}

// The list of voided purchases.
extension Reception {
    private static let voidedPageLimit = 1000
    private static let voidedWindow = 30 * Instant.day

    /// The voids of an app's purchases in a moving window of thirty days. Only `type=1` shows
    /// subscriptions; a page token brings its window and its type along.
    private func voided(
        _ request: Request, _ package: String, _ now: Instant, _ world: inout World
    ) -> Reply {
        guard let window = VoidedWindow(request, now, oldest: now + -Self.voidedWindow) else {
            return Failures.status(400, .google)
        }
        let limit = request.query("maxResults").flatMap { Int($0) } ?? Self.voidedPageLimit
        guard (1...Self.voidedPageLimit).contains(limit) else {
            return Failures.status(400, .google)
        }
        var voids: [Google.Void] = []
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
