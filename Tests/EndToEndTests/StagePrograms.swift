import Foundation
import Synchronization
import TestSupport

/// The real programs of a stage.
extension Stage {
    /// A command that has run to its end.
    struct Ended: Sendable {
        let exit: ChildProcess.Exit
        let standardOutput: String
        let standardError: String
    }

    /// Runs a command to its end.
    func renewald(
        _ arguments: String..., within limit: Duration = .seconds(120)
    ) async throws -> Ended {
        let child = try start(arguments)
        let exit = try await child.exit(within: limit)
        return Ended(
            exit: exit, standardOutput: child.standardOutput, standardError: child.standardError)
    }

    /// Starts `renewald run`.
    func daemon() throws -> ChildProcess { try start(["run"]) }

    /// Starts a command, by way of another that runs it, if any.
    func start(
        _ arguments: [String], under wrapper: [String] = [], configuration: String? = nil
    ) throws -> ChildProcess {
        let command =
            wrapper + [Self.program("renewald")] + arguments
            + ["--config", configuration ?? configurationFile]
        let child = try ChildProcess(
            command[0], Array(command.dropFirst()), environment: environment)
        started.withLock { $0.append(child) }
        return child
    }

    /// The programs lie beside the tests.
    static func program(_ name: String) -> String {
        if let folder = ProcessInfo.processInfo.environment["RENEWALD_BIN"] {
            return "\(folder)/\(name)"
        }
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return tests.deletingLastPathComponent().appendingPathComponent(name).path
    }
}
