import Configuration
import Logging
import Renewal
import Synchronization
import Testing

@testable import Daemon

/// A problem is told when it begins, not at each check that finds it still there.
@Suite struct EventLogTests {
    private static let now = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)

    /// A purchase that is in force, and has a problem all the same: its product has no duration.
    private func levels(known problem: String?) -> [Logger.Level] {
        let claim = Claim(
            purchase: Purchase(
                id: 7, userID: "ann", app: AppKey(store: .apple, id: "com.example.reader"),
                token: "t", createdAt: Self.now - .days(3), facts: Facts(product: "season")),
            shard: 0, lane: 1, dueAt: Self.now, version: 1, attempts: 0, crashes: 0,
            checkedAt: Self.now - .days(1), problem: problem, claimedAt: Self.now)
        let heard = Observation(
            environment: .production, kind: .nonRenewing, status: .active,
            items: [Item(names: ["season"], expiresAt: nil)], purchasedAt: Self.now - .days(3))
        let outcome = decide(
            claim, hearing: .verdict(heard), at: Moment(now: Self.now, jitter: 0.5),
            under: Rules(
                catalog: Catalog(["season": .init(kind: .nonRenewing, entitlements: ["pro"])])))
        var report = CommitReport()
        report.committed = [outcome]
        let lines = Lines()
        EventLog(userNames: .plain).write(report, [], to: lines.log)
        return lines.levels.withLock { $0 }
    }

    @Test func aProblemIsToldWhenItBegins() {
        #expect(levels(known: nil).count == 1)
        #expect(levels(known: "unreachable: the store could not be reached").count == 1)
        #expect(levels(known: "unsupported: no duration is configured").isEmpty)
    }

    private final class Lines: Sendable {
        let levels = Mutex<[Logger.Level]>([])

        var log: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

        private struct Handler: LogHandler {
            let lines: Lines
            var metadata: Logger.Metadata = [:]
            var logLevel = Logger.Level.info

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                lines.levels.withLock { $0.append(event.level) }
            }
        }
    }
}
