import Renewal
import TestSupport
import Testing

/// Reads what a store says: `active 60 off`, `refunded 10`, `not_found`, `throttled`.
///
/// A number is the day that the store names: the end of what is paid or of access, or the day of
/// the refund. The words of `renewald.purchases.problem` are answers without a verdict.
struct HeardWords {
    private let words: Words
    private let known: Facts

    init(_ cell: some StringProtocol, about known: Facts) {
        words = Words(cell)
        self.known = known
    }

    func answer() throws -> Answer {
        guard let verb = words.plain.first else { throw UnreadableCell(cell: "") }
        if let doubt = Self.doubts.first(where: { $0.rawValue == verb }) { return .doubt(doubt) }
        if let failure = try failure(verb) { return .failure(failure) }
        let observation = try observation(verb)
        if words.has("contested") { return observation.asContested() }
        return words.has("substitute") ? observation.asSubstitute() : .verdict(observation)
    }

    /// The others are made by the decision.
    private static let doubts: [Doubt] = [.notFound, .gone, .noLongerValid, .unproven]

    private func failure(_ verb: String) throws -> StoreFailure? {
        switch verb {
        case "unreachable": .unreachable(reason: "time-out")
        case "throttled":
            .throttled(retryAfter: try words["retry"].map { try TestCalendar.duration($0) })
        case "refused": .refused(reason: "status 401")
        case "malformed": .malformed(field: "expiryTime")
        case "signature": .signature(reason: "chain")
        case "mismatch": .mismatch(what: words["what"] ?? "app")
        case "foreign": .mismatch(what: "environment")
        case "rejected": .rejected(reason: "status 400")
        case "unsupported": .unsupported(reason: "no shared secret is configured")
        default: nil
        }
    }

    private func observation(_ verb: String) throws -> Observation {
        let day = try words.time()
        var observation = Observation(
            environment: words.has("sandbox") ? .sandbox : .production,
            kind: words["kind"].flatMap(ProductKind.init)
                ?? shop.product(named: [product])?.kind ?? .autoRenewable,
            status: try status(verb, day), items: items)
        observation.signals = try signals(words["signals"])
        observation.statedAt = try words.time("stated")
        observation.purchasedAt = try words.time("bought")
        observation.accountToken = words["account"].map(UserID.init)
        observation.predecessorToken = words.has("after-A") ? token(of: 1) : nil
        observation.orderID = words["order"].map(OrderID.init)
        observation.lostParts = try lostParts(words["part"] ?? "")
        observation.isRefundedInPart = words.has("in_part")
        if words.has("order_paid"), let order = observation.orderID {
            observation.settledClues = [.refund(of: order)]
        }
        observation.nextToken = words["next"].map(StoreToken.init)
        observation.isMigrated = words.has("migrated")
        observation.commitment = try commitment()
        switch observation.status {
        case .active:
            observation.paidThrough = day
            observation.expiresAt = day
            observation.period =
                words["period"].map(OrderID.init) ?? day.map { "p\(TestCalendar.text($0))" }
            observation.willRenew = words.has("off") ? false : day.map { _ in true }
            observation.phase = words.has("trial") ? .trial : .regular
        case .grace:
            observation.expiresAt = day
            observation.willRenew = true
        case .ended:
            observation.paidThrough = day
            observation.expiresAt = day
        case .pending, .hold, .paused, .refunded, .removedFromFamily, .replaced: break
        }
        // `ends=25`: the end that the store names beside it.
        if let end = try words.time("ends") {
            observation.expiresAt = end
            observation.items = observation.items.map { Item(names: $0.names, expiresAt: end) }
        }
        if observation.period == "-" { observation.period = nil }
        return observation
    }

    /// `refunded` for all that is not shown, or `extra:refunded,more:expired:12`.
    private func lostParts(_ text: String) throws -> LostParts {
        func reason(_ word: some StringProtocol) throws -> RevokeReason {
            try #require(RevokeReason(rawValue: String(word)), "what is \(word)?")
        }
        guard text.contains(":") else {
            return LostParts(all: text.isEmpty ? nil : try reason(text))
        }
        var lost = LostParts()
        for part in text.split(separator: ",") {
            let words = part.split(separator: ":")
            lost[ProductID(String(words[0]))] = LostPart(
                reason: try reason(words[1]),
                endedAt: words.count > 2 ? try TestCalendar.time(words[2]) : nil)
        }
        return lost
    }

    /// `commitment=360`, with `owed` or `paid` for whether the next period is; `plain` is none.
    private func commitment() throws -> Commitment? {
        if words.has("plain") { return .absent }
        return try words.time("commitment").map { end in
            .until(end, renewsNext: words.has("owed") ? true : words.has("paid") ? false : nil)
        }
    }

    private var product: ProductID { words["product"].map(ProductID.init) ?? known.product }

    /// `product=one+two`: a purchase with an add-on.
    private var items: [Item] {
        product.text.split(separator: "+").map {
            Item(names: [ProductID(String($0))], expiresAt: nil)
        }
    }

    private func status(_ verb: String, _ day: Timestamp?) throws -> SubscriptionStatus {
        switch verb {
        case "pending": .pending
        case "active": .active
        case "grace": .grace(expiryMovedUnpaid: !words.has("own"))
        case "hold": .hold
        case "paused": .paused(until: day)
        case "ended": .ended(.periodEnded, at: day)
        case "cancelled": .ended(.userCancelled, at: day)
        case "unpaid": .ended(.paymentFailed, at: day)
        case "price_declined": .ended(.priceIncreaseDeclined, at: day)
        case "unavailable": .ended(.productUnavailable, at: day)
        case "refunded": .refunded(at: day)
        case "family_removed": .removedFromFamily(at: day)
        case "replaced": .replaced(at: day)
        default: throw UnreadableCell(cell: verb)
        }
    }
}
