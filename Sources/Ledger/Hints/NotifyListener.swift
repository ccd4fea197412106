package import Postgres
package import Renewal

/// Waits for `NOTIFY` on a connection of its own. Only a convenience: who waits must also look by
/// himself from time to time. Behind a connection pooler, where LISTEN does not work, there is
/// none.
package final class NotifyListener: Sendable {
    /// Sent by `renewald.submit`, with the lane.
    package static let due = "renewald_due"
    /// Sent after each commit that wrote events.
    package static let events = "renewald_events"

    private let connection: PostgresConnection
    private let channel: String

    package init(_ settings: PostgresSettings, channel: String) {
        connection = PostgresConnection(settings)
        self.channel = channel
    }

    /// Begins to listen, and again after a lost connection.
    package func start() async throws(LedgerError) {
        do throws(PostgresError) {
            guard try await !connection.isPooled() else { return }
            try await connection.listen([channel])
        } catch {
            throw LedgerError(error)
        }
    }

    /// The payload of the next notification; nil when none came in time.
    package func next(timeout: Duration) async throws(LedgerError) -> String? {
        do throws(PostgresError) {
            if try await connection.isPooled() {
                try? await Task.sleep(for: timeout)
                guard !Task.isCancelled else { throw .cancelled }
                return nil
            }
            try await connection.listen([channel])
            return try await connection.nextNotification(timeout: timeout)?.payload
        } catch {
            throw LedgerError(error)
        }
    }

    package func close() async { await connection.close() }
}
