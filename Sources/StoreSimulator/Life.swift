/// What one charge (or a free trial) bought.
package struct Charge: Hashable, Sendable {
    /// 0 is the sign-up, 1 the first renewal.
    package var number: Int
    package var product: String
    package var paidAt: Instant
    package var start: Instant
    package var end: Instant
    package var isTrial: Bool
    /// The user bought it (sign-up, upgrade, coming back), against a renewal by itself.
    package var isPurchase: Bool
    package var isUpgraded = false
    package var givenBack: GivenBack?
}

/// Why a charge no longer counts, and since when.
package struct GivenBack: Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        case refund
        case revoke
    }

    package var at: Instant
    package var cause: Cause
}

/// Where in its life a subscription is.
package enum Phase: Hashable, Sendable {
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
package enum Ending: Hashable, Sendable {
    case cancelled
    case paymentFailed
    case refunded
    case revoked
    case replaced
    case expired
}

/// A timeline as it stands at one instant. It only moves forward; for an earlier instant the
/// timeline is lived again from its start.
package struct Life: Hashable, Sendable {
    package private(set) var phase: Phase
    package private(set) var charges: [Charge] = []
    package private(set) var autoRenews = true
    package private(set) var autoRenewChangedAt: Instant?
    package private(set) var paymentWorks = true
    package private(set) var pauseLength: Period?
    package private(set) var productAtRenewal: String?
    /// Start of the present run of periods without a lapse.
    package private(set) var runStart: Instant

    private var now: Instant
    private var actsDone = 0
    private var anchor: Instant
    private var periodsSinceAnchor: Int64 = 0

    init(of timeline: Timeline) {
        now = timeline.start
        anchor = timeline.start
        runStart = timeline.start
        phase = timeline.terms.isPending ? .pending : .running
        if !timeline.terms.isPending {
            begin(timeline, at: timeline.start)
        }
    }

    /// The newest charge; nil while the first payment is pending.
    package var latest: Charge? { charges.last }

    package var isEntitled: Bool {
        switch phase {
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

    private mutating func endPause(_ timeline: Timeline) {
        pauseLength = nil
        if paymentWorks {
            startAgain(timeline, isPurchase: false)
        } else {
            enterHold(timeline)
        }
    }

    private mutating func begin(_ timeline: Timeline, at instant: Instant) {
        anchor = instant
        runStart = instant
        phase = .running
        if let end = timeline.firstEnd {
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
    private mutating func charge(
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
    private mutating func startAgain(_ timeline: Timeline, isPurchase: Bool) {
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

// What somebody does.
extension Life {
    /// Why `deed` makes no sense now, for a person to read; nil when it does.
    func objection(to deed: Deed, store: StoreName) -> String? {
        switch (deed, phase) {
        case (.complete, .pending), (.abandon, .pending): nil
        case (.complete, _), (.abandon, _): "the purchase is not pending"
        case (_, .pending), (_, .abandoned): "the purchase was never paid"
        case (.failPayment, _), (.fixPayment, _): nil
        case (.renew, .ended): store == .apple ? nil : "it has ended; make a new purchase"
        case (.refundPast, _): charges.count > 1 ? nil : "there is no earlier period"
        case (.reverseRefund, .ended(_, .refunded)): nil
        case (.reverseRefund, _): "the purchase is not refunded"
        case (_, .ended): "the purchase has ended"
        case (.pause, _): store == .google ? nil : "only Google subscriptions can be paused"
        case (.upgrade, _), (.changeAtRenewal, _):
            store == .apple ? nil : "only Apple changes products in place"
        case (.resume, .paused): nil
        case (.resume, _): pauseLength == nil ? "no pause is planned" : nil
        case (.renew, _), (.cancel, _), (.uncancel, _), (.refund, _), (.revoke, _),
            (.expire, _), (.supersede, _):
            nil
        }
    }

    private mutating func perform(_ deed: Deed, _ timeline: Timeline) {
        switch deed {
        case .renew: renew(timeline)
        case .cancel: cancel()
        case .uncancel: setAutoRenew(true)
        case .failPayment: paymentWorks = false
        case .fixPayment: fixPayment(timeline)
        case .refund: giveBack(.refund, ending: .refunded)
        case .revoke: giveBack(.revoke, ending: .revoked)
        case .refundPast: giveBackPast()
        case .reverseRefund: reverseRefund()
        case .pause(let length): pauseLength = length
        case .resume: resume(timeline)
        case .expire: expire()
        case .upgrade(let product): upgrade(to: product, timeline)
        case .changeAtRenewal(let product): productAtRenewal = product
        case .supersede: phase = .ended(at: now, .replaced)
        case .complete: begin(timeline, at: now)
        case .abandon: phase = .abandoned
        }
    }

    private mutating func renew(_ timeline: Timeline) {
        guard let latest else { return }
        switch phase {
        case .pending, .abandoned: break
        case .running, .silent, .grace: charge(timeline, from: latest.end)
        case .hold, .paused:
            pauseLength = nil
            startAgain(timeline, isPurchase: false)
        case .ended:
            setAutoRenew(true)
            paymentWorks = true
            runStart = now
            startAgain(timeline, isPurchase: true)
        }
    }

    private mutating func setAutoRenew(_ value: Bool) {
        autoRenews = value
        autoRenewChangedAt = now
    }

    /// Whoever cancels while a charge is outstanding ends the store's attempts and the access.
    private mutating func cancel() {
        setAutoRenew(false)
        switch phase {
        case .silent, .grace, .hold, .paused: phase = .ended(at: now, .cancelled)
        case .pending, .abandoned, .running, .ended: break
        }
    }

    private mutating func fixPayment(_ timeline: Timeline) {
        paymentWorks = true
        guard let latest else { return }
        switch phase {
        case .silent, .grace: charge(timeline, from: latest.end)
        case .hold: startAgain(timeline, isPurchase: false)
        case .pending, .abandoned, .running, .paused, .ended: break
        }
    }

    private mutating func giveBack(_ cause: GivenBack.Cause, ending: Ending) {
        charges[charges.count - 1].givenBack = GivenBack(at: now, cause: cause)
        setAutoRenew(false)
        phase = .ended(at: now, ending)
    }

    private mutating func giveBackPast() {
        guard charges.count > 1 else { return }
        charges[charges.count - 2].givenBack = GivenBack(at: now, cause: .refund)
    }

    private mutating func reverseRefund() {
        guard let latest else { return }
        charges[charges.count - 1].givenBack = nil
        phase = latest.end > now ? .running : .ended(at: latest.end, .cancelled)
    }

    private mutating func resume(_ timeline: Timeline) {
        pauseLength = nil
        if case .paused = phase {
            endPause(timeline)
        }
    }

    private mutating func expire() {
        setAutoRenew(false)
        charges[charges.count - 1].end = now
        phase = .ended(at: now, .expired)
    }

    private mutating func upgrade(to product: String, _ timeline: Timeline) {
        charges[charges.count - 1].isUpgraded = true
        productAtRenewal = product
        startAgain(timeline, isPurchase: true)
    }
}
