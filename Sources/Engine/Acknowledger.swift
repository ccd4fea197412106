import Logging
import Renewal
import Synchronization

/// Tells stores that purchases have arrived, after that is committed and beside the other work.
final class Acknowledger: Sendable {
    private let controls: LiveSettings
    private let stores: any EngineStores
    private let log: Logger
    private let isLeaving = Mutex(false)
    private let freed = AsyncEvent()
    private let (claims, teller) = AsyncStream.makeStream(
        of: Claim.self, bufferingPolicy: .bufferingNewest(queueLimit))

    /// Purchases that wait to be acknowledged; beyond that they wait for their next check.
    private static let queueLimit = 10_000
    /// Calls under way at once.
    private static let atOnce = 4

    init(_ controls: LiveSettings, _ stores: any EngineStores, log: Logger) {
        self.controls = controls
        self.stores = stores
        self.log = log
    }

    /// Takes note of what was committed.
    func add(_ report: CommitReport) {
        for outcome in report.committed where outcome.schedule.awaitsAcknowledgement {
            teller.yield(outcome.claim)
        }
    }

    /// No more follow: `run` returns when the last is done, or when what is under way is.
    func close(leavingTheRest: Bool) {
        isLeaving.withLock { $0 = leavingTheRest }
        teller.finish()
    }

    func run(_ turns: any CallTurns) async {
        await withDiscardingTaskGroup { group in
            let slots = ConcurrencyLimit(limit: Self.atOnce)
            for await claim in claims {
                if isLeaving.withLock({ $0 }) { break }
                while !slots.take(0, orCall: { self.freed.signal() }) {
                    await freed.wait(upTo: .seconds(60))
                }
                group.addTask {
                    await self.acknowledge(claim, turns)
                    slots.give(0)
                }
            }
        }
    }

    private func acknowledge(_ claim: Claim, _ turns: any CallTurns) async {
        let part = Heartbeat.Part.acknowledgement(claim.purchaseID)
        let limit = controls.settings.stallLimit
        controls.heartbeat.expect(part, within: limit)
        let permit = CallPermit { [self] in
            await controls.heartbeat.pausing(part, within: limit) {
                await turns.turn(of: claim.purchase.app) ?? .anyTime
            }
        }
        if await !stores.acknowledge(claim, permit) { say(claim) }
        controls.heartbeat.rest(part)
    }

    /// Tried again at the next check, for as long as the store waits for it.
    private func say(_ claim: Claim) {
        var fields = LogField.topic(.acknowledgementWaits, of: claim.purchase.app)
        fields[LogField.purchase] = "\(claim.purchaseID)"
        log.notice(.acknowledgementWaits(claim.purchaseID), metadata: fields)
    }
}
