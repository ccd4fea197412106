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
            The share of the quota is that of the last second, so the answer takes one.

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
        try await common.withServices(asksStores: false) { services in
            var earlier = try await services.ledger.buckets()
            try await Task.sleep(for: Self.sample)
            repeat {
                let status = try await services.ledger.status()
                let report = StatusReport(
                    status, configured: services.configuration.apps.map(\.key), earlier: earlier,
                    quota: services.rate)
                earlier = status.buckets
                if json {
                    try Console.sayJSON(StatusOutput(report))
                } else if watch, Console.isTerminal {
                    try Console.redraw(StatusText(report).lines.map(StatusLine.toned))
                } else {
                    try Console.say(
                        lines: StatusText(report).lines.map(StatusLine.toned).map { line in
                            line.cut(to: .max, isColoured: Console.isColoured)
                        })
                }
                if watch { try await Task.sleep(for: Self.pause) }
            } while watch && (json || Console.isTerminal)
        }
    }
}

/// The state, and what two looks at the quota tell together.
struct StatusReport {
    let status: QueueStatus
    private let earlier: [BucketID: QueueStatus.Bucket]
    private let later: [BucketID: QueueStatus.Bucket]
    /// How many calls a second may be made for an app.
    let quota: (AppKey) -> Double
    /// Apps that are configured, or were not looked for yet by any worker and are configured here.
    let apps: [QueueStatus.App]
    /// The others that have purchases: those with most first.
    let unknownApps: [UnknownApp]
    /// How many more there are.
    let furtherUnknownApps: Int

    init(
        _ status: QueueStatus, configured: [AppKey], earlier: [QueueStatus.Bucket],
        quota: @escaping (AppKey) -> Double
    ) {
        self.status = status
        let known = Set(configured)
        apps = status.apps.filter { $0.isConfigured ?? known.contains($0.key) }
        let unknown = status.apps.filter {
            !($0.isConfigured ?? known.contains($0.key)) && $0.purchases > 0
        }.sorted { $0.purchases > $1.purchases }
        unknownApps = unknown.prefix(UnknownApp.namedLimit).map {
            UnknownApp($0.key, purchases: $0.purchases, configured: configured)
        }
        furtherUnknownApps = unknown.count - unknownApps.count
        self.quota = quota
        self.earlier = Dictionary(earlier.map { ($0.name, $0) }) { first, _ in first }
        later = Dictionary(status.buckets.map { ($0.name, $0) }) { first, _ in first }
    }

    /// The share of the calls between the two looks that was given away; nil before the first call.
    func quotaUsed(by app: AppKey) -> Double? {
        let name = BucketID(of: app)
        guard let before = earlier[name], let after = later[name] else { return nil }
        let between = (after.readAt - before.readAt).microseconds
        let given = (after.freeAt - max(before.freeAt, before.readAt)).microseconds
        return between > 0 ? max(Double(given) / Double(between), 0) : nil
    }

    /// The store has asked for no calls until then.
    func blockedUntil(_ app: AppKey) -> Timestamp? {
        later[BucketID(of: app)]?.blockedUntil
    }

    /// Whether a worker has found that the store does not answer.
    func hasOpenCircuit(_ app: AppKey) -> Bool {
        later[BucketID(ofCircuitOf: app)]?.blockedUntil != nil
    }
}

private struct StatusText {
    let report: StatusReport
    private var status: QueueStatus { report.status }

    init(_ report: StatusReport) { self.report = report }

    var lines: [String] {
        var lines = ["as of \(status.now.text)"]
        if status.workers.isEmpty {
            lines.append("no worker is at work: start renewald run, or renewald once by a timer")
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
        if !status.sources.isEmpty { lines += [""] + status.sources.map(row) }
        return lines
    }

    private func row(of source: QueueStatus.Source) -> String {
        let read = source.readAt.map { "read at \($0.text)" } ?? "not read yet"
        guard let problem = source.problem else { return "news of \(source.name): \(read)" }
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
            "  lag           \(lag(of: app))",
            "  rate          \(rate(of: app.key))",
            "  circuit       \(circuit(of: app.key))",
        ]
        if let blocked = report.blockedUntil(app.key) {
            lines.append("  blocked       until \(blocked.text): the store has asked for it")
        }
        for (code, purchases) in app.namedProblems.sorted(by: { $0.key < $1.key }) {
            lines.append("  problem       \(code): \(count(purchases, "purchase"))")
        }
        if app.setAside > 0 {
            lines.append(
                "  set aside     \(count(app.setAside, "purchase")): see their problem")
        }
        return lines
    }

