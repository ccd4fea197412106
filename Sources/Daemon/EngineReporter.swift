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
        for event in report.events {
            telemetry.metrics.told(
                event, lag: event.detectionLag(in: report, at: telemetry.clock))
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
}

extension Event {
    /// How long the store knew before we did; nil where that cannot be said.
    func detectionLag(in report: CommitReport, at clock: DatabaseClock) -> Duration? {
        guard
            let claim = report.committed.first(where: { $0.claim.purchase.id == purchaseID })?.claim
        else { return nil }
        return detectionLag(of: claim, at: clock.now ?? claim.claimedAt)
    }
}
