import ArgumentParser
import Daemon

@main
struct RenewaldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renewald",
        abstract: "Keeps app subscriptions true: re-validates each with the store that sold it.",
        discussion: """
            A backend stores receipts and purchase tokens with the SQL function \
            renewald.submit; renewald asks Apple, Google Play and Amazon about them when it \
            matters and writes grant and revoke events.

            First steps:
              renewald migrate                make the schema
              renewald doctor                 whether all is well, and what to do
              renewald once                   one pass over all that is due
              renewald run                    the daemon
              renewald check user-17          one user, now
              renewald explain user-17        why she has access, or has not
            """,
        version: Version.text,
        subcommands: [
            RunCommand.self, OnceCommand.self, CheckCommand.self, ExplainCommand.self,
            StatusCommand.self, EventsCommand.self, DoctorCommand.self, MigrateCommand.self,
        ])
}
