/// What the fleet of an app will cost, and how soon its changes will be known.
///
/// Some hundred purchases that stand for all others live on for four weeks, as their customers are
/// expected to, and are asked about by the decision and the schedule that the daemon itself works
/// by. Pure: the same fleet has the same forecast.
package struct Forecast: Hashable, Sendable {
    /// What a call is for.
    package enum Part: String, Hashable, Sendable, CaseIterable {
        /// An end of a period, or of a purchase.
        case expiry
        /// Grace, hold, a payment that is awaited.
        case paymentTrouble
        case pause
        case secondOpinion
        /// In force, and nothing is expected of it: a refund would show itself.
        case sweep
        /// What has ended may come back.
        case ended
        case firstSight
        /// A store has told that something has changed.
        case news
    }

    /// What happens at a store.
    package enum Change: String, Hashable, Sendable, CaseIterable {
        case expiry, refund, renewal, recovery, paymentFailure
    }

    /// From a change at the store to its commit here.
    package struct Lag: Hashable, Sendable {
        package var p99: Duration
        package var worst: Duration
    }

    package internal(set) var purchases = 0
    /// Those that wait for their first sight behind all that is due.
    package internal(set) var waiting = 0
    /// Calls a day that the schedule wants.
    package internal(set) var wanted: [Part: Double] = [:]
    /// Calls a day that may be made.
    package internal(set) var quotaPerDay = 0.0
    /// How long it takes to ask about each purchase once, by the quota alone.
    package internal(set) var sweep = Duration.zero
    /// What the calls come to that nothing due needs; nil where there are none.
    package internal(set) var spare: ForecastSweep?
    /// How long what waits takes; nil where the quota has nothing left for it.
    package internal(set) var backfill: Duration? = .zero
    /// How long a call waits because too much is due.
    package internal(set) var delay = Duration.zero
    package internal(set) var lags: [Change: Lag] = [:]

    package var wantedPerDay: Double { wanted.values.reduce(0, +) }
    /// More than 1 cannot be carried.
    package var quotaShare: Double { quotaPerDay > 0 ? wantedPerDay / quotaPerDay : 0 }
    /// Calls a day that will be made.
    package var callsPerDay: Double { min(wantedPerDay, quotaPerDay) }

    static let horizon = Duration.days(28)
    /// Purchases that stand for all others.
    package static let lifeLimit = 800

    /// - Parameters:
    ///   - fleet: the purchases of one app.
    ///   - terms: how its store is asked.
    ///   - habits: what its customers do; nil is as the fleet shows by itself.
    ///   - lives: how many purchases stand for all others.
    package init(
        of fleet: FleetOutline, under terms: ForecastTerms, habits: Habits? = nil,
        lives: Int = lifeLimit
    ) {
        purchases = fleet.purchases
        waiting = fleet.waiting
        quotaPerDay = terms.callsPerSecond * Duration.days(1).inSeconds
        guard purchases > 0 else { return }
        let settled = fleet.settled
        var run = ForecastRun(settled, terms, habits ?? Habits(of: settled))
        run.live(lives)
        wanted = run.callsPerDay
        sweep = .whole(
            seconds: Double(purchases) / min(terms.usableCallsPerSecond, terms.callsPerSecond))
        let perSecond = wantedPerDay / Duration.days(1).inSeconds
        let left = terms.usableCallsPerSecond - perSecond
        if waiting > 0 {
            backfill =
                left > 0
                ? .whole(seconds: Double(waiting * terms.callsAtFirstSight) / left) : nil
        }
        delay = run.delay(at: terms.usableCallsPerSecond)
        spare = ForecastSweep(of: settled, terms, beside: perSecond)
        lags = run.lags(later: delay, spare)
    }
}

/// The lives of a forecast.
struct ForecastRun {
    private let fleet: FleetOutline
    private let terms: ForecastTerms
    private let habits: Habits
    private var calls: [Forecast.Part: Double] = [:]
    /// By hour.
    private var perHour = [Double](repeating: 0, count: Int(Forecast.horizon / .hours(1)) + 1)
    private var seen: [Seen] = []
    private var open: [Open] = []
    /// Of each life, its calls and for how many it stands.
    private var lives: [(calls: Int, weight: Double)] = []

