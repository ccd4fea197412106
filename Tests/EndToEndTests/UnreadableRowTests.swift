import Foundation
import TestSupport
import Testing

/// A row of the database that this program cannot read, and what is missing in its schema: who is
/// affected is named, and all others go on.
@Suite(.serialized)
struct UnreadableRowTests {
    private static let problem =
        "set_aside: its row cannot be read (column lapse): fix the row, then submit the purchase "
        + "again"

    @Test func checkNamesItAndEndsWith75() async throws {
        try await onStage { stage in
            let (bad, good) = try await Self.breakOneOfTwo(stage)
            let checked = try await stage.renewald("check", "ann")
            #expect(checked.exit == .code(75))
            Self.expect(
                checked,
                [
                    "ann: 2 purchases", "purchase \(bad): monthly", Self.problem,
                    "purchase \(good): monthly", "a row of its user cannot be read",
                ])
            // Nothing of ann's can be decided, and a dry run says the same.
            let dry = try await stage.renewald("check", "ann", "--dry-run", "--json")
            #expect(dry.exit == .code(75))
            Self.expect(
                dry, [#""id":\#(bad)"#, #""problem":"\#(Self.problem)""#, #""id":\#(good)"#])
            #expect(try await stage.renewald("check", "bob").exit == .code(0))
            try await stage.script("UPDATE renewald.purchase SET lapse = NULL")
            #expect(try await stage.renewald("check", "ann").exit == .code(0))
            let state = try await stage.value(
                "SELECT state FROM renewald.purchases WHERE id = \(good)")
            #expect(state == "refunded")
        }
    }

    @Test func explainShowsItBesideTheOthers() async throws {
        try await onStage { stage in
            let (bad, good) = try await Self.breakOneOfTwo(stage)
            let told = try await stage.renewald("explain", "ann")
            #expect(told.exit == .code(0))
            Self.expect(
                told,
                [
                    "ann: 2 purchases", "purchase \(bad): monthly, google", "(column lapse)",
                    "purchase \(good): monthly", "holds monthly until",
                ])
            #expect(!told.standardOutput.contains("another user"))
            let json = try await stage.renewald("explain", "ann", "--json")
            Self.expect(json, [#""unread":[{"#, #""problem":"\#(Self.problem)""#])
            let page = try await stage.renewald("explain", "ann", "--html", "-")
            Self.expect(page, ["Purchase \(bad): monthly, google", "(column lapse)"])
        }
    }

    @Test func theDaemonSetsItAsideOnceAndSaysWhatToDo() async throws {
        try await onStage { stage in
            let (bad, _) = try await Self.breakOneOfTwo(stage)
            let daemon = try stage.daemon()
            for _ in 1...2 {
                let before = try await stage.questions()
                try await stage.script(
                    """
                    UPDATE renewald.schedule SET due_at = now()
                    WHERE coalesce(problem, '') NOT LIKE 'set_aside%'
                    """)
                // Bob's is asked about, and the other of ann's.
                try await stage.wait { try await stage.questions() >= before + 2 }
            }
            try await stage.wait {
                try await stage.value(
                    "SELECT problem FROM renewald.purchases WHERE id = \(bad)") == Self.problem
            }
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
            let lines = daemon.lines.filter { $0.contains("purchase \(bad): set_aside: ") }
            #expect(lines.count == 1, "\(lines)")
            #expect(lines.first?.contains("fix the row, then submit") == true)
            #expect(lines.first?.contains(" err ") == true, "\(lines)")
        }
    }

    /// What is done to the schema, what a command says, and its exit code.
    static let faults = rows(
        """
        command  exit  says        script
        check    78    lapse       ALTER TABLE renewald.purchase RENAME COLUMN lapse TO other
        check    78    crashes     ALTER TABLE renewald.schedule RENAME COLUMN crashes TO other
        check    78    free_at     ALTER TABLE renewald.bucket RENAME COLUMN free_at TO other
        check    78    evidence    ALTER TABLE renewald.evidence RENAME TO other
        check    77    purchase    REVOKE SELECT ON renewald.purchase FROM renewald_worker
        check    77    purchase    REVOKE UPDATE ON renewald.purchase FROM renewald_worker
        check    77    schedule    REVOKE UPDATE ON renewald.schedule FROM renewald_worker
        check    77    bucket      REVOKE UPDATE ON renewald.bucket FROM renewald_worker
        check    77    event       REVOKE INSERT ON renewald.event FROM renewald_worker
        status   78    due_at      ALTER TABLE renewald.schedule RENAME COLUMN due_at TO other
        status   78    free_at     ALTER TABLE renewald.bucket RENAME COLUMN free_at TO other
        status   77    schedule    REVOKE SELECT ON renewald.schedule FROM renewald_worker
        status   77    worker      REVOKE SELECT ON renewald.worker FROM renewald_worker
        explain  77    evidence    REVOKE SELECT ON renewald.evidence FROM renewald_worker
        once     78    lapse       ALTER TABLE renewald.purchase RENAME COLUMN lapse TO other
        once     78    in_hand     ALTER TABLE renewald.shard RENAME COLUMN in_hand TO other
        once     77    credential  REVOKE SELECT ON renewald.credential FROM renewald_worker
        once     77    event       REVOKE INSERT ON renewald.event FROM renewald_worker
        once     77    bucket      REVOKE UPDATE ON renewald.bucket FROM renewald_worker
        export   77    credential  REVOKE SELECT ON renewald.credential FROM renewald_worker
        plan     77    schedule    REVOKE SELECT ON renewald.schedule FROM renewald_worker
        """)

    /// Nobody waits for what does not come back by itself.
    @Test func whatIsMissingIsNamedAtOnce() async throws {
        for row in Self.faults {
            try await onStage { stage in
                try await stage.submit(stage.buy("google")[0], "google", for: "ann")
                let role = try await stage.value("current_database()") + "_role"
                try await stage.script("CREATE ROLE \(role) LOGIN IN ROLE renewald_worker")
                try stage.useDatabase(
                    stage.conninfo.replacingOccurrences(
                        of: "user=postgres", with: "user=\(role)"))
                try await stage.script(row[3])
                let isAboutAUser = ["check", "explain"].contains(row[0])
                var command = [row[0]]
                if isAboutAUser { command.append("ann") }
                if row[0] == "export" { command.append("--all") }
                let child = try stage.start(command)
                let exit = try await child.exit(within: .seconds(20))
                #expect(exit == .code(Int32(row[1]) ?? 0), "\(row) \(child.standardError)")
                #expect(child.standardError.contains(row[2]), "\(row) \(child.standardError)")
                try stage.useDatabase(stage.conninfo)
                try await stage.script("DROP ROLE \(role)")
            }
        }
    }

    // MARK: Helpers

    /// Ann has two purchases, of which one cannot be read then; bob has one.
    private static func breakOneOfTwo(_ stage: Stage) async throws -> (bad: Int64, good: Int64) {
        let made = try await stage.buy("google", count: 3)
        let bad = try await stage.submit(made[0], "google", for: "ann")
        let good = try await stage.submit(made[1], "google", for: "ann")
        try await stage.submit(made[2], "google", for: "bob")
        let ended = try await stage.renewald("once")
        #expect(ended.exit == .code(0), "\(ended.standardError)")
        try await stage.act(made[1], "refund")
        try await stage.script(
            "UPDATE renewald.purchase SET lapse = 'nonsense' WHERE id = \(bad)")
        return (bad, good)
    }

    private static func expect(
        _ ended: Stage.Ended, _ words: [String], at place: SourceLocation = #_sourceLocation
    ) {
        for word in words {
            #expect(
                ended.standardOutput.contains(word),
                "\(word) in\n\(ended.standardOutput)\n\(ended.standardError)",
                sourceLocation: place)
        }
    }
}
