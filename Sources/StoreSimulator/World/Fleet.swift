/// Many lives at random, in realistic proportions. The same seed gives the same fleet.
///
/// The proportions are plausible round figures of ours: for load and variety, not for forecasts.
struct Fleet: Sendable {
    struct Member: Hashable, Sendable {
        var buyer: Purchase.Buyer
        var timeline: Timeline
    }

    /// In how many of a hundred.
    static let stores: [(StoreName, UInt64)] = [(.apple, 55), (.google, 40), (.amazon, 5)]
    static let kinds: [(Terms.Kind, UInt64)] = [
        (.autoRenewable, 88), (.nonConsumable, 6), (.consumable, 4), (.nonRenewing, 2),
    ]
    static let periods: [(Period, UInt64)] = [
        (Period(months: 1), 68), (Period(months: 12), 22), (.days(7), 6), (Period(months: 3), 4),
    ]
    static let trialPercent = 35.0
    /// Of periods, by their length; a trial is left by more.
    static let cancelledPercent = (week: 9.0, month: 6.0, quarter: 14.0, year: 28.0, trial: 45.0)
    static let changesMindPercent = 8.0
    static let failedPaymentPercent = 5.0
    static let recoversInGracePercent = 45.0
    static let recoversLaterPercent = 20.0
    static let refundPercent = 1.0
    static let reversedPercent = 5.0
    static let revokedPercent = 0.1
    static let changedProductPercent = 0.7
    static let pausedPercent = 0.7
    /// Purchases that are there before the fleet's first day, made in the year before it.
    static let olderPercent = 60.0

    var start: Instant
    var end: Instant
    var app: String
    private var chance: Seeded

    /// A fleet whose lives are told from `start` for so many days.
    init(seed: UInt64, start: Instant, days: Int64, app: String) {
        self.start = start
        self.app = app
        end = start + days * Instant.day
        chance = Seeded(seed: seed ^ 0x666c_6565_74)
    }

    mutating func next() -> Member {
        let kind = pick(Self.kinds)
        let store = kind == .nonRenewing ? .apple : pick(Self.stores)
        var terms = Terms(
            store: store, period: pick(Self.periods),
            trial: happens(Self.trialPercent) ? .days(7) : nil)
        terms.kind = kind
        if kind != .autoRenewable { terms.trial = nil }
        let isOlder = happens(Self.olderPercent)
        let bought =
            isOlder
            ? between(start + -365 * Instant.day, start) : between(start, end)
        var timeline = Timeline(
            store: store, product: Self.product(terms), start: bought, terms: terms)
        if kind == .autoRenewable {
            live(&timeline)
        } else if happens(Self.refundPercent) {
            timeline.add(.refund, at: bought + Instant.hour + below(14 * Instant.day))
        }
        return Member(
            buyer: Purchase.Buyer(app: app, user: chance.uuid()), timeline: timeline)
    }

    private static func product(_ terms: Terms) -> String {
        switch terms.kind {
        case .nonConsumable: "lifetime"
        case .consumable: "coins"
        case .nonRenewing: "season"
        case .autoRenewable: "pro.\(terms.period.text.lowercased())"
        }
    }

    // What happens in each paid time, until the fleet's end or the subscription's.
    private mutating func live(_ timeline: inout Timeline) {
        var life = Life(of: timeline)
        while let charge = life.latest, charge.start < end {
            guard let renewed = period(charge, &timeline) else { return }
            life.advance(along: timeline, to: renewed + Instant.hour)
            guard let next = life.latest, next.number > charge.number else { return }
        }
    }

    /// Lets one paid time happen; when the next begins, or nil when none will.
    private mutating func period(_ charge: Charge, _ timeline: inout Timeline) -> Instant? {
        let length = charge.end - charge.start
        // Before the store begins to renew, and after what was done in the period before.
        let within = charge.start + length / 4 + below(length / 4)
        if happens(Self.refundPercent) { return giveBack(within, &timeline) }
        if happens(Self.revokedPercent) {
            timeline.add(.revoke, at: within)
            return nil
        }
        if happens(cancelledPercent(timeline.terms, charge)) {
            timeline.add(.cancel, at: within)
            guard happens(Self.changesMindPercent) else { return nil }
            timeline.add(.uncancel, at: within + length / 8)
            return charge.end
        }
        if happens(Self.failedPaymentPercent) { return failPayment(within, charge, &timeline) }
        if timeline.store == .google, happens(Self.pausedPercent) {
            timeline.add(.pause(.days(30)), at: within)
            return charge.end + 30 * Instant.day
        }
        if timeline.store == .apple, happens(Self.changedProductPercent) {
            let product = timeline.product + ".family"
            timeline.add(.changeAtRenewal(product: product), at: within)
        }
        return charge.end
    }

    private mutating func giveBack(_ at: Instant, _ timeline: inout Timeline) -> Instant? {
        timeline.add(.refund, at: at)
        if timeline.store == .apple, happens(Self.reversedPercent) {
            timeline.add(.reverseRefund, at: at + Instant.day)
        }
        return nil
    }

    private mutating func failPayment(
        _ at: Instant, _ charge: Charge, _ timeline: inout Timeline
    ) -> Instant? {
        timeline.add(.failPayment, at: at)
        let isSoon = happens(Self.recoversInGracePercent)
        let isLater = !isSoon && happens(Self.recoversLaterPercent)
        // Amazon does not go on trying after its grace.
        guard isSoon || isLater && timeline.store != .amazon else { return nil }
        let wait = isSoon ? below(5 * Instant.day) : 8 * Instant.day + below(18 * Instant.day)
        let fixed = charge.end + Instant.hour + wait
        timeline.add(.fixPayment, at: fixed)
        return fixed
    }

    private func cancelledPercent(_ terms: Terms, _ charge: Charge) -> Double {
        if charge.isTrial { return Self.cancelledPercent.trial }
        return switch terms.period.months {
        case 0: Self.cancelledPercent.week
        case 1: Self.cancelledPercent.month
        case 2..<12: Self.cancelledPercent.quarter
        default: Self.cancelledPercent.year
        }
    }

    private mutating func happens(_ percent: Double) -> Bool {
        chance.fraction() * 100 < percent
    }

    private mutating func below(_ bound: Int64) -> Int64 {
        Int64(chance.below(UInt64(max(1, bound)))) / 1000 * 1000
    }

    private mutating func between(_ first: Instant, _ last: Instant) -> Instant {
        first + below(last - first)
    }

    private mutating func pick<Value>(_ weighted: [(Value, UInt64)]) -> Value {
        var place = chance.below(weighted.reduce(0) { $0 + $1.1 })
        for (value, weight) in weighted {
            if place < weight { return value }
            place -= weight
        }
        return weighted[weighted.count - 1].0
    }
}
