/// What customers do, as far as the calls to a store hang on it.
package struct Habits: Hashable, Sendable {
    /// A share, in whole percent.
    package struct Share: Hashable, Sendable {
        package let percent: Int

        package init(percent: Int) { self.percent = percent }

        var probability: Double { Double(percent) / 100 }
    }

    /// Of the subscriptions of a period, those whose renewal is turned off.
    package var leaving = Self.usualLeaving
    /// Of the renewals, those whose payment fails at first.
    package var failing = Self.usualFailing
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
        measureTrouble(fleet)
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

    /// The middle one of the past seven days: a day of an import is no habit.
    private static func arrivals(_ fleet: FleetOutline) -> Double {
        let days = (0..<7).map { day in
            fleet.groups.reduce(0) { sum, group in
                let isOfDay = group.age >= .days(day) && group.age < .days(day + 1)
                return isOfDay ? sum + group.count : sum
            }
        }
        return Double(days.sorted()[3])
    }

    /// Trouble lasts some weeks: how many are in it tells how many come into it.
    private mutating func measureTrouble(_ fleet: FleetOutline) {
        let inForce = fleet.groups.filter { $0.state == .active && $0.kind == .autoRenewable }
        let endsPerDay = fleet.ends(from: .zero, to: .days(7)) / 7
        guard endsPerDay * 7 >= 20 else { return }
        let troubled = fleet.groups.reduce(0) { sum, group in
            [.grace, .hold].contains(group.state) ? sum + group.count : sum
        }
        let failing = Double(troubled) / Self.daysOfTrouble / endsPerDay
        self.failing = Share(percent: Int((min(failing, 0.5) * 100).rounded()))
        let leaving = inForce.reduce(0) { $1.renews ? $0 : $0 + $1.count }
        let all = inForce.reduce(0) { $0 + $1.count }
        // Whoever leaves has turned it off somewhere in the period.
        self.leaving = Share(percent: min(200 * leaving / max(all, 1), 100))
    }

    private static let daysOfTrouble = 14.0
}

extension FleetOutline {
    /// How many subscriptions in force end within a time from now.
    fileprivate func ends(from: Duration, to: Duration) -> Double {
        groups.reduce(0) { sum, group in
            guard group.state == .active, group.kind == .autoRenewable, let end = group.end else {
                return sum
            }
            let (first, last) = (max(end.lowerBound, from), min(end.upperBound, to))
            let width = max(end.upperBound - end.lowerBound, .seconds(1))
            return first < last ? sum + Double(group.count) * ((last - first) / width) : sum
        }
    }
}

extension Duration {
    var inDays: Double { self / .days(1) }
    var inSeconds: Double { self / .seconds(1) }
}
