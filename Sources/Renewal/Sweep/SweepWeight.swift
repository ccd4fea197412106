/// How seldom a purchase is asked about by the sweep, as a multiple of how often that is done of
/// what changes most.
///
/// With so many calls the time in which changes stay unseen is least where the interval goes with
/// one over the root of how often something changes. Refunds come in the first days of a purchase;
/// who has turned renewal off can only turn it on again; what a store sold once is hardly ever
/// refunded after two months; what has ended is bought again by few. An app whose store tells its
/// news is asked a quarter as often.
package struct SweepWeight: Hashable, Sendable {
    package let number: Int

    /// Stores give money back, and collect, for so long.
    private static let refundable = Duration.days(65)

    /// Nil for what has a rhythm of its own.
    ///
    /// - Parameters:
    ///   - state: of the purchase.
    ///   - givesAccess: whether somebody has something by it.
    ///   - kind: nil before a store has told.
    ///   - renews: whether it is to go on.
    ///   - age: since it was submitted.
    ///   - over: since its end; less than zero before it.
    ///   - isTold: whether the app has a source of news.
    init?(
        of state: PurchaseState, givesAccess: Bool, kind: ProductKind?, renews: Bool,
        age: Duration, over: Duration, isTold: Bool
    ) {
        let alone: Int
        switch state {
        case .active where !givesAccess:
            alone = age < Self.refundable ? 8 : 32
        case .active where age < .days(14):
            alone = 1
        case .active where kind == .autoRenewable || kind == nil:
            alone = renews ? 2 : 4
        case .active:
            alone = age < Self.refundable ? 4 : 16
        case .expired, .refunded, .revoked:
            alone = over < Self.refundable ? 8 : 32
        case .new, .pending, .grace, .hold, .paused, .superseded, .invalid:
            return nil
        }
        number = isTold ? alone * 4 : alone
    }

    /// How long a purchase waits for its turn.
    ///
    /// - Parameter interval: how long a walk through all purchases takes.
    /// - Returns: since its last check.
    package func turn(every interval: Duration) -> Duration {
        max(SweepWalk.least * number, interval * (Double(number) - 0.5))
    }
}
