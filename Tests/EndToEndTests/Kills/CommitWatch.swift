import Foundation
import Postgres
import Synchronization
import TestSupport

/// Sees from outside when renewald has committed something, and where.
final class CommitWatch: Sendable {
    /// When it was seen first that there are more events.
    struct Sight {
        /// The address of the server, and since when it runs.
        let server: String
        let lastID: Int64
        let instant: ContinuousClock.Instant
    }

    private let connection: PostgresConnection
    private let sights = Mutex<[Sight]>([])

    /// - Parameter conninfo: by way of a proxy, if there is one.
    init(_ conninfo: String) {
        connection = PostgresConnection(
            PostgresSettings(
                conninfo: conninfo, applicationName: "watch", connectTimeout: .seconds(2),
                statementTimeout: .seconds(2)))
    }

    var latest: Sight? { sights.withLock(\.last) }

    /// How many events were seen.
    var count: Int64 { latest?.lastID ?? 0 }

    /// Looks twenty times a second, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            if let row = try? await connection.query(PostgresStatement(Self.question)).rows.first,
                let server = try? row.text("server"), let lastID = try? row.int64("last_id")
            {
                let now = ContinuousClock.now
                sights.withLock { sights in
                    guard lastID > sights.last?.lastID ?? 0 else { return }
                    sights.append(Sight(server: server, lastID: lastID, instant: now))
                }
            }
            await Poll.pause(.milliseconds(50))
        }
        await connection.close()
    }

    /// How long nothing was seen after a server was lost; nil as long as no other has told of
    /// anything.
    func pause(after server: String) -> Duration? {
        sights.withLock { sights in
            guard let lost = sights.lastIndex(where: { $0.server == server }),
                lost + 1 < sights.endIndex
            else { return nil }
            return sights[lost + 1].instant - sights[lost].instant
        }
    }

    /// How long nothing was seen at most.
    func longestPause(since start: ContinuousClock.Instant) -> Duration {
        let instants = sights.withLock { $0.map(\.instant) }
        return zip(instants, instants.dropFirst()).filter { $1 > start }.map { $1 - $0 }.max()
            ?? .zero
    }

    private static let question = """
        SELECT concat_ws(' ', host(inet_server_addr()), pg_postmaster_start_time()) AS server,
            last_id
        FROM renewald.event_counter WHERE NOT pg_is_in_recovery()
        """
}

/// Looks again and again.
enum Poll {
    /// - Throws: when it has not become true within the limit.
    static func until(
        _ what: String, within limit: Duration, every pace: Duration = .milliseconds(200),
        _ isTrue: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + limit
        while try await !isTrue() {
            guard ContinuousClock.now < deadline else {
                throw StageFailure("waited \(limit) in vain until \(what)")
            }
            await pause(pace)
        }
    }

    /// In seconds, for people.
    static func text(_ duration: Duration) -> String {
        String(format: "%.1f", duration / .seconds(1))
    }

    /// The pace at which something is looked at that tells nobody when it changes.
    static func pause(_ pace: Duration) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + pace / .seconds(1)) {
                continuation.resume()
            }
        }
    }
}
