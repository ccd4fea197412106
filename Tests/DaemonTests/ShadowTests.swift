import Daemon
import Explain
import Foundation
import Ledger
import Postgres
import Renewal
import Synchronization
import TestSupport
import Testing

/// What another system believes beside a small fleet, and what is kept of it between the runs.
@Suite(.serialized) struct ShadowTests {
    private static let all = ["ann", "bob", "cyd", "dan"]

    private func fleet() async throws -> KeptFleet {
        let fleet = try await KeptFleet(
            users: Dictionary(uniqueKeysWithValues: Self.all.map { ($0, ["pro"]) }))
        try await fleet.script(
            """
            CREATE TABLE public.belief (who text, what text DEFAULT 'pro', yes bool);
            INSERT INTO public.belief (who, yes) VALUES
                ('ann', true), ('bob', true), ('cyd', true), ('dan', true)
            """)
        return fleet
    }

    private static let query =
        "SELECT yes AS active, who AS user_id, what AS entitlement FROM belief"

    private func shadow(
        _ fleet: KeptFleet, _ query: String = Self.query,
        _ change: (inout Shadow.Options) -> Void = { _ in }
    ) async throws -> (ShadowReport, [String]) {
        var options = Shadow.Options(
            .query(query, conninfo: nil, within: .seconds(60)))
        change(&options)
        let lines = Mutex<[String]>([])
        let report = try await Shadow(
            fleet.ledger, database: fleet.conninfo, catalog: Catalog(), options
        ) { line in
            lines.withLock {
                $0.append(
                    "\(line.userID) \(line.entitlement) \(line.who.rawValue) "
                        + "\(line.cause.rawValue)\(line.isSettled ? "" : " unsettled")")
            }
        }.run()
        let run = report.run
        #expect(run.compared == run.agree + run.unsettled + run.theyGrant + run.weGrant)
        #expect(report.tallies.map(\.count).reduce(0, +) == run.theyGrant + run.weGrant)
        #expect(try await fleet.number("SELECT count(*) FROM renewald.shadow_theirs") == 0)
        return (report, lines.withLock { $0.sorted() })
    }

    @Test func allAgreeAndNothingElseIsWritten() async throws {
        let fleet = try await fleet()
        let before = try await fleet.everything()
        let (report, lines) = try await shadow(fleet)
        #expect(report.run.compared == 4 && report.run.agree == 4 && !report.differs)
        #expect(lines == [])
        #expect(try await fleet.everything() == before)
        let json =
            #"{"agree":4,"compared":4,"healed":0,"they_grant":{},"unsettled":0,"we_grant":{}}"#
        #expect(try report.line() == json)
        await fleet.close()
    }

