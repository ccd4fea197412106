import Foundation
import TestSupport
import Testing

/// What a process holds in its memory stays there.
struct SecrecyTests {
    /// The kernel gives what belongs to a process that may not be dumped to root.
    @Test(.enabled(if: getuid() == 0, "only root may become somebody else"))
    func noCoreIsWrittenAndNobodyLooksIntoTheMemory() async throws {
        try await onStage { stage in
            // Whoever the server runs as may use its socket.
            let user = try #require(ScratchCluster.account?.uid)
            let reader = try stage.start(
                ["events", "--follow", "--after", "0"],
                under: ["setpriv", "--reuid=\(user)", "--clear-groups", "--"])
            try await stage.submit(try await stage.buy("google")[0], "google", for: "ann")
            #expect(try await stage.renewald("once").exit == .code(0))
            _ = try await reader.line { $0.contains("ann") }

            let limits = try String(contentsOfFile: "/proc/\(reader.pid)/limits", encoding: .utf8)
            let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
            #expect(core?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
            func owner(_ file: String) throws -> Int? {
                let path = "/proc/\(reader.pid)/\(file)"
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                return (attributes[.ownerAccountID] as? NSNumber)?.intValue
            }
            #expect(try owner("mem") == 0)
            let status = try String(contentsOfFile: "/proc/\(reader.pid)/status", encoding: .utf8)
            #expect(status.contains("\nUid:\t\(user)\t"))
            reader.send(SIGKILL)
            _ = try await reader.exit()
        }
    }
}
