package import Renewal

extension Explanation {
    /// A purchase that the user has handed in after another user, who has it. Of that user no more
    /// is shown than the id.
    package struct Claimed: Hashable, Sendable {
        package let id: Int64
        package let app: AppKey
        package let product: ProductID
        /// Who has it.
        package let owner: UserID
        /// Whether the app has named the owner to the store at the purchase.
        package let isOwnersByName: Bool
        package let isTakenOver: Bool
    }
}

extension Explanation.Claimed {
    package init(_ purchase: Purchase) {
        id = purchase.id
        app = purchase.app
        product = purchase.facts.product
        owner = purchase.userID
        isOwnersByName = purchase.facts.accountToken.map { namesUser($0, purchase.userID) } ?? false
        isTakenOver = purchase.facts.state == .superseded
    }

    var title: String { "\(product), \(app.store.rawValue) \(app.id)" }

    /// Whose it is.
    package var situation: String { "\(owner) submitted it first and has it" }

    /// What would give it to the one who asks.
    package var chances: String {
        if isTakenOver {
            return "a newer purchase of its chain has taken over: it grants nothing"
        }
        if isOwnersByName {
            return "it stays there: \(owner) is the account that the app named to the store"
        }
        return
            "it moves if it grants \(owner) nothing any more and a new period is bought, if "
            + "the app named the other user to the store at the purchase, or by [policy] shared"
    }
}
