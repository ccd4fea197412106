import Configuration
import Engine
import Ledger
import Renewal
import ServiceLifecycle

/// The calls of somebody who waits at a terminal: each takes the next free place in the app's row,
/// before all that the background has not reserved yet, and within the quota.
struct UrgentCalls: Sendable {
    private let stores: StoreSettings
    private let reservations: CallReservations

    /// The longest that somebody is kept waiting for a place: a store may ask for an hour.
    private static let patience = Duration.seconds(30)

    init(_ stores: StoreSettings, _ ledger: PostgresLedger) {
        self.stores = stores
        reservations = CallReservations(ledger, patience: .zero)
    }

    /// Waits for the next place; no longer once the command is stopped.
    ///
    /// - Returns: nil when the call may start; else why it may not.
    func wait(for app: AppKey) async throws(LedgerError) -> StoreFailure? {
        let interval = Duration.seconds(1) / stores.requestsPerSecond(app.store)
        let (reservations, patience) = (reservations, Self.patience)
        // A result, as what can be cut short throws nothing of its own type.
        let turn: Result<CallRow.Turn, LedgerError> = await cancelWhenGracefulShutdown {
            var row = CallRow(of: app, through: reservations, interval: interval, isUrgent: true)
            do throws(LedgerError) {
                return .success(try await row.wait(within: patience))
            } catch .cancelled where Task.isShuttingDownGracefully {
                return .success(.refused(for: .zero))
            } catch {
                return .failure(error)
            }
        }
        return switch try turn.get() {
        case .granted: nil
        case .paused: .paused
        case .refused(let wait): .throttled(retryAfter: wait)
        case .missed: .unreachable(reason: "the database is too slow to reserve a call")
        }
    }
}
