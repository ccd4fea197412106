import Foundation
import Synchronization
import TestSupport

/// What a program takes for a machine of its own: its network, its processes and its mounts are in
/// namespaces. It can lose its power, stand still and be cut off, all of it at once.
///
/// On it run etcd and Patroni with an operator's files, at the places where Debian has them.
final class Machine: Sendable {
    private struct State {
        var boots = 0
        /// Dies with this process, and its whole machine with it.
        var power: ChildProcess?
        var firstProcess: Int32 = 0
    }

    let name: String
    let address: String
    private let folder: String
    private let state = Mutex(State())

    /// - Parameters:
    ///   - name: that of the member.
    ///   - address: in the network of the bridge.
    ///   - folder: an empty one, which becomes its disk.
    ///   - files: the operator's, by their names in `/etc/patroni`.
    /// - Throws: when the disk cannot be made.
    init(name: String, address: String, folder: String, files: [String: String]) throws {
        (self.name, self.address, self.folder) = (name, address, folder)
        for part in ["etc", "etcd", "postgresql", "run"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(part)", withIntermediateDirectories: true)
        }
        for (file, text) in files {
            try text.write(toFile: "\(folder)/etc/\(file)", atomically: true, encoding: .utf8)
        }
        for (part, account) in [
            ("etc", "postgres"), ("etcd", "etcd"), ("postgresql", "postgres"), ("run", "postgres"),
        ] {
            guard let entry = getpwnam(account) else { throw StageFailure("no user \(account)") }
            chown("\(folder)/\(part)", entry.pointee.pw_uid, entry.pointee.pw_gid)
        }
        chmod("\(folder)/postgresql", 0o700)
    }

    /// Its end of the wire, where the others are.
    private var wire: String { "\(name)-\(state.withLock(\.boots))" }

    // MARK: Power

    /// Starts it, with etcd and Patroni.
    func boot() async throws {
        let boots = state.withLock { state in
            state.boots += 1
            return state.boots
        }
        let power = try ChildProcess(
            "unshare",
            [
                "--net", "--mount", "--ipc", "--pid", "--fork", "--kill-child=KILL",
                "--mount-proc", "sh", "-ec", Self.firstScript, "sh", folder,
                // A process number that a file of the boot before names is nobody's.
                String(boots * 1000),
            ])
        _ = try await power.line { $0 == "ready" }
        let children = "/proc/\(power.pid)/task/\(power.pid)/children"
        let text = try String(contentsOfFile: children, encoding: .utf8)
        guard let first = text.split(separator: " ").first.flatMap({ Int32($0) }) else {
            throw StageFailure("\(name) has no process")
        }
        state.withLock { ($0.power, $0.firstProcess) = (power, first) }
        try await Self.outside(
            """
            ip link add \(wire) type veth peer name eth0 netns \(first)
            ip link set \(wire) master \(PatroniCluster.bridge) up
            """)
        try await inside(
            "ip addr add \(address)/24 dev eth0; ip link set eth0 up; ip link set lo up")
        try await inside(
            """
            set -a; . /etc/patroni/etcd; set +a
            cd /var/lib/etcd
            setsid setpriv --reuid=etcd --regid=etcd --init-groups \
              etcd </dev/null >>\(folder)/etcd.log 2>&1 &
            """)
        try await startPatroni()
    }

    /// What systemd does after Patroni has died.
    func startPatroni() async throws {
        try await inside(
            """
            cd /var/lib/postgresql
            setsid setpriv --reuid=postgres --regid=postgres --init-groups \
              patroni /etc/patroni/patroni.yml </dev/null >>\(folder)/patroni.log 2>&1 &
            echo $! >/var/run/postgresql/patroni.pid
            """)
    }

    /// Ends every process at once; what was written to the disk is there.
    func losePower() async throws {
        let (power, first) = state.withLock { ($0.power, $0.firstProcess) }
        kill(first, SIGKILL)
        _ = try await power?.exit()
    }

    /// Sends `STOP` or `CONT` to every process.
    func signalAll(_ signal: String) async throws {
        // All but this shell and the first process, as far as it can see.
        try await inside("kill -\(signal) -1")
    }

    func cutOff() async throws { try await Self.outside("ip link set \(wire) down") }
    func rejoin() async throws { try await Self.outside("ip link set \(wire) up") }

    // MARK: Programs

    /// Runs a shell script on it, as root.
    @discardableResult
    func inside(_ script: String) async throws -> String {
        let first = state.withLock(\.firstProcess)
        return try await Self.run(
            "nsenter",
            ["--target", "\(first)", "--mount", "--net", "--ipc", "--pid", "sh", "-ec", script])
    }

    @discardableResult
    static func outside(_ script: String) async throws -> String {
        try await run("sh", ["-ec", script])
    }

    private static func run(_ program: String, _ arguments: [String]) async throws -> String {
        let run = try await ChildProcess.run(program, arguments, within: .seconds(90))
        guard run.exit == .code(0) else {
            throw StageFailure("\(arguments.last ?? program): \(run.standardError)")
        }
        return run.standardOutput
    }

    /// The last words of its servers.
    var log: String {
        ["patroni", "etcd"].map { program in
            let path = "\(folder)/\(program).log"
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return "\(name), \(program):\n" + text.suffix(3000)
        }.joined(separator: "\n")
    }

    /// Its first process: makes the disk its own, then takes the ends of all whose parents are
    /// gone.
    private static let firstScript = """
        mkdir -p /etc/patroni /var/lib/etcd /var/lib/postgresql /var/run/postgresql
        mount --bind "$1/etc" /etc/patroni
        mount --bind "$1/etcd" /var/lib/etcd
        mount --bind "$1/postgresql" /var/lib/postgresql
        mount --bind "$1/run" /var/run/postgresql
        rm -f /var/run/postgresql/.s* /var/run/postgresql/*.pid
        echo "$2" >/proc/sys/kernel/ns_last_pid
        exec python3 -c '
        import os, signal
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        print("ready", flush=True)
        while True:
            signal.sigwait([signal.SIGCHLD])
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                pass
        '
        """
}
