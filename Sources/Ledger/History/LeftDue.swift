import Postgres
package import Renewal

/// Purchases of an app that were due before a pass and are due after it: nobody could ask about
/// them.
package struct LeftDue: Hashable, Sendable {
    package let app: AppKey
    package let isConfigured: Bool
    /// A person lets nobody ask.
    package let isPaused: Bool
    /// Until when its store wants no calls; nil where it takes some.
    package let blockedUntil: Timestamp?
    /// At most 10,000 of each shard are counted, and as many that wait in the back-fill.
    package let purchases: Int64
    /// Whether some are leased to workers that have not configured the app, and no worker has.
    package let isHeld: Bool

    package init(
        app: AppKey, isConfigured: Bool, isPaused: Bool, blockedUntil: Timestamp? = nil,
        purchases: Int64, isHeld: Bool = false
    ) {
        self.app = app
        self.isConfigured = isConfigured
        self.isPaused = isPaused
        self.blockedUntil = blockedUntil
        self.purchases = purchases
        self.isHeld = isHeld
    }
}

extension PostgresLedger {
    /// - Parameters:
    ///   - began: when the pass began, by the database's time.
    ///   - stores: the only ones that were asked; none where all were.
    /// - Returns: one for each app of which something is left, beside what other workers have.
    /// - Throws: when the database does not answer.
    package func leftDue(
        since began: Timestamp, of stores: [Store]
    ) async throws(LedgerError) -> [LeftDue] {
        try await attempt {
            let words = (stores.isEmpty ? Store.allCases : stores).map(\.rawValue)
            let rows = try await self.reads.query(SQL.leftDue(.instant(began), .texts(words))).rows
            return try rows.map { row in
                LeftDue(
                    app: try row.app(), isConfigured: try row.bool("configured"),
                    isPaused: try row.bool("paused"),
                    blockedUntil: try row.optionalInstant("blocked_until"),
                    purchases: try row.int64("due"), isHeld: try row.bool("held"))
            }
        }
    }
}
