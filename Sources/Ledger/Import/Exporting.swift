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

/// Some purchases, in the order in which they were submitted.
package struct ExportedPage: Hashable, Sendable {
    package fileprivate(set) var purchases: [ExportedPurchase] = []
    /// Those that are not among them, as their tokens cannot be decrypted.
    package fileprivate(set) var undecipherable: [Undecipherable] = []
    /// The id of the last of all of them.
    package let last: Int64

    fileprivate init(last: Int64) { self.last = last }
}

extension PostgresLedger {
    /// The next purchases in the order in which they were submitted, as much as fits into memory.
    ///
    /// - Parameter id: of the last one so far; 0 at first.
    /// - Returns: nil at the end.
    /// - Throws: `.unavailable` without a database.
    package func export(after id: Int64) async throws(LedgerError) -> ExportedPage? {
        try await attempt {
            let rows = try await self.reads.query(
                SQL.exportPurchases(
                    .int64(id), .int32(Self.exportLimit), .int64(Self.exportLimitBytes))
            ).rows
            guard let last = rows.last else { return nil }
            let seals = try await self.seals(of: rows, in: [PostgresRow.sealedToken])
            var page = ExportedPage(last: try last.int64("id"))
            for row in rows {
                guard try !row.bool("is_left_out") else { continue }
                guard let token = try row.decipheredToken(seals) else {
                    page.leaveOut(
                        Undecipherable(
                            purchaseID: try row.int64("id"),
                            lack: seals.lack(
                                for: try row.optionalBytes(PostgresRow.sealedToken))))
                    continue
                }
                page.purchases.append(
                    ExportedPurchase(
                        userID: try row.text("user_id"), app: try row.app(),
                        product: try row.text("product"), token: token,
                        storeUserID: try row.optionalText("store_user_id")))
            }
            return page
        }
    }

    private static let exportLimit: Int32 = 2000
    private static let exportLimitBytes: Int64 = 4 << 20
}

extension ExportedPage {
    /// Once, however many lines it would have.
    fileprivate mutating func leaveOut(_ purchase: Undecipherable) {
        if undecipherable.last != purchase { undecipherable.append(purchase) }
    }
}
