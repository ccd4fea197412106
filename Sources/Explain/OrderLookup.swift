package import Renewal

/// What a store says of an order that the ledger does not know.
package enum OrderLookup: Hashable, Sendable {
    /// Ids by which the ledger may know the purchase; none when the store does not know the order.
    /// May be tokens.
    case told(ids: [OrderID])
    /// Why there is no answer, as a sentence.
    case failed(String)

    /// Whose order id it looks like: `MK5TTTVWJH` is Apple's, `GPA.3301-7742-9918-40211..0` is
    /// Google's.
    package static func store(ofOrder order: OrderID) -> Store? {
        let id = order.text
        if id.hasPrefix("GPA."), id.utf8.count <= longest { return .google }
        let isApple =
            id.first == "M" && appleLength.contains(id.utf8.count)
            && id.utf8.allSatisfy { (65...90).contains($0) || (48...57).contains($0) }
        return isApple ? .apple : nil
    }

    private static let appleLength = 8...14
    private static let longest = 64
}
