import Renewal
import TestSupport

/// Products of the test shop. Everything else grants its own id.
let shop = Catalog([
    "pro_month": .init(kind: .autoRenewable, entitlements: ["pro"]),
    "pro_year": .init(kind: .autoRenewable, entitlements: ["pro"]),
    "gold_month": .init(kind: .autoRenewable, entitlements: ["gold"]),
    "bundle": .init(kind: .autoRenewable, entitlements: ["gold", "pro"]),
    "lifetime": .init(kind: .nonConsumable, entitlements: ["pro"]),
    "free_week": .init(kind: .nonConsumable, duration: .days(7), entitlements: ["pro"]),
    "pass30": .init(kind: .nonRenewing, duration: .days(30), entitlements: ["pro"]),
    "pass60": .init(kind: .nonRenewing, duration: .days(60), entitlements: ["extra"]),
    "free30": .init(kind: .nonRenewing, duration: .days(30), entitlements: ["free30"]),
    "long60": .init(kind: .nonRenewing, duration: .days(60), entitlements: ["pro"]),
    "memories": .init(kind: nil, entitlements: ["pro"]),
    "season": .init(kind: .nonRenewing, entitlements: ["pro"]),
    "pass": .init(kind: .nonRenewing, entitlements: ["pro"]),
    "coins": .init(kind: .consumable, entitlements: ["pro"]),
])

/// Reads what is known of a purchase: `active 30 off product=gold_month apple`.
///
/// The state comes first, then the day to which it is paid. `off` is auto-renew off, `trial` its
/// phase, `until=` the end of access where it is another, `checked=` the last verdict,
/// `doubt=` bad news that waits `since=` that day,
/// `vain=` asked in vain since that day and last on the day `asked=`, `void=` an order whose refund
/// was `heard=` of that day. `addon=` is another product of the purchase, which ends on the day
/// `ends=`. `commitment=` is the end of one, of which the next period is `owed`. `claimed`: bob has
/// handed it in as well, on the day `claim=`, else on the first. `bobs`: it is bob's. `imported`: what
/// its first sight finds is not told.
struct KnownWords {
    private let words: Words

    init(_ cell: String) {
        words = Words(cell)
    }

    func purchase(id: Int64) throws -> Purchase {
        let store = Store.allCases.first { words.has($0.rawValue) } ?? .google
        var purchase = Purchase(
            id: id, userID: isBobs ? "bob" : "user",
            app: AppKey(store: store, id: "com.example.reader"),
            token: token(of: id), createdAt: try words.time("created") ?? TestCalendar.start,
            isClaimedByOthers: words.has("claimed"),
            claimant: words.has("claimed") ? "bob" : nil, facts: try facts())
        if words.has("claimed") {
            purchase.claimants = ["bob"]
            purchase.claimedAt = try words.time("claim") ?? TestCalendar.start
        }
        if let order = words["void"].map(OrderID.init) {
            purchase.clues = [.refund(of: order)]
            purchase.cluesHeardAt = [.refund(of: order): try words.time("heard") ?? .never]
        }
        return purchase
    }

    /// Since when its store has been asked in vain.
    func inVain() throws -> Vain? {
        guard let since = try words.time("vain"), let last = try words.time("asked") else {
            return nil
        }
        return Vain(since: since, lastAskedAt: last)
    }

    var isBobs: Bool { words.has("bobs") }

    /// When the last verdict was heard.
    func checkedAt() throws -> Timestamp? {
        if let checked = try words.time("checked") { return checked }
        guard words.plain.first != "new" else { return nil }
        return try words.time().map { $0 - .days(1) } ?? TestCalendar.start
    }

