/// What the calls that nothing due needs come to.
package struct ForecastSweep: Hashable, Sendable {
    /// How often what changes most is asked about: once a walk through all purchases.
    package let interval: Duration

    /// Nil where no call is spared, or there is nothing to ask about.
    ///
    /// - Parameters:
    ///   - fleet: the purchases of one app.
    ///   - terms: how its store is asked.
    ///   - wanted: calls a second that what is due needs.
    init?(of fleet: FleetOutline, _ terms: ForecastTerms, beside wanted: Double) {
        let usable = terms.usableCallsPerSecond
        let spare = min(usable * terms.sweepShare, usable - wanted)
        let callsOfWalk = fleet.groups.reduce(0.0) { sum, group in
            guard !group.isDoubted, let weight = group.sweepWeight(terms.news) else {
                return sum
            }
            return sum + Double(group.count) / Double(weight.number)
        }
        guard spare > 0, callsOfWalk > 0 else { return nil }
        let walk = Duration.seconds(Int64(min(callsOfWalk / spare, 1e15).rounded(.up)))
        interval = max(walk, SweepWalk.least)
    }

    /// The longest that a purchase waits for its turn.
    func turn(of weight: SweepWeight) -> Duration {
        max(SweepWalk.least * weight.number + SweepWalk.rest, interval * weight.number)
    }
}

extension FleetOutline.Group {
    fileprivate func sweepWeight(_ news: NewsScope?) -> SweepWeight? {
        SweepWeight(
            of: state, givesAccess: state == .active, kind: kind, renews: renews, isFree: false,
            age: age,
            over: end.map { .zero - $0.lowerBound } ?? age, news: news)
    }
}
