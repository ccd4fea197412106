import LedgerModel
import Renewal
import Synchronization

/// Something came to be that is not true.
package struct Violation: Sendable {
    package let rule: String
    package let detail: String
    let at: Timestamp
    /// Whose purchase.
    let customer: Int?
}

/// Compares what is committed with what is true, at each commit and in rounds.
final class Judge: Sendable {
    private struct State {
        var violations: [Violation] = []
        var lastHeard: [Key: Heard] = [:]
        /// The newest state of a purchase that an answer in use has shown.
        var newest: [Int64: Timestamp] = [:]
        /// Whether each entitlement of a user was told to be held.
        var told: [Holding: Bool] = [:]
        var renewals: [Int64: Int] = [:]
        var believed = BelievedLies()
        var story: [String] = []
    }

    /// A claim, as it was made.
    private struct Key: Hashable {
        let id: Int64
        let version: Int64
        let claimedAt: Timestamp
    }

    private struct Heard {
        let answer: Answer
        let shown: SimulatedStore.Shown
    }

    private struct Holding: Hashable {
        let user: UserID
        let entitlement: EntitlementID
    }

    let sold: [StoreToken: Subscription]
    let weather: Weather
    let plan: Plan
    let tally: Tally
    private let withoutWorkers: [Plan.Span]
    private let state = Mutex(State())

    init(
        _ sold: [StoreToken: Subscription], _ weather: Weather, _ plan: Plan, _ tally: Tally
    ) {
        self.sold = sold
        self.weather = weather
        self.plan = plan
        self.tally = tally
        withoutWorkers = plan.timesWithoutWorkers
    }

    var violations: [Violation] { state.withLock(\.violations) }
    var story: [String] { state.withLock(\.story) }

    /// Keeps what a person reads, where few customers live.
    func tell(_ words: @autoclosure () -> String) {
        guard plan.only != nil else { return }
        let line = "\(World.now.day) \(words())"
        state.withLock { $0.story.append(line) }
    }

    func accuse(_ rule: String, _ detail: String, of token: StoreToken? = nil) {
        let customer = token.flatMap { Int($0.text.split(separator: "-")[1]) }
        tell("VIOLATION of: \(rule): \(detail)")
        state.withLock {
            $0.violations.append(
                Violation(rule: rule, detail: detail, at: World.now, customer: customer))
        }
    }

    /// An answer on its way to the engine.
    func heard(_ claim: Claim, _ answer: Answer, shows shown: SimulatedStore.Shown) {
        let key = Key(
            id: claim.purchase.id, version: claim.version, claimedAt: claim.claimedAt)
        state.withLock { $0.lastHeard[key] = Heard(answer: answer, shown: shown) }
        if case .doubt = answer { tally.count(.doubt) }
    }

    // MARK: At each commit

    func judge(_ commit: ModelCommit) {
        tally.count(.check, commit.outcomes.count)
        tally.count(.trip, commit.trips.count)
        for outcome in commit.outcomes { judge(outcome, in: commit) }
        for change in commit.changes where change.before.userID != change.after.userID {
            tally.count(.move)
        }
        for event in commit.events { judge(event) }
        World.note(commit.now.microsecondsSinceEpoch)
        World.note(Int64(commit.events.count))
    }

    private func judge(_ outcome: Outcome, in commit: ModelCommit) {
        let claim = outcome.claim
        let id = claim.purchase.id
        let key = Key(id: id, version: claim.version, claimedAt: claim.claimedAt)
        let (heard, newest) = state.withLock {
            ($0.lastHeard.removeValue(forKey: key), $0.newest[id])
        }
        guard let one = sold[claim.purchase.token], let heard else { return }
        if !plan.features.has(.clockSteps), outcome.schedule.problem?.code == .clock {
            accuse("no clock is blamed", "\(one.token.text)", of: one.token)
        }
        let change = commit.changes.last { $0.after.id == id }
        let step = Step(
            before: claim.purchase.facts, after: change?.after.facts ?? claim.purchase.facts,
            rule: outcome.rule)
        tell(
            "\(one.token.text): \(step), next check \(outcome.schedule.nextCheckAt.day), "
                + (heard.shown.isLie ? "a lie as of " : "shown as of ")
                + (heard.shown.madeAt?.day ?? "never: no verdict"))
        if step.isHeld { tally.count(.held) }
        judge(step, of: claim, one, at: commit.now)
        guard let madeAt = heard.shown.madeAt else { return judge(step, withoutVerdictOn: one) }
        if newest.map({ madeAt < $0 }) ?? false { tally.count(.stale) }
        if step.after.state == .superseded { tally.count(.superseded) }
        let since = max(madeAt, newest ?? madeAt)
        state.withLock { $0.newest[id] = since }
        let isOver = one.was(granting: false, from: since, to: World.now)
        if step.isLoss, step.after.state != .superseded, !isOver {
            if heard.shown.isLie {
                return believe(outcome, at: commit.now, of: one)
            }
            accuse("no wrong revoke", "\(one.token.text): \(step) (\(madeAt.day))", of: one.token)
        }
        // What was replaced keeps access for a while; an older copy of what is refunded looks like
        // a refund that was reversed, until the next check.
        let isPaid =
            one.was(granting: true, from: since, to: World.now)
            || one.state(at: madeAt)?.standing == .replaced
            || one.state(at: since)?.standing == .refunded && one.grants(at: madeAt)
        if step.isGain, !isPaid {
            accuse("no wrong grant", "\(one.token.text): \(step) (\(madeAt.day))", of: one.token)
        }
    }

    /// What a commit does to one purchase.
    struct Step: CustomStringConvertible {
        let before: Facts
        let after: Facts
        let rule: String

