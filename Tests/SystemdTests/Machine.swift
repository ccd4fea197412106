import Foundation
import TestSupport

/// A real systemd in namespaces of its own, over a tree of installed files.
final class Machine: Sendable {
    private let child: ChildProcess
    private let manager: Int32
    /// Appears inside as `/run/share`.
    let share: String

    /// Why there can be none here; nil when there can.
    static let hindrance: String? = {
        let check = Shell.run("'\(bootProgram)' --check")
        guard check.exitCode != 0 else { return nil }
        return check.output.split(separator: "\n").joined(separator: " ")
    }()

    /// Tells once, where it is seen, why tests are left out.
    static var isPossible: Bool {
        if let hindrance { print("no systemd can be booted here: it \(hindrance)") }
        return hindrance == nil
    }

    /// The checkout.
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    private static var bootProgram: String { "\(root)/scripts/boot-systemd" }

    /// Boots, and waits until everything that belongs to the start has been done. The files of the
    /// tree, such as `tree/usr/bin/renewald`, are laid over this machine's; both sides see the
    /// share, and the folders under the names that they have inside in `/run`.
    init(tree: String, share: String, folders: [String: String] = [:]) async throws {
        self.share = share
        guard mkfifo("\(share)/booted", 0o600) == 0 else { throw SiteFailure("mkfifo: \(errno)") }
        let reader = try ChildProcess("cat", ["\(share)/booted"])
        child = try ChildProcess(
            Self.bootProgram,
            [tree, "share=\(share)"] + folders.map { "\($0.key)=\($0.value)" })
        let prefix = "manager's parent "
        let line = try await child.line { $0.hasPrefix(prefix) }
        let parent = String(line.dropFirst(prefix.count))
        _ = try await reader.line { $0 == "booted" }
        let children = try String(
            contentsOfFile: "/proc/\(parent)/task/\(parent)/children", encoding: .utf8)
        guard let pid = children.split(separator: " ").first.flatMap({ Int32($0) }) else {
            throw SiteFailure("no manager: \(child.standardError)")
        }
        manager = pid
    }

    /// Ends everything inside.
    func close() async {
        _ = try? await run("systemctl", "exit", "0")
        if (try? await child.exit(within: .seconds(20))) == nil { child.send(SIGKILL) }
    }

    /// Runs a program inside to its end.
    @discardableResult
    func run(
        _ arguments: String..., within limit: Duration = .seconds(120)
    ) async throws -> ChildProcess.Output {
        try await ChildProcess.run("nsenter", inside(arguments), within: limit)
    }

    /// Starts a program inside.
    func start(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess("nsenter", inside(arguments))
    }

    private func inside(_ arguments: [String]) -> [String] {
        let environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"]
        return ["-t", "\(manager)", "-a", "env", "-i"] + environment + arguments
    }

    /// Runs a program inside that must succeed; gives what it says.
    @discardableResult
    func succeed(_ arguments: String...) async throws -> String {
        let output = try await ChildProcess.run("nsenter", inside(arguments))
        guard output.exit == .code(0) else {
            throw SiteFailure(
                "\(arguments.joined(separator: " ")): \(output.exit) \(output.standardError)"
                    + output.standardOutput)
        }
        return output.standardOutput
    }

    /// Properties of a unit, such as `Result`.
    func property(_ name: String, of unit: String = "renewald.service") async throws -> String {
        try await succeed("systemctl", "show", "--property", name, "--value", unit)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The lines of the journal that match, oldest first.
    func journal(_ matches: String...) async throws -> String {
        try await succeed("journalctl", "--sync")
        let command = ["journalctl", "--no-pager", "--output=cat"] + matches
        return try await ChildProcess.run("nsenter", inside(command)).standardOutput
    }

    /// Waits for a line of the journal of a unit: one there is, or the next that comes.
    func waitForLine(
        of unit: String = "renewald.service", within limit: Duration = .seconds(90),
        where matches: @escaping @Sendable (String) -> Bool
    ) async throws {
        let follower = try start([
            "journalctl", "--no-pager", "--output=cat", "--lines=all", "--follow", "--unit", unit,
        ])
        defer { follower.send(SIGKILL) }
        _ = try await follower.line(within: limit, where: matches)
    }

    /// Puts a text into a file inside.
    func write(_ text: String, to path: String) async throws {
        let name = "transfer-\(UUID().uuidString)"
        try text.write(toFile: "\(share)/\(name)", atomically: true, encoding: .utf8)
        try await succeed("install", "-D", "-m", "0640", "/run/share/\(name)", path)
    }

    /// A drop-in for a unit, in force at once.
    func override(_ unit: String, _ lines: String) async throws {
        try await write(lines + "\n", to: "/run/systemd/system/\(unit).d/test.conf")
        try await succeed("systemctl", "daemon-reload")
    }
}

struct SiteFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
