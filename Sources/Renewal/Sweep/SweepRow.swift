/// A purchase that nothing is expected of just now, as the sweep sees it.
package struct SweepRow: Hashable, Sendable {
    /// Where it stands in the schedule: it is not due.
    package let place: Place
    /// When the last verdict was heard.
    package let checkedAt: Timestamp?
    /// When the store was asked in vain last, since that verdict.
    package let inVainAt: Timestamp?
    package let state: PurchaseState
    package let access: Access
    /// Nil before a store has told.
    package let kind: ProductKind?
    package let autoRenew: Bool?
    /// The period under way is a free trial.
    package let isFree: Bool
    package let createdAt: Timestamp
    /// Of access, or of the paid time; nil without one.
    package let end: Timestamp?
    /// It has a rhythm of its own: bad news waits for its second opinion, or the last check came to
    /// nothing.
    package let isTroubled: Bool

    package init(
        _ place: Place, checkedAt: Timestamp?, inVainAt: Timestamp? = nil, state: PurchaseState,
        access: Access, kind: ProductKind?, autoRenew: Bool?, isFree: Bool, createdAt: Timestamp,
        end: Timestamp?, isTroubled: Bool
    ) {
        self.place = place
        self.checkedAt = checkedAt
        self.inVainAt = inVainAt
        self.state = state
        self.access = access
        self.kind = kind
        self.autoRenew = autoRenew
        self.isFree = isFree
        self.createdAt = createdAt
        self.end = end
        self.isTroubled = isTroubled
    }

    /// One of which nothing can be told.
    package init(unreadableAt place: Place) {
        self.init(
            place, checkedAt: nil, state: .invalid, access: .none, kind: nil, autoRenew: nil,
            isFree: false, createdAt: .never, end: nil, isTroubled: true)
    }
}

extension SweepRow {
    /// Whether it was asked about last in the future: so it was before the clock was set back. When
    /// it is due was computed with that time, also in trouble.
    package func wasAskedInTheFuture(of now: Timestamp) -> Bool {
        (inVainAt ?? checkedAt).map { $0 > now + .minutes(1) } ?? false
    }

    /// Nil for what has a rhythm of its own.
    ///
    /// - Parameters:
    ///   - now: the database's time.
    ///   - news: what the app's sources of news tell of; nil without one.
    /// - Returns: its weight.
    package func weight(at now: Timestamp, news: NewsScope?) -> SweepWeight? {
        guard !isTroubled else { return nil }
        return SweepWeight(
            of: state, givesAccess: access == .granted, kind: kind, renews: autoRenew ?? true,
            isFree: isFree, age: now - createdAt, over: now - (end ?? createdAt), news: news)
    }
}
