import ArgumentParser
import Daemon
import Ledger
import Renewal

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Queue, lag, quota and problems, per store.",
        discussion: """
            Example: renewald status --json
            """)

    @OptionGroup var common: CommonOptions
    @Flag(help: "Print JSON.")
    var json = false

    mutating func run() async throws {
        let json = self.json
        try await common.withWorkshop(asksStores: false) { workshop in
            let status = try await workshop.ledger.status()
            if json {
                try Console.sayJSON(StatusOutput(status))
            } else {
                StatusText(status).lines.forEach(Console.say)
            }
        }
    }
}

private struct StatusText {
    let status: QueueStatus

    init(_ status: QueueStatus) { self.status = status }

    var lines: [String] {
        var lines: [String] = []
        if status.workers.isEmpty {
            lines.append("no worker is at work: start renewald run, or renewald once by a timer")
        }
        for worker in status.workers {
            let since = worker.startedAt.text
            lines.append("worker \(worker.name): \(worker.shards) of 256 shards, since \(since)")
        }
        if status.apps.isEmpty { lines.append("nothing has been submitted yet") }
        for app in status.apps { lines += rows(of: app) }
        return lines
    }

    private func rows(of app: QueueStatus.App) -> [String] {
        var due = "\(app.due) due now"
        if let oldest = app.oldestDueAt {
            due += ", the oldest for \((status.now - oldest).components.seconds) s"
        }
        var lines = [
            "",
            "\(app.key.store.rawValue) \(app.key.id)",
            "  purchases     \(app.purchases)",
            "  queue         \(due)",
            "  next check    \(app.nextDueAt?.text ?? "none")",
            "  last verdict  \(app.lastVerdictAt?.text ?? "none yet")",
        ]
        for (code, purchases) in app.problems.sorted(by: { $0.key < $1.key }) {
            lines.append("  problem       \(code): \(count(purchases, "purchase"))")
        }
        for bucket in status.buckets
        where bucket.name == Quota.backgroundBucket(app.key) && bucket.blockedUntil != nil {
            lines.append("  blocked       until \(bucket.blockedUntil?.text ?? "")")
        }
        return lines
    }
}

private struct StatusOutput: Encodable {
    let now: String
    let workers: [Worker]
    let apps: [App]

    struct Worker: Encodable {
        let name: String
        let started_at: String
        let shards: Int64
    }

    struct App: Encodable {
        let store: String
        let app: String
        let purchases: Int64
        let due: Int64
        let oldest_due_seconds: Nullable<Int64>
        let next_check_at: Nullable<String>
        let last_verdict_at: Nullable<String>
        let set_aside: Int64
        let problems: [String: Int64]
        let blocked_until: Nullable<String>
    }

    init(_ status: QueueStatus) {
        now = status.now == .never ? "" : status.now.text
        workers = status.workers.map {
            Worker(name: $0.name, started_at: $0.startedAt.text, shards: $0.shards)
        }
        apps = status.apps.map { app in
            App(
                store: app.key.store.rawValue, app: app.key.id, purchases: app.purchases,
                due: app.due,
                oldest_due_seconds: Nullable(
                    app.oldestDueAt.map { (status.now - $0).components.seconds }),
                next_check_at: Nullable(app.nextDueAt?.text),
                last_verdict_at: Nullable(app.lastVerdictAt?.text),
                set_aside: app.setAside, problems: app.problems,
                blocked_until: Nullable(
                    status.buckets.first {
                        $0.name == Quota.backgroundBucket(app.key)
                    }?.blockedUntil?.text))
        }
    }
}
