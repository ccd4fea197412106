import Explain
import Configuration
import ArgumentParser
import Daemon
import Ledger
import Renewal

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Queue, lag, quota and problems, per store.",
        discussion: """
            Takes a second, in which it measures the use of the quota.

            Example: renewald status --watch
            """)

    @OptionGroup var common: CommonOptions
    @Flag(help: "Print JSON.")
    var json = false
    @Flag(help: "Look again every two seconds, until interrupted.")
    var watch = false

    private static let sample = Duration.seconds(1)
    private static let pause = Duration.seconds(2)

    mutating func run() async throws {
        let (json, watch) = (self.json, self.watch)
        try await common.withServices(asksStores: false, readsTokens: false) { services in
            var earlier = try await services.ledger.buckets()
            try await Task.sleep(for: Self.sample)
            repeat {
                if let status = try await Self.status(services, isWatched: watch) {
                    try Self.show(Self.report(status, services, since: earlier), json, watch)
                    earlier = status.buckets
                    if watch {
                        try Console.requireReader()
                        try await Task.sleep(for: Self.pause)
                    }
                }
            } while watch && (json || Console.isTerminal)
            try await services.requireReadableKeys()
        }
    }

    private static func report(
        _ status: QueueStatus, _ services: Services, since earlier: [QueueStatus.Bucket]
    ) -> StatusReport {
        let configured = services.configuration.apps.map(\.key)
        return StatusReport(
            status, configured: configured, earlier: earlier,
            nearest: { Nearest.app($0, among: configured) }, quota: services.rate,
            safety: services.rules.policy.breaker)
    }

    private static func show(_ report: StatusReport, _ json: Bool, _ watch: Bool) throws {
        if json {
            try Console.say(json: report.line())
        } else if watch, Console.isTerminal {
            try Console.redraw(StatusText(report).lines.map(StatusLine.toned))
        } else {
            for line in StatusText(report).lines.map(StatusLine.toned) {
                try Console.say(painted: line.cut(to: .max, isColoured: Console.isColoured))
            }
        }
    }

    /// Who watches a fail-over sees its end as well.
    ///
    /// - Returns: nil where it is to be looked again later.
    /// - Throws: what one look ends with.
    private static func status(
        _ services: Services, isWatched: Bool
    ) async throws -> QueueStatus? {
        do throws(LedgerError) {
            return try await services.status()
        } catch {
            guard isWatched, case .unavailable = error else { throw error }
            Console.complain("\(error.sentence); looking again")
        }
        try await Task.sleep(for: pause)
        return nil
    }
}

private struct StatusText {
    let report: StatusReport
    private var status: QueueStatus { report.status }

    init(_ report: StatusReport) { self.report = report }

    var lines: [String] {
        var lines = ["as of \(status.now.text)"]
        if status.workers.isEmpty {
            lines.append("no worker is running: start renewald run, or renewald once by a timer")
        }
        for worker in status.workers {
            let since = worker.startedAt.text
            lines.append("worker \(worker.name): \(worker.shards) of 256 shards, since \(since)")
        }
        if status.apps.isEmpty { lines.append("nothing has been submitted yet") }
        for app in report.apps { lines += rows(of: app) }
        if !report.unknownApps.isEmpty { lines += [""] + report.unknownApps.map(\.sentence) }
        if report.furtherUnknownApps > 0 {
            lines.append("\(report.furtherUnknownApps) more apps are not configured")
        }
        if !status.keysInUse.isEmpty {
            lines += [
                "",
                "encrypted with   " + status.keysInUse.map(\.description).joined(separator: ", "),
            ]
        }
        if !status.sources.isEmpty { lines += [""] + status.sources.map(row) }
        lines += status.unhandled.map(row)
        return lines
    }

    private func row(of news: QueueStatus.Unhandled) -> String {
        let use = news.isExpected ? "of no use here" : "not known to this version"
        return "unhandled news \(news.type) of \(news.source): \(count(news.count, "time")), "
            + "last at \(news.lastSeenAt.text); \(use)"
    }

    private func row(of source: QueueStatus.Source) -> String {
        let read = source.readAt.map { "read at \($0.text)" } ?? "not read yet"
        guard let problem = source.problem else {
            let silence = source.isSilent ? "; nothing has come from it within a month" : ""
            return "news of \(source.name): \(read)\(silence)"
        }
        let failures = count(Int64(source.failures), "failure")
        return "news of \(source.name): \(read); \(failures) in a row: \(problem)"
    }

