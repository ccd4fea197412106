/// The purchases of an app as a forecast sees them: how many stand alike, and when they are due.
package struct FleetOutline: Hashable, Sendable {
    /// All that is known, in the order in which it was counted.
    package private(set) var groups: [Group] = []
    /// Imported and not asked about yet: they wait behind all that is due.
    package var waiting = 0
    /// Nothing is known of it but its size.
    package private(set) var isAssumed = false

    package init() {}

    /// Purchases of one state whose ends, next checks and ages are near to each other.
    package struct Group: Hashable, Sendable {
        package var state: PurchaseState
        package var kind: ProductKind
        package var renews: Bool
        /// Whether bad news of it waits for its second opinion.
        package var isDoubted = false
        package var count: Int
        /// From now to the next check; nil where there will be none.
        package var due: Range<Duration>?
        /// From the end to the next check, where that was put there for the end's sake.
        package var dueAfterEnd: Duration?
        /// From now to the end of access, or of the paid time; nil without one.
        package var end: Range<Duration>?
        /// How long ago it was submitted.
        package var age: Duration

        package init(
            _ state: PurchaseState, kind: ProductKind = .autoRenewable, renews: Bool = true,
            count: Int, due: Range<Duration>?, end: Range<Duration>?, age: Duration
        ) {
            self.state = state
            self.kind = kind
            self.renews = renews
            self.count = count
            self.due = due
            self.end = end
            self.age = age
        }
    }

    package mutating func add(_ group: Group) {
        if group.count > 0 { groups.append(group) }
    }

    /// All purchases, those that wait included.
    package var purchases: Int { groups.reduce(waiting) { $0 + $1.count } }
}

extension FleetOutline {
    /// Of a fleet of which nothing is known but its size: monthly subscriptions in force, each
    /// somewhere in its month. What has ended costs fewer calls.
    package init(subscriptions count: Int) {
        isAssumed = true
        let days = 30
        for day in 0..<days {
            let share = count * (day + 1) / days - count * day / days
            // Renewal is turned off somewhere in the month.
            let leaving = Int(Double(share) * Habits.usualLeaving.percent / 200)
            for (renews, count) in [(true, share - leaving), (false, leaving)] {
                add(
                    Group(
                        .active, renews: renews, count: count,
                        due: .zero..<min(.days(day + 1), .days(7)),
                        end: .days(day)..<(.days(day + 1)), age: .days(30)))
            }
        }
    }

    /// The same fleet with so many purchases more, which stand as those that were seen.
    package func grown(by more: Int) -> FleetOutline {
        let seen = groups.reduce(0) { $0 + $1.count }
        guard seen > 0 else {
            var grown = FleetOutline(subscriptions: more)
            grown.waiting = waiting
            return grown
        }
        var grown = self
        var (before, added) = (0, 0)
        for index in groups.indices {
            before += groups[index].count
            let sum = Int((Double(more) * Double(before) / Double(seen)).rounded())
            grown.groups[index].count += sum - added
            added = sum
        }
        return grown
    }

    /// As it will be when all that waits has been seen: like the rest of it.
    package var settled: FleetOutline {
        guard waiting > 0 else { return self }
        var settled = grown(by: waiting)
        settled.waiting = 0
        return settled
    }
}
