// What Apple sells since 2026: seats, commitments, items of the app's own catalogue.
//
// https://developer.apple.com/documentation/appstoreserverapi/additionaltransactionreason
extension Life {
    /// The charges that pay the newest period: one, and what was added to it.
    var newestPeriod: Range<Int> {
        guard let first = charges.lastIndex(where: { !$0.isAddition }) else { return 0..<0 }
        return first..<charges.count
    }

    /// What an answer shows of the newest period: what is still paid before what was given back.
    var shown: Charge? {
        charges[newestPeriod].last { $0.givenBack == nil } ?? charges.last
    }

    /// How many seats are paid now.
    var seats: Int {
        charges[newestPeriod].filter { $0.givenBack == nil }
            .reduce(0) { $0 + $1.quantity - $1.seatsBack }
    }

    /// How many payments of a plan by instalments are still owed.
    var committedPayments: Int {
        guard case .installments(let count) = plan, count > 0 else { return 0 }
        let paid = charges.count { !$0.isTrial && !$0.isAddition }
        return (count - paid % count) % count
    }

    /// Gives the newest charge what its period goes on with.
    mutating func carryOn(_ timeline: Timeline, after before: Charge?, seats: Int) {
        let place = charges.count - 1
        if isMultiSeat { charges[place].quantity = seats > 0 ? seats : timeline.terms.seats }
        charges[place].skus =
            before.map { old in old.skus.filter { old.skusBack[$0] == nil } } ?? timeline.terms.skus
        charges[place].isMigrated = charges.dropLast().last?.isMigrated ?? false
        guard case .installments(let count) = plan, count > 0, !charges[place].isTrial else {
            return
        }
        let number = (before?.instalment ?? 0) % count + 1
        (charges[place].instalment, charges[place].instalments) = (number, count)
        charges[place].commitmentEnd = anchor.adding(
            period, times: periodsSinceAnchor + Int64(count - number))
    }

    /// More seats for the rest of the period, by a transaction of their own.
    mutating func addSeats(_ count: Int) {
        guard var addition = latest else { return }
        for place in newestPeriod { charges[place].paysTogether = true }
        addition.number = charges.count
        (addition.paidAt, addition.start, addition.isPurchase) = (now, now, true)
        (addition.quantity, addition.seatsBack, addition.seatsBackAt) = (count, 0, nil)
        (addition.isAddition, addition.paysTogether, addition.givenBack) = (true, true, nil)
        charges.append(addition)
        note(.untold)
    }

    /// So many seats go back, those that were added last before the others. Nothing ends before
    /// the last of them.
    mutating func refundSeats(_ count: Int) {
        var left = count
        for place in newestPeriod.reversed() where left > 0 && charges[place].givenBack == nil {
            let taken = min(left, charges[place].quantity - charges[place].seatsBack)
            guard taken > 0 else { continue }
            left -= taken
            charges[place].seatsBack += taken
            charges[place].seatsBackAt = now
            if charges[place].seatsBack == charges[place].quantity, seats > 0 {
                charges[place].givenBack = GivenBack(at: now, cause: .refund, why: why)
            }
            if seats > 0 { note(.seatsBack, charge: place) }
        }
        if seats == 0 { giveBack(.refund, ending: .refunded) }
    }

    /// One item goes back; with the last of them the whole.
    mutating func refund(sku: String) {
        charges[charges.count - 1].skusBack[sku] = now
        guard entitledProducts.isEmpty else { return note(.moneyBack) }
        giveBack(.refund, ending: .refunded)
    }

    /// The subscription gets another original id; its transactions keep theirs.
    mutating func migrate() {
        for place in charges.indices { charges[place].isMigrated = true }
        note(.migrated)
    }

    /// Why a deed that only Apple knows makes no sense now; nil when it does.
    func objection(toApples deed: Deed) -> String? {
        guard isRenewable else { return "the product does not renew" }
        if case .ended = phase { return "the purchase has ended" }
        return switch deed {
        case .addSeats(let count):
            count > 0 && isMultiSeat ? nil : "it was not bought for several seats"
        case .refundSeats(let count):
            (1...max(seats, 1)).contains(count) && isMultiSeat
                ? nil : "there are not so many seats"
        case .refundSKU(let sku):
            entitledProducts.contains(sku) && latest?.skus.isEmpty == false
                ? nil : "there is no such item"
        case .migrate: latest?.isMigrated == true ? "it was migrated before" : nil
        default: nil
        }
    }
}
