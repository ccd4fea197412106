/// How a purchase stands with its store for a while, in a forecast.
struct ForecastStanding {
    var status: SubscriptionStatus
    /// Until when; nil for ever.
    var until: Timestamp?
    var end: Timestamp?
    var paidThrough: Timestamp?
    var renews = true
    /// Whether the next payment will fail at first.
    var fails = false
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
        _ habits: Habits, fate: Double, _ chance: inout ForecastChance
    ) {
        self.init(status: .active, until: nil, end: end, paidThrough: end, renews: group.renews)
        switch group.state {
        case .new, .active:
            guard group.kind == .autoRenewable else { return }
            let left = end.map { max($0 - now, .zero) }
            length = left.map { habits.period(endingIn: $0, &chance) } ?? length
            if group.state == .new || end == nil {
                self.end = now + length * (group.state == .new ? 1 : chance.next())
                paidThrough = self.end
            }
            fails = fate < habits.failing.probability
            until = closes(store, &chance)
        case .pending: status = .pending
        case .grace:
            graceUntil = max(end ?? now, now) + .days(6) * chance.next()
            paidThrough = now - .days(7) * chance.next()
            if chance.chance(habits.mended) { mendedAt = now + .days(20) * chance.next() }
            begin(.grace(expiryMovedUnpaid: false), until: end.map { max($0, now) })
        case .hold:
            status = .hold
            let since = min(end ?? now, now)
            paidThrough = since
            if chance.chance(habits.mended) { mendedAt = now + .days(25) * chance.next() }
            until = min(mendedAt ?? .never, max(since + .days(37), now + .days(1)))
        case .paused:
            let resumes = now + (group.due?.upperBound ?? .days(7))
            status = .paused(until: resumes)
            until = resumes
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
        case .active where !renews:
            next.begin(.ended(.userCancelled, at: now), until: nil)
            next.beginsWith = .expiry
        case .active where fails: next.fail(store, at: now, &chance, habits)
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
        until = closes(store, &chance)
        beginsWith = .renewal
    }

    /// When its store takes the next payment, or ends it.
    private func closes(_ store: Store, _ chance: inout ForecastChance) -> Timestamp? {
        guard renews, !fails, store.traits.renewsEarly else { return end }
        return end.map { $0 - .days(1) * chance.next() }
    }

    private mutating func fail(
        _ store: Store, at now: Timestamp, _ chance: inout ForecastChance, _ habits: Habits
    ) {
        let days = [1, 3, 7, 16][Int(chance.next() * 4)]
        graceUntil = now + .days(days)
        if chance.chance(habits.mended) {
            mendedAt = now + .hours(2) + .days(days + 25) * chance.next()
        }
        begin(.grace(expiryMovedUnpaid: store.traits.movesUnpaidEnds), until: now)
        goOnInTrouble(store, at: now)
    }

    /// The next day of grace, where a store moves the end day by day; else all of it; then hold.
    private mutating func goOnInTrouble(_ store: Store, at now: Timestamp) {
        let isFirst = until == now && end.map { $0 <= now } ?? true
        guard let graceUntil, graceUntil > now else {
            begin(.hold, until: min(mendedAt ?? .never, now + .days(30)))
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
