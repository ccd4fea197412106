import ArgumentParser
import Configuration
import Daemon
import Explain
import FoundationEssentials
import Ledger
import Renewal
import Sockets

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Repeats recorded decisions with this version and reports differences.",
        discussion: """
            Takes each decision of the evidence, what was known and heard then, and the policy and \
            products of then, and decides again: a regression test for a new version. Reads only. \
            Exits with 65 when any decision differs.

            Example: renewald replay --since 2026-11-01
            """)

    @OptionGroup var common: CommonOptions
    @Option(
        help: ArgumentHelp(
            "Since when: a date, a time such as 2026-11-01T12:00:00Z, or how long ago: P30D.",
            valueName: "time"))
    var since: String
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard Self.span(since) == nil, Self.instant(since) == nil else { return }
        guard !Self.hasForm(since) else {
            throw ValidationError("--since: there is no such time as \(since)")
        }
        throw ValidationError(
            "--since is a date, a time such as 2026-11-01T12:00:00Z, or P30D for thirty days ago")
    }

    private static func span(_ text: String) -> Duration? { try? ISODuration.parse(text) }

    /// Nil for what no calendar and no clock ever shows.
    private static func instant(_ text: String) -> Timestamp? {
        guard hasForm(text) else { return nil }
        let parts = text.split(separator: "T", maxSplits: 1)
        let midnight = lenient("\(parts[0])T00:00:00Z")
        guard let midnight, CivilTime(midnight).date == parts[0] else { return nil }
        guard parts.count == 2 else { return midnight }
        let clock = parts[1].prefix(8).split(separator: ":").compactMap { Int($0) }
        guard clock.count == 3, clock[0] < 24, clock[1] < 60, clock[2] < 60 else { return nil }
        return lenient(text)
    }

    private static func hasForm(_ text: String) -> Bool {
        let form =
            #/
            [0-9]{4}-[0-9]{2}-[0-9]{2}
            (T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+\-][0-9]{2}:?[0-9]{2}))?
            /#
        return text.wholeMatch(of: form) != nil
    }

    /// Foundation carries 99 minutes over to the hours, and overlooks what follows the time.
    private static func lenient(_ text: String) -> Timestamp? {
        guard let date = try? Date(text, strategy: .iso8601) else { return nil }
        return Timestamp(
            microsecondsSinceEpoch: Int64(date.timeIntervalSince1970.rounded()) * 1_000_000)
    }

    mutating func run() async throws {
        let (since, json) = (self.since, self.json)
        try await common.withServices(asksStores: false, readsTokens: false) { services in
            let now = try await services.ledger.now()
            guard let from = Self.span(since).map({ now - $0 }) ?? Self.instant(since) else {
                throw ExitReason.usage
            }
            guard from <= now else {
                throw ValidationError("--since \(since) is in the future: it is \(now.text)")
            }
            let report = try await Replay(services.ledger, since: from).run()
            try Self.say(report, json)
            if report.unreadable > 0 {
                Console.complain(
                    "\(report.unreadable) decisions cannot be made again: they were kept by a "
                        + "later version, or their policy is not there")
            }
            if report.different > 0 { throw ExitReason.dataError }
        }
    }

    private static func say(_ report: Replay.Report, _ json: Bool) throws {
        for example in report.examples {
            Console.complain(
                "purchase \(example.purchaseID) at \(example.at.text): "
                    + example.names.joined(separator: ", "))
        }
        if json {
            let told = ReplayJSON(decided: report.decided, different: report.different)
            try Console.say(json: told.line())
        } else {
            try Console.say("\(report.decided) decisions made again, \(report.different) differ")
        }
    }
}
