import Foundation
import Postgres
import TestSupport
import Testing

/// Commands that ask or write for long are stopped in steps: what is in hand is done and counted,
/// and no more is begun.
@Suite(.serialized)
struct StopTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func aCheckShowsWhatItHasAskedAbout(_ signal: Int32) async throws {
        try await onStage { stage in
            try stage.configure(rate: 100_000)
            try await stage.control("latency", #"{"milliseconds":300}"#)
            let made = try await stage.buy("google", count: 60)
            try await stage.submit(made, "google") { _ in "ann" }
            let check = try stage.start(["check", "ann"])
            try await stage.wait { try await stage.questions() > 8 }
            check.send(signal)
            #expect(try await check.exit() == .code(75))
            let done = try await checked(stage)
            #expect(done > 0 && done < 60)
            #expect(try await stage.questions() == done)
            #expect(
                check.standardError.contains(
                    "renewald: interrupted: \(60 - done) purchases not asked about\n"))
            let shown = check.standardOutput
            #expect(shown.hasPrefix("ann: 60 purchases\n"))
            #expect(shown.components(separatedBy: "new -> active").count == done + 1)
            #expect(shown.components(separatedBy: "not asked about").count == 61 - done)
            #expect(
                try await stage.value(
                    "SELECT count(*) FROM renewald.schedule WHERE attempts > 0 OR crashes > 0")
                    == "0")
            try await stage.control("latency", #"{"milliseconds":0}"#)
            #expect(try await stage.renewald("check", "ann").exit == .code(0))
            #expect(try await checked(stage) == 60)
        }
    }

    private func checked(_ stage: Stage) async throws -> Int {
        try #require(
            Int(
                try await stage.value(
                    "SELECT count(*) FROM renewald.purchases WHERE state <> 'new'")))
    }

    @Test func aReleaseCountsWhatItHasLetGo() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            try await holdRevocations(on: stage)
            #expect(try await held(stage) == 100)
            try await stage.control("latency", #"{"milliseconds":300}"#)
            let release = try stage.start(["release", "--yes"])
            try await stage.wait { try await held(stage) < 100 }
            release.send(SIGTERM)
            #expect(try await release.exit() == .code(75))
            let left = try await held(stage)
            #expect(left > 0)
            #expect(
                release.standardOutput.hasSuffix(
                    "released \(100 - left), dropped 0; \(left) stay held\n"))
            #expect(
                release.standardError.contains(
                    "renewald: interrupted: run it again for what stays held\n"))
            let revokes = try await stage.value(
                "SELECT count(*) FROM renewald.events WHERE kind = 'revoke'")
            #expect(revokes == "\(120 - left)")
            try await stage.control("latency", #"{"milliseconds":0}"#)
            #expect(try await stage.renewald("release", "--yes").exit == .code(0))
            #expect(try await held(stage) == 0)
        }
    }

    /// A database that goes away in the middle takes none of the counts with it.
    @Test func aReleaseCountsWhatItHasLetGoBeforeTheDatabaseRefuses() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            try await holdRevocations(on: stage)
            let user = try await stage.value(
                "SELECT user_id FROM renewald.held ORDER BY user_id OFFSET 50 LIMIT 1")
            try await stage.script(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
                    AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON renewald.event FOR EACH ROW
                    WHEN (NEW.user_id = '\(user)') EXECUTE FUNCTION refuse();
                """)
            let refused = try await stage.renewald("release", "--yes")
            #expect(refused.exit == .code(70))
            let left = try await held(stage)
            #expect(left > 0 && left < 100)
            #expect(
                refused.standardOutput.hasSuffix(
                    "released \(100 - left), dropped 0; \(left) left\n"))
            #expect(
                refused.standardError.contains(
                    "renewald: what was let go stays so: run it again for the others\n"))
            try await stage.script("DROP TRIGGER refuse ON renewald.event")
            #expect(try await stage.renewald("release", "--yes").exit == .code(0))
            #expect(try await held(stage) == 0)
        }
    }

    /// Of 120 users whose subscription has ended, the breaker holds all but the first twenty.
    private func holdRevocations(on stage: Stage) async throws {
        let made = try await stage.buy("google", count: 120)
        try await stage.submit(made, "google") { "user-\($0)" }
        #expect(try await stage.renewald("once").exit == .code(0))
        for purchase in made { try await stage.act(purchase, "expire") }
        try await stage.pass("P8D")
        #expect(try await stage.renewald("once").exit == .code(0))
    }

    private func held(_ stage: Stage) async throws -> Int {
        try #require(Int(try await stage.value("SELECT count(*) FROM renewald.held")))
    }

    @Test func whatIsBeingAppliedIsDoneAndCounted() async throws {
        try await onStage { stage in
            let made = try await stage.buy("google", count: 600)
            try await stage.submit(made, "google") { "user-\($0)" }
            #expect(try await stage.renewald("once").exit == .code(0))
            try stage.editConfiguration {
                $0 + "\n[[product]]\nid = \"monthly\"\nentitlements = [\"monthly\", \"plus\"]\n"
            }
            let holder = PostgresConnection(PostgresSettings(conninfo: stage.conninfo))
            let apply = try await holder.transaction { session in
                try await session.script(
                    """
                    SET idle_in_transaction_session_timeout = 0;
                    LOCK TABLE renewald.event IN ACCESS EXCLUSIVE MODE;
                    """)
                let apply = try stage.start(["apply", "--yes"])
                try await stage.wait {
                    try await stage.value(
                        """
                        SELECT count(*) FROM pg_stat_activity
                        WHERE wait_event_type = 'Lock' AND datname = current_database()
                        """) != "0"
                }
                apply.send(SIGTERM)
                return apply
            }
            await holder.close()
            #expect(try await apply.exit() == .code(75))
            // What waited is one page of three.
            let done = try #require(
                Int(
                    try await stage.value(
                        "SELECT count(*) FROM renewald.events WHERE reason = 'product_changed'")))
            #expect(done > 0 && done < 600)
            #expect(
                apply.standardOutput.hasSuffix(
                    "\(done) changed\n  gain     plus: \(done) users\n"
                        + "  because  product_changed: \(done)\n"))
            #expect(
                apply.standardError.contains(
                    "interrupted: what is counted is done; run it again for the rest"))
            let again = try await stage.renewald("apply", "--yes")
            #expect(again.exit == .code(0))
            #expect(again.standardOutput.contains("600 purchases; \(600 - done) changed\n"))
        }
    }
}