    private func queue(of app: QueueStatus.App) -> String {
        guard let oldest = app.oldestDueAt else { return "\(app.due) due now" }
        return "\(app.due) due now, the oldest for \((status.now - oldest).components.seconds) s"
    }

    private func lag(of app: QueueStatus.App) -> String {
        guard let lag = app.lag else { return "no access has ended within a day" }
        return "p50 \(seconds(lag.p50)), p99 \(seconds(lag.p99)) "
            + "(\(count(lag.revokes, "revoke")) within a day)"
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
            ? "open: the store does not answer, and is asked rarely" : "closed"
    }
}

private struct StatusOutput: Encodable {
    let now: String
    let workers: [Worker]
    let apps: [App]
    let sources: [Source]
    let unknown_apps: [UnknownApp]
    /// What holds mass revocations has not tripped: there is none yet.
    let breaker = Nullable<String>(nil)

    struct Worker: Encodable {
        let name: String
        let started_at: String
        let shards: Int64
    }

    struct App: Encodable {
        let store: String
        let app: AppID
        let configured: Nullable<Bool>
        let purchases: Int64
        let due: Int64
        let oldest_due_seconds: Nullable<Int64>
        let next_check_at: Nullable<String>
        let last_verdict_at: Nullable<String>
        let lag_p50_ms: Nullable<Int64>
        let lag_p99_ms: Nullable<Int64>
        let calls_per_second: Double
        let calls_per_second_limit: Double
        let quota_used: Nullable<Double>
        let circuit: String
        let set_aside: Int64
        let problems: [String: Int64]
        let blocked_until: Nullable<String>
    }

    /// Not configured, and there are purchases: those with most of them.
    struct UnknownApp: Encodable {
        let store: String
        let app: AppID
        let purchases: Int64
        let nearest: Nullable<String>
    }

    /// Where news is pulled from.
    struct Source: Encodable {
        let name: SourceID
        let read_at: Nullable<String>
        let failures: Int
        let problem: Nullable<String>
    }

    init(_ report: StatusReport) {
        let status = report.status
        now = status.now == .never ? "" : status.now.text
        workers = status.workers.map {
            Worker(name: $0.name, started_at: $0.startedAt.text, shards: $0.shards)
        }
        sources = status.sources.map {
            Source(
                name: $0.name, read_at: Nullable($0.readAt?.text), failures: $0.failures,
                problem: Nullable($0.problem))
        }
        unknown_apps = report.unknownApps.map { app in
            UnknownApp(
                store: app.key.store.rawValue, app: app.key.id, purchases: app.purchases,
                nearest: Nullable(app.nearest.map { "\($0.store.rawValue) \($0.id)" }))
        }
        apps = status.apps.map { app in
            App(
                store: app.key.store.rawValue, app: app.key.id,
                configured: Nullable(app.isConfigured), purchases: app.purchases, due: app.due,
                oldest_due_seconds: Nullable(
                    app.oldestDueAt.map { (status.now - $0).components.seconds }),
                next_check_at: Nullable(app.nextDueAt?.text),
                last_verdict_at: Nullable(app.lastVerdictAt?.text),
                lag_p50_ms: Nullable(app.lag.map { $0.p50.microseconds / 1000 }),
                lag_p99_ms: Nullable(app.lag.map { $0.p99.microseconds / 1000 }),
                calls_per_second: (report.quotaUsed(by: app.key) ?? 0) * report.quota(app.key),
                calls_per_second_limit: report.quota(app.key),
                quota_used: Nullable(report.quotaUsed(by: app.key)),
                circuit: report.hasOpenCircuit(app.key) ? "open" : "closed",
                set_aside: app.setAside, problems: app.namedProblems,
                blocked_until: Nullable(report.blockedUntil(app.key)?.text))
        }
    }
}

extension QueueStatus.App {
    fileprivate var namedProblems: [String: Int64] {
        Dictionary(problems.map { ($0.key.rawValue, $0.value) }) { first, _ in first }
    }
}
