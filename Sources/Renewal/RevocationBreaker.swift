/// `[safety]`: when revocations are an avalanche, and what becomes of those that are held.
package struct BreakerPolicy: Hashable, Sendable {
    package enum Release: String, Hashable, Sendable, CaseIterable {
        /// What is held waits for `renewald release`.
        case person
        /// A second agreeing answer lets go, at least `secondAnswerAfter` after the first.
        case confirmed
    }

    package var isOn = true
    /// Never trips below so many revocations of an app in a window.
    package var floor = 20
    package var window = Duration.hours(1)
    /// Trips at so many times the app's usual number for a window.
    package var factor = 5.0
    /// And always at this share of the app's purchases in force.
    package var share = 0.02
    package var release = Release.person

    package static let secondAnswerAfter = Duration.hours(24)
    /// What an app's usual number is taken from.
    package static let memory = Duration.days(28)
    /// What is taken for usual of the part of `memory` in which nobody has counted yet: this share
    /// of the purchases in force a day. A fleet of millions loses more than the floor in any hour,
    /// and its first four weeks are no avalanche; up to 10,000 purchases the floor is still more.
    package static let assumedShareADay = 0.01

    package init() {}
}

/// How a revocation counts (design rule 13).
package enum Loss: Hashable, Sendable {
    /// Renewal was known to be off, and the end has come that was known.
    case expected
    /// The end has come that was known, and it was to renew.
    case atItsEnd(Timestamp)
    /// Before its known end.
    case early
}

/// What is known of an app's revocations, as the workers share it.
package struct BreakerCount: Hashable, Sendable {
    /// What tripped the breaker, and when; nil while it is closed.
    package struct Trip: Hashable, Sendable {
        package let id: Int64
        package let at: Timestamp

        package init(id: Int64, at: Timestamp) {
            self.id = id
            self.at = at
        }
    }

    /// Of one minute: ends that were to renew, and how many of them ended access.
    package struct Ends: Hashable, Sendable {
        package var known: Int
        package var lapsed: Int

        package init(known: Int, lapsed: Int) {
            self.known = known
            self.lapsed = lapsed
        }

        static let none = Ends(known: 0, lapsed: 0)
        static let renewal = Ends(known: 1, lapsed: 0)
        static let lapse = Ends(known: 1, lapsed: 1)

        static func + (left: Ends, right: Ends) -> Ends {
            Ends(known: left.known + right.known, lapsed: left.lapsed + right.lapsed)
        }

        static func += (left: inout Ends, right: Ends) { left = left + right }
    }

    package var trip: Trip?
    /// Early revocations of the window that were let through.
    package var early = 0
    /// Revocations of the window that were held.
    package var held = 0
    /// Early revocations that were let through in the past four weeks, before the window.
    package var past = 0
    /// For how much of the past four weeks the app's revocations have been counted.
    package var countedFor = BreakerPolicy.memory
    /// The app's purchases in force.
    package var inForce = 0
    /// By the minute of the known end, as far as they were asked about.
    package var ends: [Timestamp: Ends] = [:]
    /// By the minute of the known end, whether they were asked about yet or not.
    package var allEnds: [Timestamp: Int] = [:]

    package init() {}
}

