import Configuration
import Engine
import Ledger
import Renewal

/// The calls of somebody who waits at a terminal: each takes the next free place in the app's row,
/// before all that the background has not reserved yet, and within the quota.
struct UrgentCalls: Sendable {
    private let stores: StoreSettings
    private let ledger: PostgresLedger

    /// The longest that somebody is kept waiting for a place: a store may ask for an hour.
    private static let patience = Duration.seconds(30)
    /// Places that may come to nothing because the database took too long to give them.
    private static let attemptLimit = 5

    init(_ stores: StoreSettings, _ ledger: PostgresLedger) {
        self.stores = stores
        self.ledger = ledger
    }

    /// Waits for the next place.
    ///
    /// - Returns: nil when the call may start; else why it may not.
    func wait(for app: AppKey) async throws(LedgerError) -> StoreFailure? {
        var row = RateReservation(interval: .seconds(1) / stores.requestsPerSecond(app.store))
        for _ in 0..<Self.attemptLimit {
            let sent = ContinuousClock.now
            let reservation = try await ledger.reserveCalls(
                from: BucketID(of: app), for: row.stretch(1), within: Self.patience,
                isUrgent: true)
            switch reservation {
            case .askAgain(let wait):
                return .throttled(retryAfter: wait)
            case .granted(let wait):
                row.reserve(1, in: wait, sent: sent, answered: .now)
                if let opensAt = row.opensAt(.now) { try? await Task.sleep(until: opensAt) }
                if row.take(at: .now) { return nil }
            }
        }
        return .unreachable(reason: "the database is too slow to reserve a call")
    }
}
