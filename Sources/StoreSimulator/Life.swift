/// What one charge (or a free trial) bought.
struct Charge: Hashable, Sendable {
    /// 0 is the sign-up, 1 the first renewal.
    var number: Int
    var product: String
    var paidAt: Instant
    var start: Instant
    var end: Instant
    var isTrial: Bool
    /// The user bought it (sign-up, upgrade, coming back), against a renewal by itself.
    var isPurchase: Bool
    var isUpgraded = false
    var givenBack: GivenBack?
}

/// Why a charge no longer counts, and since when.
struct GivenBack: Hashable, Sendable {
    enum Cause: Hashable, Sendable {
        case refund
        case revoke
    }

    var at: Instant
    var cause: Cause
}

/// Where in its life a subscription is.
enum Phase: Hashable, Sendable {
    case pending
    case abandoned
    case running
    case silent(until: Instant)
    case grace(since: Instant, until: Instant)
    case hold(until: Instant)
    case paused(until: Instant)
    case ended(at: Instant, Ending)
}

/// Why a subscription is over.
enum Ending: Hashable, Sendable {
    case cancelled
    case paymentFailed
    case refunded
    case revoked
    case replaced
    case expired
}

/// A timeline as it stands at one instant. It only moves forward; for an earlier instant the
/// timeline is lived again from its start.
struct Life: Hashable, Sendable {
    var phase: Phase
    var charges: [Charge] = []
    var autoRenews: Bool
    var autoRenewChangedAt: Instant?
    var paymentWorks = true
    var pauseLength: Period?
    var productAtRenewal: String?
    /// Start of the present run of periods without a lapse.
    var runStart: Instant

    var now: Instant
    private var actsDone = 0
    var anchor: Instant
    var periodsSinceAnchor: Int64 = 0

    let kind: Terms.Kind

    init(of timeline: Timeline) {
        kind = timeline.terms.kind
        autoRenews = kind == .autoRenewable
        now = timeline.start
        anchor = timeline.start
        runStart = timeline.start
        phase = timeline.terms.isPending ? .pending : .running
        if !timeline.terms.isPending {
            begin(timeline, at: timeline.start)
        }
    }

    /// The newest charge; nil while the first payment is pending.
    var latest: Charge? { charges.last }

    var isEntitled: Bool {
        if kind == .consumable { return false }
        return switch phase {
        case .running, .silent, .grace: true
        case .pending, .abandoned, .hold, .paused, .ended: false
        }
    }

    /// What an answer tells of a life: equal faces give equal answers.
    struct Face: Hashable, Sendable {
        var phase: Phase
        var charges: Int
        var latest: Charge?
        var autoRenews: Bool
        var productAtRenewal: String?
    }

    var face: Face {
        Face(
            phase: phase, charges: charges.count, latest: latest, autoRenews: autoRenews,
            productAtRenewal: productAtRenewal)
    }

    var isRenewable: Bool { kind == .autoRenewable }

    /// Can be brought to `instant` without living the timeline again.
    func canAdvance(to instant: Instant) -> Bool { instant >= now }

    mutating func advance(along timeline: Timeline, to instant: Instant) {
        while step(along: timeline, to: instant) {}
        now = max(now, instant)
    }

    /// Lives the next change or deed up to `instant`; false when there is none.
    private mutating func step(along timeline: Timeline, to instant: Instant) -> Bool {
        let own = nextChange(timeline).map { max($0, now) }
        let act = actsDone < timeline.acts.count ? timeline.acts[actsDone] : nil
        if let own, own <= instant, act.map({ own <= $0.at }) ?? true {
            now = own
            change(timeline)
            return true
        }
        guard let act, act.at <= instant else { return false }
        now = max(now, act.at)
        actsDone += 1
        // A clock that was turned back may bring deeds into an order that makes no sense.
        if objection(to: act.deed, store: timeline.store) == nil {
            perform(act.deed, timeline)
        }
        return true
    }
}

