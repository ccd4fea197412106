import Foundation
import Postgres
import TestSupport
import Testing

/// Two servers of which one takes over from the other: the daemon follows.
@Suite(.serialized)
struct FailOverTests {
    /// With a synchronous standby nothing is missing that was acknowledged; with another one the
    /// last commits are gone, and what they said is asked again.
    @Test(arguments: [true, false])
    func theDaemonFollowsAndNothingIsTwiceOrMissing(isSynchronous: Bool) async throws {
        let primary = try await ScratchCluster()
        let direct = try await primary.newDatabase()
        let standby = try await ScratchCluster(standbyOf: primary)
        let both = direct.replacingOccurrences(
            of: primary.socketDirectory,
            with: "\(primary.socketDirectory),\(standby.socketDirectory)")
        try await onStage(database: both) { stage in
            if isSynchronous { try await synchronize(stage) }
            try stage.configure("[engine]\nlease = \"PT15S\"\nin_flight = 50", rate: 100_000)
            try await stage.control("latency", #"{"milliseconds":5}"#)
            let made = try await stage.buy("google", count: 3000)
            try await stage.submit(made, "google") { "u-\($0)" }
            let position = try await stage.value("SELECT pg_current_wal_flush_lsn()")
            try await stage.wait {
                try await stage.value(
                    "SELECT bool_and(replay_lsn >= '\(position)') FROM pg_stat_replication")
                    == "true"
            }
            let daemon = try stage.daemon()
            try await stage.wait { try await stage.events() > 100 }
            if !isSynchronous {
                try await standby.followNobody()
                try await stage.wait {
                    try await stage.value("SELECT count(*) FROM pg_stat_replication") == "0"
                }
                let before = try await stage.events()
                try await stage.wait { try await stage.events() > before + 200 }
            }
            let told = try await stage.events()
            try primary.kill()
            _ = try await daemon.line { $0.contains("waits for the database: ") }
            try await standby.promote()
            let kept = try await stage.events()
            #expect(isSynchronous ? kept >= told : kept < told)
            try await stage.expectConsistent()
            try await stage.expectGrants(3000)
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    @Test func aStandbyAloneIsWaitedFor() async throws {
        let primary = try await ScratchCluster()
        let direct = try await primary.newDatabase()
        try await onStage(database: direct) { stage in
            let made = try await stage.buy("google", count: 3)
            try await stage.submit(made, "google") { "u-\($0)" }
            let standby = try await ScratchCluster(standbyOf: primary)
            let other = direct.replacingOccurrences(
                of: primary.socketDirectory, with: standby.socketDirectory)
            try stage.useDatabase(other)
            for command in [["status"], ["explain", "u-0"], ["events"]] {
                let child = try stage.start(command)
                #expect(try await child.exit() == .code(0) && child.standardError.isEmpty)
            }
            for command in [["once"], ["check", "u-0"]] {
                let child = try stage.start(command)
                #expect(try await child.exit() == .code(69))
                #expect(
                    child.standardError
                        == "renewald: the database is not available: the server is a standby, "
                        + "which takes no writes\n")
            }
            let daemon = try stage.daemon()
            _ = try await daemon.line { $0.contains("waiting: ") && $0.contains("is a standby") }
            // Told to make do with any server it is refused by the server at its first write.
            try stage.editConfiguration {
                $0.replacingOccurrences(of: other, with: "\(other) target_session_attrs=any")
            }
            let once = try await stage.renewald("once")
            #expect(once.exit == .code(69))
            #expect(once.standardError.contains("SQLSTATE 25006"))
            #expect(try await stage.questions() == 0)
            try primary.kill()
            try await standby.promote()
            _ = try await daemon.line { $0.contains("the database answers") }
            let follower = try stage.start(["events", "--follow", "--after", "0"])
            _ = try await follower.line { $0.hasPrefix("3 ") }
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    /// From now on no commit is acknowledged before the standby has it.
    private func synchronize(_ stage: Stage) async throws {
        _ = try await stage.database.query(
            PostgresStatement("ALTER SYSTEM SET synchronous_standby_names = 'standby'"))
        try await stage.script("SELECT pg_reload_conf()")
        try await stage.wait {
            try await stage.value(
                "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
        }
    }
}
