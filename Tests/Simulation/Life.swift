import Renewal
import TestSupport

/// Writes the lives of customers from a seed.
struct Life {
    private let features: Features
    private var chance: SeededGenerator
    private let user: UserID
    private let number: Int
    private let end: Timestamp
    private var customer = Customer()
    private var current: Subscription

    static func of(_ number: Int, seed: UInt64, features: Features, until end: Timestamp)
        -> Customer
    {
        var chance = SeededGenerator(seed, "life", number)
        // Most have subscribed at any time before; some of them long ago.
        let start = World.start + chance.between(.minutes(1), (end - World.start) * 3 / 4)
        var life = Life(
            features: features, chance: chance, user: "user \(number)", number: number, end: end,
            current: Self.first(number, 0, "plus", start))
        life.live(from: start)
        return life.customer
    }

    private static func first(
        _ number: Int, _ link: Int, _ product: ProductID, _ start: Timestamp
    ) -> Subscription {
        Subscription(
            token: "token-\(number)-\(link)", product: product, number: number * 10 + link,
            states: [
                .init(
                    from: start, standing: .active, end: start + Self.length(of: product),
                    period: 0)
            ])
    }

    static func length(of product: ProductID) -> Duration {
        product == "plus_year" ? .days(365) : .days(30)
    }

    private mutating func live(from start: Timestamp) {
        submit(at: start)
        var now = start
        while now < end, let next = period() { now = next }
        customer.subscriptions.append(current)
        customer.submissions.sort { $0.at < $1.at }
    }

    /// An app hands in what was bought, mostly at once, and sometimes again.
    private mutating func submit(at bought: Timestamp) {
        let delay =
            features.has(.lateSubmissions) && chance.chance(0.1)
            ? chance.between(.minutes(1), .days(3)) : chance.between(.seconds(1), .seconds(30))
        hand(in: bought + delay, by: user)
        if features.has(.transfers), chance.chance(0.05) {
            hand(
                in: bought + delay + chance.between(.hours(1), .days(200)),
                by: UserID("\(user) again"))
        }
    }

    private mutating func hand(in time: Timestamp, by user: UserID) {
        customer.submissions.append(
            .init(at: time, user: user, token: current.token, product: current.product))
    }

    private var state: Subscription.State { current.states[current.states.count - 1] }

    private mutating func add(
        _ standing: Subscription.Standing, at time: Timestamp, end: Timestamp? = nil,
        period: Int? = nil, renews: Bool = false
    ) {
        current.states.append(
            .init(
                from: time, standing: standing, end: end ?? state.end,
                period: period ?? state.period, renews: renews))
    }

    /// What becomes of the period under way.
    ///
    /// - Returns: when the next one has begun; nil when there is none.
    private mutating func period() -> Timestamp? {
        let (start, close) = (state.from, state.end)
        let middle = start + chance.between(.days(1), max(close - start - .days(2), .days(1)))
        switch chance.below(100) {
        case 0..<4 where features.has(.refunds): return refund(at: middle)
        case 4..<8 where features.has(.upgrades): return replace(at: middle)
        case 8..<15: return cancel(at: middle, close)
        case 15..<28 where features.has(.troubles): return fail(at: close)
        case 28..<32 where features.has(.pauses): return pause(at: close)
        default: return renew(at: close + chance.between(.zero, .minutes(3)), from: close)
        }
    }

    private mutating func renew(at time: Timestamp, from start: Timestamp) -> Timestamp {
        current.renewals += 1
        add(
            .active, at: time, end: start + Self.length(of: current.product),
            period: state.period + 1, renews: true)
        return time
    }

    private mutating func refund(at time: Timestamp) -> Timestamp? {
        current.voids.append((current.order(state.period), time))
        add(.refunded, at: time, end: time)
        return comeBack(after: time)
    }

    private mutating func cancel(at time: Timestamp, _ close: Timestamp) -> Timestamp? {
        add(.active, at: time)
        if features.has(.changesOfMind), chance.chance(0.3) {
            add(.active, at: time + (close - time) / 2, renews: true)
            return renew(at: close, from: close)
        }
        add(.ended(by: "user"), at: close)
        return comeBack(after: close)
    }

    /// The card is declined: a silent day, grace, hold; payment may come at any time.
    private mutating func fail(at close: Timestamp) -> Timestamp? {
        let days = chance.any([0, 3, 7, 16])
        let mended: Duration? =
            chance.chance(0.6) ? chance.between(.hours(2), .days(days + 25)) : nil
        add(.silent, at: close, end: close + .days(1), renews: true)
        for day in 1..<max(days, 1) {
            if let mended, mended < .days(day) { return renew(at: close + mended, from: close) }
            add(
                .grace, at: close + .days(day), end: close + .days(day + 1), renews: true)
        }
        let hold = Duration.days(max(days, 1))
        if let mended, mended < hold { return renew(at: close + mended, from: close) }
        add(.hold, at: close + hold, end: close, renews: true)
        if let mended, mended < hold + .days(30) {
            return renew(at: close + mended, from: close + mended)
        }
        add(.ended(by: "system"), at: close + hold + .days(30), end: close)
        return comeBack(after: close + hold + .days(30))
    }

    private mutating func pause(at close: Timestamp) -> Timestamp {
        let until = close + .days(chance.any([7, 30, 60]))
        add(.paused(until: until), at: close, renews: true)
        return renew(at: until, from: until)
    }

    /// An upgrade: a new token that names the old one.
    private mutating func replace(at time: Timestamp) -> Timestamp {
        add(.replaced, at: time, end: time)
        let product = chance.any(["plus_year", "gold"].filter { $0 != current.product })
        begin(product, at: time, linked: current.token)
        return time
    }

    /// Some subscribe anew, by another token.
    private mutating func comeBack(after time: Timestamp) -> Timestamp? {
        guard chance.chance(0.4), customer.subscriptions.count < 8 else { return nil }
        let again = time + chance.between(.minutes(1), .days(40))
        guard again < end else { return nil }
        begin(current.product, at: again, linked: nil)
        return again
    }

    private mutating func begin(
        _ product: ProductID, at time: Timestamp, linked: StoreToken?
    ) {
        customer.subscriptions.append(current)
        current = Self.first(number, customer.subscriptions.count, product, time)
        current.linked = linked
        submit(at: time)
    }
}
