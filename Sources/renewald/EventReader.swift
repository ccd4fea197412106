import Ledger
import Renewal

/// Reads the events one after the other, and goes on over a database that is away for a while:
/// none is left out, none comes twice.
struct EventReader {
    let ledger: PostgresLedger
    /// The id of the last event that was given on.
    var last: Int64
    /// How many looks in a row the database was away.
    var failures = 0
    let give: (StoredEvent) throws -> Void

    /// Most events read at once.
    private static let pageLimit = 1000
    /// How often is looked where nothing is heard: NOTIFY only makes it sooner.
    private static let pause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(5)
    /// After a LISTEN in vain, as on a standby, which has none.
    private static let deafness = Duration.seconds(30)

    /// Gives on all that there is. That the database is there again is said before what it has.
    mutating func readOn() async throws {
        while true {
            let events = try await ledger.events(after: last, limit: Self.pageLimit)
            if failures > 0 { Console.complain("the database answers again") }
            failures = 0
            for event in events {
                try give(event)
                last = event.id
            }
            guard events.count == Self.pageLimit else { return }
        }
    }

    /// Gives on what there is and what comes, until it is cancelled or fails for good.
    mutating func follow(_ news: NotifyListener) async throws {
        var listensFrom = ContinuousClock.now
        while !Task.isCancelled {
            do {
                try await readOn()
            } catch let error as LedgerError {
                guard case .unavailable = error else { throw error }
                if failures == 0 {
                    Console.complain("\(error.sentence); will continue after event \(last)")
                }
                failures += 1
                try await Task.sleep(for: min(Self.pause * failures / 5, Self.longestPause))
                continue
            }
            if listensFrom > .now {
                try await Task.sleep(for: Self.pause)
            } else if await !isHeard(news) {
                listensFrom = .now + Self.deafness
            }
        }
    }

    /// Waits for news.
    ///
    /// - Returns: false when there can be none.
    private func isHeard(_ news: NotifyListener) async -> Bool {
        do throws(LedgerError) {
            _ = try await news.next(timeout: Self.pause)
            return true
        } catch {
            return false
        }
    }
}
