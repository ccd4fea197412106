import Postgres
package import Renewal

/// An event as it stands in `renewald.events`.
package struct StoredEvent: Hashable, Sendable {
    package let id: Int64
    package let key: String
    package let createdAt: Timestamp
    package let kind: String
    package let reason: String
    /// Nil for a notice about what nobody has submitted, as are the purchase and the product.
    package let userID: UserID?
    package let entitlement: EntitlementID?
    package let purchaseID: Int64?
    package let store: String
    package let app: AppID
    package let environment: String?
    package let product: ProductID?
    /// May be a token: what is shown of it leaves it out then.
    package var orderID: OrderID?
    package let effectiveAt: Timestamp
    package let expiresAt: Timestamp?
    /// A JSON object.
    package let detail: String

    package init(
        id: Int64, key: String, createdAt: Timestamp, kind: String, reason: String,
        userID: UserID?, entitlement: EntitlementID? = nil, purchaseID: Int64?, store: String,
        app: AppID, environment: String? = nil, product: ProductID?, orderID: OrderID? = nil,
        effectiveAt: Timestamp, expiresAt: Timestamp? = nil, detail: String = "{}"
    ) {
        self.id = id
        self.key = key
        self.createdAt = createdAt
        self.kind = kind
        self.reason = reason
        self.userID = userID
        self.entitlement = entitlement
        self.purchaseID = purchaseID
        self.store = store
        self.app = app
        self.environment = environment
        self.product = product
        self.orderID = orderID
        self.effectiveAt = effectiveAt
        self.expiresAt = expiresAt
        self.detail = detail
    }

    init(_ row: PostgresRow) throws(PostgresError) {
        id = try row.int64("id")
        key = try row.text("key")
        createdAt = try row.instant("created_at")
        kind = try row.text("kind")
        reason = try row.text("reason")
        userID = try row.optionalText("user_id")
        entitlement = try row.optionalText("entitlement")
        purchaseID = try row.optionalInt64("purchase_id")
        store = try row.text("store")
        app = try row.text("app")
        environment = try row.optionalText("environment")
        product = try row.optionalText("product")
        orderID = try row.optionalText("order_id")
        effectiveAt = try row.instant("effective_at")
        expiresAt = try row.optionalInstant("expires_at")
        detail = try row.text("detail")
    }
}

extension PostgresLedger {
    /// Events after an id, in the order of their commits; none is ever skipped.
    package func events(
        after id: Int64, limit: Int
    ) async throws(LedgerError) -> [StoredEvent] {
        try await attempt {
            try await self.reads.query(SQL.eventsAfter(.int64(id), .int32(Int32(limit)))).rows
                .map(StoredEvent.init)
        }
    }

    /// The id of the newest event, 0 when there is none.
    package func lastEventID() async throws(LedgerError) -> Int64 {
        try await attempt {
            try await self.reads.query(SQL.lastEvent())[0].int64("last_id")
        }
    }
}
