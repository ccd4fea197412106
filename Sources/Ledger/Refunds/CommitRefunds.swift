import Postgres
import Renewal

/// What a commit has to say of questions about refunds.
extension CommitBatch {
    /// Purchases whose original id has become known: with their first answer.
    private var named: [Outcome] {
        outcomes.filter { outcome in
            outcome.facts.state != .superseded && outcome.facts.originalID != nil
                && outcome.facts.originalID != outcome.claim.purchase.facts.originalID
        }
    }

    var orderKeyStatement: PostgresStatement? {
        let known = named.filter(\.claim.purchase.app.store.traits.asksByOrder)
        return known.isEmpty ? nil : SQL.commitOrderKeys(Self.columns(known))
    }

    var refundPurchaseStatement: PostgresStatement? {
        let known = named
        return known.isEmpty ? nil : SQL.commitRefundPurchases(Self.columns(known))
    }

    private static func columns(_ named: [Outcome]) -> KeyValuePairs<String, PostgresValue> {
        [
            "lane": .int32s(named.map(\.claim.lane)), "id": .int64s(named.map(\.claim.purchaseID)),
            "original_id": .texts(named.compactMap(\.facts.originalID)),
        ]
    }

    var refundOutcomeStatement: PostgresStatement? {
        var orders: [(app: AppKey, order: OrderID)] = []
        for outcome in outcomes where outcome.change?.facts.isRefundedWhole == true {
            guard let order = outcome.facts.orderID else { continue }
            orders.append((outcome.claim.purchase.app, order))
        }
        // A part of it may be goodwill, and decides nothing.
        for event in events where event.kind.isRefund && event.detail.refund?.part == nil {
            guard let order = event.detail.refundedOrder ?? event.orderID else { continue }
            orders.append((event.app, order))
        }
        guard !orders.isEmpty else { return nil }
        return SQL.commitRefundOutcomes([
            "store": .texts(orders.map(\.app.store.rawValue)),
            "app": .texts(orders.map(\.app.id)), "order_id": .texts(orders.map(\.order)),
        ])
    }
}

extension EventKind {
    fileprivate var isRefund: Bool {
        switch self {
        case .revoke(.refunded), .notice(.refunded), .notice(.refundOfPastPeriod): true
        case .grant, .revoke, .notice: false
        }
    }
}
