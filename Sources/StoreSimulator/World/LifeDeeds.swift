// What somebody does.
extension Life {
    /// Why `deed` makes no sense now, for a person to read; nil when it does.
    func objection(to deed: Deed, store: StoreName) -> String? {
        switch (deed, phase) {
        case (.complete, .pending), (.abandon, .pending), (.closeAccount, _): nil
        case (.complete, _), (.abandon, _): "the purchase is not pending"
        case (_, .pending), (_, .abandoned): "the purchase was never paid"
        case (.failPayment, _), (.fixPayment, _): nil
        case (.refundPast, _): newestPeriod.lowerBound > 0 ? nil : "there is no earlier period"
        case (.reverseRefund, .ended(_, .refunded)): nil
        case (.reverseRefund, _): "the purchase is not refunded"
        case (.acknowledge, _): isAcknowledged ? "it was acknowledged before" : nil
        case (.consume, _), (.refundPart, _):
            kind == .consumable ? nil : "the product is not a consumable"
        case (.refundMoney, _): store == .google ? nil : "only Google refunds without revoking"
        case (.refundShare(_, let isPast), _):
            if store != .google {
                "only Google refunds a part of the money"
            } else {
                isPast && newestPeriod.lowerBound < 1 ? "there is no earlier period" : nil
            }
        case (.fulfil, _): store == .amazon ? nil : "only Amazon is told what became of it"
        case (.addItem, _), (.removeItem, _), (.revokeItem, _): objection(toItem: deed, store)
        case (.addSeats, _), (.refundSeats, _), (.refundSKU, _), (.migrate, _):
            store == .apple ? objection(toApples: deed) : "only Apple sells so"
        case (.renew, _), (.cancel, _), (.uncancel, _), (.pause, _), (.resume, _),
            (.upgrade, _), (.changeAtRenewal, _), (.extend, _), (.askPrice, _),
            (.acceptPrice, _), (.withdraw, _):
            isRenewable ? objection(toRenewal: deed, store) : "the product does not renew"
        case (.refund, .ended), (.revoke, .ended), (.expire, .ended), (.supersede, .ended),
            (.chargeBack, .ended):
            "the purchase has ended"
        case (.refund, _), (.revoke, _), (.expire, _), (.supersede, _), (.chargeBack, _): nil
        }
    }

    /// The same for the deeds that only a renewing subscription knows.
    private func objection(toRenewal deed: Deed, _ store: StoreName) -> String? {
        if plan == .prepaid { return "a prepaid plan does not renew; buy a top-up" }
        return switch (deed, phase) {
        case (.renew, .ended): store == .apple ? nil : "it has ended; make a new purchase"
        case (_, .ended): "the purchase has ended"
        case (.pause, _): store == .google ? nil : "only Google subscriptions can be paused"
        case (.extend, _): store == .amazon ? "Amazon does not extend subscriptions" : nil
        case (.askPrice, _), (.withdraw, _):
            store == .amazon ? "Amazon neither asks nor withdraws" : nil
        case (.acceptPrice, _): priceIncrease == .asked ? nil : "no higher price was asked"
        case (.upgrade, _): store == .apple ? nil : "only Apple changes products in place"
        case (.changeAtRenewal, _): store == .google ? "Google makes a new purchase" : nil
        case (.resume, .paused): nil
        case (.resume, _): pauseLength == nil ? "no pause is planned" : nil
        default: nil
        }
    }

    private func objection(toItem deed: Deed, _ store: StoreName) -> String? {
        guard store == .google, isRenewable else { return "only Google subscriptions have items" }
        if case .ended = phase { return "the purchase has ended" }
        switch deed {
        case .removeItem(let product), .revokeItem(let product):
            let isThere = addOns.contains { $0.product == product && $0.end == nil }
            return isThere ? nil : "there is no such item"
        default: return nil
        }
    }

    mutating func perform(_ deed: Deed, _ timeline: Timeline) {
        switch deed {
        case .renew: renew(timeline)
        case .cancel: cancel()
        case .uncancel: uncancel()
        case .failPayment: paymentWorks = false
        case .fixPayment: fixPayment(timeline)
        case .refund: giveBack(.refund, ending: .refunded)
        case .revoke: giveBack(.revoke, ending: .revoked)
        case .chargeBack: giveBack(.chargeBack, ending: .refunded)
        case .refundPast: giveBackPast()
        case .reverseRefund: reverseRefund()
        case .refundMoney: giveMoneyBack(quantity: nil)
        case .refundPart(let quantity): giveMoneyBack(quantity: quantity)
        case .refundShare(let share, let isPast): givePartBack(share, isPast: isPast)
        case .fulfil(let result): fulfil(result)
        case .pause(let length):
            pauseLength = length
            note(.pausePlanned)
        case .resume: resume(timeline)
        case .expire: expire()
        case .upgrade(let product, let period): upgrade(to: product, period, timeline)
        case .changeAtRenewal(let product, let period):
            (productAtRenewal, periodAtRenewal) = (product, period)
            note(.changePlanned)
        case .supersede: end(.replaced, at: now)
        case .complete: begin(timeline, at: now)
        case .abandon:
            phase = .abandoned
            note(.pendingCancelled)
        case .acknowledge: acknowledge()
        case .consume:
            isConsumed = true
            acknowledge()
        case .extend(let period): extend(period)
        case .askPrice:
            priceIncrease = .asked
            note(.priceAsked)
        case .acceptPrice:
            priceIncrease = .accepted
            note(.priceAccepted)
        case .withdraw: isWithdrawn = true
        case .addItem, .removeItem, .revokeItem: changeItems(deed)
        case .addSeats(let count): addSeats(count)
        case .refundSeats(let count): refundSeats(count)
        case .refundSKU(let sku): refund(sku: sku)
        case .migrate: migrate()
        case .closeAccount:
            isAccountClosed = true
            end(.revoked, at: now)
        }
    }

