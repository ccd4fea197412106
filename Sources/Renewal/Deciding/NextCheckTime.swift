/// When to ask again about a purchase, and what is remembered until then: every check leaves one.
///
/// Rules with a time of their own give it here: a second opinion (`Decide.swift`), what ends by a
/// rule of ours (`GrantOrRevoke.swift`), a clue (`Clues.swift`), a held revoke
/// (`RevocationHold.swift`). News makes a purchase due at once (`take_hints.sql`).
package struct Schedule: Hashable, Sendable {
    package internal(set) var nextCheckAt: Timestamp
    package internal(set) var problem: Problem?
    /// Checks without a verdict in a row, this one included.
    package internal(set) var attempts = 0
    /// The newest time at which the store stated anything of the purchase, also where that changed
    /// nothing.
    package internal(set) var statedAt: Timestamp?
    /// Since when the store has been asked in vain; nil where it has just told the state.
    package internal(set) var inVain: Vain?
    /// Clues that need no further look: remembered, so that the same is no news any more.
    package internal(set) var settledClues: Set<Clue> = []
    /// The store still waits for somebody to acknowledge the purchase.
    package internal(set) var awaitsAcknowledgement = false

    /// Nil is never.
    package var shownNextCheckAt: Timestamp? { nextCheckAt == .never ? nil : nextCheckAt }
}

extension Schedule {
    /// After a check in which the store did not tell the state.
    init(unanswered claim: Claim, at now: Timestamp, next: Timestamp, problem: Problem?) {
        nextCheckAt = next
        self.problem = problem
        attempts = claim.attempts + 1
        statedAt = claim.statedAt
        inVain = claim.inVain(at: now)
    }
}

extension Schedule {
    /// No purchase that may still change waits longer than that, but where the store has said when
    /// it may be asked again.
    mutating func bound(_ longest: Duration, at moment: Moment) {
        guard nextCheckAt != .never, nextCheckAt - moment.now > longest,
            problem?.code != .throttled
        else { return }
        nextCheckAt = moment.now + longest * (0.9 + 0.1 * moment.jitter)
    }
}

/// When to ask again about a purchase whose state is known: a pure function (design section 5).
///
/// The figures follow the stores' own rhythms: Apple renews within the last day before the expiry;
/// hold and billing retry last up to 60 days.
func storeRhythm(
    of store: Store, _ facts: Facts, _ observation: Observation, at moment: Moment,
    createdAt: Timestamp
) -> Timestamp {
    let now = moment.now
    let end = facts.expiresAt ?? facts.paidThrough
    if facts.lossReason == .unverifiable, let end, end <= now, observation.givesAccess {
        return now + ((now - end) / 8).clamped(.hours(6), .days(7)) * spread(moment)
    }
    switch facts.state {
    case .active:
        return inForce(store, renews: facts.willRenew ?? true, end: end, at: moment)
    case .grace:
        return inGrace(facts, end: end, at: moment)
    case .hold:
        // A period that still runs, as that of an add-on beside its base, does not tell the start.
        guard let since = facts.paidThrough, since <= now else {
            return now + .hours(6) * spread(moment)
        }
        guard now - since < retryLimit else { return now + .days(7) * spread(moment) }
        return now + ((now - since) / 8).clamped(.minutes(1), .hours(12)) * spread(moment)
    case .paused:
        guard case .paused(let until?) = observation.status else {
            return now + .hours(24) * spread(moment)
        }
        // The store charges about now.
        guard until > now else {
            return now + ((now - until) / 2).clamped(.seconds(15), .hours(24)) * spread(moment)
        }
        return min(until + .seconds(5 + 25 * moment.jitter), now + .days(7) * spread(moment))
    case .new, .pending:
        return now + ((now - createdAt) / 4).clamped(.minutes(1), .hours(24)) * spread(moment)
    case .expired, .refunded, .revoked:
        // It may come back: a late renewal, a reversed refund, a new purchase of the same chain.
        let over = now - (end ?? observation.status.endedAt ?? createdAt)
        // What has replaced it is not shown yet; it may be in some hours.
        if over < .zero, isReplaced(observation) { return now + .hours(3) * spread(moment) }
        guard over < watchLimit else {
            return resubscribes(store, facts) ? now + watchForEver * spread(moment) : .never
        }
        return now + over.clamped(.days(1), .days(7)) * spread(moment)
    case .superseded:
        return whileSuperseded(store, facts, at: moment)
    case .invalid:
        return .never
    }
}