/// Whether an app's revocations are let through. Counts on within a batch.
package struct RevocationBreaker: Hashable, Sendable {
    package let policy: BreakerPolicy
    package let now: Timestamp
    package private(set) var count: BreakerCount
    /// What this batch adds: of `early` and `held` in its own minute, of `ends` by theirs.
    package private(set) var added = BreakerCount()
    /// What this batch has gone beyond when it tripped it; nil where it has not.
    package private(set) var exceeded: Limit?

    package enum Limit: Hashable, Sendable {
        /// Revocations before their end in a window.
        case early(Int)
        /// Ends in a window that were to renew, and did not.
        case lapsed(Int)
    }

    package init(_ policy: BreakerPolicy, _ count: BreakerCount, at now: Timestamp) {
        self.policy = policy
        self.now = now
        self.count = count
        // One that is off holds nothing, whatever it did before.
        if let trip = count.trip, !policy.isOn || isOver(trip) { self.count.trip = nil }
    }

    /// Early revocations in a window of the past four weeks, on average.
    package var usual: Double {
        let unknown = BreakerPolicy.memory - count.countedFor.clamped(.zero, BreakerPolicy.memory)
        let assumed =
            BreakerPolicy.assumedShareADay * Double(count.inForce) * (unknown / Duration.days(1))
        return (Double(count.past) + assumed) * (policy.window / BreakerPolicy.memory)
    }

    /// The most early revocations of a window.
    package var limit: Int {
        let share = policy.share * Double(count.inForce)
        return max(policy.floor, Int(clamping: min(policy.factor * usual, share)))
    }

    /// The most ends of the window that closes with a minute that may come with a revoke: half of
    /// those that were to renew, whether they were asked about yet or not.
    package func limit(ofLapsesUpTo end: Timestamp) -> Int {
        max(policy.floor, ends(upTo: end).known / 2)
    }

    /// What may have been let through of the window once this batch is counted: others have counted
    /// meanwhile where it is more.
    package var mostEarly: Int { added.early == 0 ? .max : limit }

    package var hasTripped: Bool { exceeded != nil }

    package var isTripped: Bool { count.trip != nil || hasTripped }

    /// A window has passed since it tripped, and what was to be revoked in the last one is within
    /// the limit. So it is where it has tripped in the future, before the clock was set back.
    private func isOver(_ trip: BreakerCount.Trip) -> Bool {
        let age = now - trip.at
        let hasPassed = age >= policy.window || age <= .zero - policy.window
        return hasPassed && count.early + count.held <= limit
    }

    /// Whether a revocation goes through. The first that would exceed a limit is the first held.
    package mutating func admits(_ loss: Loss) -> Bool {
        guard policy.isOn else { return true }
        if !isTripped { exceeded = limit(exceededBy: loss) }
        guard !isTripped else {
            if loss != .expected { add { $0.held += 1 } }
            return false
        }
        switch loss {
        case .expected: break
        case .early: add { $0.early += 1 }
        case .atItsEnd(let end): add { $0.ends[end.minute, default: .none] += .lapse }
        }
        return true
    }

    /// An end that was to renew has been survived.
    package mutating func survived(_ end: Timestamp) {
        guard policy.isOn else { return }
        add { $0.ends[end.minute, default: .none] += .renewal }
    }

    private mutating func add(_ body: (inout BreakerCount) -> Void) {
        body(&count)
        body(&added)
    }

    /// The limit that this one would exceed; nil where there is room for it.
    private func limit(exceededBy loss: Loss) -> Limit? {
        switch loss {
        case .expected: return nil
        case .early: return count.early < limit ? nil : .early(limit)
        case .atItsEnd(let end):
            let sum = ends(upTo: end.minute)
            // Of the known ends it is one, unless it was not known when they were measured.
            let (asked, all) = (count.ends[end.minute]?.known ?? 0, count.allEnds[end.minute] ?? 0)
            let most = max(policy.floor, (sum.known + (asked < all ? 0 : 1)) / 2)
            return sum.lapsed < most ? nil : .lapsed(most)
        }
    }

    /// Of the window that closes with this minute.
    private func ends(upTo end: Timestamp) -> BreakerCount.Ends {
        var sum = BreakerCount.Ends.none
        for (minute, asked) in count.ends where isCounted(minute, upTo: end) {
            sum.known += max(asked.known, count.allEnds[minute] ?? 0)
            sum.lapsed += asked.lapsed
        }
        for (minute, all) in count.allEnds
        where count.ends[minute] == nil && isCounted(minute, upTo: end) {
            sum.known += all
        }
        return sum
    }

    private func isCounted(_ minute: Timestamp, upTo end: Timestamp) -> Bool {
        minute <= end && minute > end - policy.window
    }
}

extension Timestamp {
    /// The beginning of its minute.
    package var minute: Timestamp {
        let length: Int64 = 60_000_000
        let past = microsecondsSinceEpoch % length
        return Timestamp(microsecondsSinceEpoch: microsecondsSinceEpoch - past)
    }
}

extension Int {
    fileprivate init(clamping number: Double) {
        self = number >= 1e15 ? 1_000_000_000_000_000 : number > 0 ? Int(number) : 0
    }
}