    private mutating func acknowledge() {
        isAcknowledged = true
        acknowledgeBy = nil
        (fulfilmentResult, fulfilledAt) = ("FULFILLED", now)
        note(.untold)
    }

    /// What cannot be delivered is given back at once.
    private mutating func fulfil(_ result: String) {
        acknowledge()
        fulfilmentResult = result
        if result == "UNAVAILABLE" { giveBack(.revoke, ending: .refunded) }
    }

    private mutating func givePartBack(_ tenThousandths: Int64, isPast: Bool) {
        let place = charges.count - (isPast ? 2 : 1)
        charges[place].parts.append(.init(at: now, tenThousandths: tenThousandths))
        note(.untold)
    }

    private mutating func renew(_ timeline: Timeline) {
        guard let latest else { return }
        switch phase {
        case .pending, .abandoned: break
        case .running, .silent, .grace:
            charge(timeline, from: latest.end)
            note(.renewed)
        case .hold, .paused:
            pauseLength = nil
            startAgain(timeline, isPurchase: false)
            note(.recovered(fromHold: true))
        case .ended:
            (autoRenews, autoRenewChangedAt) = (true, now)
            (paymentWorks, isWithdrawn) = (true, false)
            runStart = now
            startAgain(timeline, isPurchase: true)
            note(.boughtAgain)
        }
    }

    mutating func setAutoRenew(_ value: Bool) {
        if autoRenews != value { note(value ? .autoRenewOn : .autoRenewOff) }
        autoRenews = value
        autoRenewChangedAt = now
        cancellation = value ? nil : why
    }

    /// Whoever cancels while a charge is outstanding ends the store's attempts and the access.
    private mutating func cancel() {
        if committedPayments > 0 {
            isCancellationPending = true
            return note(.cancellationScheduled)
        }
        setAutoRenew(false)
        switch phase {
        case .silent, .grace, .hold, .paused: end(.cancelled, at: now)
        case .pending, .abandoned, .running, .ended: break
        }
    }

    private mutating func uncancel() {
        if isCancellationPending { note(.autoRenewOn) }
        isCancellationPending = false
        setAutoRenew(true)
    }

    private mutating func fixPayment(_ timeline: Timeline) {
        paymentWorks = true
        guard let latest else { return }
        switch phase {
        case .silent, .grace:
            charge(timeline, from: latest.end)
            note(.recovered(fromHold: false))
        case .hold:
            startAgain(timeline, isPurchase: false)
            note(.recovered(fromHold: true))
        case .pending, .abandoned, .running, .paused, .ended: break
        }
    }

    mutating func giveBack(_ cause: GivenBack.Cause, ending: Ending) {
        for place in newestPeriod {
            charges[place].givenBack =
                charges[place].givenBack ?? GivenBack(at: now, cause: cause, why: why)
        }
        note(.gaveBack(cause, isNewest: true))
        (autoRenews, autoRenewChangedAt, acknowledgeBy) = (false, now, nil)
        phase = .ended(at: now, ending)
    }

    private mutating func giveBackPast() {
        let place = newestPeriod.lowerBound - 1
        guard place >= 0 else { return }
        charges[place].givenBack = GivenBack(at: now, cause: .refund, why: why)
        note(.gaveBack(.refund, isNewest: false), charge: place)
    }

    private mutating func giveMoneyBack(quantity: Int?) {
        charges[charges.count - 1].moneyBackAt = now
        charges[charges.count - 1].moneyBackQuantity = quantity
        note(quantity == nil ? .untold : .moneyBack)
    }

    private mutating func reverseRefund() {
        guard let latest else { return }
        for place in newestPeriod { charges[place].givenBack = nil }
        phase = latest.end > now ? .running : .ended(at: latest.end, .cancelled)
        note(.refundReversed)
    }

    private mutating func resume(_ timeline: Timeline) {
        pauseLength = nil
        if case .paused = phase {
            endPause(timeline)
        }
    }

    private mutating func expire() {
        (autoRenews, autoRenewChangedAt) = (false, now)
        charges[charges.count - 1].end = now
        end(.expired, at: now)
    }

    private mutating func upgrade(
        to product: String, _ period: Period?, _ timeline: Timeline
    ) {
        charges[charges.count - 1].isUpgraded = true
        productAtRenewal = product
        periodAtRenewal = period
        startAgain(timeline, isPurchase: true)
        note(.upgraded)
    }

    /// The billing day moves along.
    private mutating func extend(_ period: Period) {
        let end = charges[charges.count - 1].end.adding(period)
        charges[charges.count - 1].end = end
        (anchor, periodsSinceAnchor) = (end, 0)
        note(.extended)
    }

    private mutating func changeItems(_ deed: Deed) {
        switch deed {
        case .addItem(let product): addOns.append(AddOn(product: product, since: now))
        case .removeItem(let product):
            for index in addOns.indices where addOns[index].product == product {
                addOns[index].isLeaving = true
            }
        case .revokeItem(let product):
            for index in addOns.indices where addOns[index].product == product {
                addOns[index].end = addOns[index].end ?? now
            }
        default: break
        }
        note(.itemsChanged)
    }
}
