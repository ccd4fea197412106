import Explain
import Foundation
import Postgres
import Renewal
import Synchronization
import TestSupport
import Testing

@testable import Daemon
@testable import Ledger

/// Files taken in, on a database of their own.
@Suite(.serialized) struct ImportTests {
    private struct Stage {
        let ledger: PostgresLedger
        let beside: PostgresConnection
        let folder: URL

        init() async throws {
            let conninfo = try await ScratchCluster.shared().newMigratedDatabase()
            let settings = PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60))
            beside = PostgresConnection(settings)
            ledger = PostgresLedger(settings)
            folder = FileManager.default.temporaryDirectory.appending(
                path: "import-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        func close() async {
            await ledger.close()
            await beside.close()
            try? FileManager.default.removeItem(at: folder)
        }

        func path(_ name: String) -> String { folder.appending(path: name).path }

        func write(_ text: String, _ name: String = "fleet.csv") throws {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }

        func read(_ name: String) throws -> String {
            String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
        }

        func list(_ sql: String) async throws -> [String] {
            try await beside.query(PostgresStatement(sql, isReadOnly: false)).rows.map {
                $0.isNull(0) ? "-" : try $0.text(0)
            }
        }

        /// Waits until a session is in that state. The server itself waits between two looks.
        func wait(_ connection: PostgresConnection, until condition: String) async throws {
            let sql = """
                SELECT pid FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND \(condition)
                """
            for _ in 0..<3000 {
                if try await !connection.query(PostgresStatement(sql)).rows.isEmpty { return }
                _ = try await connection.query(
                    PostgresStatement("SELECT FROM pg_stat_clear_snapshot(), pg_sleep(0.01)"))
            }
            Issue.record("no session has come to \(condition)")
        }

        /// All but the times and how far files were read.
        func fleet() async throws -> [String] {
            try await list(
                """
                SELECT concat_ws(' ', app.store, app.app, purchase.user_id, credential.token,
                    purchase.product, purchase.version, purchase.claimed_by, purchase.baseline,
                    schedule.due_at, credential.store_user_id,
                    (SELECT string_agg(claimant.user_id, ',' ORDER BY claimant.user_id)
                     FROM renewald.claimant WHERE claimant.id = purchase.id))
                FROM renewald.purchase JOIN renewald.app USING (lane)
                JOIN renewald.credential USING (shard, id)
                JOIN renewald.schedule USING (shard, id) ORDER BY 1
                """)
        }

