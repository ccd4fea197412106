import Foundation
import Postgres
import Synchronization

/// A private PostgreSQL server in a temporary folder, in memory where there is room, reached through a
/// Unix socket only. It is stopped and removed when the test process ends, also when it crashes.
package final class ScratchCluster: Sendable {
    /// How to stop the server, as `pg_ctl` calls it.
    package enum StopMode: String, Sendable {
        case smart, fast, immediate
    }

    /// What differs from the usual.
    package struct Options: Sendable {
        /// Added to the server's environment, such as `LD_PRELOAD`.
        package var environment: [String: String] = [:]
        /// Whether commits survive a crash of the machine; slow.
        package var fsync = false
        /// Added settings, such as `deadlock_timeout` and `100ms`.
        package var settings: [String: String] = [:]
        /// A file system of its own, where there is `SmallDisk.isPossible`.
        package var smallDisk: SmallDisk?

        package init(
            environment: [String: String] = [:], fsync: Bool = false,
            settings: [String: String] = [:], smallDisk: SmallDisk? = nil
        ) {
            self.environment = environment
            self.fsync = fsync
            self.settings = settings
            self.smallDisk = smallDisk
        }
    }

    /// A step of making or running the server that failed, with what it printed.
    package struct Failure: Error, CustomStringConvertible {
        package let step: String
        package let output: String
        package var description: String { "\(step): \(output)" }
    }

    /// Where the socket is: the `host` of a connection string.
    package let socketDirectory: String
    private let binaries: String
    private let options: Options
    /// Held open as long as this process lives; its end tells the guardian to clean up.
    private let lifeline: Int32
    private let databases = Mutex(0)
    /// What is made once, by its name.
    private let made = Mutex<[String: Task<Void, any Error>]>([:])

    private static let theOne = Mutex<Task<ScratchCluster, any Error>?>(nil)

    /// The one server of this test process, started at the first call.
    package static func shared() async throws -> ScratchCluster {
        let task = theOne.withLock { task in
            let running = task ?? Task { try await ScratchCluster() }
            task = running
            return running
        }
        return try await task.value
    }

    /// Makes and starts a server of its own, for tests that stop it.
    package convenience init(_ options: Options = Options()) async throws {
        guard let disk = options.smallDisk else {
            let source = try await Self.blankFolder()
            try await self.init(options) { folder in
                ("/bin/cp", ["--archive", "\(source)/data", "\(folder)/data"])
            }
            return
        }
        try await self.init(options) { folder in
            ("initdb", Self.initialArguments(folder) + disk.initialArguments(in: folder))
        }
    }

    private static let theBlankFolder = Mutex<Task<String, any Error>?>(nil)

    /// A folder with the data of a server that has never run, as `initdb` makes it: made once, and
    /// copied for each server.
    private static func blankFolder() async throws -> String {
        let task = theBlankFolder.withLock { task in
            let running =
                task
                ?? Task {
                    let binaries = try findBinaries()
                    // Removed when this process ends.
                    let (folder, _) = try makeFolder(in: temporary(), binaries)
                    try await runTool(
                        "\(binaries)/initdb", initialArguments(folder), environment: [:])
                    return folder
                }
            task = running
            return running
        }
        return try await task.value
    }

    private static func initialArguments(_ folder: String) -> [String] {
        [
            "--pgdata=\(folder)/data", "--username=postgres", "--auth=trust", "--encoding=UTF8",
            "--locale=C", "--no-sync", "--no-instructions",
        ]
    }

    /// Makes and starts a standby of a running server, which it follows as `standby`.
    package convenience init(
        standbyOf primary: ScratchCluster, _ options: Options = Options()
    ) async throws {
        try await self.init(options) { folder in
            (
                "pg_basebackup",
                [
                    "--pgdata=\(folder)/data", "--write-recovery-conf", "--checkpoint=fast",
                    "--no-sync",
                    "--dbname=\(primary.conninfo()) application_name=standby",
                ]
            )
        }
    }

    /// Lets a program fill the folder's `data`, and starts the server.
    private init(
        _ options: Options, making: (_ folder: String) -> (tool: String, arguments: [String])
    ) async throws {
        self.options = options
        binaries = try Self.findBinaries()
        // What survives a crash of the machine is on a disk.
        let parent = options.fsync ? "/tmp" : Self.temporary()
        let (folder, lifeline) = try Self.makeFolder(in: parent, binaries)
        (socketDirectory, self.lifeline) = (folder, lifeline)
        if let disk = options.smallDisk {
            try disk.mount(in: folder, for: Self.account)
        }
        let (tool, arguments) = making(folder)
        try await runTool(tool, arguments)
        try await start()
    }

    deinit {
        close(lifeline)
    }

    /// Makes a folder for a server. It is removed when the lifeline is closed, or this process ends.
    private static func makeFolder(
        in parent: String, _ binaries: String
    ) throws -> (folder: String, lifeline: Int32) {
        var template = Array("\(parent)/rw-XXXXXX".utf8CString)
        guard let folder = mkdtemp(&template).map({ String(cString: $0) }) else {
            throw Failure(step: "mkdtemp", output: String(errno))
        }
        if let account { chown(folder, account.uid, account.gid) }
        return (folder, try startGuardian(folder: folder, binaries: binaries))
    }

    /// Where the files of hundreds of databases cost least: in memory, if it holds those of all test
    /// processes that run side by side.
    private static func temporary() -> String {
        let memory = "/dev/shm"
        var status = statvfs()
        guard statvfs(memory, &status) == 0, access(memory, W_OK | X_OK) == 0 else { return "/tmp" }
        let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        return free >= 12 << 30 ? memory : "/tmp"
    }

    /// A connection string to a database of this server.
    package func conninfo(database: String = "postgres") -> String {
        let port = options.settings["port"] ?? "5432"
        return "host=\(socketDirectory) port=\(port) user=postgres dbname=\(database)"
    }

    /// Makes a fresh database, empty or a copy of another, in which nobody may be, or an empty one
    /// of another encoding.
    ///
    /// - Returns: its connection string.
    package func newDatabase(
        like template: String? = nil, encoding: String? = nil
    ) async throws -> String {
        let number = databases.withLock { count in
            count += 1
            return count
        }
        let place =
            encoding.map { " ENCODING '\($0)' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'" }
        try await makeDatabase("test\(number)", like: template, place ?? "")
        return conninfo(database: "test\(number)")
    }

    func makeDatabase(
        _ name: String, like template: String? = nil, _ options: String = ""
    ) async throws {
        let connection = PostgresConnection(
            PostgresSettings(conninfo: conninfo(), statementTimeout: .seconds(60)))
        var place = ""
        if self.options.smallDisk?.hasData == true {
            place = " TABLESPACE small"
            let folder = SmallDisk.folder(in: socketDirectory)
            try await once(place) {
                try await connection.script("CREATE TABLESPACE small LOCATION '\(folder)'")
            }
        }
        let source = template.map { " TEMPLATE \($0)" } ?? ""
        try await connection.script("CREATE DATABASE \(name)\(source)\(options)\(place)")
        await connection.close()
    }

    /// Makes what is made once for this server; who comes meanwhile waits for it.
    func once(_ name: String, _ make: @escaping @Sendable () async throws -> Void) async throws {
        let task = made.withLock { made in
            let running = made[name] ?? Task { try await make() }
            made[name] = running
            return running
        }
        try await task.value
    }

    /// Starts the server again, and waits until it takes connections.
    package func start() async throws {
        var settings = [
            "listen_addresses": "", "unix_socket_directories": socketDirectory,
            "max_connections": "200", "fsync": options.fsync ? "on" : "off",
            "full_page_writes": options.fsync ? "on" : "off", "shared_buffers": "64MB",
            "max_wal_size": "256MB", "min_wal_size": "32MB",
        ]
        if Self.hasCitus {
            settings.merge(Self.citusSettings) { _, citus in citus }
            settings["citus.local_hostname"] = socketDirectory
        }
        settings.merge(options.settings) { _, ours in ours }
        let flags = settings.sorted { $0.key < $1.key }.map { "-c \($0)='\($1)'" }
        try await runTool(
            "pg_ctl",
            [
                "start", "--wait", "--timeout=60", "--pgdata=\(socketDirectory)/data",
                "--log=\(socketDirectory)/log", "--options=\(flags.joined(separator: " "))",
            ], environment: options.environment)
    }

    /// Stops the server and waits until it is gone.
    package func stop(_ mode: StopMode = .fast) async throws {
        try await runTool(
            "pg_ctl",
            [
                "stop", "--wait", "--timeout=60", "--pgdata=\(socketDirectory)/data",
                "--mode=\(mode.rawValue)",
            ])
    }

    /// Makes a standby a server that takes writes; waits until it does.
    package func promote() async throws {
        try await runTool(
            "pg_ctl",
            ["promote", "--wait", "--timeout=60", "--pgdata=\(socketDirectory)/data"])
    }

    /// Ends every process of the server at once, as the loss of its machine does.
    package func kill() throws {
        let first = try serverPID()
        // The first process must not see the others end and begin to recover.
        Glibc.kill(first, SIGSTOP)
        for child in Self.children(of: first) { Glibc.kill(child, SIGKILL) }
        Glibc.kill(first, SIGKILL)
    }

    /// Makes a standby follow nobody any more.
    package func followNobody() async throws {
        let connection = PostgresConnection(
            PostgresSettings(conninfo: conninfo(), requiresReadWrite: false))
        _ = try await connection.query(
            PostgresStatement("ALTER SYSTEM SET primary_conninfo = ''"))
        try await connection.script("SELECT pg_reload_conf()")
        await connection.close()
    }

    private static func children(of parent: Int32) -> [Int32] {
        let path = "/proc/\(parent)/task/\(parent)/children"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: " ").compactMap { Int32($0) }
    }

    /// The process number of the server's first process.
    package func serverPID() throws -> Int32 {
        let file = try String(
            contentsOfFile: "\(socketDirectory)/data/postmaster.pid", encoding: .utf8)
        guard let pid = file.split(separator: "\n").first.flatMap({ Int32($0) }) else {
            throw Failure(step: "postmaster.pid", output: file)
        }
        return pid
    }

    /// The server's log.
    package var log: String {
        (try? String(contentsOfFile: "\(socketDirectory)/log", encoding: .utf8)) ?? ""
    }
}

