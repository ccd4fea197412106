import Postgres
package import Renewal

/// A revocation that the breaker holds: a row of `renewald.held`.
package struct HeldRevocation: Hashable, Sendable {
    package let id: Int64
    package let heldAt: Timestamp
    package let userID: UserID
    package let entitlement: EntitlementID
    package let reason: RevokeReason
    package let purchaseID: Int64
    package let app: AppKey
}

/// How an app's breaker stands, for people.
package struct BreakerStanding: Hashable, Sendable {
    package let app: AppKey
    package let count: BreakerCount
    /// Revocations that wait to be let go.
    package let waiting: Int64
    package let readAt: Timestamp

    package func breaker(under policy: BreakerPolicy) -> RevocationBreaker {
        RevocationBreaker(policy, count, at: readAt)
    }
}

extension PostgresLedger {
    /// What is held, the oldest first: only of this app and for this reason, where they are given.
    package func heldRevocations(
        of app: AppKey? = nil, for reason: RevokeReason? = nil
    ) async throws(LedgerError) -> [HeldRevocation] {
        try await attempt {
            let rows = try await self.reads.query(
                SQL.held(
                    app.map { .text($0.store.rawValue) } ?? .null,
                    app.map { .text($0.id) } ?? .null,
                    reason.map { .text($0.rawValue) } ?? .null))
            return try rows.rows.map { row in
                HeldRevocation(
                    id: try row.int64("id"), heldAt: try row.instant("held_at"),
                    userID: try row.text("user_id"), entitlement: try row.text("entitlement"),
                    reason: try row.word("reason"), purchaseID: try row.int64("purchase_id"),
                    app: try row.app())
            }
        }
    }

    /// How the breakers stand whose apps have lost anything yet.
    package func breakers(
        window: Duration
    ) async throws(LedgerError) -> [BreakerStanding] {
        try await attempt {
            try await self.reads.query(SQL.statusBreakers(.int64(window.microseconds))).rows.map {
                row in
                let now = try row.instant("now")
                return BreakerStanding(
                    app: try row.app(), count: try row.breakerCount(at: now),
                    waiting: try row.int64("waiting"), readAt: now)
            }
        }
    }
}
