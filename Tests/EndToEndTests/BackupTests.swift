import Foundation
import Postgres
import TestSupport
import Testing

/// The commands of `docs/upgrading.md`, on a real database: what is restored goes on where it was.
@Suite(.serialized)
struct BackupTests {
    private func succeed(_ command: String, _ words: String...) async throws {
        let output = try await ChildProcess.run(command, words, within: .seconds(120))
        guard output.exit == .code(0) else {
            throw StageFailure("\(command): \(output.standardError)")
        }
    }

    /// A dump of the schema alone, put into an empty database.
    private func restored(_ stage: Stage) async throws -> String {
        let dump = "\(stage.folder)/renewald.dump"
        try await succeed(
            "pg_dump", "--format=custom", "--schema=renewald", "--file=\(dump)",
            "--dbname=\(stage.conninfo)")
        let conninfo = try await ScratchCluster.shared().newDatabase()
        try await succeed("pg_restore", "--exit-on-error", "--dbname=\(conninfo)", dump)
        return conninfo
    }

    private func buy(_ count: Int, for user: String, _ stage: Stage) async throws {
        let made = try await stage.buy("google", count: count)
        try await stage.submit(made, "google") { "\(user) \($0)" }
        #expect(try await stage.renewald("once").exit == .code(0))
    }