// What happens by itself.
extension Life {
    /// When something happens next if nobody does anything.
    private func nextChange(_ timeline: Timeline) -> Instant? {
        switch phase {
        case .pending, .abandoned, .ended: nil
        case .silent(let until), .grace(_, let until), .hold(let until), .paused(let until): until
        case .running where kind == .nonConsumable || kind == .consumable: nil
        case .running:
            latest.map { willRenew ? renewalTime(of: $0, timeline) : $0.end }
        }
    }

    private var willRenew: Bool { autoRenews && paymentWorks && pauseLength == nil }

    /// A short period must not be renewed before it has begun, so never in its first half.
    private func renewalTime(of charge: Charge, _ timeline: Timeline) -> Instant {
        let early = min(timeline.terms.renewsBefore.milliseconds, (charge.end - charge.start) / 2)
        return charge.end + -early
    }

    private mutating func change(_ timeline: Timeline) {
        guard let latest else { return }
        switch phase {
        case .pending, .abandoned, .ended: break
        case .running where willRenew: charge(timeline, from: latest.end)
        case .running where kind == .nonRenewing: phase = .ended(at: latest.end, .expired)
        case .running where !autoRenews: phase = .ended(at: latest.end, .cancelled)
        case .running where pauseLength != nil:
            phase = .paused(until: latest.end.adding(pauseLength ?? .none))
        case .running where timeline.terms.silence.isNone: enterGrace(timeline)
        case .running: phase = .silent(until: latest.end.adding(timeline.terms.silence))
        case .silent: enterGrace(timeline)
        case .grace: enterHold(timeline)
        case .hold: phase = .ended(at: now, .paymentFailed)
        case .paused: endPause(timeline)
        }
    }

    private mutating func enterGrace(_ timeline: Timeline) {
        if timeline.terms.grace.isNone {
            enterHold(timeline)
        } else {
            phase = .grace(since: now, until: now.adding(timeline.terms.grace))
        }
    }

    private mutating func enterHold(_ timeline: Timeline) {
        if timeline.terms.hold.isNone {
            phase = .ended(at: now, .paymentFailed)
        } else {
            phase = .hold(until: now.adding(timeline.terms.hold))
        }
    }

    mutating func endPause(_ timeline: Timeline) {
        pauseLength = nil
        if paymentWorks {
            startAgain(timeline, isPurchase: false)
        } else {
            enterHold(timeline)
        }
    }

    mutating func begin(_ timeline: Timeline, at instant: Instant) {
        anchor = instant
        runStart = instant
        phase = .running
        if kind == .nonConsumable || kind == .consumable {
            append(
                product: timeline.product, from: instant, to: .distantFuture, isPurchase: true)
        } else if let end = timeline.firstEnd {
            anchor = end
            append(product: timeline.product, from: instant, to: end, isPurchase: true)
        } else if let trial = timeline.terms.trial {
            anchor = instant.adding(trial)
            append(
                product: timeline.product, from: instant, to: anchor, isTrial: true,
                isPurchase: true)
        } else {
            charge(timeline, from: instant, isPurchase: true)
        }
    }

    /// Pays one more period, which begins at `start`; the day of the month is the anchor's.
    mutating func charge(
        _ timeline: Timeline, from start: Instant, isPurchase: Bool = false
    ) {
        periodsSinceAnchor += 1
        let end = anchor.adding(timeline.terms.period, times: periodsSinceAnchor)
        let product = productAtRenewal ?? latest?.product ?? timeline.product
        productAtRenewal = nil
        append(product: product, from: start, to: end, isPurchase: isPurchase)
        phase = .running
    }

    /// Pays a period that begins now and sets the day of the month anew.
    mutating func startAgain(_ timeline: Timeline, isPurchase: Bool) {
        anchor = now
        periodsSinceAnchor = 0
        charge(timeline, from: now, isPurchase: isPurchase)
    }

    private mutating func append(
        product: String, from start: Instant, to end: Instant, isTrial: Bool = false,
        isPurchase: Bool
    ) {
        charges.append(
            Charge(
                number: charges.count, product: product, paidAt: now, start: start, end: end,
                isTrial: isTrial, isPurchase: isPurchase))
    }
}
