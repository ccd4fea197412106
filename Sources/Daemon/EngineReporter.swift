import Engine
import Logging
import Renewal

/// Says what the engine does: a line for each event, and the figures.
struct EngineReporter: EngineObserver {
    let telemetry: Telemetry
    let lines: EventLog
    let log: Logger

    func committed(_ report: CommitReport) {
        lines.write(report, to: log)
        for trip in report.trips { log.alert(trip) }
        for (event, lag) in zip(report.events, report.detectionLags(at: telemetry.clock)) {
            telemetry.metrics.told(event, lag: lag)
        }
    }

    func told(_ notices: [RefundNotice]) {
        for notice in notices {
            lines.write(notice, to: log)
            telemetry.metrics.told(.notice(notice.reason), in: notice.app.store)
        }
    }

    func circuitMoved(of app: AppKey, to circuit: Circuit) {
        telemetry.circuitMoved(app, circuit.position)
    }

    func paceMoved(of app: AppKey, to share: Double) { telemetry.metrics.paceMoved(app, share) }

    func swept(_ app: AppKey, _ count: Int, every interval: Duration) {
        telemetry.metrics.swept(app, count, every: interval)
    }
}

extension CommitReport {
    /// Of each event, in their order, how long the store knew before we did; nil where that cannot
    /// be said.
    func detectionLags(at clock: DatabaseClock) -> [Duration?] {
        let ended = Set(events.filter(\.kind.isRevoke).map(\.purchaseID))
        guard !ended.isEmpty else { return Array(repeating: nil, count: events.count) }
        var claims: [Int64: Claim] = [:]
        for claim in committed.lazy.map(\.claim) where ended.contains(claim.purchaseID) {
            claims[claim.purchaseID] = claim
        }
        return events.map { event in
            claims[event.purchaseID].flatMap { claim in
                event.detectionLag(of: claim, at: clock.now ?? claim.claimedAt)
            }
        }
    }
}
