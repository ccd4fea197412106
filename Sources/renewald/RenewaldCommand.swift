import ArgumentParser
import Daemon
import Sockets

@main
struct RenewaldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renewald",
        abstract: "Re-validates app subscriptions with the stores that sold them.",
        discussion: """
            A backend submits receipts and purchase tokens with the SQL function \
            renewald.submit. renewald checks them with Apple, Google Play and Amazon when it \
            matters, and writes grant and revoke events.

            First steps:
              renewald migrate                create the schema
              renewald doctor                 test the setup; says what to do
              renewald once                   one pass over all due purchases
              renewald run                    the daemon
              renewald check user-17          re-validate one user now
              renewald explain user-17        why they have access, or not
              renewald import fleet.csv       take in what is sold already
              renewald plan                   what that costs, and how late changes are known
            """,
        version: CommandLine.arguments.contains("--verbose")
            ? Build.this.verboseText : Build.this.text,
        subcommands: [
            RunCommand.self, OnceCommand.self, CheckCommand.self, ExplainCommand.self,
            StatusCommand.self, EventsCommand.self, ReleaseCommand.self, WhatIfCommand.self,
            ApplyCommand.self, ReplayCommand.self, ShadowCommand.self, PauseCommand.self,
            ResumeCommand.self, DoctorCommand.self, MigrateCommand.self,
            ImportCommand.self, PlanCommand.self, ExportCommand.self, RekeyCommand.self,
        ])

    static func main() async {
        StandardStream.prepare()
        ProcessMemory.close()
        ProcessMemory.shareHeaps()
        do {
            let words = try CommandWords(CommandLine.arguments.dropFirst(), of: configuration)
            var command = try await asyncParseAsRoot(words.inOrder)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            end(with: error)
        }
        end(with: ExitCode.success)
    }

    /// Ends the process. Help that was asked for is a result, and has to arrive like others.
    private static func end(with error: any Error) -> Never {
        let (text, code) = (fullMessage(for: error), exitCode(for: error))
        do throws(WriteFailure) {
            if code == .success {
                if !text.isEmpty { try Console.say(painted: text) }
                try StandardStream.output.close()
            } else if !text.isEmpty {
                try? StandardStream.error.write(text + "\n")
            }
        } catch {
            if case .failed(let reason) = error {
                Console.complain("standard output cannot be written: \(reason)")
                exit(withError: ExitReason.outputFailed.code)
            }
        }
        exit(withError: code)
    }
}
