package import Renewal
import Synchronization

/// The database's time between two of its answers, carried on by the monotonic clock: for what is
/// measured, never for a decision.
package final class DatabaseClock: Sendable {
    private let last = Mutex<(told: Timestamp, at: ContinuousClock.Instant)?>(nil)

    package init() {}

    /// The database has just said what time it is.
    package func hears(_ told: Timestamp) { last.withLock { $0 = (told, .now) } }

    /// Nil until the database has said its time once.
    package var now: Timestamp? {
        last.withLock { last in last.map { $0.told + (ContinuousClock.now - $0.at) } }
    }
}
