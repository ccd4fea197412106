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
        self.finding = users.isEmpty ? .nothing : finding
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
        package let parted: [Parted]
        /// What another user has handed in first.
        package let claimed: [Claimed]
        /// What cannot be read.
        package let unread: [Unread]
    }

    /// A purchase whose row cannot be read: that it is there, and what is wrong with it.
    package struct Unread: Hashable, Sendable {
        package let id: Int64
        package let app: AppKey?
        package let product: ProductID?
        package let problem: Problem

        package init(_ purchase: UnreadablePurchase) {
            id = purchase.id
            app = purchase.app
            product = purchase.product
            problem = purchase.problem
        }

        package var title: String {
            let names = [product?.text, app.map { "\($0.store.rawValue) \($0.id)" }]
            return names.compactMap { $0 }.joined(separator: ", ")
        }
    }

    /// A purchase that is no longer the user's, while it was.
    package struct Parted: Hashable, Sendable {
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
        package let since: Event?
        /// What the store said then; nil where it is no longer kept.
        package let check: Check?
    }

    package struct Purchase: Hashable, Sendable {
        package let id: Int64
        /// Whose it is.
        package let userID: UserID
        package let app: AppKey
        package let environment: StoreEnvironment?
        package let product: ProductID
        package let kind: ProductKind?
        package let state: PurchaseState
        package let access: Access
        package let submittedAt: Timestamp
        /// When a store last told its state.
        package let checkedAt: Timestamp?
        package let paidThrough: Timestamp?
        package let expiresAt: Timestamp?
        package let autoRenew: Bool?
        /// Nil for a store whose order ids are tokens.
        package let orderID: OrderID?
        package let originalID: OrderID?
        /// A stable code, a colon and a sentence.
        package let problem: String?
        package let next: NextCheck
        /// Oldest first.
        package let steps: [Step]
    }

    /// What was committed about a purchase at one instant.
    package struct Step: Hashable, Sendable {
        package let at: Timestamp
        /// Nil where only the events are kept.
        package let check: Check?
        package let events: [Event]
    }

    package struct Check: Hashable, Sendable {
        /// Whose it was then.
        package let userID: UserID
        package let evidence: Evidence
        package let rule: String
        package let stateBefore: String
        package let state: String
        package let accessBefore: String
        package let access: String
        package let product: ProductID
        package let orderID: OrderID?
        package let paidThrough: Timestamp?
        package let expiresAt: Timestamp?
        package let problem: String?
        /// Nil is never.
        package let nextCheckAt: Timestamp?
    }

    package struct Event: Hashable, Sendable {
        package let id: Int64
        package let key: String
        package let at: Timestamp
        package let kind: String
        package let reason: String
        package let userID: UserID
        package let entitlement: EntitlementID?
        package let product: ProductID
        package let effectiveAt: Timestamp
        package let expiresAt: Timestamp?
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
