import Configuration
import ArgumentParser
import Daemon
import Explain
import Ledger
import Logging

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Brings the schema up to date.",
        discussion: """
            Needs a database user that may create a schema and roles; the daemon itself \
            needs only the role renewald_worker. Safe to run twice at once.

            Example: sudo -u postgres renewald migrate --database postgresql:///app
            """)

    @OptionGroup var common: CommonOptions
    @Option(
        help: ArgumentHelp(
            "The database, for a user who may not read the configuration.",
            valueName: "conninfo"))
    var database: String?
    @Flag(help: "Also spread the tables over the servers of Citus, by shard.")
    var citus = false
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard database?.allSatisfy(\.isWhitespace) != true else {
            throw ValidationError("--database names no database")
        }
    }

    mutating func run() async throws {
        let (common, database, citus, json) = (self.common, self.database, self.citus, self.json)
        try await common.reporting {
            if let database { try common.requireAddress(database, of: "--database") }
            let (applied, version) = try await Services.migrate(
                try database
                    ?? Settings.loadWhole(file: common.config, environment: common.environment)
                    .database.url, onCitus: citus)
            if json {
                try Console.say(
                    json:
                        MigrateJSON(version: version, applied: applied).line())
            } else if version > Migrator.version {
                try Console.say(
                    "The schema is version \(version), newer than the \(Migrator.version) of this "
                        + "program, and serves it: there is nothing to do.")
            } else if applied.isEmpty {
                try Console.say("The schema is up to date (version \(version)).")
            } else {
                try Console.say("The schema is now version \(version).")
            }
            if citus, !json { try Console.say("Its tables are spread over the servers of Citus.") }
        }
    }
}
