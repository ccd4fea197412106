import Engine
import Logging
import Renewal

/// Says what the engine does: a line for each event, and the figures.
struct EngineReporter: EngineObserver {
    let telemetry: Telemetry
    let lines: EventLog
    let log: Logger

    func committed(_ report: CommitReport) {
        let detections = report.detections(at: telemetry.clock)
        lines.write(report, detections, to: log)
        for trip in report.trips { log.alert(trip) }
        for (event, detection) in zip(report.events, detections) {
            telemetry.metrics.told(event, detection)
        }
    }

    func told(_ notices: [RefundNotice]) {
        for notice in notices {
            lines.write(notice, to: log)
            telemetry.metrics.told(.notice(notice.reason), in: notice.app.store)
        }
    }

    func circuitMoved(of app: AppKey, to circuit: StoreCircuit) {
        telemetry.circuitMoved(app, circuit.position)
    }

    func paceMoved(of app: AppKey, to share: Double) { telemetry.metrics.paceMoved(app, share) }

    func swept(_ app: AppKey, _ count: Int, every interval: Duration) {
        telemetry.metrics.swept(app, count, every: interval)
    }
}
