import ArgumentParser
import Daemon
import Engine
import Explain
import Ledger
import Renewal
import Sockets

extension Store: ExpressibleByArgument {}

struct OnceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "once",
        abstract: "Makes one pass over all due purchases, then exits.",
        discussion: """
            For a timer. Skips shards that a running daemon holds. Exits with 75 when some \
            purchases could not be checked: a later pass retries them. SIGTERM and SIGINT stop it \
            in steps, as they do the daemon, with 75 too.

            Example: renewald once --store google --limit 1000
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "Only this store: apple, google or amazon. May be given again.")
    var store: [Store] = []
    @Option(help: "The most checks of this pass.")
    var limit: Int?
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
    }

    mutating func run() async throws {
        let (store, limit, json) = (self.store, self.limit, self.json)
        try await common.withServices(asksStores: true) { services in
            services.configuration.warn(in: services.log)
            await EvidenceRotation(services).rotate()
            let engine = services.engine(stores: Set(store))
            let began = try await services.ledger.now()
            let pass = try await Self.run(engine, limit: limit)
            var report = pass.value
            // What a limit that was reached, or a signal, has left is left on purpose.
            let isLimited = limit.map { report.checked >= $0 } ?? false
            let left =
                isLimited || pass.isInterrupted
                ? [] : try await services.ledger.leftDue(since: began, of: store)
            report.unjudged += left.filter(\.isConfigured).map { Int($0.purchases) }.reduce(0, +)
            // A limit has not left these.
            if isLimited { report.unjudged += report.held }
            if json {
                try Console.say(
                    json:
                        OnceJSON(
                            checked: report.checked, events: report.events,
                            unjudged: report.unjudged,
                            shardsLeftToOthers: report.shardsLeftToOthers
                        ).line())
            } else {
                try Self.say(report)
            }
            for app in left {
                if let sentence = app.sentence { Console.complain(sentence) }
            }
            if pass.isInterrupted {
                Console.complain("interrupted: what was not checked is left to the next pass")
            }
            if pass.isInterrupted || report.unjudged > 0 { throw ExitReason.temporary }
        }
    }

    /// One that a signal ended at once would look like a crash, and count against what it had in
    /// hand.
    private static func run(
        _ engine: RenewalEngine, limit: Int?
    ) async throws -> InSteps<RunReport> {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            if Console.isErrorTerminal { tasks.addTask { await showProgress(of: engine) } }
            defer { tasks.cancelAll() }
            return try await InSteps { try await engine.run(.onePass(limit: limit)) }
        }
    }

    private static func showProgress(of engine: RenewalEngine) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(200))
            let report = engine.progress
            Console.progress("\(report.checked) checked, \(report.events) events")
        }
        Console.progress("")
    }

    private static func say(_ report: RunReport) throws(WriteFailure) {
        let checked = count(report.checked, "purchase")
        try Console.say("\(checked) checked, \(count(report.events, "event")) written.")
        if report.unjudged > 0 {
            let unjudged = count(report.unjudged, "purchase")
            try Console.say("\(unjudged) could not be checked: see renewald status.")
        }
        if report.shardsLeftToOthers > 0 {
            let shards = report.shardsLeftToOthers
            try Console.say(
                "Skipped \(shards) of 256 shards, which another worker holds.")
        }
    }
}

extension LeftDue {
    /// Why it is left, where a person can change that.
    fileprivate var sentence: String? {
        let name = "\(app.store.rawValue)/\(app.id)"
        let wait = purchases == 1 ? "1 purchase waits" : "\(purchases) purchases wait"
        if !isConfigured { return "\(name) is not configured: \(wait)" }
        if isPaused { return "\(name) is paused: \(wait); renewald resume \(name) ends it" }
        if let blockedUntil {
            return "\(name) wants no calls until \(blockedUntil.text): \(wait)"
        }
        guard isHeld else { return nil }
        return """
            \(name): \(wait) in shards of a daemon that has not configured it; give it the same \
            configuration, and reload it
            """
    }
}

/// `1 purchase`, `2 purchases`.
func count(_ count: some BinaryInteger, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}
