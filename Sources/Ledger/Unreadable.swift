import Postgres
package import Renewal

/// A purchase whose rows hold what this program has no word for, or lack what may not be missing.
/// It is set aside by itself; its neighbours go on.
package struct UnreadablePurchase: Hashable, Sendable {
    package let id: Int64
    let shard: Int16
    let lane: Int32
    let dueAt: Timestamp
    /// The column that cannot be read.
    package let column: String

    package var problem: Problem {
        Problem(.setAside, "its row cannot be read (column \(column))")
    }
}

extension PostgresRow {
    /// The claim that the row holds.
    ///
    /// - Parameter app: of the row; nil where the row names it.
    /// - Returns: what cannot be read as a failure.
    /// - Throws: where not even the keys can be read.
    func readableClaim(
        of app: AppKey?
    ) throws(PostgresError) -> Result<Claim, UnreadablePurchase.Failure> {
        do throws(PostgresError) {
            if let app { return .success(try claim(of: app)) }
            return .success(try claim(of: self.app()))
        } catch {
            guard case .decoding(let column) = error else { throw error }
            let purchase = UnreadablePurchase(
                id: try int64("id"), shard: try int16("shard"), lane: try int32("lane"),
                dueAt: try instant("due_at"), column: column)
            return .failure(UnreadablePurchase.Failure(purchase: purchase))
        }
    }
}

extension UnreadablePurchase {
    struct Failure: Error { let purchase: UnreadablePurchase }
}

extension PostgresLedger {
    /// The claims that can be read, and the purchases that cannot.
    func parted(
        _ rows: PostgresRows, of app: AppKey?
    ) throws(PostgresError) -> (claims: [Claim], unreadable: [UnreadablePurchase]) {
        var claims: [Claim] = []
        var unreadable: [UnreadablePurchase] = []
        for row in rows {
            switch try row.readableClaim(of: app) {
            case .success(let claim): claims.append(claim)
            case .failure(let failure): unreadable.append(failure.purchase)
            }
        }
        return (claims, unreadable)
    }

    func setAside(_ purchases: [UnreadablePurchase]) async throws {
        guard !purchases.isEmpty else { return }
        _ = try await reads.query(
            SQL.setAside(
                .int16s(purchases.map(\.shard)), .int32s(purchases.map(\.lane)),
                .timestamps(purchases.map(\.dueAt.microsecondsSinceEpoch)),
                .int64s(purchases.map(\.id)), .texts(purchases.map(\.problem.description))))
    }
}