/// In grace a payment may arrive at any time, and access ends with the end that the store names:
/// some looks before it, six hours apart at most, and a sure one right after it. Google names the
/// next day each day, which makes six looks a day. So a payment is known within six hours and half
/// a minute, an end within half a minute. Ever fewer looks where the store names no end, or one
/// that is over.
private func inGrace(_ facts: Facts, end: Timestamp?, at moment: Moment) -> Timestamp {
    let now = moment.now
    guard let end, end > now else {
        let wait = end.map { (now - $0) / 2 } ?? .hours(6)
        return now + wait.clamped(.minutes(1), .hours(6)) + .seconds(30) * moment.jitter
    }
    let apart = max((end - now) / 4, leastInGrace(facts, until: end))
    return min(
        now + min(apart, .hours(6)) + .seconds(30) * moment.jitter,
        end + .seconds(5 + 25 * moment.jitter))
}

/// From one look to the next, at least: a sixth of grace as long as it is known, as that of a
/// tester is over in minutes. No store lets anybody who pays choose less than a day.
private func leastInGrace(_ facts: Facts, until end: Timestamp) -> Duration {
    let most = Duration.hours(4)
    guard let paid = facts.paidThrough, paid < end else {
        return facts.environment == .sandbox ? .minutes(1) : most
    }
    return ((end - paid) / 6).clamped(.minutes(1), most)
}

private func isReplaced(_ observation: Observation) -> Bool {
    if case .replaced = observation.status { true } else { false }
}

/// Whether the same name may be sold again at any time. Nothing that does closes for good.
func resubscribes(_ store: Store, _ facts: Facts) -> Bool {
    store.traits.resubscribesForEver && (facts.kind == .autoRenewable || facts.kind == nil)
}

/// How often what may come back at any time is looked at; hints are quicker.
let watchForEver = Duration.days(30)

/// A store that calls a purchase replaced may take that back: often at first, then monthly. What
/// never was answered for by itself (the same purchase in another form) is not asked about.
private func whileSuperseded(_ store: Store, _ facts: Facts, at moment: Moment) -> Timestamp {
    let since = facts.doubt.flatMap { $0.doubt == .replaced ? $0.since : nil }
    guard facts.kind == .autoRenewable, since != nil || facts.paidThrough != nil else {
        return .never
    }
    let end = facts.expiresAt ?? facts.paidThrough ?? since ?? moment.now
    guard resubscribes(store, facts) || moment.now - end < watchLimit else { return .never }
    let ago = since.map { moment.now - $0 } ?? .days(60)
    return moment.now + (ago / 2).clamped(.hours(1), .days(30)) * spread(moment)
}

/// Stores collect for up to 60 days; a margin on top.
private let retryLimit = Duration.days(65)
/// How long an ended purchase is looked at.
private let watchLimit = Duration.days(65)

private func inForce(_ store: Store, renews: Bool, end: Timestamp?, at moment: Moment) -> Timestamp
{
    let now = moment.now
    let sweep = sweep(of: store, at: moment)
    guard let end else { return sweep }
    if end <= now {
        // The store has not said yet what became of it: soon at first, then ever more slowly.
        return now + ((now - end) / 2).clamped(.seconds(15), .hours(6)) * spread(moment)
    }
    let early = end - .minutes(30) - .minutes(20) * moment.jitter
    if store.traits.renewsEarly, renews, now < early - .minutes(30) { return min(early, sweep) }
    return min(end + .seconds(5 + 25 * moment.jitter), sweep)
}

func sweep(of store: Store, at moment: Moment) -> Timestamp {
    moment.now + store.traits.sweep * spread(moment)
}

/// 0.9 to 1.1: so that purchases made together do not stay together.
private func spread(_ moment: Moment) -> Double { 0.9 + 0.2 * moment.jitter }

/// Soon, within the first hour after it was submitted: a store often does not find at first what
/// was bought a moment ago. Nil later, and for what was granted.
func firstHour(of claim: Claim, at moment: Moment) -> Timestamp? {
    let age = moment.now - claim.purchase.createdAt
    guard !claim.purchase.facts.wasGranted, age < .hours(1) else { return nil }
    return moment.now + (age / 4).clamped(.minutes(2), .minutes(5)) * spread(moment)
}

