import Renewal

// What one transaction has bought: a product or, by the Advanced Commerce API, several items of the
// app's own catalogue.
extension AppleTransaction {
    private var ownItems: [AdvancedCommerceInfo.Item] { advancedCommerceInfo?.items ?? [] }

    /// Whether it has items that cannot be read, or not all of them.
    private var hasUnreadableItems: Bool {
        guard let advancedCommerceInfo else { return false }
        guard let items = advancedCommerceInfo.items else { return true }
        return items.contains { $0.sku.map(\.isEmpty) ?? true }
    }

    /// Each is a product of its own, by its SKU; what was refunded by itself is not in force. Where
    /// all were, all of them are what was refunded.
    func items(of product: ProductID, until end: Timestamp?) -> [Item] {
        let items = hasUnreadableItems ? [] : ownItems
        let inForce = items.filter { $0.revocationDate == nil }
        let names = (inForce.isEmpty ? items : inForce).compactMap(\.sku)
        return (names.isEmpty ? [product] : names).map { Item(names: [$0], expiresAt: end) }
    }

    /// Whether what it gives is better known from before: its items cannot be read, or the very
    /// transaction that had some shows none now. Its own product alone would take them away.
    func saysLess(than facts: Facts) -> Bool {
        guard facts.access == .granted else { return false }
        if hasUnreadableItems { return true }
        return ownItems.isEmpty && transactionId != nil && transactionId == facts.orderID
            && !facts.holdings.contains { $0.product == productId }
    }

    /// Its items that were refunded.
    var lostParts: LostParts {
        var lost = LostParts()
        guard !hasUnreadableItems else { return lost }
        for item in ownItems where item.revocationDate != nil {
            guard let sku = item.sku else { continue }
            lost[sku] = LostPart(
                reason: .refunded,
                endedAt: item.revocationDate.flatMap(Timestamp.init(millisecondsSinceEpoch:)))
        }
        return lost
    }

    /// When anything of it was taken back.
    var revocationDates: [Int64] {
        ([revocationDate] + ownItems.map(\.revocationDate)).compactMap(\.self)
    }

    /// When the last of its items was refunded, where all of them were.
    var itemsRevokedAt: Timestamp? {
        guard !hasUnreadableItems else { return nil }
        let dates = ownItems.map(\.revocationDate)
        guard !dates.isEmpty, dates.allSatisfy({ $0 != nil }) else { return nil }
        return dates.compactMap { $0.flatMap { Timestamp(millisecondsSinceEpoch: $0) } }.max()
    }
}
