/// Decides about a purchase once more, from what was heard of it last, under rules that may be
/// others than those of then (design rule 14). Nothing is asked.
///
/// No store tells the time here: an end proves itself by the next answer, and is asked about soon.
/// Only an end that the configuration itself has moved forward counts by our clock, as nobody else
/// tells it; and what has ended does not begin again for want of a proof. `heard` is what the facts
/// stand by. Nil where nothing changes but perhaps the next check.
package func redecide(
    _ claim: Claim, from heard: Observation, at now: Timestamp, under rules: Rules
) -> Outcome? {
    guard claim.purchase.facts.hangOnTheRules,
        !rules.catalog.contradicts(
            claim.judged.purchase.facts, heard)
    else { return nil }
    var judged = claim.judged
    // How long a store was asked in vain, and what hints have named, is no matter of the
    // configuration.
    judged.inVain = nil
    judged.purchase.clues = []
    func judgement(_ storeNow: Timestamp?) -> Judgement {
        Judgement(
            of: judged, hearing: heard, at: Moment(now: now, jitter: 0.5, storeNow: storeNow),
            under: rules)
    }
    let unproven = judgement(nil)
    let hasEnded = judged.purchase.facts.access == .none
    // By a clock that is known to be off nothing ends.
    let isShortened =
        unproven.hasEarlierEndByConfiguration && claim.problemCode != .clock
    var outcome = hasEnded || isShortened ? judgement(now).outcome() : unproven.outcome()
    if claim.purchase.facts.heldSince != nil {
        outcome = outcome.goingOn(with: claim, lettingGo: false, at: now)
    }
    guard outcome.isChange, outcome.movesAccess(of: claim) else { return nil }
    return outcome.madeFromWhatWasHeard(of: claim, heard)
}

extension Facts {
    /// Whether another configuration could make something else of it: neither what no store has
    /// answered for, nor what another purchase or the limit of staleness has ended.
    fileprivate var hangOnTheRules: Bool {
        guard access != .none || lossReason != .unverifiable else { return false }
        return switch state {
        case .new, .superseded, .invalid: false
        case .pending, .active, .grace, .hold, .paused, .expired, .refunded, .revoked: true
        }
    }

    /// Whether it matters that what was heard of it is not known: another configuration might give
    /// or take something.
    package var isOpenToRules: Bool {
        guard hangOnTheRules else { return false }
        if access != .none { return true }
        return switch state {
        case .pending, .active, .grace, .hold, .paused: true
        case .expired: kind != .autoRenewable
        case .new, .refunded, .revoked, .superseded, .invalid: false
        }
    }
}

extension Outcome {
    /// The same with its place in the schedule kept, or moved forward, and without an answer.
    fileprivate func madeFromWhatWasHeard(of claim: Claim, _ heard: Observation) -> Outcome {
        var outcome = Outcome(
            claim: claim, decision: decision,
            schedule: Schedule(standing: claim, from: schedule),
            rule: "decided again from what was heard last: " + rule, rules: rules)
        outcome.isAnswer = false
        outcome.kept = KeptObservation(heard)
        guard case .changed(var change) = decision else { return outcome }
        let known = claim.purchase.facts
        // It was in force and gave nothing: what it gives now was not bought now.
        if change.reasons.gain == .purchased, known.environment != .sandbox,
            known.state == .active || known.state == .grace
        {
            change.reasons.gain = .productChanged
        }
        outcome.decision = .changed(change)
        return outcome
    }

    /// Whether it changes what is given, until when, or to whom. An answer that is heard twice may
    /// move a state all the same: nobody has heard it twice here.
    fileprivate func movesAccess(of claim: Claim) -> Bool {
        let known = claim.purchase.facts
        return switch decision {
        case .handed, .shared: true
        case .unchanged, .changed: facts.access != known.access || facts.holdings != known.holdings
        }
    }

    /// Whether it takes away anything that the purchase gave.
    package var takes: Bool {
        let has = Set(facts.holdings.map(\.entitlement))
        return claim.purchase.facts.holdings.contains { !has.contains($0.entitlement) }
    }

