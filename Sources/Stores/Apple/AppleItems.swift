import Renewal

// What one transaction has bought: a product or, by the Advanced Commerce API, several items of the
// app's own catalogue.
extension AppleTransaction {
    private var ownItems: [AdvancedCommerceInfo.Item] {
        (advancedCommerceInfo?.value?.items ?? []).filter { $0.sku.map { !$0.isEmpty } ?? false }
    }

    /// Each is a product of its own, by its SKU; what was refunded by itself is not in force.
    func items(of product: ProductID, until end: Timestamp?) -> [Item] {
        let inForce = ownItems.filter { $0.revocationDate == nil }.compactMap(\.sku)
        let names = inForce.isEmpty ? [product] : inForce
        return names.map { Item(names: [$0], expiresAt: end) }
    }

    var hasRefundedItems: Bool { ownItems.contains { $0.revocationDate != nil } }

    /// When the last of its items was refunded, where all of them were.
    var itemsRevokedAt: Timestamp? {
        let dates = ownItems.map(\.revocationDate)
        guard !dates.isEmpty, dates.allSatisfy({ $0 != nil }) else { return nil }
        return dates.compactMap { $0.flatMap { Timestamp(millisecondsSinceEpoch: $0.value) } }.max()
    }
}
