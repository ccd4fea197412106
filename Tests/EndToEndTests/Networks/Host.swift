import Foundation
import TestSupport

/// What a program takes for a machine with a network of its own, and a wire each to the database and
/// to the stores. A wire that is cut says nothing to either end, like a switch that has failed.
///
/// The stores are at 127.0.0.1 of the network that the test is in, and their certificates say so. On
/// the machine that address leads through its wire: it has no loopback.
final class Host: Sendable {
    enum Wire: String, CaseIterable, CustomStringConvertible {
        case database, stores

        var description: String { rawValue }
        fileprivate var network: Int { self == .database ? 78 : 79 }
    }

    /// Of a process that does nothing but keep the network.
    private let keeper: ChildProcess
    private let number: Int

    /// Where the database is, seen from here.
    var databaseAddress: String { address(.database, 1) }

    /// - Parameter number: another one for each.
    /// - Throws: where the test has no network that it may change.
    init(_ number: Int) async throws {
        self.number = number
        keeper = try ChildProcess("unshare", ["--net", "sh", "-c", "echo ready; exec sleep inf"])
        _ = try await keeper.line { $0 == "ready" }
        for wire in Wire.allCases {
            try await Machine.outside(
                """
                ip link add \(name(wire)) type veth peer name \(wire) netns \(keeper.pid)
                ip addr add \(address(wire, 1))/24 dev \(name(wire))
                ip link set \(name(wire)) up
                echo 1 >/proc/sys/net/ipv4/conf/\(name(wire))/route_localnet
                """)
            try await inside(
                """
                ip addr add \(address(wire, 2))/24 dev \(wire)
                ip link set \(wire) up
                echo 1 >/proc/sys/net/ipv4/conf/\(wire)/route_localnet
                """)
        }
        try await inside(
            "ip route add 127.0.0.1/32 via \(address(.stores, 1)) src \(address(.stores, 2))")
    }

    /// What a command runs under that runs here.
    var wrapper: [String] { ["nsenter", "--net=/proc/\(keeper.pid)/ns/net", "--"] }

    // The other end stays as it is: there the carrier is gone, and no program is told.
    func cut(_ wire: Wire) async throws {
        try await Machine.outside("ip link set \(name(wire)) down")
    }

    func mend(_ wire: Wire) async throws {
        try await Machine.outside("ip link set \(name(wire)) up")
    }

    func close() { keeper.send(SIGKILL) }

    private func name(_ wire: Wire) -> String { "\(wire)\(number)" }

    private func address(_ wire: Wire, _ end: Int) -> String {
        "10.\(wire.network).\(number).\(end)"
    }

    private func inside(_ script: String) async throws {
        let run = try await ChildProcess.run(
            wrapper[0], wrapper.dropFirst() + ["sh", "-ec", script])
        guard run.exit == .code(0) else { throw StageFailure("\(script): \(run.standardError)") }
    }
}
