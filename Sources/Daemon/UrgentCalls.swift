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
    /// - Returns: the place of the call; or why it may not start.
    func wait(
        for app: AppKey
    ) async throws(LedgerError) -> Result<CallPlace, StoreFailure> {
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
        case .granted(let place): .success(place)
        case .paused: .failure(.paused)
        case .refused(let wait): .failure(.throttled(retryAfter: wait))
        case .missed:
            .failure(.unreachable(reason: "the database is too slow to reserve a call"))
        }
    }

    /// For work whose first call has its place. Without its own a further call is made all the
    /// same: what was begun gets done.
    func permit(for app: AppKey, at first: CallPlace = .anyTime) -> CallPermit {
        CallPermit(first) { (try? await wait(for: app).get()) ?? .anyTime }
    }
}
