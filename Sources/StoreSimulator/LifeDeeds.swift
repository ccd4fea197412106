// What somebody does.
extension Life {
    /// Why `deed` makes no sense now, for a person to read; nil when it does.
    func objection(to deed: Deed, store: StoreName) -> String? {
        switch (deed, phase) {
        case (.complete, .pending), (.abandon, .pending): nil
        case (.complete, _), (.abandon, _): "the purchase is not pending"
        case (_, .pending), (_, .abandoned): "the purchase was never paid"
        case (.failPayment, _), (.fixPayment, _): nil
        case (.refundPast, _): charges.count > 1 ? nil : "there is no earlier period"
        case (.reverseRefund, .ended(_, .refunded)): nil
        case (.reverseRefund, _): "the purchase is not refunded"
        case (.renew, _), (.cancel, _), (.uncancel, _), (.pause, _), (.resume, _),
            (.upgrade, _), (.changeAtRenewal, _):
            isRenewable ? objection(toRenewal: deed, store) : "the product does not renew"
        case (.refund, .ended), (.revoke, .ended), (.expire, .ended), (.supersede, .ended):
            "the purchase has ended"
        case (.refund, _), (.revoke, _), (.expire, _), (.supersede, _): nil
        }
    }

    /// The same for the deeds that only a renewing subscription knows.
    private func objection(toRenewal deed: Deed, _ store: StoreName) -> String? {
        switch (deed, phase) {
        case (.renew, .ended): store == .apple ? nil : "it has ended; make a new purchase"
        case (_, .ended): "the purchase has ended"
        case (.pause, _): store == .google ? nil : "only Google subscriptions can be paused"
        case (.upgrade, _), (.changeAtRenewal, _):
            store == .apple ? nil : "only Apple changes products in place"
        case (.resume, .paused): nil
        case (.resume, _): pauseLength == nil ? "no pause is planned" : nil
        default: nil
        }
    }

    mutating func perform(_ deed: Deed, _ timeline: Timeline) {
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
