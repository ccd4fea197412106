package import Ledger
import Renewal

/// A line of `renewald events --json`: a row of `renewald.events`.
package struct EventJSON: JSONObject {
    private let event: StoredEvent

    package init(_ event: StoredEvent) { self.event = event }

    package func write(to row: inout JSONRow) {
        row.id = event.id
        row.key = event.key
        row.createdAt = event.createdAt
        row.kind = event.kind
        row.reason = event.reason
        row.userId = event.userID
        row.entitlement = event.entitlement
        row.purchaseId = event.purchaseID
        row.store = event.store
        row.app = event.app
        row.environment = event.environment
        row.product = event.product
        row.orderId = event.orderID
        row.effectiveAt = event.effectiveAt
        row.expiresAt = event.expiresAt
        row.detail = JSONValue(stored: event.detail)
    }
}