    private func facts() throws -> Facts {
        let product = ProductID(words["product"] ?? "pro_month")
        guard let state = words.plain.first.flatMap(PurchaseState.init) else {
            throw UnreadableCell(cell: words.plain.joined(separator: " "))
        }
        guard state != .new else {
            var facts = Facts(product: product)
            facts.isBaseline = words.has("imported")
            return facts
        }
        let kind = shop.product(named: [product])?.kind ?? .autoRenewable
        let lossReason =
            try words["lapse"].map(reason) ?? (words.has("never") ? nil : usualLapse(state))
        let isGranted = lossReason == nil && isInForce(state) && kind != .consumable
        var facts = Facts(
            storedProduct: product, state: state, access: isGranted ? .granted : .none,
            lossReason: lossReason, holdings: isGranted ? try holdings(of: product) : [])
        facts.environment = words.has("sandbox") ? .sandbox : .production
        facts.kind = kind
        facts.paidThrough = try words.time()
        facts.expiresAt = try end()
        facts.period =
            words["period"].map(OrderID.init)
            ?? facts.paidThrough.map { "p\(TestCalendar.text($0))" }
        if facts.period == "-" { facts.period = nil }
        facts.orderID = words["order"].map(OrderID.init)
        facts.autoRenew = facts.kind == .autoRenewable ? !words.has("off") : nil
        facts.commitmentEndsAt = try words.time("commitment")
        facts.renewsNext = facts.commitmentEndsAt.map { _ in words.has("owed") }
        facts.phase = words.has("trial") ? .trial : .regular
        facts.group = words["group"].map(GroupID.init)
        facts.usedIntroductory = words.has("used") ? true : nil
        facts.statedAt = try words.time("stated")
        facts.signals = try signals(words["signals"])
        if let doubt = words["doubt"].flatMap(Doubt.init(rawValue:)) {
            facts.doubt = PendingDoubt(
                doubt: doubt, since: try words.time("since") ?? TestCalendar.start)
        }
        return facts
    }

    private func end() throws -> Timestamp? { try words.time("until") ?? words.time() }

    private func reason(_ word: String) throws -> RevokeReason {
        guard let reason = RevokeReason(rawValue: word) else { throw UnreadableCell(cell: word) }
        return reason
    }

    private func holdings(of product: ProductID) throws -> [Holding] {
        var sold = [(product, try end())]
        if let addon = words["addon"] { sold.append((ProductID(addon), try words.time("ends"))) }
        return sold.flatMap { product, end in
            shop.entitlements(named: [product], kind: .autoRenewable).map {
                Holding(entitlement: $0, product: product, expiresAt: end)
            }
        }
    }

    private func isInForce(_ state: PurchaseState) -> Bool {
        switch state {
        case .active, .grace: !words.has("never")
        case .new, .pending, .hold, .paused, .expired, .refunded, .revoked, .superseded, .invalid:
            words.has("lenient")
        }
    }

    /// Why a purchase in that state has lost access, where nothing else is said.
    private func usualLapse(_ state: PurchaseState) -> RevokeReason? {
        if words.has("lenient") { return nil }
        return switch state {
        case .new, .pending, .active, .grace: nil
        case .hold: .paymentFailed
        case .paused: .paused
        case .expired: .expired
        case .refunded: .refunded
        case .revoked: .familyRemoved
        case .superseded: .productChanged
        case .invalid: .invalid
        }
    }
}

func token(of id: Int64) -> StoreToken { "token-\(id)" }

func signals(_ cell: String?) throws -> Set<Signal> {
    let names = cell?.split(separator: ",") ?? []
    return Set(
        try names.map { name in
            guard let signal = Signal(rawValue: String(name)) else {
                throw UnreadableCell(cell: String(name))
            }
            return signal
        })
}

/// Reads policy words: `grace=revoke leniency=1d`.
func policy(_ cell: String) throws -> Policy {
    let words = Words(cell)
    var policy = Policy()
    policy.grace = words["grace"].flatMap(Policy.Choice.init) ?? policy.grace
    policy.paymentPending =
        words["payment_pending"].flatMap(Policy.Choice.init) ?? policy.paymentPending
    policy.sandbox = words["sandbox"].flatMap(Policy.Sandbox.init) ?? policy.sandbox
    policy.refund = words["refund"].flatMap(Policy.Refund.init) ?? policy.refund
    policy.breaker.release =
        words["release"].flatMap(BreakerPolicy.Release.init) ?? policy.breaker.release
    policy.shared = words["shared"].flatMap(Policy.Shared.init) ?? policy.shared
    policy.leniency = try words["leniency"].map { try TestCalendar.duration($0) } ?? policy.leniency
    return policy
}
