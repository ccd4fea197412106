import Configuration
import Engine
import Ledger
import Renewal

/// The calls of somebody who waits at a terminal: each takes the next free place in the app's row,
/// before all that the background has not reserved yet, and within the quota.
struct UrgentCalls: Sendable {
    private let stores: StoreSettings
    private let reservations: CallReservations

    /// The longest that somebody is kept waiting for a place: a store may ask for an hour.
    private static let patience = Duration.seconds(30)

    init(_ stores: StoreSettings, _ ledger: PostgresLedger) {
        self.stores = stores
        reservations = CallReservations(ledger)
    }

    /// Waits for the next place.
    ///
    /// - Returns: nil when the call may start; else why it may not.
    func wait(for app: AppKey) async throws(LedgerError) -> StoreFailure? {
        let row = CallRow(
            of: app, through: reservations,
            interval: .seconds(1) / stores.requestsPerSecond(app.store),
            isUrgent: true)
        return switch try await row.wait(within: Self.patience) {
        case .granted: nil
        case .paused: .paused
        case .refused(let wait): .throttled(retryAfter: wait)
        case .missed: .unreachable(reason: "the database is too slow to reserve a call")
        }
    }
}