// MARK: - Programs

extension ScratchCluster {
    /// PostgreSQL refuses to run as root; its own account is used then. Nil is oneself.
    package static let account: (uid: UInt32, gid: UInt32)? = {
        guard getuid() == 0, let entry = getpwnam("postgres") else { return nil }
        return (entry.pointee.pw_uid, entry.pointee.pw_gid)
    }()

    private static func findBinaries() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        guard let newest = versions.compactMap({ Int($0) }).filter({ $0 >= 15 }).max() else {
            throw Failure(step: "PostgreSQL 15 or newer under \(root)", output: "not found")
        }
        return "\(root)/\(newest)/bin"
    }

    /// A command as it is run by the server's account.
    package static func asAccount(_ command: [String]) -> [String] {
        guard let account else { return command }
        let flags = ["--reuid=\(account.uid)", "--regid=\(account.gid)", "--clear-groups"]
        return ["setpriv"] + flags + ["--"] + command
    }

    /// A program of the server's, or one with its path.
    private func runTool(
        _ name: String, _ arguments: [String], environment added: [String: String] = [:]
    ) async throws {
        let path = name.hasPrefix("/") ? name : "\(binaries)/\(name)"
        do {
            try await Self.runTool(path, arguments, environment: added)
        } catch let failure as Failure {
            throw Failure(step: failure.step, output: failure.output + String(log.suffix(2000)))
        }
    }

    private static func runTool(
        _ path: String, _ arguments: [String], environment added: [String: String]
    ) async throws {
        var environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.hasPrefix("PG") }
        environment["LC_ALL"] = "C"
        // The server alone gets these, not the programs that switch the account.
        let assignments = added.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
        let tool = [path] + arguments
        let command = asAccount(assignments.isEmpty ? tool : ["env"] + assignments + tool)
        let run = try await ChildProcess.run(
            command[0], Array(command.dropFirst()), environment: environment,
            workingFolder: "/", within: .seconds(120))
        guard run.exit == .code(0) else {
            throw Failure(step: path, output: run.standardOutput + run.standardError)
        }
    }

    /// Waits on a pipe of which this process has the other end; then stops the server and removes
    /// the folder. A shell, in a session of its own, so that nothing of ours takes it along.
    ///
    /// - Returns: our end of the pipe.
    private static func startGuardian(folder: String, binaries: String) throws -> Int32 {
        let ends = try Spawner.shared.pipe()
        defer { close(ends.reading) }
        let stop = asAccount([
            "\(binaries)/pg_ctl", "stop", "--silent", "--wait", "--mode=immediate",
            "--pgdata=\(folder)/data",
        ]).joined(separator: " ")
        _ = try Spawner.shared.spawn(
            "setsid",
            [
                "sh", "-c",
                "cd /; read -r line; { \(stop); umount -l '\(SmallDisk.folder(in: folder))'; } "
                    + ">/dev/null 2>&1; rm -rf '\(folder)'",
            ],
            environment: ProcessInfo.processInfo.environment,
            descriptors: [ends.reading, nil, nil])
        return ends.writing
    }
}
