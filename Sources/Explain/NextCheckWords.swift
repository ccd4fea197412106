package import Ledger
package import Renewal

/// When a purchase is asked about next, and why then.
package struct NextCheck: Hashable, Sendable {
    /// Nil is never.
    package let at: Timestamp?
    /// Whether that time has come.
    package let isDue: Bool
    /// Such as `shortly after the paid period ends`; only what is known.
    package let why: String
    private let store: Store
    private let isBackfill: Bool
    /// Why its store is not asked now, whatever is due; nil where nothing is in the way.
    private let obstacle: String?
    /// What has to happen until then; nil where nothing has to.
    private let condition: String?

    /// - Parameters:
    ///   - claim: the purchase.
    ///   - buckets: the calls of all apps, as far as they are known.
    ///   - unserved: apps that no worker has configured.
    ///   - now: the database's time.
    package init(
        of claim: Claim, while buckets: [BucketID: QueueStatus.Bucket] = [:],
        without unserved: Set<AppKey> = [], at now: Timestamp
    ) {
        at = claim.dueAt < .backfill ? claim.dueAt : nil
        isDue = claim.dueAt <= now
        store = claim.purchase.app.store
        isBackfill = claim.isBackfill
        why = Self.why(claim, at: now)
        let app = claim.purchase.app
        if unserved.contains(app) {
            obstacle = "nobody asks, as no worker has \(app.name) configured"
            condition = "if any worker has \(app.name) configured by then"
        } else {
            obstacle = Self.obstacle(buckets, app)
            let isPaused = buckets[BucketID(of: app)]?.pausedAt != nil
            condition = isPaused ? "if \(app.name), which is paused, is resumed by then" : nil
        }
    }

    private static func obstacle(
        _ buckets: [BucketID: QueueStatus.Bucket], _ app: AppKey
    ) -> String? {
        let calls = buckets[BucketID(of: app)]
        if calls?.pausedAt != nil {
            return "\(app.name) is paused; renewald resume \(app.name) ends it"
        }
        if let blocked = calls?.blockedUntil {
            return "\(app.store.name) wants no calls until \(blocked.reading)"
        }
        guard buckets[BucketID(ofCircuitOf: app)]?.blockedUntil != nil else { return nil }
        return "\(app.store.name) fails, and is only probed until it answers again"
    }

    /// Such as `the App Store is asked about 2026-11-22 10:31:05 UTC, for a second opinion`.
    package var sentence: String {
        if isBackfill { return obstacle ?? "\(store.name) is asked \(why)" }
        guard let at else { return "never, unless there is news of it: \(why)" }
        if isDue {
            let soon = obstacle ?? "\(store.name) is asked as soon as possible"
            return "due since \(at.reading): \(soon)"
        }
        let ending = condition.map { ", \($0)" } ?? ""
        return "\(store.name) is asked around \(at.reading), \(why)\(ending)"
    }

    private static func why(_ claim: Claim, at now: Timestamp) -> String {
        let facts = claim.purchase.facts
        if claim.isBackfill { return "as soon as the quota has room: it was imported" }
        if claim.dueAt >= .never {
            return claim.crashes > 0 && facts.state != .superseded
                ? "it is set aside: checking it has crashed the process"
                : "its state, \(facts.state.rawValue), is not expected to change"
        }
        if facts.runsOut { return "as access is to end then: no store gives it any more" }
        if facts.doubt?.doubt == .replaced, !facts.hasEnded { return "to see what has replaced it" }
        if facts.doubt != nil, !facts.hasEnded { return "for a second opinion" }
        if claim.attempts > 0 {
            return claim.attempts == 1
                ? "after a check without a verdict"
                : "after \(claim.attempts) checks without a verdict"
        }
        return why(facts, claim, at: now)
    }

    private static func why(_ facts: Facts, _ claim: Claim, at now: Timestamp) -> String {
        switch facts.state {
        case .new: "for the first time"
        case .pending: "to see whether it has been paid"
        case .active: whileActive(facts, claim, at: now)
        case .grace, .hold: "to see whether the store has been paid"
        case .paused: "to see whether it has resumed"
        case .expired, .refunded, .revoked: "in case it comes back"
        case .superseded, .invalid: "in case the store has changed its mind"
        }
    }

    /// What is called shortly after or before the end.
    private static let nearby = (after: Duration.minutes(2), before: Duration.hours(1))

    private static func whileActive(
        _ facts: Facts, _ claim: Claim, at now: Timestamp
    ) -> String {
        let regular =
            facts.signals.contains(.unacknowledged)
            ? "to see whether somebody has acknowledged it" : "in a regular check at the latest"
        guard let end = facts.expiresAt ?? facts.paidThrough else { return regular }
        if end <= now { return "as the period is over and the store has not said what came next" }
        if claim.dueAt >= end, claim.dueAt - end <= nearby.after {
            return "shortly after the period ends"
        }
        if claim.dueAt < end, end - claim.dueAt <= nearby.before {
            return "shortly before the period ends"
        }
        return regular
    }
}

extension Facts {
    /// Whether it is over, and gives access by the configuration alone: `leniency`, or what was
    /// refunded to the end of its period.
    fileprivate var runsOut: Bool {
        access == .granted && (state == .expired || state == .refunded)
    }

    fileprivate var hasEnded: Bool {
        switch state {
        case .refunded, .superseded, .invalid: true
        case .new, .pending, .active, .grace, .hold, .paused, .expired, .revoked: false
        }
    }
}

extension Store {
    /// As a sentence names it.
    var name: String { traits.marketplace }

    /// As a sentence begins with it.
    var opening: String { name.prefix(1).uppercased() + name.dropFirst() }
}
