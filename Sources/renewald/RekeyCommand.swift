import ArgumentParser
import Daemon
import Explain
import Ledger
import Synchronization

struct RekeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Encrypts stored tokens, receipts and answers with the newest key.",
        discussion: """
            Tokens, receipts and kept answers that are in clear, or under an older key of \
            [encryption], are encrypted with the newest; with mode = "decrypt" all are decrypted. \
            The daemon may run meanwhile. After an interruption, run it again: it goes on where it \
            was. Exits with 75 when something is left, and with 65 when something cannot be \
            decrypted.

            Example: renewald rekey
            """)

    @OptionGroup var common: CommonOptions
    @Flag(help: "Print JSON.")
    var json = false

    mutating func run() async throws {
        let json = self.json
        try await common.withServices(asksStores: false, writes: true) { services in
            let progress = RekeyProgress(isTerminal: Console.isTerminal)
            let report = try await services.rekey { progress.hear($0) }
            progress.end()
            for example in report.examples {
                Console.complain("purchase \(example.purchaseID): \(example.reason)")
            }
            let cipher = services.ledger.cipher
            if json {
                try Console.say(json: RekeyJSON(report, key: cipher?.newest?.id).line())
            } else {
                try Console.say(Self.sentence(report, of: cipher))
            }
            if report.unreadable > 0 {
                Console.complain("what cannot be decrypted \(Undecipherable.remedy)")
                throw ExitReason.dataError
            }
            if report.left > 0 { throw ExitReason.temporary }
        }
    }

    private static func sentence(_ report: RekeyReport, of cipher: Cipher?) -> String {
        guard let cipher else { return "no key is configured: nothing is encrypted" }
        let done =
            "\(count(report.credentials, "token")) and \(count(report.answers, "kept answer")) "
        var text =
            done
            + (cipher.newest.map { "encrypted with key \($0.id)" } ?? "decrypted")
        if report.unreadable > 0 { text += "; \(report.unreadable) cannot be decrypted" }
        if report.left > report.unreadable {
            text += "; \(report.left - report.unreadable) written otherwise meanwhile: run it again"
        }
        return text
    }
}

/// What a person sees of it while it runs.
private final class RekeyProgress: Sendable {
    private let isTerminal: Bool
    private let saidAt = Mutex(ContinuousClock.now)

    init(isTerminal: Bool) { self.isTerminal = isTerminal }

    func hear(_ report: RekeyReport) {
        let pause: Duration = isTerminal ? .milliseconds(200) : .seconds(60)
        let isTime = saidAt.withLock { last in
            guard .now - last >= pause else { return false }
            last = .now
            return true
        }
        guard isTime else { return }
        let line = "\(report.credentials) tokens, \(report.answers) kept answers"
        if isTerminal { Console.progress(line) } else { Console.complain(line) }
    }

    func end() {
        if isTerminal { Console.progress("") }
    }
}