    /// Users who get what it gives as a purchase of their own, with the next check of that.
    package var newHolders: Int {
        guard case .shared = decision, facts.access != .none else { return 0 }
        return claim.purchase.claimants.count
    }

    /// The same without what is taken away, where something is given and something taken: of a user
    /// with several purchases all is given before anything is taken, so that what goes from one of
    /// them to another is never lost in between. Nil where one step does.
    package var givingFirst: Outcome? {
        guard case .changed(var change) = decision, change.facts.access == .granted else {
            return nil
        }
        let known = claim.purchase.facts.holdings
        let (had, has) = (
            Set(known.map(\.entitlement)), Set(change.facts.holdings.map(\.entitlement))
        )
        guard !had.isSubset(of: has) else { return nil }
        change.facts.holdings += known.filter { !has.contains($0.entitlement) }
        var first = self
        first.decision = Decision(change, of: claim.purchase.facts)
        return first
    }
}

extension Schedule {
    /// As it was, asked no later; but whether a duration is missing hangs on the configuration.
    fileprivate init(standing claim: Claim, from judged: Schedule) {
        nextCheckAt = min(claim.dueAt, judged.nextCheckAt)
        problem = claim.problem.flatMap(Problem.init(text:))
        if problem == .noDuration { problem = nil }
        if judged.problem == .noDuration { problem = problem ?? .noDuration }
        attempts = claim.attempts
        statedAt = claim.statedAt
        inVain = claim.inVain
    }
}

extension Problem {
    /// Reads what `description` has written.
    init?(text: String) {
        let parts = text.split(separator: ": ", maxSplits: 1)
        guard parts.count == 2, let code = Code(rawValue: String(parts[0])) else { return nil }
        self.init(code, String(parts[1]))
    }
}

/// What another configuration would change, or has changed: users and entitlements, after the
/// union.
package struct Difference: Hashable, Sendable {
    /// All that were looked at.
    package var purchases = 0
    /// Whose facts change, whatever that means for their users.
    package var changed = 0
    /// Of which it is not known by what they stand as they do: checked before that was kept, or
    /// changed since otherwise than by a check.
    package var unknown = 0
    /// Users who get what another has as a purchase of their own, which its store is asked about:
    /// what they gain by that is not counted.
    package var sharing = 0
    package private(set) var gain: [EntitlementID: Int] = [:]
    package private(set) var lose: [EntitlementID: Int] = [:]
    private var moved: [EventKind: Int] = [:]

    package init() {}

    /// How many grants and revokes there are of each reason, by its name.
    package var reasons: [(name: String, count: Int)] {
        Set(moved.keys.map(\.reason)).sorted().map { name in
            (name, moved.reduce(0) { $0 + ($1.key.reason == name ? $1.value : 0) })
        }
    }

    /// Counts what the events come to: a user who loses something and is given it again in the
    /// same step has lost nothing. All events of a user are counted together.
    package mutating func count(_ events: [Event]) {
        struct Key: Hashable {
            let user: UserID
            let entitlement: EntitlementID
        }
        var moves: [Key: [EventKind]] = [:]
        for event in events {
            guard let entitlement = event.entitlement else { continue }
            moves[Key(user: event.userID, entitlement: entitlement), default: []]
                .append(event.kind)
        }
        // They alternate: what is left of them is one, or nothing.
        for (key, kinds) in moves where !kinds.count.isMultiple(of: 2) {
            guard let last = kinds.last else { continue }
            switch last {
            case .grant: gain[key.entitlement, default: 0] += 1
            case .revoke: lose[key.entitlement, default: 0] += 1
            case .notice: continue
            }
            moved[last, default: 0] += 1
        }
    }

    package static func += (whole: inout Difference, part: Difference) {
        whole.purchases += part.purchases
        whole.changed += part.changed
        whole.unknown += part.unknown
        whole.sharing += part.sharing
        whole.gain.merge(part.gain, uniquingKeysWith: +)
        whole.lose.merge(part.lose, uniquingKeysWith: +)
        whole.moved.merge(part.moved, uniquingKeysWith: +)
    }
}
