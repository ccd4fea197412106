import ArgumentParser
import Configuration
import Daemon
import Explain
import Ledger
import Renewal
import Sockets

struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Revokes what the breaker holds and the stores still confirm.",
        discussion: """
            Shows what is held and asks. Then it asks the stores about each purchase once more: \
            what they confirm is revoked, and who is in force again is dropped. What could not be \
            asked stays held, and the command exits with 75. Without a terminal and without --yes \
            it shows, changes nothing and exits with 64. SIGTERM and SIGINT stop it in steps, with \
            75.

            Example: renewald release --app google/com.example.reader --reason expired
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "Only this app, as STORE/APP.")
    var app: String?
    @Option(help: "Only revocations for this reason, such as expired.")
    var reason: String?
    @Flag(help: "Drop what is held without asking: users keep access until the next check.")
    var discard = false
    @Flag(help: "Do not ask.")
    var yes = false
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let app, AppKey(named: app) == nil {
            throw ValidationError("--app is STORE/APP, such as google/com.example.reader")
        }
        if let reason, RevokeReason(rawValue: reason) == nil {
            let known = RevokeReason.allCases.map(\.rawValue)
            let nearest = Nearest.word(to: reason, among: known)
            throw ValidationError(
                "there is no reason \"\(reason)\""
                    + (nearest.map { "; the nearest is \($0)" } ?? ""))
        }
    }

    mutating func run() async throws {
        let (app, reason) = (
            self.app.flatMap(AppKey.init(named:)), self.reason.flatMap(RevokeReason.init(rawValue:))
        )
        let (discard, yes, json) = (self.discard, self.yes, self.json)
        try await common.withServices(asksStores: !discard, writes: true) { services in
            try await app?.requireKnown(to: services)
            let held = try await services.ledger.heldRevocations(of: app, for: reason)
            guard !held.isEmpty else {
                let others = try await services.ledger.heldRevocations().count
                try Self.say(Release.Report(), json, Self.nothing(besides: others))
                return
            }
            if !json || !yes { try Self.show(held, onError: json) }
            guard try yes || Self.agrees(to: held.count, discard) else { throw ExitReason.usage }
            let release = Release(services, of: held)
            let work = try await InSteps {
                discard ? await release.discard() : await release.run()
            }
            let (report, isInterrupted) = (work.value, work.isInterrupted)
            let left =
                report.trouble != nil
                ? "left"
                : isInterrupted ? "stay held" : "could not be asked about and stay held"
            try Self.say(
                report, json,
                "released \(report.released), dropped \(report.dropped)"
                    + (report.left > 0 ? "; \(report.left) \(left)" : ""))
            if let trouble = report.trouble {
                Console.complain("what was let go stays so: run it again for the others")
                throw trouble
            }
            if isInterrupted, report.left > 0 {
                Console.complain("interrupted: run it again for what stays held")
            }
            if report.left > 0 {
                if json { Console.complain("\(report.left) \(left)") }
                throw ExitReason.temporary
            }
        }
    }

    /// Who has mistyped a filter must not believe that all is let go.
    private static func nothing(besides others: Int) -> String {
        others == 0
            ? "nothing is held"
            : "nothing of these is held; \(count(others, "other")) \(others == 1 ? "is" : "are")"
    }

    private static func say(
        _ report: Release.Report, _ json: Bool, _ sentence: String
    ) throws {
        guard json else { return try Console.say(sentence) }
        let told = ReleaseJSON(released: report.released, dropped: report.dropped)
        try Console.say(json: told.line())
    }

    /// Counts by app and reason, and ten examples.
    private static func show(
        _ held: [HeldRevocation], onError: Bool
    ) throws(WriteFailure) {
        let lines = ReleaseText(held: held).lines
        if onError {
            for line in lines { Console.complain(line) }
        } else {
            try Console.say(lines: lines)
        }
    }

    private static func agrees(to count: Int, _ discard: Bool) throws -> Bool {
        guard Console.isTerminal, Console.isInputTerminal else {
            Console.complain("nothing was changed: --yes \(discard ? "drops" : "releases") them")
            return false
        }
        try Console.ask(
            discard
                ? "Drop \(count) held revocations? Their users keep access. [y/N] "
                : "Ask the stores about \(count) held revocations and let go what they confirm? "
                    + "[y/N] ")
        return ["y", "yes"].contains(readLine()?.lowercased())
    }
}

/// What is held, for people.
struct ReleaseText {
    let held: [HeldRevocation]

    private static let exampleLimit = 10

    var lines: [String] {
        var lines = ["\(held.count) revocations are held:"]
        let kinds = Dictionary(grouping: held) { row in
            "\(row.app.store.rawValue) \(row.app.id) \(row.reason.rawValue)"
        }
        for (kind, rows) in kinds.sorted(by: { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
        ) {
            lines.append("  \(rows.count) \(kind)")
        }
        lines.append(held.count > Self.exampleLimit ? "the first ten:" : "these are:")
        for row in held.prefix(Self.exampleLimit) {
            lines.append(
                "  \(row.userID) \(row.entitlement): \(row.reason.rawValue), purchase "
                    + "\(row.purchaseID), held since \(row.heldAt.text)")
        }
        return lines
    }
}
