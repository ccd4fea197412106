import Logging
import Renewal
import Synchronization

/// Tells stores that purchases have arrived, after that is committed and beside the other work.
final class Acknowledger: Sendable {
    private let tell: @Sendable (Claim) async -> Bool
    private let log: Logger
    private let isLeaving = Mutex(false)
    private let freed = Doorbell()
    private let (claims, teller) = AsyncStream.makeStream(
        of: Claim.self, bufferingPolicy: .bufferingNewest(queueLimit))

    /// Purchases that wait to be acknowledged; beyond that they wait for their next check.
    private static let queueLimit = 10_000
    /// Calls under way at once.
    private static let atOnce = 4

    init?(_ ports: Ports, log: Logger) {
        guard let tell = ports.acknowledge else { return nil }
        self.tell = tell
        self.log = log
    }

    /// Takes note of what was committed.
    func add(_ report: CommitReport) {
        for outcome in report.committed where outcome.decision.awaitsAcknowledgement {
            teller.yield(outcome.claim)
        }
    }

    /// No more follow: `run` returns when the last is done, or when what is under way is.
    func close(leavingTheRest: Bool) {
        isLeaving.withLock { $0 = leavingTheRest }
        teller.finish()
    }

    func run() async {
        await withDiscardingTaskGroup { group in
            let slots = Slots(limit: Self.atOnce)
            for await claim in claims {
                if isLeaving.withLock({ $0 }) { break }
                while !slots.take(0, orCall: { self.freed.ring() }) {
                    await freed.wait(upTo: .seconds(60))
                }
                group.addTask {
                    if await !self.tell(claim) { self.say(claim) }
                    slots.give(0)
                }
            }
        }
    }

    /// Tried again at the next check, for as long as the store waits for it.
    private func say(_ claim: Claim) {
        log.notice("purchase \(claim.purchase.id) could not be acknowledged yet")
    }
}