    @Test func aRestoredDatabaseGoesOnWithoutAFalseEvent() async throws {
        try await onStage { stage in
            try await buy(20, for: "old", stage)
            let conninfo = try await restored(stage)
            let other = PostgresConnection(PostgresSettings(conninfo: conninfo))
            func value(_ sql: String) async throws -> Int64 {
                try await other.query(PostgresStatement("SELECT (\(sql))::int8"))[0].int64(0)
            }
            #expect(
                try await value(
                    "SELECT count(*) FROM renewald.entitlements WHERE renewald.has(user_id, 'monthly')"
                )
                    == 20)

            // The schedule, the keys and all else that doctor looks at are as they were.
            try stage.useDatabase(conninfo)
            let doctor = try await stage.renewald("doctor")
            for subject in ["schema", "indexes", "plans"] {
                doctor.expect("ok", subject)
            }
            try await other.script("UPDATE renewald.schedule SET due_at = now()")
            #expect(try await stage.renewald("once").exit == .code(0))
            #expect(try await value("SELECT count(*) FROM renewald.events") == 20)

            // What comes next has numbers behind all that were given.
            let last = try await value("SELECT max(id) FROM renewald.events")
            let made = try await stage.buy("google")[0]
            let id = try await other.query(
                PostgresStatement(
                    "SELECT renewald.submit('new', 'google', $1, $2, $3)",
                    [.text(Stage.app), .text(made.product), .text(made.token)]))[0].int64(0)
            #expect(
                try await value("SELECT count(*) FROM renewald.purchases WHERE id = \(id)") == 1)
            #expect(try await value("SELECT max(id) FROM renewald.purchases") == id)
            #expect(try await stage.renewald("once").exit == .code(0))
            #expect(try await value("SELECT count(*) FROM renewald.events_after(\(last))") == 1)
            await other.close()
        }
    }

    /// The last backup is older than what consumers have read and the backend was given.
    @Test func afterAnOlderBackupTheNumbersAreMovedOn() async throws {
        try await onStage { stage in
            try await buy(5, for: "old", stage)
            let conninfo = try await restored(stage)
            try await buy(5, for: "lost", stage)
            let cursor = try await stage.value("SELECT max(id) FROM renewald.events")
            let given = try await stage.value("SELECT max(id) FROM renewald.purchases")

            let other = PostgresConnection(PostgresSettings(conninfo: conninfo))
            try stage.useDatabase(conninfo)
            for more in [[], ["--follow"]] {
                let reader = try stage.start(["events", "--after", cursor] + more)
                #expect(try await reader.exit() == .code(65))
                #expect(reader.standardOutput.isEmpty)
                #expect(reader.standardError.contains("the cursor is \(cursor)"))
            }
            try await other.script(
                """
                UPDATE renewald.event_counter SET last_id = greatest(last_id, \(cursor));
                SELECT setval('renewald.purchase_id',
                    greatest(\(given), (SELECT last_value FROM renewald.purchase_id)))
                """)
            let made = try await stage.buy("google")[0]
            let id = try await other.query(
                PostgresStatement(
                    "SELECT renewald.submit('new', 'google', $1, $2, $3)",
                    [.text(Stage.app), .text(made.product), .text(made.token)]))[0].int64(0)
            #expect(id > (Int64(given) ?? .max))
            #expect(try await stage.renewald("once").exit == .code(0))
            let after = try await other.query(
                PostgresStatement("SELECT user_id FROM renewald.events_after(\(cursor))"))
            #expect(try after.rows.map { try $0.text("user_id") } == ["new"])
            await other.close()
        }
    }

    /// What was told since the backup is told again: the consumer knows it by its key, though some of
    /// it is decided in one step where it took two.
    @Test func afterABackupWhatIsToldAgainHasTheSameKeys() async throws {
        try await onStage { stage in
            try stage.configure()
            let made = try await stage.buy("google", count: 4)
            try await stage.submit([made[0], made[1], made[2]], "google") { "user \($0)" }
            #expect(try await stage.renewald("once").exit == .code(0))
            try await stage.submit([made[3]], "google") { _ in "user late" }
            let conninfo = try await restored(stage)

            let users = ["user 0", "user 1", "user 2", "user late"]
            func check() async throws {
                for user in users {
                    #expect(try await stage.renewald("check", user).exit == .code(0))
                }
            }
            try await stage.act(made[0], "cancel")
            try await stage.act(made[2], "cancel")
            try await check()
            for one in [made[1], made[2]] { try await stage.act(one, "refund") }
            try await check()
            let told = """
                SELECT string_agg(key || ' ' || kind || ' ' || reason || ' ' || user_id, E'\\n' ORDER BY key)
                FROM renewald.events WHERE reason <> 'auto_renew_off' OR user_id = '\(users[0])'
                """
            let before = try await stage.value(told)
            #expect(before.contains(" grant purchased user late"))
            #expect(before.contains(" notice auto_renew_off \(users[0])"))
            #expect(before.contains(" revoke refunded \(users[2])"))

            try stage.useDatabase(conninfo)
            try await check()
            let other = PostgresConnection(PostgresSettings(conninfo: conninfo))
            let again = try await other.query(PostgresStatement("SELECT (\(told)) AS told"))
            #expect(try again[0].text("told") == before)
            await other.close()
        }
    }

    @Test func aBackupHoldsNoKeyOfAStore() async throws {
        try await onStage { stage in
            try await buy(1, for: "ann", stage)
            let dump = try await ChildProcess.run(
                "pg_dump", ["--format=plain", "--dbname=\(stage.conninfo)"]
            ).standardOutput
            let token = try await stage.value("SELECT min(token) FROM renewald.credential")
            #expect(dump.contains(token), "what is looked for would be found")
            for file in ["apple.p8", "google.json", "amazon.secret"] {
                let text = try String(
                    contentsOfFile: "\(stage.folder)/stores/\(file)", encoding: .utf8)
                let keys = text.replacing("\\u000a", with: "\n").split(separator: "\n")
                    .filter { $0.count >= 32 && !$0.contains(" ") }
                #expect(!keys.isEmpty, "\(file)")
                for key in keys { #expect(!dump.contains(key), "\(file)") }
            }
        }
    }

    @Test func nothingIsLeftOfASchemaThatIsTakenAway() async throws {
        // Roles belong to the whole server: it has one of its own.
        let cluster = try await ScratchCluster()
        try await onStage(database: try await cluster.newDatabase()) { stage in
            try await buy(1, for: "ann", stage)
            try await stage.script(
                """
                CREATE ROLE myapp LOGIN IN ROLE renewald_app;
                CREATE ROLE renewald LOGIN IN ROLE renewald_worker;
                DROP SCHEMA renewald CASCADE;
                DROP ROLE renewald, renewald_worker, renewald_app
                """)
            #expect(
                try await stage.value(
                    "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'renewald%'")
                    == "0")
            let ended = try await stage.renewald("status")
            #expect(ended.exit == .code(78))
            #expect(ended.standardError.contains("no renewald schema"))
        }
    }
}