/// When to ask again about what the store has twice said not to know: daily for a week, as a store
/// that recovers gives access back (`restored`).
func nextCheckOfUnknown(
    _ facts: Facts, since: Timestamp, about doubt: Doubt, of claim: Claim, at moment: Moment
) -> Timestamp {
    if let soon = firstHour(of: claim, at: moment) { return soon }
    let comesBack = facts.wasGranted && resubscribes(claim.purchase.app.store, facts)
    let rarely = comesBack ? moment.now + watchForEver * spread(moment) : .never
    switch facts.state {
    case .invalid:
        guard moment.now - since < .days(7) else { return rarely }
        return moment.now + .days(1) + .minutes(30) * moment.jitter
    case .expired, .refunded, .revoked:
        return rarely
    case .new, .pending, .active, .grace, .hold, .paused, .superseded:
        return .never
    }
}

extension StoreFailure {
    /// How long to wait after a check without a verdict.
    func delay(attempts: Int, jitter: Double) -> Duration {
        switch self {
        case .throttled(let retryAfter):
            return max(retryAfter ?? .zero, retryDelay(attempts: attempts, jitter: jitter))
        case .rejected:
            return .hours(24) * (0.9 + 0.2 * jitter)
        // What is not supported a person can mend in the configuration, and then waits for nobody.
        case .unreachable, .refused, .malformed, .signature, .mismatch, .unsupported:
            return retryDelay(attempts: attempts, jitter: jitter)
        }
    }
}

/// Exponential backoff with full jitter: from 5 s to at most 10 s after the first failure, to at
/// most an hour after the tenth.
package func retryDelay(attempts: Int, jitter: Double) -> Duration {
    let ceiling = min(Duration.seconds(5) * (1 << min(max(attempts, 1), 10)), .hours(1))
    return .seconds(5) + (ceiling - .seconds(5)) * jitter
}

extension Judgement {
    func schedule(after verdict: Verdict) -> Schedule {
        let settled = settledClues
        return Schedule(
            nextCheckAt: nextCheckAt(after: verdict, settled), problem: problem,
            statedAt: Age(claim: claim, observation: observation, moment: moment).newest,
            inVain: leavesOpen ? claim.inVain(at: moment.now) : nil, settledClues: settled,
            // Of a consumable nobody knows here whether the app has given what was bought: the app
            // says so by consuming it, and until then the store's refund protects the user.
            awaitsAcknowledgement: facts.access == .granted && observation.awaitsAcknowledgement)
    }

    private func nextCheckAt(after verdict: Verdict, _ settled: Set<Clue>) -> Timestamp {
        let store = claim.purchase.app.store
        let rhythm = moment.dueAt(
            storeRhythm(
                of: store, facts, observation, at: moment.atTheStore,
                createdAt: claim.purchase.createdAt))
        // A long wait of ours still is within the sweep.
        let ours = verdict.askAgainAt.map { min($0, sweep(of: store, at: moment)) }
        let ends =
            partsRunningOut.compactMap(\.expiresAt) + endsOfParts
            + lenientParts.compactMap { $0.expiresAt.map { $0 + leniency } }
        let limit = ([observation.askAgainBy].compactMap { $0 } + ends).min().map {
            moment.dueAt($0) + .seconds(5 + 25 * moment.jitter)
        }
        let next = max(min(ours ?? rhythm, limit ?? .never), moment.now + .seconds(1))
        // It is refunded within days unless somebody acts: soon there is other news.
        let warned =
            isUnacknowledged
            ? moment.now + store.traits.warnedWithin * (0.9 + 0.2 * moment.jitter) : .never
        let shared =
            isSharedLater ? moment.now + .hours(1) * (0.9 + 0.2 * moment.jitter) : .never
        return min(next, warned, shared, lookAtReturn, nextLook(settled) ?? .never)
    }

    /// The very period that was taken back is in force again. A store that does not date what it
    /// says may have shown an older copy: it is asked again soon, not a week later.
    private var lookAtReturn: Timestamp {
        guard observation.statedAt == nil, known.access == .none, facts.access == .granted,
            [.refunded, .revoked].contains(known.state), isSamePeriod
        else { return .never }
        return moment.now + policy.confirmAfter * (0.9 + 0.2 * moment.jitter)
    }

    private var isUnacknowledged: Bool { facts.signals.contains(.unacknowledged) }

    private var problem: Problem? {
        if isUnacknowledged {
            return Problem(
                .unacknowledged, claim.purchase.app.store.traits.unacknowledged)
        }
        guard facts.kind == .nonRenewing, facts.access == .granted,
            catalog.product(named: names)?.duration == nil
        else { return nil }
        return .noDuration
    }
}
