import Foundation
import Postgres
import TestSupport
import Testing

/// What a person needs beside the package.
enum FirstDay {
    static var isPossible: Bool {
        let isPossible = ["/usr/bin/sudoedit", "/usr/bin/pg_createcluster"]
            .allSatisfy { FileManager.default.fileExists(atPath: $0) }
        if !isPossible { print("the first day cannot be played: it needs sudo and postgresql") }
        return isPossible
    }
}

/// The README's first day, word for word: the package, a PostgreSQL as Debian makes it, peer
/// authentication, a person with `sudo`.
@Suite(
    .serialized,
    .enabled(if: Machine.isPossible && PackageTool.canBuild && FirstDay.isPossible),
    .timeLimit(.minutes(10)))
struct FirstDayTests {
    @Test func leadsFromThePackageToTheFirstGrant() async throws {
        let blocks = try Self.blocks()
        try await onSite(installed: false) { site in
            let machine = site.machine
            _ = try await Package.build(version: "1.0", into: machine.share)
            try await Self.prepare(site, configuration: blocks.configuration)

            let day = try await machine.run(
                "bash", "-euxc", "cd /run/share && export EDITOR=/run/share/editor\n" + blocks.shell
            )
            #expect(day.exit == .code(0), "\(day.standardOutput)\n\(day.standardError)")
            // All that doctor looks at is well, the store's answer to our key included.
            let findings = day.standardOutput.split(separator: "\n")
            #expect(findings.contains { $0.hasPrefix("ok       google ") }, "\(findings)")
            #expect(!findings.contains { $0.hasPrefix("wrong ") }, "\(findings)")
            #expect(try await machine.property("ActiveState") == "active")
            #expect(try await machine.property("UnitFileState") == "enabled")

            let made = try await site.make("google", count: 1)[0]
            _ = try await psql(
                machine, as: "myapp",
                "SELECT renewald.submit('u-17', 'google', '\(Site.app)', '\(made.product)', "
                    + "'\(made.token)')")
            try await machine.waitForLine { $0.hasPrefix("grant \(made.product) to u-17") }
            let has = try await psql(
                machine, as: "myapp", "SELECT renewald.has('u-17', '\(made.product)')")
            #expect(has == "t\n")
            // What root asks for is asked for as the daemon's user.
            try await machine.succeed("renewald", "check", "u-17", "--require")
            #expect(
                try await machine.succeed("renewald", "events").contains("u-17"))
            let left = try await machine.succeed(
                "sh", "-c", "ls -d /run/renewald-command-* || true")
            #expect(left.isEmpty, "\(left)")
        }
    }

    private func psql(_ machine: Machine, as user: String, _ sql: String) async throws -> String {
        try await machine.succeed("runuser", "-u", user, "--", "psql", "-Atd", "app", "-c", sql)
    }

    /// What the README's reader has: a cluster, a database, a backend, a key, an editor.
    private static func prepare(_ site: Site, configuration: String) async throws {
        let machine = site.machine
        // Containers forbid packages to start anything.
        try await machine.succeed("rm", "-f", "/usr/sbin/policy-rc.d")
        let version = try await machine.succeed(
            "sh", "-c", "ls /usr/lib/postgresql | sort -V | tail -n 1"
        ).trimmingCharacters(in: .whitespacesAndNewlines)
        // The overlay hides what this machine may have.
        try await machine.succeed("sh", "-c", "rm -rf /etc/postgresql/* /var/lib/postgresql/*")
        try await machine.succeed("pg_createcluster", version, "main")
        try await machine.succeed("systemctl", "start", "postgresql@\(version)-main")
        try await machine.succeed("useradd", "--system", "myapp")
        try await machine.succeed("runuser", "-u", "postgres", "--", "createuser", "myapp")
        try await machine.succeed(
            "runuser", "-u", "postgres", "--", "createdb", "--owner=myapp", "app")
        try await machine.succeed("cp", "/run/share/stores/google.json", "/run/share/google.json")
        // The three lines of the README, and where the simulated store is.
        let stores = try site.simulatedStores()
        try (configuration + "\n" + stores).write(
            toFile: "\(machine.share)/edited.toml", atomically: true, encoding: .utf8)
        try "#!/bin/sh\ncat /run/share/edited.toml >\"$1\"\n".write(
            toFile: "\(machine.share)/editor", atomically: true, encoding: .utf8)
        chmod("\(machine.share)/editor", 0o755)
    }

    private struct Blocks {
        let shell: String
        let configuration: String
    }

    /// The two blocks behind the comment that names this file.
    private static func blocks() throws -> Blocks {
        let text = try String(contentsOfFile: "\(Machine.root)/README.md", encoding: .utf8)
        let parts = text.components(separatedBy: "FirstDayTests.swift. -->\n")
        try #require(parts.count == 2, "the README names this test once")
        let fences = parts[1].components(separatedBy: "```")
        try #require(
            fences.count > 3 && fences[1].hasPrefix("sh\n") && fences[3].hasPrefix("toml\n"))
        return Blocks(
            shell: String(fences[1].dropFirst(3)), configuration: String(fences[3].dropFirst(5)))
    }
}
