import Foundation
import Postgres
import TestSupport
import Testing

/// Whatever a server, its operator or the network does, the daemon stays and nothing is lost.
@Suite(.serialized)
struct DatabaseFaultTests {
    /// What a role or a database is set to does not reach the daemon's sessions.
    @Test func settingsOfTheRoleChangeNothing() async throws {
        try await withRole { stage in
            try await stage.script(
                """
                ALTER ROLE \(role(stage)) SET default_transaction_isolation = serializable;
                ALTER ROLE \(role(stage)) SET default_transaction_deferrable = on;
                ALTER ROLE \(role(stage)) SET synchronous_commit = off;
                ALTER ROLE \(role(stage)) SET statement_timeout = 250;
                ALTER ROLE \(role(stage)) SET lock_timeout = 1;
                ALTER ROLE \(role(stage)) SET idle_session_timeout = 200;
                ALTER ROLE \(role(stage)) SET search_path = nowhere;
                ALTER ROLE \(role(stage)) SET timezone = 'Asia/Kathmandu';
                ALTER ROLE \(role(stage)) SET datestyle = 'German';
                ALTER ROLE \(role(stage)) SET bytea_output = escape;
                ALTER ROLE \(role(stage)) SET client_encoding = latin1;
                ALTER ROLE \(role(stage)) SET row_security = off;
                ALTER ROLE \(role(stage)) SET enable_indexscan = off;
                ALTER ROLE \(role(stage)) SET array_nulls = off;
                """)
            let daemon = try stage.daemon()
            for round in 1...3 {
                let made = try await stage.buy("google", count: 100)
                try await stage.submit(made, "google") { "ä€\(round)-\($0)" }
                try await stage.expectGrants(100 * round)
            }
            try await stage.expect(["grant monthly purchased"], of: "ä€3-99")
            // What has no end is null among the ends.
            let forever = try await stage.buy(
                "apple", product: "forever", terms: #""kind":"non_consumable""#)
            try await stage.submit(forever, "apple") { _ in "ä€" }
            try await stage.expectGrants(301)
            #expect(
                try await stage.value(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE usename = '\(role(stage))' AND datname = current_database()
                    """) != "0")
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
            let alarms = daemon.lines.filter { $0.contains(" warn ") || $0.contains(" error ") }
            #expect(alarms.isEmpty, "\(alarms)")
        }
    }

    /// Made read-only on purpose, it is waited for, and the daemon says what is the matter.
    @Test func aDatabaseThatIsReadOnlyIsWaitedFor() async throws {
        try await withRole { stage in
            let made = try await stage.buy("google", count: 100)
            try await stage.submit(made, "google") { "u-\($0)" }
            try await stage.script(
                "ALTER ROLE \(role(stage)) SET default_transaction_read_only = on")
            let once = try await stage.renewald("once")
            #expect(once.exit == .code(69))
            #expect(once.standardError.contains("default_transaction_read_only is on"))
            let daemon = try stage.daemon()
            _ = try await daemon.line { $0.contains("default_transaction_read_only is on") }
            try await stage.script("ALTER ROLE \(role(stage)) RESET default_transaction_read_only")
            try await stage.expectGrants(100)
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    @Test func aServerThatTakesNoMoreConnectionsIsWaitedFor() async throws {
        try await withRole { stage in
            let daemon = try stage.daemon()
            try await grant(100, "a", stage)
            try await stage.script("ALTER ROLE \(role(stage)) CONNECTION LIMIT 0")
            try await terminate(stage)
            try await submit(100, "b", stage)
            _ = try await daemon.line { $0.contains("no more connections (SQLSTATE 53300)") }
            try await stage.script("ALTER ROLE \(role(stage)) CONNECTION LIMIT -1")
            try await stage.expectGrants(200)
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    @Test func sessionsThatAreEndedAgainAndAgainLoseNothing() async throws {
        try await withRole { stage in
            try configure(stage, rate: 100_000)
            try await stage.control("latency", #"{"milliseconds":5}"#)
            try await submit(400, "u", stage)
            let daemon = try stage.daemon()
            try await stage.wait(within: .seconds(90)) {
                try await terminate(stage)
                return try await stage.events() == 400
            }
            try await stage.expectGrants(400)
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    @Test func aLockedTableIsWaitedFor() async throws {
        try await withRole { stage in
            let daemon = try stage.daemon()
            try await grant(100, "a", stage)
            let operatorsOwn = PostgresConnection(PostgresSettings(conninfo: stage.conninfo))
            try await operatorsOwn.transaction { session in
                try await session.script(
                    """
                    SET idle_in_transaction_session_timeout = 0;
                    LOCK TABLE renewald.event, renewald.entitlement IN ACCESS EXCLUSIVE MODE;
                    """)
                try await submit(100, "b", stage)
                _ = try await daemon.line { $0.contains("waits for the database") }
            }
            await operatorsOwn.close()
            try await stage.expectGrants(200)
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    /// Who holds a row, in a transaction that was left open, holds up that purchase alone.
    @Test(arguments: ["purchase", "schedule"])
    func aLockedRowHoldsUpNobodyElse(of table: String) async throws {
        try await withRole { stage in
            let held = try await stage.buy("google")[0]
            try await stage.submit(held, "google", for: "held")
            #expect(try await stage.renewald("once").exit == .code(0))
            try await stage.act(held, "refund")
            try await stage.script("UPDATE renewald.schedule SET due_at = now()")
            let operatorsOwn = PostgresConnection(PostgresSettings(conninfo: stage.conninfo))
            let daemon = try await operatorsOwn.transaction { session in
                try await session.script(
                    """
                    SET idle_in_transaction_session_timeout = 0;
                    SELECT FROM renewald.\(table) FOR UPDATE;
                    """)
                try await submit(300, "other", stage)
                let daemon = try stage.daemon()
                try await stage.wait { try await stage.events() == 301 }
                _ = try await daemon.line { $0.contains("another session") }
                #expect(try await stage.value("SELECT renewald.has('held', 'monthly')") == "true")
                return daemon
            }
            await operatorsOwn.close()
            try await stage.script("UPDATE renewald.schedule SET due_at = now()")
            let story = ["grant monthly purchased", "revoke monthly refunded"]
            try await stage.expect(story, of: "held")
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    /// A backend that leaves the transaction open in which it has submitted a known purchase.
    @Test func onePassLeavesWhatABackendHolds() async throws {
        try await withRole { stage in
            let held = try await stage.buy("google")[0]
            try await stage.submit(held, "google", for: "held")
            #expect(try await stage.renewald("once").exit == .code(0))
            try await stage.script(
                """
                UPDATE renewald.schedule
                SET due_at = now() - interval '1 minute', checked_at = now() - interval '1 hour'
                """)
            try await submit(20, "other", stage)
            let backend = PostgresConnection(PostgresSettings(conninfo: stage.conninfo))
            try await backend.transaction { session in
                try await session.script(
                    """
                    SET idle_in_transaction_session_timeout = 0;
                    SELECT renewald.submit('second', 'google', app.app, 'monthly', credential.token)
                    FROM renewald.purchase
                    JOIN renewald.app USING (lane)
                    JOIN renewald.credential USING (shard, id)
                    WHERE purchase.user_id = 'held'
                    """)
                let pass = try await stage.renewald("once")
                #expect(pass.exit == .code(75))
                #expect(pass.standardError.contains("another session"), "\(pass.standardError)")
                #expect(pass.standardOutput.contains("1 purchase could not be checked"))
            }
            await backend.close()
            #expect(try await stage.renewald("once").exit == .code(0))
            let story = ["grant monthly purchased", "notice shared_receipt"]
            try await stage.expect(story, of: "held")
        }
    }

    /// The server's side hangs: it holds its locks and says nothing.
    @Test func sessionsThatHangAreGivenUp() async throws {
        // A session that hangs may hold what sessions of other databases wait for.
        let cluster = try await ScratchCluster()
        try await withRole(on: try await cluster.newDatabase()) { stage in
            let daemon = try stage.daemon()
            try await grant(50, "a", stage)
            let hung = try await sessions(stage)
            for pid in hung { kill(pid, SIGSTOP) }
            defer { for pid in hung { kill(pid, SIGCONT) } }
            try await submit(50, "b", stage)
            try await stage.expectGrants(100)
            for pid in hung { kill(pid, SIGCONT) }
            try await stage.wait {
                try await !Set(sessions(stage)).isSuperset(of: hung)
            }
            try await grant(50, "c", stage, after: 100)
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    /// The name is looked up anew for each connection, and may be gone for a while.
    @Test(.enabled(if: SmallDisk.isPossible))
    func aNameThatIsNotResolvedIsWaitedFor() async throws {
        let port = String(try FreePort.next())
        let cluster = try await ScratchCluster(
            .init(settings: ["listen_addresses": "127.0.0.1", "port": port]))
        try await withRole(on: try await cluster.newDatabase()) { stage in
            try stage.editConfiguration {
                $0.replacingOccurrences(
                    of: "host=\(cluster.socketDirectory)", with: "host=database.test")
            }
            let (hosts, servers) = ("\(stage.folder)/hosts", "\(stage.folder)/resolv.conf")
            // Nobody answers there, and at once.
            try "nameserver 127.0.0.1".write(toFile: servers, atomically: false, encoding: .utf8)
            try "127.0.0.1 database.test".write(toFile: hosts, atomically: false, encoding: .utf8)
            let mounts =
                "mount --bind \(hosts) /etc/hosts && mount --bind \(servers) /etc/resolv.conf"
            let daemon = try stage.start(
                ["run"], under: ["unshare", "-m", "sh", "-c", "\(mounts) && exec \"$@\"", "sh"])
            try await grant(50, "a", stage)
            try "".write(toFile: hosts, atomically: false, encoding: .utf8)
            try await terminate(stage)
            try await submit(50, "b", stage)
            let line = try await daemon.line { $0.contains("the host name cannot be resolved") }
            #expect(!line.contains("database.test"))
            try "127.0.0.1 database.test".write(toFile: hosts, atomically: false, encoding: .utf8)
            try await stage.expectGrants(100)
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    /// A lease seems to have run out, or to last for an hour; neither stops the work.
    @Test func theClockOfTheDatabaseMayJump() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            let daemon = try stage.daemon()
            try await grant(50, "a", stage)
            for (index, time) in ["2026-01-01T01:00:00Z", "2026-01-01T00:00:30Z"].enumerated() {
                try await stage.set(to: time)
                try await grant(50, time, stage, after: 50 * (index + 1))
            }
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    // MARK: Helpers

    /// Gives a test a stage whose daemon has a role of its own, that of the database's name.
    private func withRole(
        on database: String? = nil, _ play: (Stage) async throws -> Void
    ) async throws {
        try await onStage(database: database) { stage in
            try await stage.script("CREATE ROLE \(role(stage)) LOGIN IN ROLE renewald_worker")
            try configure(stage)
            try await play(stage)
        }
    }

    /// The lease is short, so that it is soon noticed that it cannot be kept.
    private func configure(_ stage: Stage, rate: Int = 5000) throws {
        try stage.configure("[engine]\nin_flight = 50\nlease = \"PT15S\"", rate: rate)
        try stage.useDatabase(
            stage.conninfo.replacingOccurrences(
                of: "user=postgres", with: "user=\(role(stage))"))
    }

    private func role(_ stage: Stage) -> String {
        let name = stage.conninfo.split(separator: " ").first { $0.hasPrefix("dbname=") }
        return "worker_" + (name?.dropFirst(7) ?? "")
    }

    private func submit(_ count: Int, _ name: String, _ stage: Stage) async throws {
        let made = try await stage.buy("google", count: count)
        try await stage.submit(made, "google") { "\(name)-\($0)" }
    }

    private func grant(
        _ count: Int, _ name: String, _ stage: Stage, after before: Int = 0
    ) async throws {
        try await submit(count, name, stage)
        try await stage.expectGrants(before + count)
    }

    private func sessions(_ stage: Stage) async throws -> [Int32] {
        try await stage.value(
            """
            SELECT string_agg(pid::text, ' ') FROM pg_stat_activity
            WHERE usename = '\(role(stage))'
            """
        ).split(separator: " ").compactMap { Int32($0) }
    }

    private func terminate(_ stage: Stage) async throws {
        _ = try await stage.value(
            """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE usename = '\(role(stage))'
            """)
    }
}
