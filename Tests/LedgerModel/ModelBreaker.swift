import Engine
import Renewal

/// What is counted of an app's revocations (design rule 13): its rows of `renewald.breaker` and
/// `renewald.loss_count`.
struct ModelBreaker: Sendable {
    struct Minute: Sendable {
        var early = 0
        var held = 0
        var ends = BreakerCount.Ends(known: 0, lapsed: 0)
    }

    let countedSince: Timestamp
    private var minutes: [Timestamp: Minute] = [:]
    /// The last trip, also where it is over.
    private var trip: BreakerCount.Trip?
    private var measured: (past: Int, inForce: Int, at: Timestamp)?

    init(countedSince: Timestamp) { self.countedSince = countedSince }

    /// Measured anew when older.
    private static let measureLimit = Duration.hours(1)

    /// As `breaker_counts.sql`, `breaker_ends.sql`, `measure_breakers.sql` and `known_ends.sql`.
    mutating func open(
        _ policy: BreakerPolicy, for losses: [Loss], at now: Timestamp, inForce: () -> Int,
        waiting: () -> [Timestamp]
    ) -> RevocationBreaker {
        var count = BreakerCount()
        count.trip = trip
        let window = minutes.filter {
            $0.key > now - policy.window - .minutes(1) && $0.key <= now
        }
        count.early = window.values.reduce(0) { $0 + $1.early }
        count.held = window.values.reduce(0) { $0 + $1.held }
        count.countedFor = now - countedSince
        let early = losses.count { $0 == .early }
        let isFresh = measured.map {
            (.zero - .minutes(1)...Self.measureLimit).contains(now - $0.at)
        }
        if count.early + early > policy.floor, isFresh != true {
            let past = minutes.filter {
                $0.key > now - BreakerPolicy.memory && $0.key <= now - policy.window
            }
            measured = (past.values.reduce(0) { $0 + $1.early }, inForce(), now)
        }
        count.past = measured?.past ?? 0
        count.inForce = measured?.inForce ?? 0
        enter(&count, losses.compactMap(\.end), policy, waiting)
        return RevocationBreaker(policy, count, at: now)
    }

    private func enter(
        _ count: inout BreakerCount, _ ends: [Timestamp], _ policy: BreakerPolicy,
        _ waiting: () -> [Timestamp]
    ) {
        guard let first = ends.min(), let last = ends.max() else { return }
        let after = first - policy.window
        count.ends = minutes.filter {
            $0.key > after && $0.key <= last && $0.value.ends.known > 0
        }.mapValues(\.ends)
        let lapsed = count.ends.values.reduce(0) { $0 + $1.lapsed }
        guard lapsed + ends.count > policy.floor else { return }
        count.allEnds = count.ends.mapValues(\.known)
        for end in waiting() where end > after && end < last + .minutes(1) {
            count.allEnds[end.minute, default: 0] += 1
        }
    }

    /// As `count_losses.sql` and `commit_trips.sql`.
    mutating func close(_ breaker: RevocationBreaker) {
        let (now, added) = (breaker.now, breaker.added)
        if added.early + added.held > 0 {
            minutes[now.minute, default: Minute()].early += added.early
            minutes[now.minute, default: Minute()].held += added.held
        }
        for (minute, ends) in added.ends {
            minutes[minute, default: Minute()].ends.known += ends.known
            minutes[minute, default: Minute()].ends.lapsed += ends.lapsed
        }
        if breaker.hasTripped {
            trip = BreakerCount.Trip(id: (trip?.id ?? 0) + 1, at: now)
        }
        // Nothing looks further back.
        if minutes.count > 20_000 {
            minutes = minutes.filter { $0.key > now - BreakerPolicy.memory * 2 }
        }
    }
}

/// The breakers that a commit looks at.
struct ModelBreakers {
    private var open: [Int32: RevocationBreaker] = [:]
    /// Survived ends are counted, and nothing is asked of the breaker.
    private var isOn: Bool

    init(isOn: Bool) { self.isOn = isOn }

    var all: [(lane: Int32, breaker: RevocationBreaker)] {
        open.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    mutating func enter(_ breaker: RevocationBreaker, of lane: Int32) { open[lane] = breaker }

    mutating func admits(_ loss: Loss, in lane: Int32) -> Bool {
        open[lane]?.admits(loss) ?? true
    }

    mutating func held(of links: [(link: Int64, loss: Loss)], in lane: Int32) -> Set<Int64> {
        var held: Set<Int64> = []
        for (link, loss) in links where !admits(loss, in: lane) { held.insert(link) }
        return held
    }

    mutating func survived(_ outcome: Outcome, at now: Timestamp) {
        guard isOn, let end = outcome.survivedEnd else { return }
        let policy = outcome.rules.policy.breaker
        open[
            outcome.claim.lane, default: RevocationBreaker(policy, BreakerCount(), at: now)
        ].survived(end)
    }
}

extension Loss {
    fileprivate var end: Timestamp? {
        if case .atItsEnd(let end) = self { end.minute } else { nil }
    }
}

extension ModelState {
    /// Of the apps that these outcomes take something away in, by themselves or by what they take
    /// over.
    mutating func breakers(
        of outcomes: [Outcome], _ older: [Int64: Int64], at now: Timestamp
    ) -> ModelBreakers {
        guard let policy = outcomes.first?.rules.policy.breaker, policy.isOn else {
            return ModelBreakers(isOn: false)
        }
        var breakers = ModelBreakers(isOn: true)
        var losses: [Int32: [Loss]] = [:]
        for outcome in outcomes {
            let own = [outcome.loss(at: now)].compactMap(\.self)
            let all = own + self.losses(byTakingOver: outcome, older, at: now)
            if !all.isEmpty { losses[outcome.claim.lane, default: []] += all }
        }
        for (lane, losses) in losses.sorted(by: { $0.key < $1.key }) {
            var breaker = self.breakers[lane] ?? ModelBreaker(countedSince: now)
            let open = breaker.open(
                policy, for: losses, at: now, inForce: { inForce(lane) },
                waiting: { waitingEnds(lane, at: now) })
            self.breakers[lane] = breaker
            breakers.enter(open, of: lane)
        }
        return breakers
    }

    private func losses(
        byTakingOver outcome: Outcome, _ older: [Int64: Int64], at now: Timestamp
    ) -> [Loss] {
        var losses: [Loss] = []
        for user in Set([outcome.claim.purchase.userID, outcome.owner]) {
            losses += book(of: user).losses(byTakingOver: outcome, at: now).map(\.loss)
        }
        if let id = older[outcome.claim.purchase.id], let user = rows[id]?.purchase.userID,
            user != outcome.owner,
            let loss = book(of: user).loss(of: id, yieldedTo: outcome, at: now)
        {
            losses.append(loss)
        }
        return losses
    }

    private func inForce(_ lane: Int32) -> Int {
        rows.values.count { $0.lane == lane && $0.purchase.facts.access != .none }
    }

    private func waitingEnds(_ lane: Int32, at now: Timestamp) -> [Timestamp] {
        queue.prefix { $0.dueAt <= now + .hours(1) }.compactMap { place in
            guard let row = rows[place.id], row.lane == lane else { return nil }
            let facts = row.purchase.facts
            guard facts.access == .granted, facts.kind == .autoRenewable, facts.willRenew != false
            else { return nil }
            return facts.expiresAt ?? facts.paidThrough
        }
    }
}
