/// How seldom a purchase is asked about by the sweep, as a multiple of how often that is done of
/// what changes most.
///
/// With so many calls the time in which changes stay unseen is least where the interval goes with
/// one over the root of how often something changes, and of what it costs somebody until it is
/// seen. Who pays a debt or in a shop has no access until then; in grace they have it all along.
/// Refunds come in the first days of a purchase; a period that cost nothing has none. Who has
/// turned renewal off can only turn it on again; what a store sold once is hardly ever refunded
/// after two months; what has ended is bought again by few. What the store's news tells of is
/// asked about a quarter as often.
package struct SweepWeight: Hashable, Sendable {
    package let number: Int

    /// Stores give money back, and collect, for so long.
    private static let refundable = Duration.days(65)
    /// What is to be paid in a shop is paid within days, or not at all.
    private static let payable = Duration.days(14)

    /// Nil for what has a rhythm of its own.
    ///
    /// - Parameters:
    ///   - state: of the purchase.
    ///   - givesAccess: whether somebody has something by it.
    ///   - kind: nil before a store has told.
    ///   - renews: whether it is to go on.
    ///   - isFree: whether the period costs nothing.
    ///   - age: since it was submitted.
    ///   - over: since its end; less than zero before it.
    ///   - news: what the app's sources of news tell of; nil without one.
    init?(
        of state: PurchaseState, givesAccess: Bool, kind: ProductKind?, renews: Bool,
        isFree: Bool, age: Duration, over: Duration, news: NewsScope?
    ) {
        let alone: Int
        switch state {
        case .active where !givesAccess:
            alone = age < Self.refundable ? 8 : 32
        case .active where isFree:
            alone = renews ? 4 : 8
        case .active where age < .days(14):
            alone = 1
        case .active where kind == .autoRenewable || kind == nil:
            alone = renews ? 2 : 4
        case .active:
            alone = age < Self.refundable ? 4 : 16
        case .expired, .refunded, .revoked:
            alone = over < Self.refundable ? 8 : 32
        case .hold:
            alone = over < Self.refundable ? 1 : 8
        case .pending:
            alone = age < Self.payable ? 1 : 8
        case .paused:
            alone = 2
        case .grace:
            alone = 4
        case .new, .superseded, .invalid:
            return nil
        }
        let isTold = news.map { $0 >= (state == .active ? .refunds : .everything) } ?? false
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
