import Ledger
import Renewal

/// `renewald status --json`.
extension StatusReport: JSONObject {
    package func write(to row: inout JSONRow) {
        row.now = status.now
        row.workers = status.workers
        row.apps = status.apps.map { AppJSON(app: $0, report: self) }
        row.sources = status.sources
        row.unhandledNews = status.unhandled
        row.unknownApps = unknownApps
        row.breaker = hasTripped ? "tripped" : "closed"
        row.held = held
        row.encryptionKeys = status.keysInUse.map(\.description)
    }

    private struct AppJSON: JSONObject {
        let app: QueueStatus.App
        let report: StatusReport

        func write(to row: inout JSONRow) {
            let quotaUsed = report.quotaUsed(by: app.key)
            row.store = app.key.store
            row.app = app.key.id
            row.configured = app.isConfigured
            row.purchases = app.purchases
            row.due = app.due
            row.oldestDueSeconds = app.oldestDueAt.map {
                (report.status.now - $0).components.seconds
            }
            row.dueSeconds = app.timeOfDue(callsPerSecond: report.quota(app.key)).components.seconds
            row.nextCheckAt = app.nextDueAt
            row.lastVerdictAt = app.lastVerdictAt
            row.lagP50Ms = app.lag.map { $0.p50.microseconds / 1000 }
            row.lagP99Ms = app.lag.map { $0.p99.microseconds / 1000 }
            row.lags = app.lags.map(LagJSON.init)
            row.callsPerSecond = (quotaUsed ?? 0) * report.quota(app.key)
            row.callsPerSecondLimit = report.quota(app.key)
            row.quotaUsed = quotaUsed
            row.circuit = report.hasOpenCircuit(app.key) ? "open" : "closed"
            row.breaker = report.trippedAt(app.key) == nil ? "closed" : "tripped"
            row.held = report.held(app.key)
            row.setAside = app.setAside
            row.problems = app.namedProblems
            row.blockedUntil = report.blockedUntil(app.key)
            row.pausedAt = report.pausedAt(app.key)
            let refunds = report.refunds(app.key)
            row.refundRequestsOpen = refunds?.open ?? 0
            row.refundDeadlineAt = refunds?.nearestDeadline
            row.backfill = app.backfill.map { backfill in
                BackfillJSON(
                    backfill: backfill,
                    timeLeft: backfill.timeLeft(
                        at: report.status.now, callsPerSecond: report.quota(app.key)))
            }
        }
    }
}

private struct LagJSON: JSONObject {
    let told: QueueStatus.ChangeLag

    func write(to row: inout JSONRow) {
        row.change = told.change
        row.events = told.lag.events
        row.p50Ms = told.lag.p50.microseconds / 1000
        row.p99Ms = told.lag.p99.microseconds / 1000
    }
}

private struct BackfillJSON: JSONObject {
    let backfill: QueueStatus.Backfill
    let timeLeft: Duration

    func write(to row: inout JSONRow) {
        row.done = backfill.done
        row.left = backfill.left
        row.secondsLeft = timeLeft.components.seconds
    }
}

extension QueueStatus.App {
    /// How long the quota takes for what is due, if nothing more becomes due.
    package func timeOfDue(callsPerSecond: Double) -> Duration {
        .seconds((Double(due) / max(callsPerSecond, 0.001)).rounded(.up))
    }

    /// Purchases with a problem, by its code as it is written.
    package var namedProblems: [String: Int64] {
        Dictionary(problems.map { ($0.key.rawValue, $0.value) }) { first, _ in first }
    }
}

extension QueueStatus.Worker: JSONObject {
    package func write(to row: inout JSONRow) {
        row.name = name
        row.startedAt = startedAt
        row.shards = shards
    }
}

extension UnknownApp: JSONObject {
    package func write(to row: inout JSONRow) {
        row.store = key.store
        row.app = key.id
        row.purchases = purchases
        row.nearest = nearest.flatMap { $0 == key ? nil : $0 }.map {
            "\($0.store.rawValue) \($0.id)"
        }
    }
}

extension QueueStatus.Source: JSONObject {
    package func write(to row: inout JSONRow) {
        row.name = name
        row.readAt = readAt
        row.failures = failures
        row.problem = problem
    }
}

extension QueueStatus.Unhandled: JSONObject {
    package func write(to row: inout JSONRow) {
        row.source = source
        row.type = type
        row.expected = isExpected
        row.count = count
        row.lastSeenAt = lastSeenAt
    }
}
