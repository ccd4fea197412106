import Renewal

/// What was found, its signatures verified.
indirect enum AppleFound {
    /// The purchase's own subscription.
    case own(AppleSubscription)
    /// What still pays its period, of which a part was refunded.
    case seats(AppleSeats, of: AppleSubscription)
    /// What runs in its group, or has run since, where its own record says that it has ended.
    case heir(AppleSubscription, of: AppleSubscription)
    /// What runs in its group, where its own record is not shown, contradicts itself, or is only in
    /// grace.
    case substitute(AppleSubscription, of: AppleTransaction?)
    /// By a family's copy that it was in force by, and whose sharing has ended.
    case lostCopy(AppleSubscription, of: AppleSubscription)
    case oneTime(AppleTransaction)
    /// Of another purchase, perhaps: it proves nothing.
    case unproven

    /// The transaction that tells what is given.
    var shown: AppleTransaction? {
        switch self {
        case .own(let own), .lostCopy(_, let own): own.transaction
        case .seats(let seats, _): seats.paid
        case .heir(let other, _), .substitute(let other, _): other.transaction
        case .oneTime(let transaction): transaction
        case .unproven: nil
        }
    }

    /// The purchase's own transaction, where there is one: it tells the name.
    var name: AppleTransaction? {
        switch self {
        case .own(let own), .seats(_, let own), .heir(_, let own), .lostCopy(_, let own):
            own.transaction
        case .substitute(_, let own): own
        case .oneTime, .unproven: nil
        }
    }
}

// What was found, in our words. None of it is inlined into what waits for Apple: each of its values
// would be kept there all the while.
extension AppleEnquiry {
    /// What an answer says before it is known what else is to be asked.
    struct Observed {
        @Boxed var reading: AppleReading
    }

    @inline(never)
    func observed(_ found: AppleFound, by reader: AppleReader) throws(StoreFailure) -> Observed? {
        guard var reading = try reading(of: found, by: reader) else { return nil }
        // What stands in for it is another purchase: the name stays.
        reading.observation.originalID =
            facts.originalID ?? found.name?.originalTransactionId ?? reading.observation.originalID
        return Observed(reading: reading)
    }

    private func reading(
        of found: AppleFound, by reader: AppleReader
    ) throws(StoreFailure) -> AppleReading? {
        let environment = reader.environment
        switch found {
        case .own(let subscription):
            return try subscription.forgettingRenewal(olderThan: facts)
                .reading(in: environment)
        case .seats(let seats, let own):
            var reading = try reader.subscription(1, seats.paid, own.renewal)
                .reading(in: environment)
            reading.observation.period = seats.period
            return reading
        case .heir(let heir, let own):
            var reading = try heir.reading(in: environment)
            if heir.isShared || own.isShared { reading.observation.forgetPeriod() }
            if !own.isShared,
                case .refunded = try own.reading(in: environment).observation.status
            {
                reading.observation.note(refundOf: own.transaction.transactionId, since: facts)
            }
            return reading
        case .substitute(let other, let own):
            var reading = try other.reading(in: environment)
            if other.isShared || own?.isShared == true { reading.observation.forgetPeriod() }
            return reading
        case .lostCopy(let copy, let own):
            var reading = try own.reading(in: environment)
            let told = try copy.reading(in: environment).observation
            reading.observation.observed = .own(told.status)
            return reading
        case .oneTime(let transaction):
            return AppleReading(observation: try once(transaction, by: reader))
        case .unproven: return nil
        }
    }

    private func once(
        _ transaction: AppleTransaction, by reader: AppleReader
    ) throws(StoreFailure) -> Observation {
        var observation = try transaction.oneTimeObservation(by: reader)
        settle(&observation, transaction)
        // Of several consumables some were refunded, or some more: its period names how many.
        guard transaction.type == "Consumable", transaction.revocationDate != nil,
            facts.period != observation.period
        else { return observation }
        observation.isRefundedInPart = facts.state == .refunded
        let share = transaction.revocationPercentage ?? 100_000
        if let id = transaction.transactionId, facts.state == .refunded || share < 100_000 {
            let part = RefundedPart(share: Share(Int64(share), of: 100_000))
            observation.refundedParts[id] = part
        }
        return observation
    }

    @inline(never)
    func answer(_ observed: Observed, by found: AppleFound) -> Answer {
        var reading = observed.reading
        reading.observation.noteSeats(since: facts)
        if let shown = found.shown, shown.saysLess(than: facts) { reading.observation.items = [] }
        let renamed = found.name.flatMap(renamed)
        if let renamed { reading.observation.originalID = renamed }
        if subject.isMigrated || renamed != nil, let id = reading.observation.originalID {
            reading.observation.nextToken = StoreToken(id.text)
            reading.observation.isMigrated = true
        }
        if case .substitute = found { return reading.observation.asSubstitute() }
        return reading.answer
    }

    /// The original id of what Apple has given another one since it was last asked about.
    private func renamed(_ own: AppleTransaction) -> OrderID? {
        guard let id = own.originalTransactionId, facts.originalID != id else { return nil }
        if hasOtherName { return id }
        guard let previous = own.previousOriginalTransactionId, id != previous,
            [subject.id, facts.originalID].contains(previous)
        else { return nil }
        return id
    }
}

extension Observation {
    /// The refund of what was bought anew before anybody looked: it ends no access.
    mutating func note(refundOf order: OrderID?, since facts: Facts) {
        guard let order, order == facts.orderID, facts.wasGranted, facts.state != .refunded else {
            return
        }
        pastRefunds.insert(order)
        signals.insert(.pastPeriodRefunded)
    }

    /// Leaves out what it says of a period that was paid: nobody has paid another one of a purchase
    /// by a copy of the family's that runs in its place, or for it.
    mutating func forgetPeriod() {
        paidThrough = nil
        period = nil
        phase = nil
        commitment = nil
        usedIntroductory = nil
        offerIsIntroductory = nil
    }
}
