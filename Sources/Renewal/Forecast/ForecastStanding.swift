/// How a purchase stands with its store for a while, in a forecast.
struct ForecastStanding {
    var status: SubscriptionStatus
    /// Until when; nil for ever.
    var until: Timestamp?
    var end: Timestamp?
    var paidThrough: Timestamp?
    var renews = true
    /// Whether the next payment will fail at first; from 0 to 1, how badly.
    var fails = false
    var fate = 0.0
    /// Whether it ends before its time.
    var isCutShort = false
    /// The number of the period that is paid.
    var period = 0
    var length = Duration.days(30)
    /// Of a payment that failed: when grace is over, and when it is made good, if ever.
    var graceUntil: Timestamp?
    var mendedAt: Timestamp?

    /// Since when it counts, where the store has known before.
    var begunAt: Timestamp?
    /// What its beginning is to somebody who waits for it; nil for what nobody waits for.
    var beginsWith: Forecast.Change?
    /// Whether the store tells of its beginning.
    var isNews = true
}

extension ForecastStanding {
    /// As a purchase of the group stands, whose end is so far away.
    init(
        of group: FleetOutline.Group, of store: Store, end: Timestamp?, now: Timestamp,
        _ habits: Habits, _ chance: inout ForecastChance
    ) {
        self.init(status: .active, until: nil, end: end, paidThrough: end, renews: group.renews)
        switch group.state {
        case .new, .active:
            guard group.kind == .autoRenewable else {
                // What is sold once is over at its end, if it has one.
                (renews, until) = (false, end)
                return
            }
            let left = end.map { max($0 - now, .zero) }
            length = left.map { habits.period(endingIn: $0, &chance) } ?? length
            if group.state == .new || end == nil {
                self.end = now + length * (group.state == .new ? 1 : chance.next())
                paidThrough = self.end
            }
            close(store, after: now, habits, &chance)
        case .pending: status = .pending
        case .grace:
            let trouble = ForecastTrouble(inGrace: true, for: nil, habits, &chance)
            paidThrough = now - trouble.age
            graceUntil = max(end ?? now, now + trouble.grace - trouble.age)
            mendedAt = trouble.mended.map { now + $0 - trouble.age }
            begin(
                .grace(expiryMovedUnpaid: store.traits.movesUnpaidEnds),
                until: min(mendedAt ?? .never, max(end ?? now, now)))
        case .hold:
            let since = min(end ?? now, now)
            let trouble = ForecastTrouble(inGrace: false, for: now - since, habits, &chance)
            paidThrough = since
            mendedAt = trouble.mended.map { max(now, since + $0) }
            let given = since + trouble.grace + ForecastTrouble.hold
            begin(.hold, until: min(mendedAt ?? .never, max(given, now + .days(1))))
        case .paused:
            // Longer pauses are met more often; one is looked at each week, and when it ends.
            let draw = chance.next() * 97
            let left = .days(draw < 7 ? 7 : draw < 37 ? 30 : 60) * chance.next()
            let due = group.due?.upperBound ?? .days(7)
            let resumes = now + (left < .days(7) ? due : max(left, due))
            begin(.paused(until: resumes), until: resumes)
        case .expired: status = .ended(.userCancelled, at: end)
        case .refunded: status = .refunded(at: end)
        case .revoked: status = .removedFromFamily(at: end)
        case .superseded: status = .replaced(at: end)
        case .invalid: status = .ended(.periodEnded, at: end)
        }
    }

    private mutating func begin(_ status: SubscriptionStatus, until: Timestamp?) {
        self.status = status
        self.until = until
    }

    /// What comes after it.
    func next(
        of store: Store, at now: Timestamp, _ habits: Habits, _ chance: inout ForecastChance
    ) -> ForecastStanding {
        var next = self
        next.isNews = true
        next.beginsWith = nil
        next.begunAt = nil
        switch status {
        case .active where !renews && !isCutShort:
            next.begin(.ended(.userCancelled, at: now), until: nil)
            next.beginsWith = .expiry
        case .active where isCutShort:
            next.begin(.refunded(at: now), until: nil)
            next.end = now
        case .active where fails: next.fail(store, at: now, &chance, habits)
        case .active where chance.chance(habits.pausing):
            let resumes = now + [.days(7), .days(30), .days(60)][Int(chance.next() * 3)]
            next.begin(.paused(until: resumes), until: resumes)
        case .active: next.renew(store, at: now, habits, &chance)
        case .grace, .hold:
            if let mendedAt, mendedAt <= now {
                next.renew(store, at: now, habits, &chance)
                next.beginsWith = status == .hold ? .recovery : nil
            } else if status == .hold {
                next.begin(.ended(.paymentFailed, at: now), until: nil)
            } else {
                next.goOnInTrouble(store, at: now)
            }
        case .paused: next.renew(store, at: now, habits, &chance)
        case .pending, .ended, .refunded, .removedFromFamily, .replaced: next.until = nil
        }
        return next
    }

