import Foundation
import Postgres
import TestSupport
import Testing

/// Behind a pooler that changes the server's session with each transaction everything works.
@Suite(.serialized, .enabled(if: Pooler.isInstalled))
struct PoolerTests {
    /// Settings of a database under which nothing would work as it must.
    private static let hostile = """
        DO $$ BEGIN
            EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable',
                current_database());
            EXECUTE format('ALTER DATABASE %I SET statement_timeout = 250', current_database());
            EXECUTE format('ALTER DATABASE %I SET bytea_output = escape', current_database());
            EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database());
        END $$
        """

    @Test func everyCommandWorksAndLeavesNoTraceInASession() async throws {
        try await behindPooler { stage, pooled in
            try await stage.script(Self.hostile)
            let made = try await stage.buy("google", count: 300)
            try await stage.submit(made, "google") { "u-\($0)" }
            let theirs =
                "SELECT user_id, 'monthly' AS entitlement, true AS active "
                + "FROM renewald.account, pg_sleep(0.4)"
            let shadow = ["shadow", "--theirs", theirs, "--strict"]
            for arguments in [["migrate"], ["once"], ["status"], ["events"], shadow] {
                let child = try stage.start(arguments)
                #expect(try await child.exit() == .code(0), "\(arguments) \(child.standardError)")
            }
            try await stage.expectGrants(300)
            try await stage.act(made[0], "refund")
            #expect(try await stage.renewald("check", "u-0").exit == .code(0))
            try await stage.expect(
                ["grant monthly purchased", "revoke monthly refunded"], of: "u-0")
            // A session of the server that anybody may get next is as it was.
            for setting in ["statement_timeout 250ms", "search_path \"$user\", public"] {
                let parts = setting.split(separator: " ", maxSplits: 1).map(String.init)
                let shown = try await ChildProcess.run(
                    "psql", ["-X", "-A", "-t", "-c", "SHOW \(parts[0])", pooled])
                #expect(shown.standardOutput == parts[1] + "\n", "\(shown.standardError)")
            }
        }
    }

    @Test(arguments: ["on", "off"])
    func theDaemonWorks(notify: String) async throws {
        try await behindPooler { stage, pooled in
            try stage.configure("[engine]\nnotify = \"\(notify)\"")
            try stage.useDatabase(pooled)
            let daemon = try stage.daemon()
            let line = try await daemon.line { $0.contains("connection pooler") }
            #expect(line.contains("LISTEN disabled") == (notify == "on"))
            let follower = try stage.start(["events", "--follow", "--after", "0"])
            for round in 1...3 {
                let made = try await stage.buy("google", count: 100)
                try await stage.submit(made, "google") { "r\(round)-\($0)" }
                try await stage.expectGrants(100 * round)
            }
            _ = try await follower.line { $0.hasPrefix("300 ") }
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
            #expect(!daemon.lines.contains { $0.contains("database is not available") })
            #expect(try await stage.value("SELECT count(*) FROM renewald.worker") == "0")
        }
    }

    /// What a dead connection does: nothing comes through, and nobody says so.
    @Test func aSilentPoolerIsNoticedAndSurvived() async throws {
        try await onBoth { stage, pooler in
            try stage.configure("[engine]\nlease = \"PT15S\"")
            try stage.useDatabase(pooler.conninfo(stage.conninfo))
            let daemon = try stage.daemon()
            let first = try await stage.buy("google", count: 50)
            try await stage.submit(first, "google") { "a-\($0)" }
            try await stage.expectGrants(50)
            pooler.send(SIGSTOP)
            let second = try await stage.buy("google", count: 50)
            try await stage.submit(second, "google") { "b-\($0)" }
            _ = try await daemon.line { $0.contains("the database is not available") }
            pooler.send(SIGCONT)
            try await stage.expectGrants(100)
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    private func behindPooler(_ play: (Stage, String) async throws -> Void) async throws {
        try await onBoth { stage, pooler in
            try await play(stage, pooler.conninfo(stage.conninfo))
        }
    }

    private func onBoth(_ play: (Stage, Pooler) async throws -> Void) async throws {
        let cluster = try await ScratchCluster.shared()
        let pooler = try await Pooler(before: cluster.socketDirectory)
        defer { pooler.close() }
        try await onStage { stage in
            try stage.useDatabase(pooler.conninfo(stage.conninfo))
            try await play(stage, pooler)
        }
    }
}
