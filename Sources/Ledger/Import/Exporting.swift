import Postgres
package import Renewal

/// A purchase as `import` reads it.
package struct ExportedPurchase: Hashable, Sendable {
    package let userID: UserID
    package let app: AppKey
    package let product: ProductID
    /// A secret.
    package let token: StoreToken
    package let storeUserID: StoreUserID?

    package init(
        userID: UserID, app: AppKey, product: ProductID, token: StoreToken,
        storeUserID: StoreUserID?
    ) {
        self.userID = userID
        self.app = app
        self.product = product
        self.token = token
        self.storeUserID = storeUserID
    }
}

extension PostgresLedger {
    /// The next purchases in the order in which they were submitted, as much as fits into memory.
    ///
    /// - Parameter id: of the last one so far; 0 at first.
    /// - Returns: them, and the last id; nil at the end.
    /// - Throws: `.unavailable` without a database.
    package func export(
        after id: Int64
    ) async throws(LedgerError) -> (purchases: [ExportedPurchase], last: Int64)? {
        try await attempt {
            let rows = try await self.reads.query(
                SQL.exportPurchases(
                    .int64(id), .int32(Self.exportLimit), .int64(Self.exportLimitBytes))
            ).rows
            guard let last = rows.last else { return nil }
            let seals = try await self.seals(of: rows, in: [PostgresRow.sealedToken])
            for row in rows {
                guard let lack = seals.lack(for: try row.optionalBytes(PostgresRow.sealedToken))
                else { continue }
                throw LedgerError.keysMissing(names: [lack])
            }
            return (
                try rows.filter { try !$0.bool("is_left_out") }.map { row in
                    ExportedPurchase(
                        userID: try row.text("user_id"), app: try row.app(),
                        product: try row.text("product"), token: try row.token(seals),
                        storeUserID: try row.optionalText("store_user_id"))
                }, try last.int64("id")
            )
        }
    }

    private static let exportLimit: Int32 = 2000
    private static let exportLimitBytes: Int64 = 4 << 20
}
