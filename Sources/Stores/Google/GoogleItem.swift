import Renewal

/// A line item, its fields checked.
struct GoogleItem: Hashable, Sendable {
    let product: ProductID
    /// Nil when it is not owned yet.
    let expires: Timestamp?
    /// The last order of it that was paid.
    let paidOrder: OrderID?
    let renews: Bool
    /// Nil where the answer does not tell: version 1 does not know instalments.
    var billing: GoogleBilling?
    var isPrepaid = false
    var phase: Phase?
    /// Whether it was bought with an offer: a trial or a lower price at the start. Nil when the
    /// answer does not tell.
    var usedOffer: Bool?
    /// Whether another product takes its place at the next renewal.
    var isToBeReplaced = false
    /// That product, where the answer names it.
    var replacement: ProductID?
    /// Whether it goes away at the next renewal.
    var isLeaving = false
    var hasPriceIncreasePending = false
    var notes = SaleNotes()

    /// The items that are owned now. In a running state one that goes on is kept beyond its expiry,
    /// while Google still collects without a word, but for one that was given back; where nothing
    /// else is left, the last one too: that it is over is Google's to say, not our clock's.
    static func inForce(
        _ items: [GoogleItem], state: GoogleState, at now: Timestamp,
        except isGivenBack: (GoogleItem) -> Bool
    ) -> [GoogleItem] {
        let unexpired = items.filter { $0.isOwned(at: now) }
        switch state {
        case .canceled, .unknown: return unexpired
        case .pending, .pendingPurchaseCanceled, .paused, .onHold, .expired: return []
        case .active, .inGracePeriod:
            let kept = items.filter {
                $0.isOwned(at: now)
                    || $0.goesOn(beside: unexpired) && $0.isOwned(at: now - forgottenAfter)
                        && !isGivenBack($0)
            }
            guard kept.isEmpty else { return kept }
            let last = items.compactMap(\.expires).max()
            return items.filter { $0.expires != nil && $0.expires == last }
        }
    }

    /// How far beyond the paid period Google moves an expiry at most while nothing is paid yet.
    static let renewalWindow = Duration.hours(48)
    /// So long after the end of grace an answer may not show yet that it was moved on.
    static let moveDelay = Duration.hours(1)
    /// An item that Google has left unrenewed for so long beside others is not in force.
    private static let forgottenAfter = Duration.days(30)

    /// Whether something is to be paid after it: for itself, of instalments that are owed, or for
    /// what takes its place and is not among what is owned yet.
    private func goesOn(beside owned: [GoogleItem]) -> Bool {
        if renews || billing?.isEnding == true { return true }
        return isToBeReplaced && !owned.contains { $0.product == replacement }
    }

    /// Whether it was known to last longer, or gives nothing any more. In grace its end may only
    /// have been moved while it was not paid: there Google has to name its order.
    func isGivenBack(knowing facts: Facts, _ clues: Set<Clue>) -> Bool {
        let held = facts.holdings.first { $0.product == product }
        guard facts.access == .granted, let expires else { return false }
        if product != facts.product, held == nil { return true }
        guard let known = product == facts.product ? facts.paidThrough : held?.expiresAt,
            expires < known - .minutes(1)
        else { return false }
        guard facts.state == .grace else { return true }
        return paidOrder.map(clues.refundedOrders.contains) ?? false
    }

    func isOwned(at instant: Timestamp) -> Bool {
        expires.map { $0 > instant } ?? false
    }

    /// The item of the known product, otherwise what has replaced it, otherwise the one that lasts
    /// longest.
    static func main(_ items: [GoogleItem], preferring product: ProductID) -> GoogleItem? {
        let owned = items.filter { $0.expires != nil }
        let candidates = owned.isEmpty ? items : owned
        let known = candidates.filter { $0.product == product }
        let next = candidates.filter { $0.notes.replaced?.product == product }
        return [known, next, candidates].first { !$0.isEmpty }.flatMap(latest)
    }

    /// The one that lasts longest, and of those that are not owned the first.
    static func latest(_ items: [GoogleItem]) -> GoogleItem? {
        let owned = items.filter { $0.expires != nil }
        return owned.isEmpty
            ? items.first
            : owned.max { left, right in
                guard let start = left.expires, let end = right.expires else { return false }
                return start < end
            }
    }
}
