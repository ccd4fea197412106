package import Renewal

/// A transaction of an order, as a customer's receipt by mail names it.
package struct AppleOrderItem: Hashable, Sendable {
    package let transactionID: OrderID
    /// What `Facts.originalID` holds.
    package let originalID: OrderID
    package let product: ProductID?

    package init(transactionID: OrderID, originalID: OrderID, product: ProductID?) {
        self.transactionID = transactionID
        self.originalID = originalID
        self.product = product
    }
}

extension AppleReader {
    /// The transactions of an answer of Look Up Order ID, verified; none when the order is not one
    /// of this app.
    func order(_ body: [UInt8]) async throws(StoreFailure) -> [AppleOrderItem] {
        let response = try JSON.decode(AppleOrderResponse.self, from: body)
        guard response.status == 0 else { return [] }
        var items: [AppleOrderItem] = []
        for text in response.signedTransactions ?? [] {
            let transaction = try await transaction(text, "signedTransactions")
            guard let id = transaction.transactionId,
                let originalID = transaction.originalTransactionId
            else { continue }
            items.append(
                AppleOrderItem(
                    transactionID: id, originalID: originalID, product: transaction.productId))
        }
        return items
    }
}