        /// What is said of bad lines, and the totals.
        func run(
            _ name: String = "fleet.csv", _ change: (inout Import.Options) -> Void = { _ in }
        ) async throws -> (Import.Totals, bad: [String]) {
            let bad = Mutex<[String]>([])
            var options = Import.Options(path(name), ImportColumns())
            change(&options)
            let totals = try await Import(ledger, options) { news in
                if case .badLine(let number, let reason) = news {
                    bad.withLock { $0.append("\(number): \(reason)") }
                }
            }.run()
            return (totals, bad.withLock { $0 })
        }
    }

    private func onStage(_ body: (Stage) async throws -> Void) async throws {
        let stage = try await Stage()
        do {
            try await body(stage)
        } catch {
            await stage.close()
            throw error
        }
        await stage.close()
    }

    private static let header = "user_id,store,app,product,token,store_user_id\n"

    private static func fleet(_ count: Int) -> String {
        header
            + (1...count).map { "user \($0),google,com.example,pro,token \($0),\n" }.joined()
    }

    private func totals(_ submitted: Int64, _ known: Int64, _ bad: Int64) -> Import.Totals {
        var totals = Import.Totals()
        (totals.submitted, totals.known, totals.bad) = (submitted, known, bad)
        return totals
    }

    @Test func theSameFileTwiceChangesNothing() async throws {
        try await onStage { stage in
            try stage.write(
                "\n\r\n" + Self.fleet(5000) + "user 1,google,com.example,pro,token 7,\n"
                    + "user 9,google,com.example,pro,token 9,\n")
            #expect(try await stage.run().0 == totals(5000, 2, 0))
            let fleet = try await stage.fleet()
            #expect(fleet.count == 5000)
            #expect(fleet.filter { $0.hasSuffix(" user 1") }.count == 1)
            for _ in 0..<2 {
                #expect(try await stage.run().0 == totals(0, 5002, 0))
                #expect(try await stage.fleet() == fleet)
            }
            #expect(try await stage.list("SELECT total::text FROM renewald.backfill") == ["5000"])
        }
    }

    @Test func everyBadLineIsNamedAndKeptAndTheRestGoesOn() async throws {
        try await onStage { stage in
            let bad = [
                "ann,itunes,com.example,pro,t1,\n", "ann,google,com.example,pro\r\n",
                "\"ann,google,com.example,pro,t2,\n", ",google,com.example,pro,t3,\n",
                "ann,amazon,com.example,pro,t4,",
            ]
            try stage.write(
                Self.header + bad[0] + "bob,google,com.example,pro,t5,\n\n" + bad[1]
                    + "\"cid\nder\",google,com.example,pro,t6,\n" + bad[2] + bad[3]
                    + "dee,google,com.example,pro,t7,\n" + bad[4])
            let (found, named) = try await stage.run { $0.rejects = stage.path("bad.csv") }
            #expect(found == totals(3, 0, 5))
            #expect(found.read == 8)
            #expect(
                named == [
                    "2: unknown store 'itunes'", "5: it has 4 fields, and the header has 6",
                    "8: a quotation mark is never closed", "9: user_id is empty",
                    "11: store_user_id is empty",
                ])
            #expect(try stage.read("bad.csv") == Self.header + bad.joined())
            let mode = try FileManager.default.attributesOfItem(atPath: stage.path("bad.csv"))
            #expect((mode[.posixPermissions] as? Int) == 0o600)
            #expect(
                try await stage.list("SELECT user_id FROM renewald.purchase ORDER BY 1")
                    == ["bob", "cid\nder", "dee"])
            // Mended, they are a file to be imported.
            try stage.write(try stage.read("bad.csv").replacing("itunes", with: "apple"), "m.csv")
            #expect(try await stage.run("m.csv").0 == totals(1, 0, 4))
        }
    }

    @Test func aDryRunCountsWhatWouldBeAndWritesNothing() async throws {
        try await onStage { stage in
            try stage.write(Self.fleet(10))
            _ = try await stage.run()
            let before = try await stage.list("SELECT t::text FROM renewald.import AS t")
            try stage.write(
                Self.fleet(4000) + "x,google,com.example,pro,token 3999,\n,,,,,\n", "more.csv")
            try stage.write("of an import before", "bad.csv")
            let rejects = stage.path("bad.csv")
            let (found, named) = try await stage.run("more.csv") {
                $0.isDryRun = true
                $0.rejects = rejects
            }
            #expect(try stage.read("bad.csv") == "of an import before")
            #expect(named == ["4003: unknown store NULL"])
            #expect(try await stage.list("SELECT count(*)::text FROM renewald.purchase") == ["10"])
            #expect(try await stage.list("SELECT t::text FROM renewald.import AS t") == before)
            #expect(try await stage.run("more.csv").0 == found)
            #expect(found == totals(3990, 11, 1))
        }
    }

    @Test func whatWasBegunIsGoneOnWith() async throws {
        try await onStage { stage in
            let lines = Self.fleet(6500) + ",,,,,\n" + "x,google,com.example,pro,token 17,\n"
            try stage.write(lines.replacing("user 3,", with: ","))
            // A batch is refused, as by a database that goes away.
            try await stage.beside.script(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE 'no'; END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON renewald.credential FOR EACH ROW
                    WHEN (NEW.token = 'token 4321') EXECUTE FUNCTION refuse();
                """)
            let rejects = stage.path("bad.csv")
            await #expect(throws: LedgerError.self) {
                _ = try await stage.run { $0.rejects = rejects }
            }
            #expect(
                try await stage.list("SELECT count(*)::text FROM renewald.purchase") == ["3999"])
            // As if a batch had written its bad lines and been killed before its commit.
            try stage.write(try stage.read("bad.csv") + "what was not committed", "bad.csv")
            try await stage.beside.script("DROP TRIGGER refuse ON renewald.credential")
            await #expect(throws: Import.Stop.self) {
                _ = try await stage.run {
                    $0.goesOn = true
                    $0.isBaseline = true
                }
            }
            let (found, named) = try await stage.run {
                $0.goesOn = true
                $0.rejects = rejects
            }
            #expect(found == totals(6499, 1, 2))
            #expect(named == ["6502: unknown store NULL"])
            #expect(
                try stage.read("bad.csv")
                    == Self.header + ",google,com.example,pro,token 3,\n,,,,,\n")
            #expect(try await stage.run { $0.goesOn = true }.0 == found, "it is done")
            #expect(try await stage.run().0 == totals(0, 6500, 2), "it begins anew")
        }
    }

    /// Who was killed may have sent a commit last: beginning before it, the next would cut the file
    /// of bad lines shorter than that commit says it is, and nobody could go on.
    @Test func waitsForTheLastCommitOfWhoWasKilled() async throws {
        try await onStage { stage in
            try stage.write(Self.fleet(2500) + ",,,,,\n")
            let rejects = stage.path("bad.csv")
            let (whole, _) = try await stage.run { $0.rejects = rejects }
            try await stage.beside.script(
                """
                CREATE TABLE public.done AS TABLE renewald.import;
                UPDATE renewald.import
                SET place = 0, line = 1, submitted = 0, known = 0, bad = 0, rejected = 0;
                """)
            let next = try await stage.beside.transaction { connection in
                try await connection.script(
                    """
                    UPDATE renewald.import SET (place, line, submitted, known, bad, rejected)
                        = (SELECT place, line, submitted, known, bad, rejected FROM public.done)
                    """)
                let next = Task {
                    try await stage.run {
                        $0.goesOn = true
                        $0.rejects = rejects
                    }
                }
                try await stage.wait(connection, until: "wait_event_type = 'Lock'")
                return next
            }
            #expect(try await next.value.0 == whole)
            #expect(try stage.read("bad.csv") == Self.header + ",,,,,\n")
        }
    }

    /// Another run of the same file has come further: this one takes in nothing more, and leaves
    /// the file of bad lines as the other one knows it.
    @Test func endsWhenItIsOvertaken() async throws {
        try await onStage { stage in
            try stage.write(Self.fleet(5000).replacing("user 3,", with: ",") + ",,,,,\n")
            try await stage.beside.script(
                """
                CREATE FUNCTION further() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN NEW.known := NEW.known + 1; RETURN NEW; END $$;
                CREATE TRIGGER further BEFORE UPDATE OF place ON renewald.import
                    FOR EACH ROW WHEN (NEW.place > 0) EXECUTE FUNCTION further();
                """)
            await #expect(throws: Import.Stop.overtaken) {
                _ = try await stage.run { $0.rejects = stage.path("bad.csv") }
            }
            #expect(
                try await stage.list("SELECT count(*)::text FROM renewald.purchase") == ["1999"])
            #expect(
                try stage.read("bad.csv") == Self.header + ",google,com.example,pro,token 3,\n")
        }
    }

    /// A batch may end within a line that is too long: what is left of it is no line.
    @Test func isGoneOnWithWithinALineThatIsTooLong() async throws {
        try await onStage { stage in
            let nonsense = String(repeating: "x", count: LineReader.lengthLimit + 700_000)
            let lines = Self.fleet(10).split(separator: "\n", omittingEmptySubsequences: false)
            let long = nonsense + ",google,com.example,pro,ghost,"
            try stage.write(
                ([lines[0], Substring(long)] + lines.dropFirst()).joined(separator: "\n"))
            try await stage.beside.script(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE 'no'; END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON renewald.credential FOR EACH ROW
                    EXECUTE FUNCTION refuse();
                """)
            await #expect(throws: LedgerError.self) { _ = try await stage.run() }
            #expect(
                try await stage.list("SELECT (place > 0 AND bad = 1)::text FROM renewald.import")
                    == ["true"])
            try await stage.beside.script("DROP TRIGGER refuse ON renewald.credential")
            let rest = try await stage.run { $0.goesOn = true }
            #expect(rest.0 == totals(10, 0, 1))
            #expect(
                try await stage.list(
                    "SELECT count(*)::text FROM renewald.credential WHERE token = 'ghost'")
                    == ["0"])
        }
    }

    @Test(
        arguments: [
            ("\u{FEFF}" + header + "ann,google,com.example,pro,t,\n", Int64(1)),
            (header.replacing(",", with: ";") + "ann;google;com.example;pro;t;\r\n", 1),
            (#"{"user_id": 5, "store": "google", "app": "a", "product": "p", "token": "t"}"#, 1),
            (header, 0), ("", 0), ("\n\n", 0),
        ] as [(String, Int64)]) func readsWhatPeopleHave(_ text: String, _ submitted: Int64)
        async throws
    {
        try await onStage { stage in
            try stage.write(text)
            let (found, _) = try await stage.run()
            #expect(found == totals(submitted, 0, 0))
        }
    }

    @Test(arguments: [
        "[{}]", "user,product\n1,2\n", "\u{1f}\u{8b}", "\"a\n",
        // Lines of old Macs.
        (header + "ann,google,com.example,pro,t,\n").replacing("\n", with: "\r"),
        #"{"user_id": 5}"# + "\r" + #"{"user_id": 6}"# + "\r",
    ]) func saysWhatIsOfNoUse(_ text: String) async throws {
        try await onStage { stage in
            try Data(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }).write(
                to: stage.folder.appending(path: "fleet.csv"))
            await #expect(throws: Import.Stop.self) { _ = try await stage.run() }
        }
    }

    @Test func doesNotWriteOverWhatItReads() async throws {
        try await onStage { stage in
            try stage.write(Self.fleet(3))
            await #expect(throws: Import.Stop.self) {
                _ = try await stage.run { $0.rejects = stage.path("fleet.csv") }
            }
            #expect(try stage.read("fleet.csv") == Self.fleet(3))
        }
    }

    /// Behind its owner they would be the latest who has claimed it, and get it back.
    @Test func exportLeavesOutWhoHadItBefore() async throws {
        try await onStage { stage in
            try stage.write(Self.fleet(1) + "eve,google,com.example,pro,token 1,\n")
            _ = try await stage.run()
            let open = try await stage.ledger.export(after: 0)?.purchases.map(\.userID)
            #expect(open == ["user 1", "eve"])
            // As the commit that hands it over leaves it.
            try await stage.beside.script("UPDATE renewald.purchase SET claimed_by = NULL")
            let settled = try await stage.ledger.export(after: 0)?.purchases.map(\.userID)
            #expect(settled == ["user 1"])
        }
    }

    /// Out of one database and into another: the same fleet.
    @Test func readsWhatExportWrites() async throws {
        try await onStage { first in
            try first.write(
                Self.fleet(2500) + "bob,google,com.example,pro,token 17,\n"
                    + "cid,amazon,com.example,\"a, \"\"b\"\"\",é\\n\u{1},amzn\n"
                    + "dee,apple,com.example,pro,MIIreceipt,\ndee,apple,com.example,gold,"
                    + "MIIreceipt,\n")
            _ = try await first.run()
            var lines = ""
            var last: Int64 = 0
            while let page = try await first.ledger.export(after: last) {
                lines += try page.purchases.map { try $0.line() + "\n" }.joined()
                last = page.last
            }
            try await onStage { second in
                try second.write(lines, "fleet.jsonl")
                #expect(try await second.run("fleet.jsonl").0 == totals(2503, 1, 0))
                let (expected, found) = (try await first.fleet(), try await second.fleet())
                func timeless(_ fleet: [String]) -> [String] {
                    fleet.map { $0.replacing(#/9026-\S+ \S+/#, with: "") }
                }
                #expect(timeless(found) == timeless(expected))
            }
            try first.write(lines, "again.jsonl")
            #expect(try await first.run("again.jsonl").0 == totals(0, 2504, 0))
        }
    }
}
