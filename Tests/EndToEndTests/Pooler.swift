import Foundation
import TestSupport

/// PgBouncer in transaction mode before a server, with fewer sessions there than it is asked for.
final class Pooler: Sendable {
    private let folder: String
    private let process: ChildProcess

    /// Whether there is one on this machine; says so where there is none.
    static var isInstalled: Bool {
        let found = ["/usr/sbin", "/usr/bin", "/usr/local/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/pgbouncer")
        }
        if !found { print("skipped: there is no pgbouncer on this machine") }
        return found
    }

    /// - Parameter server: the folder of the server's socket.
    /// - Throws: when it does not start.
    init(before server: String) async throws {
        var template = Array("/tmp/rw-pooler-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template).map({ String(cString: $0) }) else {
            throw StageFailure("mkdtemp: \(errno)")
        }
        folder = made
        try """
        [databases]
        * = host=\(server) port=5432
        [pgbouncer]
        listen_addr =
        listen_port = 6432
        unix_socket_dir = \(made)
        auth_type = trust
        auth_file = \(made)/users
        pool_mode = transaction
        default_pool_size = 2
        """.write(toFile: "\(made)/pgbouncer.ini", atomically: true, encoding: .utf8)
        try "\"postgres\" \"\"\n".write(
            toFile: "\(made)/users", atomically: true, encoding: .utf8)
        if let account = ScratchCluster.account { chown(made, account.uid, account.gid) }
        // It does not run as root either.
        var command = ["pgbouncer", "\(made)/pgbouncer.ini"]
        if let account = ScratchCluster.account {
            command =
                [
                    "setpriv", "--reuid=\(account.uid)", "--regid=\(account.gid)",
                    "--clear-groups", "--pdeathsig=KILL", "--",
                ] + command
        }
        process = try ChildProcess(command[0], Array(command.dropFirst()))
        _ = try await process.line { $0.contains("process up") }
    }

    /// The same database, through the pooler.
    func conninfo(_ direct: String) -> String {
        direct.split(separator: " ").map { option in
            if option.hasPrefix("host=") { return "host=\(folder)" }
            return option.hasPrefix("port=") ? "port=6432" : String(option)
        }.joined(separator: " ")
    }

    func send(_ signal: Int32) { process.send(signal) }

    func close() {
        process.send(SIGKILL)
        try? FileManager.default.removeItem(atPath: folder)
    }
}
