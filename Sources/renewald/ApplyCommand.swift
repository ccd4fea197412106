import ArgumentParser
import Daemon
import Explain
import Ledger
import Renewal
import Sockets

struct ApplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Applies the configured policy and products to all purchases now.",
        discussion: """
            Shows what "renewald what-if" shows of the configuration in force, and asks. Then it \
            decides about every purchase again, from what was heard of it last, and writes the \
            events. Asks no store. Revocations beyond the breaker's limit are held: see "renewald \
            release". Without a terminal and without --yes it shows, changes nothing and exits \
            with 64. SIGTERM and SIGINT stop it in steps, with 75; it may be begun again.

            Example: renewald apply --yes
            """)

    @OptionGroup var common: CommonOptions
    @Flag(help: "Do not ask.")
    var yes = false
    @Flag(help: "Print JSON.")
    var json = false

    mutating func run() async throws {
        let (yes, json) = (self.yes, self.json)
        try await common.withServices(asksStores: false, writes: true) { services in
            let difference = try await WhatIf(services.ledger, under: services.rules).run()
            let text = DifferenceText(difference)
            text.notes.forEach(Console.complain)
            try Self.show(text.lines(wouldChange: true), onError: json)
            guard difference.changed > 0 else {
                if json { try Console.say(json: DifferenceJSON(difference).line()) }
                return
            }
            guard try yes || Self.agrees(to: difference.changed) else {
                if json { try Console.say(json: DifferenceJSON(difference).line()) }
                throw ExitReason.usage
            }
            let report = try await InSteps { try await Apply(services).run() }.value
            if report.held > 0 {
                Console.complain(
                    "the breaker holds the revocations of \(report.held) purchases: "
                        + "see renewald release")
            }
            if json {
                try Console.say(json: DifferenceJSON(report.difference).line())
            } else {
                try Console.say(lines: DifferenceText(report.difference).lines(wouldChange: false))
            }
            if report.isPartial {
                Console.complain("interrupted: what is counted is done; run it again for the rest")
            }
            if report.left > 0 {
                Console.complain(
                    "\(report.left) purchases kept changing meanwhile: run it again")
            }
            if report.isPartial || report.left > 0 { throw ExitReason.temporary }
        }
    }

    private static func show(_ lines: [String], onError: Bool) throws(WriteFailure) {
        if onError {
            for line in lines { Console.complain(line) }
        } else {
            try Console.say(lines: lines)
        }
    }

    private static func agrees(to count: Int) throws -> Bool {
        guard Console.isTerminal, Console.isInputTerminal else {
            Console.complain("nothing was changed: --yes applies it")
            return false
        }
        try Console.ask("Change \(count) purchases? [y/N] ")
        return ["y", "yes"].contains(readLine()?.lowercased())
    }
}
