import Renewal

/// A purchase of products that are sold once, as either version tells it.
struct GoogleSale: Hashable, Sendable {
    var state: State
    var items: [Item]
    var order: OrderID?
    /// The account of the app's own that it named at the purchase.
    var accountToken: UserID?
    var boughtAt: Timestamp?
    /// Whether the answer says that it was paid once.
    var wasCompleted = false
    var isTest = false
    var awaitsAcknowledgement = false
    var notes = SaleNotes()

    enum State: String, Hashable, Sendable {
        case purchased = "PURCHASED"
        case cancelled = "CANCELLED"
        case pending = "PENDING"
    }

    /// Google does not say which products may be bought again: only what was consumed shows it.
    var likelyKind: ProductKind {
        !items.isEmpty && items.allSatisfy(\.isConsumed) ? .consumable : .nonConsumable
    }

    struct Item: Hashable, Sendable {
        let product: ProductID
        let quantity: Int64
        /// How many have not been given back; nil where the answer does not tell.
        let refundableQuantity: Int64?
        let isConsumed: Bool

        /// - Throws: `.malformed` for less than none.
        init(
            product: ProductID, quantity: Int64, refundableQuantity: Int64?, isConsumed: Bool
        ) throws(StoreFailure) {
            guard refundableQuantity.map({ $0 >= 0 }) ?? true else {
                throw .malformed(field: "refundableQuantity")
            }
            self.product = product
            self.quantity = quantity
            self.refundableQuantity = refundableQuantity
            self.isConsumed = isConsumed
        }

        var isGivenBack: Bool { refundableQuantity == 0 }
    }
}
