import Foundation
import TestSupport
import Testing

/// What builds packages.
enum PackageTool {
    static var canBuild: Bool {
        let isPossible = ["/usr/bin/dpkg-buildpackage", "/usr/bin/dh"]
            .allSatisfy { FileManager.default.fileExists(atPath: $0) }
        if !isPossible { print("no package can be built here: it needs dpkg-dev and debhelper") }
        return isPossible
    }
}

enum Package {
    /// Builds a package of the program as it is; its libraries are this machine's.
    static func build(version: String, into folder: String) async throws -> String {
        var environment = ProcessInfo.processInfo.environment
        environment["RENEWALD_PROGRAM"] = Site.program("renewald")
        environment["RENEWALD_DEB_VERSION"] = version
        // Small is not needed here, soon is.
        environment["RENEWALD_DEB_FLAGS"] = "-Zgzip -z1"
        environment["DEB_BUILD_OPTIONS"] = "nostrip noautodbgsym"
        let output = try await ChildProcess.run(
            "\(Machine.root)/scripts/deb", [folder], environment: environment,
            within: .seconds(300))
        guard output.exit == .code(0) else { throw SiteFailure(output.standardError) }
        let path = output.standardOutput.split(separator: "\n").last.map(String.init) ?? ""
        return "/run/share/\(path.split(separator: "/").last ?? "")"
    }
}

/// The Debian package under a real systemd: installed, upgraded, removed, purged.
@Suite(
    .serialized,
    .enabled(if: Machine.isPossible && PackageTool.canBuild), .timeLimit(.minutes(10)))
struct PackageTests {
    @Test func isInstalledUpgradedRemovedAndPurged() async throws {
        try await onSite(installed: false) { site in
            let share = site.machine.share
            let first = try await Package.build(version: "1.0", into: share)
            try await Self.expectNoErrorForLintian(first.replacing("/run/share", with: share))
            let second = try await Package.build(version: "1.1", into: share)
            let machine = site.machine
            // Nobody looks for a manual page here, of which an index is made at each installation.
            try await machine.succeed("rm", "-f", "/var/lib/man-db/auto-update")
            // Containers forbid packages to start anything. This one shall do as it is made.
            try await machine.succeed("rm", "-f", "/usr/sbin/policy-rc.d")
            try await machine.succeed("dpkg", "--install", "--force-depends", first)

            // Nothing runs, nothing will at the next boot, and what it needs is there.
            #expect(try await machine.property("ActiveState") == "inactive")
            #expect(try await machine.property("UnitFileState") == "disabled")
            #expect(
                try await machine.property("UnitFileState", of: "renewald-once.timer")
                    == "disabled")
            try await machine.succeed("id", "renewald")
            let configuration = try await machine.succeed(
                "stat", "--format=%U:%G %a", "/etc/renewald/renewald.toml")
            #expect(configuration == "root:renewald 640\n")
            let credentials = try await machine.succeed(
                "stat", "--format=%U %a", "/etc/renewald/credentials")
            #expect(credentials == "root 700\n")
            let verified = try await machine.run(
                "systemd-analyze", "verify", "--recursive-errors=no",
                "/usr/lib/systemd/system/renewald.service")
            #expect(verified.exit == .code(0), "\(verified.standardError)")

            // It works, and an upgrade restarts what runs and keeps what was written.
            try await site.configure()
            try site.putCredentials()
            try await machine.succeed("cp", "-r", "/run/share/credentials", "/etc/renewald/")
            try await machine.succeed("renewald", "migrate")
            try await machine.succeed("systemctl", "start", "renewald")
            try await site.buy("google", count: 1)
            try await site.wait { try await site.events() == 1 }
            let process = try await machine.property("MainPID")
            try await machine.succeed("dpkg", "--install", "--force-depends", second)
            #expect(try await machine.property("ActiveState") == "active")
            #expect(try await machine.property("MainPID") != process)
            #expect(
                try await machine.succeed("cat", "/etc/renewald/renewald.toml")
                    .contains("/run/database"))

            try await machine.succeed("dpkg", "--remove", "renewald")
            #expect(try await machine.run("test", "-e", "/usr/bin/renewald").exit == .code(1))
            try await machine.succeed("test", "-e", "/etc/renewald/renewald.toml")
            try await machine.succeed("dpkg", "--purge", "renewald")
            #expect(try await machine.run("test", "-e", "/etc/renewald").exit == .code(1))
            #expect(try await machine.run("test", "-e", "/var/lib/renewald").exit == .code(1))
            try await machine.succeed("id", "renewald")
        }
    }

    private static func expectNoErrorForLintian(_ package: String) async throws {
        guard FileManager.default.fileExists(atPath: "/usr/bin/lintian") else {
            return print("the package is not checked: there is no lintian")
        }
        let output = try await ChildProcess.run(
            "lintian",
            // The program of a test finds the Swift runtime in the toolchain.
            [
                "--allow-root", "--fail-on", "error", "--suppress-tags",
                "custom-library-search-path,unstripped-binary-or-object", package,
            ],
            within: .seconds(300))
        print(output.standardOutput)
        #expect(output.exit == .code(0))
    }
}