    @Test func aDifferenceIsKeptUntilItHeals() async throws {
        let fleet = try await fleet()
        try await fleet.script(
            """
            UPDATE public.belief SET yes = false WHERE who = 'ann';
            DELETE FROM public.belief WHERE who = 'bob';
            INSERT INTO public.belief (who, yes) VALUES ('eve', true), ('flo', false)
            """)
        let wrong = ["ann pro we_grant renewal_unseen", "bob pro we_grant renewal_unseen"]
        let (first, lines) = try await shadow(fleet)
        #expect(first.run.compared == 6 && first.run.agree == 3 && first.run.healed == 0)
        #expect(lines == wrong + ["eve pro they_grant unknown_user"])
        let seen = try await fleet.list(
            "SELECT first_seen_at::text FROM renewald.shadow_difference ORDER BY id")

        try await fleet.script("DELETE FROM public.belief WHERE who = 'eve'")
        let (second, again) = try await shadow(fleet)
        #expect(second.run.healed == 1 && second.run.compared == 5)
        #expect(again == wrong)
        #expect(
            try await fleet.list(
                "SELECT first_seen_at::text FROM renewald.shadow_difference ORDER BY id") == seen)
        #expect(
            try await fleet.list(
                "SELECT user_id FROM renewald.shadow_difference WHERE healed_at IS NOT NULL")
                == ["eve"])

        // The other way round is another difference, and comes back as a new one.
        try await fleet.script("INSERT INTO public.belief (who, yes) VALUES ('eve', true)")
        #expect(try await shadow(fleet).0.run.healed == 0)
        #expect(try await fleet.number("SELECT count(*) FROM renewald.shadow_difference") == 4)
        #expect(second.history.count == 2)
        #expect(try await shadow(fleet).0.history.map(\.healed) == [0, 1, 0, 0])
        await fleet.close()
    }

    /// Who has handed in what another has is no stranger, and neither is who it was taken from.
    @Test func whatTwoHaveHandedInIsTheOthers() async throws {
        let fleet = try await fleet()
        try await fleet.script("INSERT INTO public.belief (who, yes) VALUES ('eve', true)")
        try await fleet.claim(of: "ann", by: "eve")
        #expect(try await shadow(fleet).1 == ["eve pro they_grant unknown_user"])
        var rules = Rules()
        rules.policy.shared = .move
        _ = try await fleet.hear(rules)
        #expect(try await shadow(fleet).1 == ["ann pro they_grant expiry_unseen"])
        _ = try await fleet.hear(rules) { claim in
            var observation = KeptFleet.inForce(claim)
            guard claim.purchase.userID == "eve" else { return observation }
            observation.observed = .own(.refunded(at: claim.purchase.createdAt))
            return observation
        }
        #expect(
            try await shadow(fleet).1 == [
                "ann pro they_grant refund_unseen", "eve pro they_grant refund_unseen",
            ])
        await fleet.close()
    }

    /// A difference counts once it is so old.
    @Test func aYoungDifferenceIsUnsettled() async throws {
        let fleet = try await fleet()
        try await fleet.script("UPDATE public.belief SET yes = false WHERE who IN ('ann', 'bob')")
        let (young, lines) = try await shadow(fleet) { $0.settle = .hours(1) }
        #expect(young.run.unsettled == 2 && young.run.agree == 2 && !young.differs)
        #expect(lines.allSatisfy { $0.hasSuffix(" unsettled") } && lines.count == 2)
        try await fleet.script(
            """
            UPDATE renewald.shadow_difference SET first_seen_at = first_seen_at - interval '2 hours'
            WHERE user_id = 'ann'
            """)
        let (older, told) = try await shadow(fleet) { $0.settle = .hours(1) }
        #expect(older.run.unsettled == 1 && older.run.weGrant == 1)
        #expect(
            told == [
                "ann pro we_grant renewal_unseen", "bob pro we_grant renewal_unseen unsettled",
            ])
        #expect(try await shadow(fleet).0.run.weGrant == 2, "without --settle all of them count")
        // First seen in the future, before the clock was set back.
        try await fleet.script(
            "UPDATE renewald.shadow_difference SET first_seen_at = now() + interval '3 days'")
        let (early, all) = try await shadow(fleet)
        #expect(early.run.weGrant == 2 && early.differs)
        #expect(!all.contains { $0.hasSuffix(" unsettled") })
        #expect(try await shadow(fleet) { $0.settle = .hours(1) }.0.run.unsettled == 2)
        await fleet.close()
    }

    /// Two systems have notes of their own, and so have entitlements that are compared alone.
    @Test func systemsAndEntitlementsAreKeptApart() async throws {
        let fleet = try await fleet()
        try await fleet.script(
            "INSERT INTO public.belief (who, what, yes) VALUES ('ann', 'plus', true)")
        let (both, lines) = try await shadow(fleet)
        #expect(both.run.theyGrant == 1)
        #expect(lines == ["ann plus they_grant product_not_mapped"])
        let (alone, _) = try await shadow(fleet) { $0.only = ["pro"] }
        #expect(alone.run.compared == 4 && alone.run.agree == 4 && alone.run.healed == 0)
        let none = "SELECT who AS user_id, what AS entitlement, yes AS active FROM belief LIMIT 0"
        let (other, _) = try await shadow(fleet, none) { $0.system = "vendor" }
        #expect(other.run.weGrant == 4 && other.run.healed == 0 && other.history.count == 1)
        try await fleet.script("DELETE FROM public.belief WHERE what = 'plus'")
        #expect(try await shadow(fleet).0.run.healed == 1)
        await fleet.close()
    }

    /// Users are the same by their bytes, as in the database.
    @Test func identityIsBytes() async throws {
        let names = ["jos\u{e9}", "jose\u{301}", "K", "\u{212a}"]
        let fleet = try await KeptFleet(
            users: Dictionary(
                uniqueKeysWithValues: [names[0], names[2]].map { ($0, ["pro"]) }))
        try await fleet.script("CREATE TABLE public.belief (who text)")
        for name in names {
            try await fleet.script("INSERT INTO public.belief VALUES ('\(name)')")
        }
        let (report, lines) = try await shadow(
            fleet, "SELECT who AS user_id, 'pro' AS entitlement, 1 AS active FROM belief")
        #expect(report.run.compared == 4 && report.run.agree == 2)
        #expect(report.run.theyGrant == 2)
        let strangers = [names[1], names[3]].map { "\($0) pro they_grant unknown_user" }
        #expect(Set(lines.map { Array($0.utf8) }) == Set(strangers.map { Array($0.utf8) }))
        await fleet.close()
    }

    @Test func twoAtOnceFollowEachOther() async throws {
        let fleet = try await fleet()
        try await fleet.script("UPDATE public.belief SET yes = false WHERE who = 'ann'")
        let reports = try await withThrowingTaskGroup(of: ShadowReport.self) { tasks in
            for _ in 0..<4 { tasks.addTask { try await shadow(fleet).0 } }
            var reports: [ShadowReport] = []
            for try await report in tasks { reports.append(report) }
            return reports
        }
        #expect(reports.allSatisfy { $0.run.weGrant == 1 && $0.run.healed == 0 })
        #expect(try await fleet.number("SELECT count(*) FROM renewald.shadow_difference") == 1)
        #expect(try await fleet.number("SELECT max(run) FROM renewald.shadow_run") == 4)
        await fleet.close()
    }

    // MARK: What cannot be compared

    @Test(arguments: [
        ("SELECT who AS user_id, yes AS active FROM belief", "the column entitlement is missing"),
        ("SELECT NULL AS user_id, 'pro' AS entitlement, true AS active", "row 1: user_id is NULL"),
        (
            "SELECT who AS user_id, what AS entitlement, nullif(yes, who = 'ann') AS active "
                + "FROM belief", "row 1: active is NULL"
        ),
        (
            "SELECT 'a' AS user_id, 'pro' AS entitlement, 'maybe' AS active",
            "active is neither true nor false"
        ),
        (
            "SELECT 'a' AS user_id, 'b' AS user_id, 'pro' AS entitlement, true AS active",
            "two columns have the name user_id"
        ),
        (
            "VALUES ('ann', 'pro', true)", "the column user_id is missing; there are column1"
        ),
        (
            "SELECT who AS user_id, what AS entitlement, yes AS active FROM belief UNION ALL "
                + "SELECT 'ann', 'pro', false", "1 duplicates contradict each other"
        ),
    ])
    func saysWhatIsWrong(_ query: String, _ sentence: String) async throws {
        let fleet = try await fleet()
        await #expect {
            _ = try await shadow(fleet, query)
        } throws: { error in
            guard case .data(let reason) = error as? ShadowStop else { return false }
            return reason.contains(sentence)
        }
        #expect(try await fleet.number("SELECT count(*) FROM renewald.shadow_run") == 0)
        await fleet.close()
    }

    /// The same said twice is no contradiction.
    @Test func aDuplicateIsCountedOnce() async throws {
        let fleet = try await fleet()
        let (report, _) = try await shadow(
            fleet, Self.query + " UNION ALL " + Self.query)
        #expect(report.run.compared == 4 && report.run.agree == 4 && report.doubled == 4)
        await fleet.close()
    }

    @Test(arguments: ["true", "'t'", "'TRUE'", "1", "1.0", "'yes'", "'on'", "'Y'", "b'1'", "'1'"])
    func knowsTruthInEachForm(_ form: String) async throws {
        let fleet = try await fleet()
        let (report, _) = try await shadow(
            fleet,
            "SELECT who AS \"User_ID\", 'pro' AS entitlement, \(form) AS active, "
                + "now() AS expires_at, 7 AS more FROM belief")
        #expect(report.run.agree == 4)
        await fleet.close()
    }

    @Test(arguments: ["17::int8", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", "'17'::char(20)"])
    func knowsUsersInEachForm(_ form: String) async throws {
        let fleet = try await KeptFleet(users: [
            "17": ["pro"], "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11": ["pro"],
        ])
        let (report, _) = try await shadow(
            fleet, "SELECT \(form) AS user_id, 'pro' AS entitlement, true AS active")
        #expect(report.run.agree == 1 && report.run.weGrant == 1 && report.run.theyGrant == 0)
        await fleet.close()
    }

    // MARK: Files

    @Test func readsAFile() async throws {
        let fleet = try await fleet()
        let path = NSTemporaryDirectory() + "/rw-shadow-\(UUID()).csv"
        defer { try? FileManager.default.removeItem(atPath: path) }
        func report(_ text: String) async throws -> ShadowReport {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            return try await shadow(fleet) { $0.source = .file(path) }.0
        }
        let lines = "active;user_id;entitlement\r\n1;ann;pro\r\n0;\"bob\";pro\r\nno;cyd;pro\r\n"
        let read = try await report("\u{feff}" + lines)
        #expect(read.run.compared == 4 && read.run.agree == 1 && read.run.weGrant == 3)
        for (text, sentence) in [
            ("user_id,entitlement,active\nann,pro\n", "line 2: it has 2 fields"),
            ("user_id,entitlement,active\nann,pro,\n", "line 2: active is NULL"),
            ("user_id,active\nann,1\n", "the column entitlement is missing"),
            ("", "it is empty"), ("user_id,entitlement,active\n\"ann,pro,1\n", "never closed"),
        ] {
            await #expect {
                _ = try await report(text)
            } throws: { error in
                (error as? ShadowStop)?.reason.contains(sentence) == true
            }
        }
        await fleet.close()
    }
}
