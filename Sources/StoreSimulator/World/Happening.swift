/// Something in a life that a store would tell the seller of.
struct Happening: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case bought
        case boughtAgain
        case renewed
        case recovered(fromHold: Bool)
        case autoRenewOff
        case autoRenewOn
        case grace
        case hold(afterGrace: Bool)
        case pausePlanned
        case paused
        case resumed
        case ended(Ending)
        case gaveBack(GivenBack.Cause, isNewest: Bool)
        case moneyBack
        case refundReversed
        case upgraded
        case changePlanned
        case priceAsked
        case priceAccepted
        case extended
        case itemsChanged
        case cancellationScheduled
        case seatsBack
        case migrated
        case pendingCancelled
        /// Changes an answer, and is told to nobody.
        case untold
    }

    var at: Instant
    var kind: Kind
    /// The number of the charge it is about.
    var charge: Int
}

extension Life {
    /// Writes down what has happened now, about the newest charge or another one.
    mutating func note(_ kind: Happening.Kind, charge: Int? = nil) {
        happenings.append(
            Happening(at: now, kind: kind, charge: charge ?? max(0, charges.count - 1)))
    }
}
