import ArgumentParser
import Daemon
import Ledger
import Logging

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Brings the schema up to date.",
        discussion: """
            Needs a user that may create a schema; the daemon itself needs only the role \
            renewald_worker. Several at the same time are safe.

            Example: renewald migrate --config /etc/renewald/renewald.toml
            """)

    @OptionGroup var common: CommonOptions
    @Flag(help: "Print JSON.")
    var json = false

    private struct Output: Encodable {
        let version: Int
        let applied: [Int]
    }

    mutating func run() async throws {
        let (common, json) = (self.common, self.json)
        try await common.reporting {
            let workshop = try Workshop(
                configurationFile: common.config, environment: common.environment,
                asksStores: false, log: common.logger(.warning))
            let applied = try await workshop.migrate()
            await workshop.close()
            if json {
                try Console.sayJSON(Output(version: Migrator.version, applied: applied))
            } else if applied.isEmpty {
                Console.say("The schema is up to date (version \(Migrator.version)).")
            } else {
                Console.say("The schema is now version \(Migrator.version).")
            }
        }
    }
}