        var isLoss: Bool { before.access != .none && after.access == .none }
        var isHeld: Bool { before.access != .held && after.access == .held }
        var isGain: Bool { before.access == .none && after.access == .granted }

        var description: String {
            "\(before.state) \(before.access) -> \(after.state) \(after.access), \(rule)"
        }
    }

    private func judge(_ step: Step, withoutVerdictOn one: Subscription) {
        if step.isLoss, one.grants(at: World.now), !step.rule.contains("max_staleness") {
            accuse("no verdict, no revoke", "\(one.token.text): \(step)", of: one.token)
        }
        if step.isGain {
            accuse("no verdict, no grant", "\(one.token.text): \(step)", of: one.token)
        }
    }

    private func judge(_ event: Event) {
        tell("event: \(event.kind) \(event.userID) \(event.entitlement?.text ?? "")")
        let isGrant: Bool
        switch event.kind {
        case .notice(let reason):
            tally.count(.notice)
            if reason == .renewed { countRenewal(event.purchaseID) }
            return
        case .grant: isGrant = true
        case .revoke: isGrant = false
        }
        tally.count(isGrant ? .grant : .revoke)
        guard let entitlement = event.entitlement else { return }
        let holding = Holding(user: event.userID, entitlement: entitlement)
        let before = state.withLock { state in
            let before = state.told[holding] ?? false
            state.told[holding] = isGrant
            return before
        }
        if before == isGrant {
            accuse(
                "each event once",
                "\(event.userID) \(entitlement) \(isGrant ? "granted" : "revoked") twice in a row")
        }
    }

    func note(_ believe: (inout BelievedLies) -> Int) -> Int {
        state.withLock { believe(&$0.believed) }
    }

    private func countRenewal(_ id: Int64) {
        state.withLock { $0.renewals[id, default: 0] += 1 }
    }

    // MARK: In rounds

    /// Looks at everything.
    func look(at ledger: ModelLedger) {
        let now = World.now
        let rows = ledger.rows.sorted { $0.purchase.id < $1.purchase.id }
        var held: [UserID: Set<EntitlementID>] = [:]
        for row in rows {
            let facts = row.purchase.facts
            if facts.access != .none {
                held[row.purchase.userID, default: []].formUnion(facts.holdings.map(\.entitlement))
            }
            guard let one = sold[row.purchase.token] else { continue }
            lookForMissed(row, one, now)
            lookForStarved(row, one, now)
            let told = state.withLock { $0.renewals[row.purchase.id] ?? 0 }
            if told > one.renewals {
                accuse(
                    "each renewal once", "\(one.token.text): \(told) told of \(one.renewals)",
                    of: one.token)
            }
        }
        for (user, account) in ledger.accounts {
            let active = Set(account.entitlements.values.filter(\.active).map(\.entitlement))
            let given = held[user] ?? []
            if active != given {
                accuse(
                    "the union equals the state",
                    "\(user): \(active.sorted()), \(given.sorted())")
            }
            for entitlement in active.union(given) {
                let told = state.withLock {
                    $0.told[Holding(user: user, entitlement: entitlement)] ?? false
                }
                if told != active.contains(entitlement) {
                    accuse("each change is told", "\(user) \(entitlement)")
                }
            }
        }
    }

    private func lookForMissed(_ row: ModelRow, _ one: Subscription, _ now: Timestamp) {
        let facts = row.purchase.facts
        guard facts.state != .superseded, row.problem?.hasPrefix("set_aside:") != true else {
            return
        }
        if facts.access == .held { return lookForHeld(row, one, now) }
        let isGranted = facts.access == .granted
        guard isGranted != one.grants(at: now) else { return }
        let believedAt = state.withLock { $0.believed.last[row.purchase.id] }
        let since = max(one.changed(before: now), row.purchase.createdAt, believedAt ?? World.start)
        let bound =
            bound(one, isGranted: isGranted, now) + spoiled(from: since, to: now)
        if now - since > bound {
            accuse(
                isGranted ? "no missed revoke" : "no missed grant",
                "\(one.token.text): \(facts.state) for \((now - since).text), "
                    + "bound \(bound.text), next check \(row.dueAt.day), "
                    + (row.problem ?? "no problem"),
                of: one.token)
        }
    }

    /// How much of a time trouble has taken.
    func spoiled(from: Timestamp, to: Timestamp) -> Duration {
        weather.spoiled(from: from, to: to) + withoutWorkers.sum(from: from, to: to)
    }

    /// What the schedule promises, with the polls of this run.
    private func bound(_ one: Subscription, isGranted: Bool, _ now: Timestamp) -> Duration {
        let polls = plan.poll * 3 + .minutes(5)
        let standing = one.state(at: now)?.standing
        if isGranted {
            switch standing {
            case .refunded, .replaced: return .days(8) + polls
            case .active, .silent, .grace, .hold, .paused, .ended, nil: return .hours(7) + polls
            }
        }
        return .hours(27) + polls
    }

    private func lookForStarved(_ row: ModelRow, _ one: Subscription, _ now: Timestamp) {
        let waiting = now - row.dueAt
        guard waiting > .zero, row.problem?.hasPrefix("set_aside:") != true else { return }
        let bound =
            plan.poll * 3 + .hours(2) + spoiled(from: row.dueAt, to: now)
        if waiting > bound {
            accuse("nothing starves", "\(one.token.text): due for \(waiting.text)", of: one.token)
        }
    }
}

extension Timestamp {
    /// Such as `d17.25`: days since the beginning of the run.
    var day: String {
        if self == .never { return "never" }
        let hundredths = (self - World.start).components.seconds / 864
        let rest = hundredths % 100
        return "d\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}

extension Duration {
    var text: String {
        let minutes = components.seconds / 60
        return minutes < 120 ? "\(minutes)m" : "\(minutes / 60)h"
    }
}
