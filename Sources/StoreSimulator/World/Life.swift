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
    /// The customer did not accept a higher price.
    case priceDeclined
    /// The product was no longer sold.
    case unavailable
}

/// A higher price that the customer was asked about.
enum PriceIncrease: Hashable, Sendable {
    case asked
    case accepted
}

/// A product beside the main one in the same subscription.
struct AddOn: Hashable, Sendable {
    var product: String
    var since: Instant
    /// When it ended; nil while it goes on with the subscription.
    var end: Instant?
    /// Will not be part of the next renewal.
    var isLeaving = false
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
    /// What one charge pays for now, and from the next renewal on.
    var period: Period
    var periodAtRenewal: Period?
    var priceIncrease: PriceIncrease?
    var isWithdrawn = false
    /// Cancelled, but still bound to pay.
    var isCancellationPending = false
    var isAcknowledged: Bool
    var acknowledgeBy: Instant?
    var isConsumed = false
    var isAccountClosed = false
    var addOns: [AddOn] = []
    /// All that a store would tell of, in order of time.
    var happenings: [Happening] = []
    /// Why the act that is being performed is done.
    var why = Why()
    /// Why the customer has turned renewal off; nil while it is on.
    var cancellation: Why?
    /// Amazon: what became of the purchase, and when that was said.
    var fulfilledAt: Instant?
    var fulfilmentResult: String?
    /// Start of the present run of periods without a lapse.
    var runStart: Instant

    var now: Instant
    private var actsDone = 0
    var anchor: Instant
    var periodsSinceAnchor: Int64 = 0

    let kind: Terms.Kind
    let plan: Terms.Plan
    let isMultiSeat: Bool

    init(of timeline: Timeline) {
        kind = timeline.terms.kind
        plan = timeline.terms.plan
        isMultiSeat = timeline.terms.isMultiSeat
        period = timeline.terms.period
        productAtRenewal = timeline.nextProduct
        isAcknowledged = timeline.terms.acknowledgeWithin == nil
        autoRenews = kind == .autoRenewable && plan != .prepaid
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

    /// The products that give access now.
    var entitledProducts: [String] {
        guard isEntitled, let latest else { return [] }
        guard latest.skus.isEmpty else {
            return latest.skus.filter { latest.skusBack[$0] == nil }
        }
        return [latest.product] + addOns.filter { $0.end.map { $0 > now } ?? true }.map(\.product)
    }

    /// What an answer tells of a life: equal faces give equal answers.
    struct Face: Hashable, Sendable {
        var phase: Phase
        var charges: Int
        var latest: Charge?
        var autoRenews: Bool
        var productAtRenewal: String?
        var changes: Int
    }

    var face: Face {
        Face(
            phase: phase, charges: charges.count, latest: latest, autoRenews: autoRenews,
            productAtRenewal: productAtRenewal, changes: happenings.count)
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
            why = act.why
            perform(act.deed, timeline)
            why = Why()
        }
        return true
    }
}

// What happens by itself.
extension Life {
    /// When something happens next if nobody does anything.
    private func nextChange(_ timeline: Timeline) -> Instant? {
        let own: Instant? =
            switch phase {
            case .pending, .abandoned, .ended: nil
            case .silent(let until), .grace(_, let until), .hold(let until), .paused(let until):
                until
            case .running where kind == .nonConsumable || kind == .consumable: nil
            case .running: latest.map { willRenew ? renewalTime(of: $0, timeline) : $0.end }
            }
        guard let acknowledgeBy else { return own }
        return min(acknowledgeBy, own ?? acknowledgeBy)
    }

    private var willRenew: Bool {
        autoRenews && paymentWorks && pauseLength == nil && priceIncrease != .asked && !isWithdrawn
    }

    /// A short period must not be renewed before it has begun, so never in its first half.
    private func renewalTime(of charge: Charge, _ timeline: Timeline) -> Instant {
        let early = min(timeline.terms.renewsBefore.milliseconds, (charge.end - charge.start) / 2)
        return charge.end + -early
    }

    private mutating func change(_ timeline: Timeline) {
        guard let latest else { return }
        if let acknowledgeBy, acknowledgeBy <= now {
            self.acknowledgeBy = nil
            return giveBack(.unacknowledged, ending: .refunded)
        }
        switch phase {
        case .pending, .abandoned, .ended: break
        case .running where willRenew:
            charge(timeline, from: latest.end)
            note(.renewed)
        case .running: endPeriod(latest, timeline)
        case .silent: enterGrace(timeline)
        case .grace: enterHold(timeline)
        case .hold: end(.paymentFailed, at: now)
        case .paused: endPause(timeline)
        }
    }