    private struct Seen {
        let change: Forecast.Change
        let lag: Duration
        /// How seldom the sweep has asked until then.
        let sweep: SweepWeight?
        let hour: Int
        let weight: Double
    }

    /// From one check to the next of what is in force.
    private struct Open {
        let length: Duration
        /// How seldom the sweep asks meanwhile.
        let sweep: SweepWeight?
        let hour: Int
        let weight: Double
    }

    private static let start = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)

    init(_ fleet: FleetOutline, _ terms: ForecastTerms, _ habits: Habits) {
        self.fleet = fleet
        self.terms = terms
        self.habits = habits
    }

    mutating func live(_ limit: Int) {
        let costly = fleet.groups.filter(\.isCostly)
        live(costly, limit / 3, from: 1_000_000)
        let others = fleet.groups.filter { !$0.isCostly }
        live(others, costly.isEmpty ? limit : limit * 2 / 3, from: 0)
        arrive(limit / 10)
    }

    /// So many lives, one of each stretch of the purchases of the groups: drawn, as groups may
    /// recur at the same distance.
    private mutating func live(_ groups: [FleetOutline.Group], _ limit: Int, from first: Int) {
        let all = groups.reduce(0) { $0 + $1.count }
        guard all > 0 else { return }
        let weight = Double(all) / Double(limit)
        var (number, before) = (0, 0.0)
        var chance = ForecastChance(UInt64(first))
        for index in 0..<limit {
            let place = (Double(index) + chance.next()) * weight
            while number + 1 < groups.count, before + Double(groups[number].count) <= place {
                before += Double(groups[number].count)
                number += 1
            }
            live(groups[number], first + index, weight)
        }
    }

    /// Those who will come, one after the other.
    private mutating func arrive(_ limit: Int) {
        let days = Forecast.horizon.inDays
        let expected = habits.arrivalsPerDay * days
        guard expected > 0 else { return }
        let count = max(min(Int(expected.rounded(.up)), limit), 1)
        for index in 0..<count {
            let due = Forecast.horizon * (Double(index) + 0.5) / Double(count)
            let newcomer = FleetOutline.Group(
                .new, count: 1, due: due..<(due + .milliseconds(1)), end: nil, age: .zero - due)
            live(newcomer, 7_000_003 + index, expected / Double(count))
        }
    }

    /// A payment that fails is rare and takes many calls: some lives are lived with it and without
    /// it, each for its share.
    private mutating func live(_ group: FleetOutline.Group, _ index: Int, _ weight: Double) {
        var life = ForecastLife(group, index: UInt64(index), from: Self.start, terms, habits)
        let failing = habits.failing.probability
        guard life.mayFail, failing > 0 else { return live(&life, weight) }
        life.fails = false
        if index.isMultiple(of: Self.failingEach) {
            var twin = life
            twin.fails = true
            live(&twin, weight * failing * Double(Self.failingEach))
        }
        live(&life, weight * (1 - failing))
    }

    private static let failingEach = 4

    private mutating func live(_ life: inout ForecastLife, _ weight: Double) {
        var count = 0
        life.live(until: Self.start + Forecast.horizon) { check in
            let number = check.part == .firstSight ? terms.callsAtFirstSight : 1
            count += number
            calls[check.part, default: 0] += weight * Double(number)
            let hour = max(Int((check.at - Self.start) / .hours(1)), 0)
            if hour < perHour.count { perHour[hour] += weight * Double(number) }
            for seen in check.seen {
                self.seen.append(
                    Seen(
                        change: seen.change, lag: seen.lag, sweep: check.weightUntilThen,
                        hour: hour, weight: weight))
            }
            if let until = check.openUntil, until != .never {
                open.append(
                    Open(
                        length: until - check.at, sweep: check.weight, hour: hour, weight: weight))
            }
        }
        lives.append((count, weight))
    }

    var callsPerDay: [Forecast.Part: Double] {
        calls.mapValues { $0 / Forecast.horizon.inDays }
    }

    // MARK: When too much is due

    /// By how much each check is later than it should be, where more is wanted than can be carried:
    /// each purchase waits its turn, and is asked about so much less often.
    func delay(at callsPerSecond: Double) -> Duration {
        let horizon = Forecast.horizon.inSeconds
        func rate(_ delay: Double) -> Double {
            lives.reduce(0) { sum, life in
                guard life.calls > 0 else { return sum }
                return sum + life.weight / (horizon / Double(life.calls) + delay)
            }
        }
        guard rate(0) > callsPerSecond else { return .zero }
        var (low, high) = (0.0, horizon)
        while rate(high) > callsPerSecond, high < horizon * 1e6 { high *= 2 }
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if rate(middle) > callsPerSecond { low = middle } else { high = middle }
        }
        return .whole(seconds: high)
    }

    /// How long the row of calls is in each hour, in seconds, where some hours want more than can
    /// be made and others less.
    private func waits(at callsPerSecond: Double) -> [Double] {
        var row = 0.0
        return perHour.map { wanted in
            let before = row
            row = max(row + wanted - callsPerSecond * 3600, 0)
            return max(before, row) / callsPerSecond
        }
    }

    // MARK: Lag

    func lags(
        later delay: Duration, _ spare: ForecastSweep?
    ) -> [Forecast.Change: Forecast.Lag] {
        let rate = terms.usableCallsPerSecond
        let isOverloaded = delay > .zero
        let waits = isOverloaded ? [] : waits(at: rate)
        func wait(_ hour: Int) -> Double {
            isOverloaded ? delay.inSeconds : waits[min(hour, waits.count - 1)] + 1 / rate
        }
        var samples: [Forecast.Change: WeightedSamples] = [:]
        let extra = ForecastTerms.checkTime.inSeconds
        var chance = ForecastChance(98)
        for seen in seen {
            // The sweep may come by before.
            let turn = seen.sweep.flatMap { spare?.turn(of: $0) }
            let lag = turn.map { min(seen.lag, $0 * chance.next()) } ?? seen.lag
            samples[seen.change, default: WeightedSamples()].add(
                lag.inSeconds + wait(seen.hour) + extra, weight: seen.weight)
        }
        var lags = samples.compactMapValues(\.lag)
        if lags[.expiry] == nil {
            // Where no end is in sight there may be one all the same.
            let latest = Duration.whole(seconds: 30 + terms.poll.inSeconds + wait(0) + extra)
            lags[.expiry] = Forecast.Lag(p99: latest, worst: latest)
        }
        lags[.refund] = refundLag(spare, wait, extra)
        return lags
    }

    /// A refund comes at any time: the longer nobody asks, the more of them come meanwhile.
    private func refundLag(
        _ spare: ForecastSweep?, _ wait: (Int) -> Double, _ extra: Double
    ) -> Forecast.Lag? {
        var chance = ForecastChance(99)
        var samples = WeightedSamples()
        for open in open {
            let turn = open.sweep.flatMap { spare?.turn(of: $0) } ?? open.length
            for part in 0..<4 {
                let left = min(open.length, turn).inSeconds * (Double(part) + chance.next()) / 4
                let poll = terms.poll.inSeconds * chance.next()
                samples.add(
                    left + poll + wait(open.hour) + extra,
                    weight: open.weight * open.length.inSeconds)
            }
        }
        guard var lag = samples.lag else { return nil }
        let intervals = [terms.newsOfRefunds, terms.newsOfAll].compactMap { $0 }
        if let interval = intervals.min() {
            let told = interval + ForecastTerms.newsDelay
            lag.p99 = min(lag.p99, .whole(seconds: told.inSeconds + wait(0) + extra))
        }
        return lag
    }
}

extension FleetOutline.Group {
    /// Few of these take as many calls as many others.
    fileprivate var isCostly: Bool {
        switch state {
        case .new, .pending, .grace, .hold, .paused: true
        case .active, .expired, .refunded, .revoked, .superseded, .invalid: isDoubted
        }
    }
}

extension WeightedSamples {
    fileprivate var lag: Forecast.Lag? {
        guard let p99 = quantile(0.99), let worst = greatest else { return nil }
        return Forecast.Lag(p99: .whole(seconds: p99), worst: .whole(seconds: worst))
    }
}

extension Duration {
    /// Rounded up.
    fileprivate static func whole(seconds: Double) -> Duration {
        .seconds(Int64(min(seconds.rounded(.up), 1e17)))
    }
}
