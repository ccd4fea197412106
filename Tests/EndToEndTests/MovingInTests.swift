import Foundation
import TestSupport
import Testing

/// A fleet that was sold before renewald came moves in.
@Suite(.serialized)
struct MovingInTests {
    private struct Totals: Decodable, Equatable {
        let read: Int
        let submitted: Int
        let known: Int
        let bad: Int
    }

    /// Of each store. `RENEWALD_FLEET=20000` for a large one.
    private static let count =
        ProcessInfo.processInfo.environment["RENEWALD_FLEET"].flatMap(Int.init).map { $0 / 3 } ?? 40
    /// How long a pass over all may take.
    private static let patience = Duration.seconds(120 + count / 10)
    private static let further = 12_000

    /// People of all three stores who have lived on for two months: some have cancelled, got their
    /// money back, or cannot pay.
    private func livedIn(_ stage: Stage) async throws -> String {
        var lines = "user_id,store,product,token,store_user_id\n"
        for store in ["apple", "google", "amazon"] {
            let made = try await stage.buy(store, count: Self.count)
            for (index, purchase) in made.enumerated() {
                switch index % 8 {
                case 1: try await stage.act(purchase, "cancel")
                case 2: try await stage.act(purchase, "refund")
                case 3 where store != "amazon": try await stage.act(purchase, "fail_payment")
                default: break
                }
                lines +=
                    "\(store) \(index),\(store),\(purchase.product),\(purchase.token),"
                    + "\(purchase.store_user_id ?? "")\n"
            }
        }
        try await stage.pass("P45D")
        return lines
    }

    private func decoded(_ ended: Stage.Ended) throws -> Totals {
        try JSONDecoder().decode(Totals.self, from: Data(ended.standardOutput.utf8))
    }

    @Test func aBaselineTellsNothingAndEveryLaterChangeIsTold() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            let file = "\(stage.folder)/fleet.csv"
            let lines = try await livedIn(stage) + "nobody,google,,,\n"
            try Data(lines.utf8).write(to: URL(fileURLWithPath: file))
            let ended = try await stage.renewald(
                "import", file, "--baseline", "--json", within: Self.patience)
            #expect(ended.exit == .code(0), "\(ended.standardError)")
            let all = 3 * Self.count
            #expect(
                try decoded(ended) == Totals(read: all + 1, submitted: all, known: 0, bad: 1))
            #expect(ended.standardError.contains("line \(all + 2): product is empty"))
            let status = try await stage.renewald("status").standardOutput
            #expect(status.contains("back-fill     0 done, \(Self.count) left, about "))

            var once = try await stage.renewald("once", within: Self.patience)
            #expect(once.exit == .code(0), "\(once.standardError)")
            // What a store does not know any more is asked about again, and not told.
            try await stage.pass("PT12H")
            once = try await stage.renewald("once", within: Self.patience)
            #expect(try await stage.value("SELECT count(*) FROM renewald.events") == "0")
            let active = try await stage.value(
                "SELECT count(*) FROM renewald.entitlements WHERE active")
            #expect(try #require(Int(active)) > all / 2)
            #expect(
                try await stage.value("SELECT count(*) FROM renewald.purchase WHERE baseline")
                    == "0")

            try await stage.pass("P32D")
            _ = try await stage.renewald("once", within: Self.patience)
            let told = try await stage.value(
                "SELECT string_agg(DISTINCT kind, ' ' ORDER BY kind) FROM renewald.events")
            #expect(told.contains("notice"))
            #expect(
                try await stage.value(
                    """
                    SELECT count(*) FROM renewald.entitlement
                    WHERE NOT active AND NOT EXISTS (
                        SELECT FROM renewald.event WHERE event.kind = 'revoke'
                            AND event.user_id = entitlement.user_id)
                    """) == "0", "whoever has lost it was told of")
        }
    }

    /// Whoever is in force is congratulated, as after `submit`.
    @Test func withoutABaselineTheFirstSightIsTold() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            let file = "\(stage.folder)/fleet.csv"
            try Data(try await livedIn(stage).utf8).write(to: URL(fileURLWithPath: file))
            #expect(try await stage.renewald("import", file).exit == .code(0))
            let once = try await stage.renewald("once", within: Self.patience)
            #expect(once.exit == .code(0), "\(once.standardError)")
            let (active, told) = (
                "SELECT count(*) FROM renewald.entitlements WHERE active",
                "SELECT count(*) FROM renewald.events WHERE kind = 'grant'"
            )
            let granted = try await stage.value(told)
            #expect(try await stage.value(active) == granted)
            #expect(try #require(Int(granted)) > 3 * Self.count / 2)
        }
    }

    /// Killed at any instant and gone on with: the same fleet, and the same totals.
    @Test func comesThroughKills() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            let command = try await furtherImport(on: stage)
            var random = SeededGenerator(seed: 17)
            for _ in 0..<10 {
                let child = try stage.start(command)
                child.send(
                    SIGKILL, after: .milliseconds(Int.random(in: 40...500, using: &random)))
                _ = try await child.exit(within: .seconds(60))
            }
            try await expectWholeFleet(by: command, on: stage)
        }
    }

    /// One of them goes on; the other one, if it comes before that has ended, writes nothing more.
    @Test func twoAtOnceDoNotWriteOverEachOther() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            let command = try await furtherImport(on: stage)
            let both = try [stage.start(command), stage.start(command)]
            for child in both {
                let ended = try await child.exit(within: .seconds(120))
                let isOvertaken = child.standardError.contains("another import of this file")
                #expect(ended == .code(isOvertaken ? 75 : 0), "\(child.standardError)")
            }
            try await expectWholeFleet(by: command, on: stage)
        }
    }

    /// - Returns: the command that imports a large file with some bad lines, from wherever it is.
    private func furtherImport(on stage: Stage) async throws -> [String] {
        var lines = "user_id,store,app,product,token\n"
        for number in 1...Self.further {
            lines += "user \(number % 9000),google,com.example.other,pro,\(number % 11_000)\n"
            if number.isMultiple(of: 1000) { lines += "nobody,google,com.example.other,,1\n" }
        }
        let file = "\(stage.folder)/fleet.csv"
        try Data(lines.utf8).write(to: URL(fileURLWithPath: file))
        // Slow commits, so that many a kill leaves one under way.
        try await stage.script(
            """
            CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER dawdle AFTER UPDATE ON renewald.import
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION dawdle();
            """)
        return ["import", file, "--resume", "--json", "--rejects", "\(file).bad"]
    }

    /// Runs the command to its end: nothing is missing, and nothing was counted twice.
    private func expectWholeFleet(by command: [String], on stage: Stage) async throws {
        let whole = try stage.start(command)
        let ended = try await whole.exit(within: .seconds(120))
        #expect(ended == .code(0), "\(whole.standardError)\(stage.databaseLog)")
        let totals = try JSONDecoder().decode(Totals.self, from: Data(whole.standardOutput.utf8))
        #expect(
            totals
                == Totals(
                    read: Self.further + 12, submitted: 11_000, known: Self.further - 11_000,
                    bad: 12))
        #expect(try await stage.value("SELECT count(*) FROM renewald.purchase") == "11000")
        let bad = try String(contentsOfFile: "\(command[1]).bad", encoding: .utf8)
        #expect(bad.split(separator: "\n").count == 13)
    }
}