    private mutating func renew(
        _ store: Store, at now: Timestamp, _ habits: Habits, _ chance: inout ForecastChance
    ) {
        // Paid in grace or beforehand, the period begins where the last one ended.
        let goesOn = status != .hold && status != .paused(until: now)
        let start = goesOn ? paidThrough ?? now : now
        let ends = start + length > now ? start + length : now + length
        begunAt = max(now, min(start, ends))
        status = .active
        end = ends
        paidThrough = ends
        period += 1
        mendedAt = nil
        renews = !chance.chance(habits.leaving)
        fails = chance.chance(habits.failing)
        fate = chance.next()
        close(store, after: now, habits, &chance)
        beginsWith = .renewal
    }

    /// Settles how the period ends, of which a part may be over.
    private mutating func close(
        _ store: Store, after now: Timestamp, _ habits: Habits, _ chance: inout ForecastChance
    ) {
        until = closes(store, &chance)
        guard let end, chance.chance(habits.cutShort) else { return }
        let cut = end - length * chance.next()
        guard cut > now else { return }
        isCutShort = true
        until = cut
    }

    /// When its store takes the next payment, or ends it.
    func closes(_ store: Store, _ chance: inout ForecastChance) -> Timestamp? {
        guard renews, !fails, store.traits.renewsEarly else { return end }
        return end.map { $0 - .days(1) * chance.next() }
    }

    private mutating func fail(
        _ store: Store, at now: Timestamp, _ chance: inout ForecastChance, _ habits: Habits
    ) {
        let trouble = ForecastTrouble(fate, habits, &chance)
        graceUntil = now + trouble.grace
        mendedAt = trouble.mended.map { now + $0 }
        begin(.grace(expiryMovedUnpaid: store.traits.movesUnpaidEnds), until: now)
        goOnInTrouble(store, at: now)
    }

    /// The next day of grace, where a store moves the end day by day; else all of it; then hold.
    private mutating func goOnInTrouble(_ store: Store, at now: Timestamp) {
        let isFirst = until == now && end.map { $0 <= now } ?? true
        guard let graceUntil, graceUntil > now else {
            begin(.hold, until: min(mendedAt ?? .never, now + ForecastTrouble.hold))
            end = paidThrough
            beginsWith = .paymentFailure
            return
        }
        end = store.traits.movesUnpaidEnds ? min(now + .days(1), graceUntil) : graceUntil
        isNews = isFirst
        begin(
            .grace(expiryMovedUnpaid: store.traits.movesUnpaidEnds),
            until: min(mendedAt ?? .never, end ?? graceUntil))
    }
}

/// A payment that has failed, from then on.
struct ForecastTrouble {
    let grace: Duration
    /// When it is paid after all, if ever.
    let mended: Duration?
    /// For how long it has been so.
    private(set) var age = Duration.zero

    /// How long a store goes on collecting after grace.
    static let hold = Duration.days(30)
    /// What stores let people choose, and none but the day in which they try again.
    private static let graces: [Duration] = [.days(1), .days(3), .days(7), .days(16)]

    /// - Parameters:
    ///   - fate: from 0 to 1, how long grace is.
    ///   - habits: how many pay after all.
    ///   - chance: draws when.
    init(_ fate: Double, _ habits: Habits, _ chance: inout ForecastChance) {
        grace = Self.graces[min(Int(fate * 4), 3)]
        let latest = grace + .days(25)
        mended =
            chance.chance(habits.mended)
            ? .hours(2) + (latest - .hours(2)) * chance.next() : nil
    }

    /// One that is under way, in grace or beyond: so long that it is met there.
    init(
        inGrace: Bool, for age: Duration?, _ habits: Habits, _ chance: inout ForecastChance
    ) {
        var trouble = Self(chance.next(), habits, &chance)
        for _ in 0..<40 {
            let longest = Self.graces[3] + (inGrace ? .zero : Self.hold)
            trouble.age = age ?? longest * chance.next()
            let isInGrace = trouble.age < trouble.grace
            let latest = trouble.grace + Self.hold
            let isOver = trouble.age >= min(trouble.mended ?? latest, latest)
            if isInGrace == inGrace, !isOver { break }
            trouble = Self(chance.next(), habits, &chance)
        }
        self = trouble
        self.age = age ?? min(trouble.age, trouble.grace)
    }
}
