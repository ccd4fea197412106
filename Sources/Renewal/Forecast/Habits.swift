/// What customers do, as far as the calls to a store hang on it.
package struct Habits: Hashable, Sendable {
    package struct Share: Hashable, Sendable {
        package let percent: Double

        package init(percent: Double) { self.percent = percent }

        init(_ part: Double, of whole: Double) {
            percent = whole > 0 ? min(100 * part / whole, 100) : 0
        }

        var probability: Double { percent / 100 }
    }

    /// Of the subscriptions of a period, those whose renewal is turned off.
    package var leaving = Self.usualLeaving
    /// Of the renewals, those whose payment fails at first.
    package var failing = Self.usualFailing
    /// Of the periods, those that are followed by a pause.
    package var pausing = Share(percent: 0)
    /// Of the periods, those that are cut short: refunded, replaced.
    package var cutShort = Share(percent: 0)
    /// Of the failed payments, those that are made good in the end.
    package var mended = Self.usualMended
    /// New purchases.
    package var arrivalsPerDay = 0.0
    /// How long the subscriptions run, with their weights among all that are in force.
    package var periods: [(length: Duration, weight: Double)] {
        zip(Self.lengths, weights).map { ($0, $1) }
    }
    private var weights: [Double] = Self.lengths.map { $0 == .days(30) ? 1 : 0 }

    package static let usualLeaving = Share(percent: 7)
    package static let usualFailing = Share(percent: 8)
    package static let usualMended = Share(percent: 60)

    /// What stores sell, near enough.
    private static let lengths: [Duration] = [
        .days(7), .days(30), .days(91), .days(182), .days(365),
    ]

    package init() {}

    /// As a fleet shows them by itself. What it does not show is as usual.
    package init(of fleet: FleetOutline) {
        guard !fleet.isAssumed else { return }
        measurePeriods(fleet)
        arrivalsPerDay = Self.arrivals(fleet)
        measureChanges(fleet)
    }
}

// What a fleet shows at one look.
extension Habits {
    /// Ends lie evenly within a period. So how many of them a day there are at a distance is how
    /// many subscriptions run at least that long, and a drop is a period's length.
    private mutating func measurePeriods(_ fleet: FleetOutline) {
        let bounds = [.zero] + Self.lengths.map { $0 + .days(1) }
        var density = zip(bounds, bounds.dropFirst()).map { from, to in
            fleet.ends(from: from, to: to) / (to - from).inDays
        }
        guard density.contains(where: { $0 > 0 }) else { return }
        for index in density.indices.dropLast().reversed() {
            density[index] = max(density[index], density[index + 1])
        }
        let drops = density.indices.map { index in
            density[index] - (index + 1 < density.count ? density[index + 1] : 0)
        }
        // A drop of a tenth and less is chance.
        let least = density[0] / 10
        let kept = drops.enumerated().map { index, drop in
            index == drops.count - 1 || drop > least ? drop : 0
        }
        weights = zip(kept, Self.lengths).map { $0 * $1.inDays }
    }

    /// The period of a subscription that ends so long from now.
    func period(endingIn left: Duration, _ chance: inout ForecastChance) -> Duration {
        let possible = periods.filter { $0.length + .days(1) >= left && $0.weight > 0 }
        let rates = possible.map { $0.weight / $0.length.inDays }
        var draw = chance.next() * rates.reduce(0, +)
        for (period, rate) in zip(possible, rates) {
            draw -= rate
            if draw < 0 { return period.length }
        }
        return possible.last?.length ?? max(.days(30), left)
    }

    /// Of the past seven days without the least and the greatest: a day of an import is no habit.
    private static func arrivals(_ fleet: FleetOutline) -> Double {
        let days = (0..<7).map { day in
            fleet.count { $0.age >= .days(day) && $0.age < .days(day + 1) }
        }.sorted()
        return days[1...5].reduce(0, +) / 5
    }

    /// How many are in trouble or paused, and how long that lasts, tells how many come into it.
    private mutating func measureChanges(_ fleet: FleetOutline) {
        let month = Duration.days(28)
        let isTroubled = { (group: FleetOutline.Group) in
            group.state == .grace || group.state == .hold
        }
        // What has ended in the past month: of those who are as old, as many as in the next one.
        let ends =
            fleet.ends(from: .zero, to: month, ofAge: month)
            + fleet.count { isTroubled($0) || $0.state == .paused }
        guard ends >= 20 else { return }
        let isSubscription = { (group: FleetOutline.Group) in
            group.state == .active && group.kind == .autoRenewable
        }
        let troubled = fleet.count(isTroubled)
        failing = Share(troubled * (month.inDays / Self.daysOfTrouble), of: ends)
        let paused = fleet.count { $0.state == .paused }
        pausing = Share(paused * (month.inDays / Self.daysOfPause), of: ends)
        let cut = fleet.count { group in
            [.refunded, .revoked, .superseded].contains(group.state)
                && group.end.map { $0.lowerBound > .zero - month } ?? false
        }
        cutShort = Share(cut, of: ends + cut)
        // Whoever leaves has turned renewal off somewhere in the period.
        leaving = Share(
            2 * fleet.count { isSubscription($0) && !$0.renews }, of: fleet.count(isSubscription))
    }

    private static let daysOfTrouble = 24.0
    private static let daysOfPause = 32.0
}

extension FleetOutline {
    fileprivate func count(_ isCounted: (Group) -> Bool) -> Double {
        groups.reduce(0) { isCounted($1) ? $0 + Double($1.count) : $0 }
    }

    /// How many subscriptions in force end within a time from now.
    fileprivate func ends(
        from: Duration, to: Duration, ofAge least: Duration = .zero
    ) -> Double {
        groups.reduce(0) { sum, group in
            guard group.state == .active, group.kind == .autoRenewable, group.age >= least,
                let end = group.end
            else { return sum }
            let (first, last) = (max(end.lowerBound, from), min(end.upperBound, to))
            let width = end.upperBound - end.lowerBound
            return first < last ? sum + Double(group.count) * ((last - first) / width) : sum
        }
    }
}

extension Duration {
    var inDays: Double { self / .days(1) }
    var inSeconds: Double { self / .seconds(1) }
}
