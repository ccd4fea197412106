package import Ledger
package import Renewal

/// Why somebody has access or has not: what is known of them, for those who have to explain it.
///
/// It holds no token: what is one for its store, as Amazon's receipt id is, stays out.
package struct Explanation: Hashable, Sendable {
    /// How the purchases were found.
    package enum Finding: String, Hashable, Sendable {
        case user, order
        /// A store has named the purchase that the order belongs to.
        case store
        case nothing
        /// The store could not be asked for the order.
        case unknown
    }

    package let finding: Finding
    /// The database's time of the reading.
    package let now: Timestamp
    /// What became of asking stores for the order, as sentences.
    package let notes: [String]
    /// Those who have purchases, mostly one.
    package let users: [User]

    package init(
        finding: Finding, now: Timestamp, notes: [String] = [], users: [UserHistory]
    ) {
        self.finding = users.isEmpty && finding != .unknown ? .nothing : finding
        self.now = now
        self.notes = notes
        self.users = users.map(User.init)
    }

    package struct User: Hashable, Sendable {
        package let id: UserID
        package let holdings: [Held]
        /// Oldest first.
        package let purchases: [Purchase]
        /// What has gone to another user.
        package let transferred: [Transferred]
        /// What another user has handed in first.
        package let claimed: [Claimed]
        /// What cannot be read.
        package let unread: [UnreadablePurchase]
    }

    /// A purchase that is no longer the user's, while it was.
    package struct Transferred: Hashable, Sendable {
        package let id: Int64
        package let store: String
        package let app: AppID
        package let product: ProductID
        /// Oldest first; never empty.
        package let steps: [Step]
    }

    /// An entitlement that a user has or had.
    package struct Held: Hashable, Sendable {
        package let entitlement: Entitlement
        /// The grant or revoke by which it is so; nil where it is no longer kept.
        package let since: StoredEvent?
        /// What the store said then; nil where it is no longer kept.
        package let check: StoredEvidence?
    }

    package struct Purchase: Hashable, Sendable {
        package let id: Int64
        /// Whose it is.
        package let userID: UserID
        package let app: AppKey
        /// As they stand, without the ids that are tokens for their store.
        package let facts: Facts
        package let submittedAt: Timestamp
        /// When a store last told its state.
        package let checkedAt: Timestamp?
        /// A stable code, a colon and a sentence.
        package let problem: String?
        package let next: NextCheck
        /// Oldest first.
        package let steps: [Step]
        /// What its store asked about refunds, oldest first.
        package let refunds: [StoredRefund]
    }

    /// What was committed about a purchase at one instant.
    package struct Step: Hashable, Sendable {
        package let at: Timestamp
        /// As it is kept, without ids that are tokens; nil where only the events are kept.
        package let check: StoredEvidence?
        package let events: [StoredEvent]
    }
}

extension Explanation.Purchase {
    /// Whether something before the first step that is kept is no longer known.
    package var beginsLate: Bool {
        guard let first = steps.first(where: { $0.check != nil })?.check else {
            return checkedAt != nil
        }
        return first.stateBefore != PurchaseState.new.rawValue
    }

    /// When the first check was made that is still kept.
    package var evidenceSince: Timestamp? { steps.first { $0.check != nil }?.at }
}

extension UnreadablePurchase {
    /// Such as `monthly, google com.example.reader`: as much of it as can be read.
    package var title: String {
        let names = [product?.text, app.map { "\($0.store.rawValue) \($0.id)" }]
        return names.compactMap { $0 }.joined(separator: ", ")
    }
}
