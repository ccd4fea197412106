import Foundation
import TestSupport

/// The way to a server, over which nothing comes for a while: nobody is told, and what was sent
/// arrives later.
final class StallingNetwork: Sendable {
    /// The same database, over this way.
    let conninfo: String
    private let folder: String
    private let relay: ChildProcess

    /// - Parameters:
    ///   - direct: names the folder of the server's socket.
    ///   - parent: where the other socket's folder is made.
    /// - Throws: when it does not start.
    init(before direct: String, in parent: String) async throws {
        let words = direct.split(separator: " ")
        guard let host = words.first(where: { $0.hasPrefix("host=") })?.dropFirst(5) else {
            throw StageFailure("no host in \(direct)")
        }
        let folder = "\(parent)/network-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
        conninfo = words.map { $0.hasPrefix("host=") ? "host=\(folder)" : String($0) }
            .joined(separator: " ")
        self.folder = folder
        let socket = ".s.PGSQL.5432"
        relay = try ChildProcess(
            "/usr/bin/python3", ["-c", Self.script, "\(folder)/\(socket)", "\(host)/\(socket)"])
        _ = try await relay.line { $0 == "ready" }
    }

    func stall() { relay.send(SIGSTOP) }
    func goOn() { relay.send(SIGCONT) }

    func close() {
        relay.send(SIGKILL)
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static let script = """
        import socket, sys, threading

        def carry(one, other):
            try:
                while data := one.recv(65536):
                    other.sendall(data)
            except OSError:
                pass
            for end in (one, other):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[1])
        listener.listen(64)
        print("ready", flush=True)
        while True:
            near, _ = listener.accept()
            far = socket.socket(socket.AF_UNIX)
            try:
                far.connect(sys.argv[2])
            except OSError:
                near.close()
                continue
            for ends in ((near, far), (far, near)):
                threading.Thread(target=carry, args=ends, daemon=True).start()
        """
}