    /// A paid period is over and the next one is not paid.
    private mutating func endPeriod(_ latest: Charge, _ timeline: Timeline) {
        if kind == .nonRenewing || plan == .prepaid { return end(.expired, at: latest.end) }
        if !autoRenews { return end(.cancelled, at: latest.end) }
        if priceIncrease == .asked { return end(.priceDeclined, at: latest.end) }
        if isWithdrawn { return end(.unavailable, at: latest.end) }
        if let pauseLength {
            phase = .paused(until: latest.end.adding(pauseLength))
            return note(.paused)
        }
        if timeline.terms.silence.isNone { return enterGrace(timeline) }
        phase = .silent(until: latest.end.adding(timeline.terms.silence))
    }

    /// The end of everything; who ends it otherwise than by himself has had the renewal off.
    mutating func end(_ ending: Ending, at instant: Instant) {
        phase = .ended(at: instant, ending)
        acknowledgeBy = nil
        note(.ended(ending))
    }

    private mutating func enterGrace(_ timeline: Timeline) {
        if timeline.terms.grace.isNone {
            enterHold(timeline)
        } else {
            phase = .grace(since: now, until: now.adding(timeline.terms.grace))
            note(.grace)
        }
    }

    private mutating func enterHold(_ timeline: Timeline) {
        if timeline.terms.hold.isNone {
            end(.paymentFailed, at: now)
        } else {
            var followsGrace = false
            if case .grace = phase { followsGrace = true }
            phase = .hold(until: now.adding(timeline.terms.hold))
            note(.hold(afterGrace: followsGrace))
        }
    }

    mutating func endPause(_ timeline: Timeline) {
        pauseLength = nil
        if paymentWorks {
            startAgain(timeline, isPurchase: false)
            note(.resumed)
        } else {
            enterHold(timeline)
        }
    }

    mutating func begin(_ timeline: Timeline, at instant: Instant) {
        anchor = instant
        runStart = instant
        phase = .running
        if let within = timeline.terms.acknowledgeWithin {
            acknowledgeBy = instant.adding(within)
        } else {
            (fulfilmentResult, fulfilledAt) = ("FULFILLED", instant + 62_000)
        }
        addOns = timeline.terms.addOns.map { AddOn(product: $0, since: instant) }
        let offer = timeline.terms.firstOffer
        if kind == .nonConsumable || kind == .consumable {
            append(
                product: timeline.product, from: instant, to: .distantFuture, isPurchase: true)
            charges[0].quantity = timeline.terms.quantity
        } else if let end = timeline.firstEnd, end > instant {
            anchor = end
            append(product: timeline.product, from: instant, to: end, isPurchase: true)
        } else if let offer, offer.discount != .payAsYouGo {
            let isTrial = offer.discount == .freeTrial
            anchor = instant.adding(offer.period, times: Int64(offer.cycles))
            append(
                product: timeline.product, from: instant, to: anchor, isTrial: isTrial,
                isPurchase: true)
            charges[0].offer = offer
            carryOn(timeline, after: nil, seats: timeline.terms.seats)
        } else {
            charge(timeline, from: instant, isPurchase: true)
        }
        note(.bought)
    }

    /// Pays one more period, which begins at `start`; the day of the month is the anchor's.
    mutating func charge(
        _ timeline: Timeline, from start: Instant, isPurchase: Bool = false
    ) {
        if let periodAtRenewal {
            (period, anchor, periodsSinceAnchor) = (periodAtRenewal, start, 0)
            self.periodAtRenewal = nil
        }
        periodsSinceAnchor += 1
        let end = anchor.adding(period, times: periodsSinceAnchor)
        // The first charge is of the product that was bought, whatever comes after it.
        let product = (charges.isEmpty ? nil : productAtRenewal) ?? latest?.product
        let before = charges.last.map { last in charges[newestPeriod].first ?? last }
        let seats = charges.isEmpty ? timeline.terms.seats : self.seats
        if !charges.isEmpty { productAtRenewal = nil }
        append(product: product ?? timeline.product, from: start, to: end, isPurchase: isPurchase)
        if let offer = timeline.terms.firstOffer, offer.discount == .payAsYouGo,
            charges.count <= offer.cycles
        {
            charges[charges.count - 1].offer = offer
        }
        carryOn(timeline, after: isPurchase ? nil : before, seats: seats)
        phase = .running
        priceIncrease = nil
        removeLeavingItems(at: start)
        if isCancellationPending, committedPayments == 0 {
            isCancellationPending = false
            setAutoRenew(false)
        }
    }

    private mutating func removeLeavingItems(at instant: Instant) {
        for index in addOns.indices where addOns[index].isLeaving && addOns[index].end == nil {
            addOns[index].end = instant
        }
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
