import Foundation
import TestSupport
import Testing

/// The unit files as they are, without a running systemd.
struct UnitFileTests {
    private static let folder = "\(Machine.root)/systemd"
    private static let services = [
        "renewald.service", "renewald-once.service", "renewald-check@.service",
        "renewald-alert@.service",
    ]

    private func lines(_ unit: String) throws -> [String] {
        try String(contentsOfFile: "\(Self.folder)/\(unit)", encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }

    /// A copy whose program and manual pages exist.
    private func copied(_ body: (_ folder: String) async throws -> Void) async throws {
        let copy = "/tmp/rw-units-\(UUID().uuidString)"
        _ = try await ChildProcess.run("cp", ["-rL", Self.folder, copy])
        defer { try? FileManager.default.removeItem(atPath: copy) }
        // It is installed only where it is known.
        try FileManager.default.removeItem(atPath: "\(copy)/renewald.service.d")
        for unit in Self.services {
            let text = try String(contentsOfFile: "\(copy)/\(unit)", encoding: .utf8)
            try text.replacingOccurrences(of: "/usr/bin/renewald", with: "/bin/true")
                .write(toFile: "\(copy)/\(unit)", atomically: true, encoding: .utf8)
        }
        try await body(copy)
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/systemd-analyze")),
        arguments: [
            "renewald.service", "renewald-once.service", "renewald-once.timer",
            "renewald-check@x.service", "renewald-alert@x.service",
        ])
    func nothingInItIsUnknownOrIgnored(_ unit: String) async throws {
        try await copied { folder in
            var environment = ProcessInfo.processInfo.environment
            environment["SYSTEMD_UNIT_PATH"] = "\(folder):"
            let output = try await ChildProcess.run(
                "systemd-analyze",
                ["verify", "--man=no", "--recursive-errors=no", "\(folder)/\(unit)"],
                environment: environment)
            #expect(output.exit == .code(0), "\(output.standardError)")
            #expect(output.standardError.isEmpty, "\(output.standardError)")
        }
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/systemd-analyze")),
        arguments: services)
    func isExposedAsLittleAsANetworkServiceCanBe(_ unit: String) async throws {
        let output = try await ChildProcess.run(
            "systemd-analyze",
            // The threshold is ten times the exposure.
            ["security", "--offline=true", "--threshold=11", "\(Self.folder)/\(unit)"])
        let said = (output.standardOutput + output.standardError).split(separator: "\n")
        print(said.last { $0.contains("Overall exposure") } ?? "no exposure")
        #expect(output.exit == .code(0))
    }

    @Test func allHaveTheSameSandboxAndCredentials() throws {
        let from = "NoNewPrivileges=yes"
        let to = "IPAddressDeny=link-local multicast"
        let sandboxes = try Self.services.map { unit in
            let lines = try lines(unit)
            let start = try #require(lines.firstIndex(of: from))
            let end = try #require(lines.firstIndex(of: to))
            return lines[start...end]
        }
        #expect(Set(sandboxes.map { Array($0) }).count == 1)
        let credentials = try Self.services.dropLast().map { unit in
            try lines(unit).filter {
                $0.hasPrefix("LoadCredential=") || $0.hasPrefix("SetCredential=")
            }
        }
        #expect(Set(credentials).count == 1)
        #expect(credentials[0].count == 12)
    }

    /// `systemd-analyze verify` does not look for these.
    @Test func whatTheyNameIsThere() throws {
        for unit in Self.services + ["renewald-once.timer"] {
            let lines = try lines(unit)
            #expect(lines.contains("Documentation=man:renewald(1) man:renewald.toml(5)"))
            for line in lines where line.hasPrefix("OnFailure=") {
                #expect(line == "OnFailure=renewald-alert@%n.service")
            }
        }
        #expect(Self.services.contains("renewald-once.service"), "what the timer starts")
        #expect(try lines("renewald.sysusers").contains { $0.hasPrefix("u     renewald ") })
    }

    @Test func newerSettingsAreNotInTheBase() throws {
        let newer = [
            "notify-reload", "RestartSteps", "RestartMaxDelaySec", "ImportCredential",
            "PrivateTmp=disconnected", "PrivatePIDs",
        ]
        for unit in Self.services {
            let text = try lines(unit).joined(separator: "\n")
            for word in newer { #expect(!text.contains(word), "\(unit): \(word)") }
        }
    }
}
