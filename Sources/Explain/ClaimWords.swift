package import Renewal

extension Explanation {
    /// A purchase that the user has handed in and another user has. Of that user no more is shown
    /// than the id.
    package struct Claimed: Hashable, Sendable {
        package let id: Int64
        package let app: AppKey
        package let product: ProductID
        /// Who has it.
        package let owner: UserID
        /// Whether the app has named the owner to the store at the purchase.
        package let isOwnersByName: Bool
        package let isTakenOver: Bool
        /// Whether the store has found it by another id of its buyer than the one who asks has
        /// handed in.
        package let isOfOtherStoreUser: Bool
        /// Whether nobody has handed it in since the one who asks.
        package let isLatest: Bool
    }
}

extension Explanation.Claimed {
    /// - Parameters:
    ///   - purchase: another user's.
    ///   - user: who asks.
    package init(_ purchase: Purchase, for user: UserID) {
        id = purchase.id
        app = purchase.app
        product = purchase.facts.product
        owner = purchase.userID
        isOwnersByName = purchase.facts.accountToken.map { namesUser($0, purchase.userID) } ?? false
        isTakenOver = purchase.facts.state == .superseded
        isLatest = purchase.claimant == user
        isOfOtherStoreUser =
            purchase.storeUserID != nil && purchase.facts.environment != nil && !isLatest
            && !purchase.claimants.contains(user)
    }

    var title: String { "\(product), \(app.store.rawValue) \(app.id)" }

    /// Whose it is. Who was first is not kept once it was handed over.
    package var situation: String { "\(owner) has it" }

    /// What would give it to the one who asks.
    package var chances: String {
        if isTakenOver {
            return "a newer purchase of its chain has taken over: it grants nothing"
        }
        if isOwnersByName {
            return "it stays there: \(owner) is the account that the app named to the store"
        }
        if isOfOtherStoreUser {
            return "it stays there: \(owner) has submitted it with another Amazon user id, which "
                + "Amazon has found it by"
        }
        guard isLatest else {
            return "it moves if the app named the other user to the store at the purchase; by "
                + "[policy] shared it is for whoever has submitted it since, until it is submitted "
                + "again"
        }
        return "it moves with its next check if [policy] shared is \"move\"; else if it grants "
            + "\(owner) nothing any more and a new period is bought, or if the app named the other "
            + "user to the store at the purchase"
    }
}