    private func rows(of app: QueueStatus.App) -> [String] {
        var lines = [
            "",
            "\(app.key.store.rawValue) \(app.key.id)",
            "  purchases     \(app.purchases)",
            "  queue         \(queue(of: app))",
            "  next check    \(app.nextDueAt?.text ?? "none")",
            "  last verdict  \(app.lastVerdictAt?.text ?? "none yet")",
        ]
        lines += lags(of: app).map { "  lag           \($0)" }
        lines += [
            "  rate          \(rate(of: app.key))",
            "  circuit       \(circuit(of: app.key))",
        ]
        if let since = report.pausedAt(app.key) {
            lines.append(
                "  paused        since \(since.text): renewald resume \(app.key.name) ends it")
        }
        if let backfill = app.backfill, backfill.left > 0 {
            let left = backfill.timeLeft(
                at: status.now, callsPerSecond: report.quota(app.key))
            lines.append(
                "  back-fill     \(backfill.done) done, \(backfill.left) left, about "
                    + "\(backfillTime(left))")
        }
        if let blocked = report.blockedUntil(app.key) {
            lines.append("  blocked       until \(blocked.text): the store wants no calls")
        }
        if let refunds = report.refunds(app.key), let deadline = refunds.nearestDeadline {
            lines.append(
                "  refunds       \(count(refunds.open, "open request")), "
                    + "the first to be answered by \(deadline.text)")
        }
        if let at = report.trippedAt(app.key) {
            lines.append("  breaker       tripped at \(at.text): revocations are held")
        }
        if report.held(app.key) > 0 {
            lines.append(
                "  held          \(count(report.held(app.key), "revocation")): "
                    + "see renewald release")
        }
        for (code, purchases) in app.namedProblems.sorted(by: { $0.key < $1.key }) {
            lines.append("  problem       \(code): \(count(purchases, "purchase"))")
        }
        if app.setAside > 0 {
            lines.append(
                "  set aside     \(count(app.setAside, "purchase")): their problem says why")
        }
        return lines
    }

    private func queue(of app: QueueStatus.App) -> String {
        guard let oldest = app.oldestDueAt else { return "\(app.due) due now" }
        let all = app.timeOfDue(callsPerSecond: report.quota(app.key))
        return "\(app.due) due now; the oldest \((status.now - oldest).components.seconds) s late; "
            + "\(seconds(all)) of calls at the full rate"
    }

    /// One a kind of change, as `plan` names them.
    private func lags(of app: QueueStatus.App) -> [String] {
        guard !app.lags.isEmpty else {
            return ["none measured within a day; what was imported does not count"]
        }
        return app.lags.map { told in
            let name = told.change.replacing("_", with: " ").padded(to: 16)
            return "\(name)p50 \(seconds(told.lag.p50)), p99 \(seconds(told.lag.p99)) "
                + "(\(told.lag.events) within a day)"
        }
    }

    /// Such as `0.4 s`, `12 s`, `5 min`, `30 h`.
    private func seconds(_ duration: Duration) -> String {
        let tenths = duration.microseconds / 100_000
        return switch tenths {
        case ..<100: "\(tenths / 10).\(tenths % 10) s"
        case ..<1200: "\(tenths / 10) s"
        case ..<72_000: "\(tenths / 600) min"
        default: "\(tenths / 36_000) h"
        }
    }

    /// Such as `12.0 of 38 calls a second, 32 % of the quota`.
    private func rate(of app: AppKey) -> String {
        let quota = tenths(report.quota(app))
        guard let share = report.quotaUsed(by: app) else { return "0 of \(quota) calls a second" }
        let percent = Int((share * 100).rounded())
        return "\(tenths(share * report.quota(app))) of \(quota) calls a second, "
            + "\(percent) % of the quota"
    }

    private func tenths(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    private func circuit(of app: AppKey) -> String {
        report.hasOpenCircuit(app)
            ? "open: the store fails; single probes until it recovers" : "closed"
    }
}

/// In the unit that says most: `41 min`.
private func backfillTime(_ left: Duration) -> String {
    switch left {
    case ..<Duration.minutes(2): "\(left.components.seconds) s"
    case ..<Duration.hours(3): "\(left.components.seconds / 60) min"
    case ..<Duration.days(3): "\(left.components.seconds / 3600) h"
    default: "\(left.components.seconds / 86_400) days"
    }
}
