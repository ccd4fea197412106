import Foundation
import Postgres
import TestSupport

/// Three machines with PostgreSQL under Patroni and etcd, and HAProxy before them, with the files
/// of `etc/patroni` as they are.
final class PatroniCluster: Sendable {
    static let bridge = "renewald0"
    private static let names = ["one", "two", "three"]

    let machines: [Machine]
    private let proxy: ChildProcess

    /// Whether leaders are to be lost, and can be; says so where they cannot.
    static let isAskedFor: Bool = {
        guard ProcessInfo.processInfo.environment["RENEWALD_LOSSES"] != nil else { return false }
        let needed = ["curl", "etcd", "haproxy", "ip", "nsenter", "patroni", "unshare"]
        let missing = needed.filter { name in
            !["/usr/sbin", "/usr/bin", "/sbin", "/bin"].contains {
                FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
            }
        }
        guard missing.isEmpty else {
            print("skipped: not on this machine: \(missing.joined(separator: ", "))")
            return false
        }
        return true
    }()

    /// - Parameter folder: where the machines' disks are made.
    /// - Throws: when the three are not a cluster within two minutes.
    init(in folder: String) async throws {
        do {
            try await Machine.outside(
                """
                ip link set lo up
                ip link add \(Self.bridge) type bridge
                ip addr add 10.77.0.1/24 dev \(Self.bridge)
                ip link set \(Self.bridge) up
                """)
        } catch {
            throw StageFailure("no network of its own (`make failover` has one): \(error)")
        }
        machines = try Self.names.enumerated().map { index, name in
            let address = "10.77.0.\(11 + index)"
            return try Machine(
                name: name, address: address, folder: "\(folder)/\(name)",
                files: [
                    "patroni.yml": Self.file("patroni.yml", name, address),
                    "etcd": Self.file("etcd", name, address),
                ])
        }
        proxy = try ChildProcess(
            "haproxy", ["-db", "-f", "\(Self.sources)/haproxy.cfg"])
        for machine in machines { try await machine.boot() }
        do {
            try await waitUntilWhole()
        } catch {
            throw StageFailure("\(error)\n\(log)")
        }
    }

    /// The operator's file of the first member, as that of another: as its first lines say.
    private static func file(
        _ name: String, _ member: String, _ address: String
    ) throws -> String {
        try String(contentsOfFile: "\(sources)/\(name)", encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map { line in
                if line.hasPrefix("name: ") { return "name: \(member)" }
                if line.hasPrefix("ETCD_NAME=") { return "ETCD_NAME=\(member)" }
                // All of them are in these lines.
                if line.contains("hosts: ") || line.contains("CLUSTER=") { return String(line) }
                return line.replacingOccurrences(of: "10.77.0.11", with: address)
            }.joined(separator: "\n")
    }

    private static let sources = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "etc/patroni").path

    func close() async {
        for machine in machines { try? await machine.losePower() }
        proxy.send(SIGKILL)
        _ = try? await Machine.outside("ip link delete \(Self.bridge)")
    }

    var log: String { machines.map(\.log).joined(separator: "\n") }

    // MARK: The database

    /// A connection string of the superuser, by way of the proxy.
    static func conninfo(database: String = "postgres") -> String {
        "host=127.0.0.1 port=5000 user=postgres password=change-me-superuser dbname=\(database)"
    }

    /// By way of the proxy.
    static let throughProxy = "postgresql://renewald:change-me-worker@127.0.0.1:5000/app"
    /// To whichever of them takes writes.
    static let direct =
        "postgresql://renewald:change-me-worker@10.77.0.11,10.77.0.12,10.77.0.13/app"

    /// Waits until one leads, the others stream from it, and Patroni has written down which of
    /// these is synchronous: before that it lets nobody take over.
    func waitUntilWhole() async throws {
        let connection = PostgresConnection(
            PostgresSettings(conninfo: Self.conninfo(), statementTimeout: .seconds(3)))
        do {
            try await Poll.until("the cluster is whole", within: .seconds(180)) {
                let found = try? await connection.query(PostgresStatement(Self.followers))
                guard let row = found?[0], try row.text("followers") == "2 followers" else {
                    return false
                }
                let view = try await ChildProcess.run(
                    "curl",
                    ["-s", "-m", "3", "http://\(try row.text("address")):8008/cluster"])
                return view.standardOutput.contains("\"sync_standby\"")
            }
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
    }

    private static let followers = """
        SELECT concat(count(*) FILTER (WHERE state = 'streaming'), ' followers') AS followers,
            host(inet_server_addr()) AS address
        FROM pg_stat_replication
        """

    // MARK: The leader

    /// Who leads now, by its address.
    func leader(at address: String) throws -> Machine {
        guard let machine = machines.first(where: { address.hasPrefix($0.address) }) else {
            throw StageFailure("the leader is at \(address)")
        }
        return machine
    }

    /// Loses the leader.
    func lose(_ leader: Machine, by loss: Loss) async throws {
        switch loss {
        case .power: try await leader.losePower()
        case .standstill: try await leader.signalAll("STOP")
        case .partition: try await leader.cutOff()
        case .killed:
            // Patroni first, so that it does not see the other end.
            try await leader.inside(
                "kill -KILL $(cat /var/run/postgresql/patroni.pid) \(Self.postmaster)")
        case .serverKilled: try await leader.inside("kill -KILL \(Self.postmaster)")
        case .switchover:
            try await leader.inside(
                "\(Self.control) switchover renewald --leader \(leader.name) --force")
        case .restart:
            try await leader.inside("\(Self.control) restart renewald \(leader.name) --force")
        }
    }

    /// Has a lost leader come back.
    func bringBack(_ machine: Machine, from loss: Loss) async throws {
        switch loss {
        case .power: try await machine.boot()
        case .standstill: try await machine.signalAll("CONT")
        case .partition: try await machine.rejoin()
        case .killed: try await machine.startPatroni()
        case .serverKilled, .switchover, .restart: break
        }
    }

    private static let postmaster = "$(head -n 1 /var/lib/postgresql/15/main/postmaster.pid)"
    private static let control = "patronictl -c /etc/patroni/patroni.yml"
}

/// How a leader is lost.
enum Loss: CaseIterable, CustomStringConvertible {
    case power, standstill, partition, killed, serverKilled, switchover, restart

    var description: String {
        switch self {
        case .power: "its machine loses power"
        case .standstill: "its machine stands still"
        case .partition: "its machine is cut off"
        case .killed: "kill -9 of PostgreSQL and Patroni"
        case .serverKilled: "kill -9 of PostgreSQL"
        case .switchover: "patronictl switchover"
        case .restart: "patronictl restart"
        }
    }
}
