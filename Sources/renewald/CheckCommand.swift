import Explain
import ArgumentParser
import Daemon
import Ledger
import Renewal

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Re-validates one user's purchases now and shows what changed and why.",
        discussion: """
            Safe beside a running daemon. SIGTERM and SIGINT stop it in steps: what was asked \
            about is written and shown, and the exit code is 75.

            Example: renewald check user-17 --dry-run
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The user id, as your backend gave it to renewald.submit.")
    var user: String
    @Flag(help: "Ask the stores and decide, but write nothing.")
    var dryRun = false
    @Flag(help: "Exit with 66 when there is no such user.")
    var require = false
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard !user.isEmpty else { throw ValidationError("the user id is empty") }
    }

    mutating func run() async throws {
        let (user, isDryRun, require, json) = (
            UserID(self.user), self.dryRun, self.require, self.json
        )
        try await common.withServices(asksStores: true) { services in
            let work = try await InSteps {
                try await UserCheck(services, isDryRun: isDryRun).run(user: user)
            }
            let checked = work.value
            if json {
                try Console.say(
                    json:
                        CheckJSON(
                            of: user,
                            checked.purchases.map(CheckJSON.Purchase.init)
                                + checked.unreadable.map(CheckJSON.Purchase.init)
                                + checked.undone.map { .init($0.claim, rule: $0.rule) }
                        ).line())
            } else {
                try Console.say(
                    lines: CheckText(user: user, isDryRun: isDryRun, checked: checked).lines)
            }
            if !checked.left.isEmpty {
                Console.complain(
                    "interrupted: \(count(checked.left.count, "purchase")) not asked about")
            }
            if let trouble = checked.trouble { throw trouble }
            if checked.isUnknown, require { throw ExitReason.noInput }
            if !checked.unreadable.isEmpty || !checked.contested.isEmpty || !checked.left.isEmpty
                || checked.purchases.contains(where: \.isUnjudged)
            {
                throw ExitReason.temporary
            }
        }
    }
}

extension CheckedPurchase {
    /// Whether the store did not tell the state.
    var isUnjudged: Bool { !outcome.isJudged && facts.state != .invalid }
}

extension CheckJSON.Purchase {
    fileprivate init(_ one: CheckedPurchase) {
        self.init(one.outcome, of: one.call, one.events)
    }
}
