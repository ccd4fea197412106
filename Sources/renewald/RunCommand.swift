import ArgumentParser
import Daemon
import Logging

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "The daemon.",
        discussion: """
            SIGTERM stops it in steps: no new checks, those in hand are finished and committed, \
            the shards are given back. SIGHUP reads the configuration again.

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
