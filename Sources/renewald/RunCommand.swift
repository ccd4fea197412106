import ArgumentParser
import Daemon
import Logging

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs the daemon.",
        discussion: """
            SIGTERM and SIGINT stop it in steps: it starts no new check, finishes and commits \
            those in flight, and releases its shards. SIGHUP reloads the configuration.

            Example: renewald run --config /etc/renewald/renewald.toml
            """)

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
        let common = self.common
        try await common.reporting {
            try await DaemonRun(
                configurationFile: common.config, environment: common.environment,
                log: common.logger(.info)
            ).run()
        }
    }
}
