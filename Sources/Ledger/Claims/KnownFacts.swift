import Postgres
package import Renewal

extension PostgresLedger {
    /// What is known of a purchase by the token that it was handed in with.
    ///
    /// - Returns: nil where nobody has handed it in, or its row cannot be read.
    package func facts(
        of token: StoreToken, inLane lane: Int32
    ) async throws(LedgerError) -> Facts? {
        let place = try await attempt {
            try await self.reads.query(SQL.findOlderLinks(.int32s([lane]), .texts([token])))
                .rows.first.map { row in
                    (user: try row.text("user_id") as UserID, id: try row.int64("id"))
                }
        }
        guard let place else { return nil }
        return try await purchases(ofUser: place.user).claims
            .first { $0.purchaseID == place.id }?.purchase.facts
    }

    /// Whose the purchase with an original id is.
    ///
    /// - Returns: nil where nobody has handed it in.
    package func owner(
        ofOriginal id: OrderID, inLane lane: Int32
    ) async throws(LedgerError) -> UserID? {
        try await attempt {
            try await self.reads.query(SQL.ownerOfOriginal(.int32(lane), .text(id)))
                .rows.first.map { row in try row.text("user_id") }
        }
    }
}
