import Foundation
import TestSupport
import Testing

/// A deliberately careless old job beside renewald: the simulator knows the truth, and each planted
/// difference is found in its class and with its cause, and none is invented.
@Suite(.serialized)
struct ShadowTests {
    struct Report: Decodable, Equatable {
        var compared: Int
        var agree: Int
        var unsettled = 0
        var they_grant: [String: Int] = [:]
        var we_grant: [String: Int] = [:]
        var healed = 0
    }

    private func report(_ ended: Stage.Ended) throws -> Report {
        try JSONDecoder().decode(Report.self, from: Data(ended.standardOutput.utf8))
    }

    private static let query = "SELECT user_id, what AS entitlement, yes AS active FROM belief"

    /// What the old job believes, and what is true.
    private func plant(_ stage: Stage) async throws {
        try stage.configure("[policy]\npayment_pending = \"revoke\"\n")
        try await stage.script(
            "CREATE TABLE public.belief (user_id text, what text DEFAULT 'monthly', yes bool)")
        var made: [String: Stage.Made] = [:]
        let people: [(name: String, store: String, terms: String)] = [
            ("fine-a", "apple", ""), ("fine-g", "google", ""), ("fine-z", "amazon", ""),
            ("refunded-a", "apple", ""), ("refunded-g", "google", ""), ("refunded-z", "amazon", ""),
            ("cancelled-a", "apple", ""), ("cancelled-g", "google", ""),
            ("html-a", "apple", ""), ("html-g", "google", ""), ("both know", "amazon", ""),
            ("grace-a", "apple", #""grace":"P6D""#),
            ("moved-g", "google", #""grace":"P6D","hold":"P30D""#),
            ("hold-a", "apple", #""grace":"PT0S","hold":"P60D""#),
            ("hold-g", "google", #""grace":"PT0S","hold":"P30D""#),
            ("tester", "apple", #""environment":"sandbox""#),
        ]
        for (name, store, terms) in people {
            made[name] = try await stage.buy(store, terms: terms)[0]
            try await stage.submit(try #require(made[name]), store, for: name)
        }
        try await once(stage)
        for (name, purchase) in made.sorted(by: { $0.key < $1.key }) {
            switch name.split(separator: "-")[0] {
            case "cancelled", "both know": try await stage.act(purchase, "cancel")
            case "grace", "moved", "hold": try await stage.act(purchase, "fail_payment")
            default: break
            }
        }
        try await stage.pass("P31DT1H")
        try await once(stage)
        for (name, purchase) in made where name.hasPrefix("refunded") {
            try await stage.act(purchase, "refund")
        }
        try await stage.pass("P3D")
        try await once(stage)
        let fresh = try await stage.buy("google")[0]
        try await stage.submit(fresh, "google", for: "fresh")
        try await stage.script(
            """
            INSERT INTO public.belief (user_id, yes)
            SELECT user_id, user_id !~ '^(html|grace|tester|both)' FROM renewald.account;
            INSERT INTO public.belief VALUES ('nobody', 'monthly', true), ('fine-a', 'gold', true)
            """)
    }

    private func once(_ stage: Stage) async throws {
        let ended = try await stage.renewald("once")
        #expect(ended.exit == .code(0), "\(ended.standardError)")
    }

    private static let found = Report(
        compared: 19, agree: 4,
        they_grant: [
            "refund_unseen": 3, "expiry_unseen": 2, "false_renewal": 1, "hold": 2,
            "product_not_mapped": 1, "unknown_user": 1, "not_yet_checked": 1,
        ], we_grant: ["renewal_unseen": 2, "grace": 1, "environment": 1])

    @Test func everyPlantedDifferenceIsFoundAndNoneInvented() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            try await plant(stage)
            let file = "\(stage.folder)/differences.csv"
            let ended = try await stage.renewald(
                "shadow", "--theirs", Self.query, "--csv", file, "--json")
            #expect(ended.exit == .code(0), "\(ended.standardError)")
            let read = try report(ended)
            let states = try await stage.value(
                """
                SELECT string_agg(concat_ws(' ', user_id, state, access), ', ' ORDER BY user_id)
                FROM renewald.purchases
                """)
            #expect(read == Self.found, "\(states)")
            try await reports(stage, file)
            try await heals(stage)
        }
    }

    private func reports(_ stage: Stage, _ file: String) async throws {
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 16)
        #expect(
            lines[0] == "user_id,entitlement,class,cause,settled,since,first_seen_at,last_seen_at")
        let told = "refunded-g,monthly,they_grant,refund_unseen,true,2026-02-01"
        #expect(lines.contains { $0.hasPrefix(told) })
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let (page, metrics) = ("\(stage.folder)/verdict.html", "\(stage.folder)/shadow.prom")
        let ended = try await stage.renewald(
            "shadow", "--theirs", Self.query, "--strict", "--html", page, "--metrics", metrics)
        #expect(ended.exit == .code(65))
        let counts = try String(contentsOfFile: metrics, encoding: .utf8)
        for line in [
            "compared{system=\"theirs\"} 19",
            "differences{system=\"theirs\",class=\"they_grant\",cause=\"refund_unseen\"} 3",
            "differences{system=\"theirs\",class=\"we_grant\",cause=\"refund_unseen\"} 0",
        ] {
            #expect(counts.contains("\nrenewald_shadow_\(line)\n"), "\(counts)")
        }
        let open = try FileManager.default.attributesOfItem(atPath: metrics)[.posixPermissions]
        #expect(open as? Int == 0o644, "another user's program reads it")
        #expect(ended.standardOutput.hasPrefix("19 compared: 4 agree, 15 differ\n"))
        #expect(
            ended.standardOutput.contains(
                "3 people have kept access for 3 days on average after a refund"))
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("<svg"))
    }

    /// The old job learns, and a change that is too new does not count.
    private func heals(_ stage: Stage) async throws {
        try await stage.script(
            """
            UPDATE public.belief SET yes = renewald.has(user_id, what);
            DELETE FROM public.belief WHERE user_id IN ('fresh', 'fine-z')
            """)
        let healed = try await stage.renewald(
            "shadow", "--theirs", Self.query, "--settle", "PT1H", "--strict", "--json")
        #expect(healed.exit == .code(0), "\(healed.standardError)")
        #expect(
            try report(healed) == Report(compared: 18, agree: 17, unsettled: 1, healed: 15))
        try await stage.pass("PT2H")
        let settled = try await stage.renewald(
            "shadow", "--theirs", Self.query, "--settle", "PT1H", "--strict", "--json")
        #expect(settled.exit == .code(65))
        #expect(
            try report(settled) == Report(compared: 18, agree: 17, we_grant: ["renewal_unseen": 1]))
        #expect(
            try await stage.value("SELECT count(*) FROM renewald.events WHERE user_id = 'nobody'")
                == "0")
    }

    // MARK: What is refused

    @Test func saysWhoseDatabaseItWas() async throws {
        try await onStage { stage in
            let before = try await stage.fingerprint()
            let role = "stranger_\(ProcessInfo.processInfo.processIdentifier)"
            try await stage.script(
                """
                CREATE TABLE public.belief (user_id int8 PRIMARY KEY);
                CREATE FUNCTION public.sly() RETURNS text LANGUAGE plpgsql AS $$
                BEGIN INSERT INTO public.belief VALUES (1); RETURN 'x'; END $$;
                CREATE ROLE \(role) LOGIN
                """)
            let stranger = "\(stage.conninfo) user=\(role)"
            let good = "SELECT user_id, 'pro' AS entitlement, true AS active FROM belief"
            let there = "--theirs-database"
            let refused: [(arguments: [String], code: Int32, sentence: String)] = [
                (["SELECT"], 65, "the column user_id is missing; there are none"),
                (["SELEC 1"], 64, "renewald's own database refuses the query: syntax"),
                (["\(good); DROP TABLE belief"], 64, "multiple commands"),
                (["DELETE FROM belief"], 64, "--theirs is one SELECT"),
                (["SELECT sly() AS user_id, 'a' AS entitlement, 1 AS active"], 64, "it writes"),
                (["SELECT nothing FROM belief"], 64, "column \"nothing\" does not exist"),
                (
                    [good, there, stranger], 77,
                    "the database of --theirs-database refuses the query: permission denied"
                ),
                (
                    [good, there, "host=/nowhere dbname=a"], 69,
                    "the database of --theirs-database is not available"
                ),
                (
                    [good, there, "host=/nowhere sslmode=planted_word"], 78,
                    "--theirs-database: sslmode is none of disable"
                ),
                ([good, there, "env:RENEWALD_NOT_THERE"], 78, "RENEWALD_NOT_THERE is not set"),
                ([good, there, " "], 78, "--theirs-database:   is empty"),
                (["SELECT pg_sleep(60)", "--timeout", "PT0.1S"], 69, "--timeout"),
                ([good, "--theirs-csv", "-"], 64, "--theirs SQL or --theirs-csv FILE"),
                ([" "], 64, "--theirs is empty"),
                ([good, "--settle", "an hour"], 64, "--settle is a duration"),
                ([good, "--csv", "/nowhere/a.csv"], 73, "cannot be written"),
                ([good, "--metrics", "-"], 64, "--metrics is a file"),
                ([good, "--csv", "/tmp/a", "--html", "/tmp/./a"], 64, "name the same file"),
                (
                    [good, "--entitlement", "por", "--strict"],
                    64, "one that is called \"por\", here or there, and no product gives it; "
                ),
            ]
            for (arguments, code, sentence) in refused {
                let child = try stage.start(["shadow", "--theirs"] + arguments)
                let exit = try await child.exit(within: .seconds(60))
                #expect(exit == .code(code), "\(arguments)")
                #expect(child.standardError.contains(sentence), "\(child.standardError)")
                #expect(!child.standardError.contains("/nowhere dbname"))
            }
            let lost = "\(stage.folder)/nothing.csv"
            let missing = try await stage.renewald("shadow", "--theirs-csv", lost)
            #expect(missing.exit == .code(66))
            #expect(
                missing.standardError.contains("nothing.csv: cannot be read: it does not exist"))
            #expect(try await stage.renewald("shadow").exit == .code(64))
            #expect(try await stage.fingerprint() == before)
            #expect(try await stage.value("SELECT count(*) FROM public.belief") == "0")
            try await stage.script("DROP ROLE \(role)")
        }
    }

    /// A run that is killed leaves nothing, and the next one does not wait for it for long.
    @Test func aKillLeavesNothing() async throws {
        try await onStage { stage in
            let slow =
                "SELECT n::text AS user_id, 'pro' AS entitlement, "
                + "pg_sleep(CASE WHEN n > 2500 THEN 60 ELSE 0 END) IS NOT NULL AS active "
                + "FROM generate_series(1, 2501) AS n"
            let before = try await stage.fingerprint()
            let child = try stage.start(["shadow", "--theirs", slow])
            try await stage.wait {
                try await stage.value(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name = 'renewald shadow'
                        AND wait_event = 'PgSleep'
                    """) == "1"
            }
            child.send(SIGKILL)
            _ = try await child.exit(within: .seconds(60))
            let next = try await stage.renewald(
                "shadow", "--theirs", "SELECT 1 AS user_id, 'pro' AS entitlement, 0 AS active",
                "--name", "other", "--json")
            #expect(try report(next) == Report(compared: 1, agree: 1))
            try await stage.script(
                """
                DELETE FROM renewald.shadow_system WHERE system = 'other';
                DELETE FROM renewald.shadow_run WHERE system = 'other'
                """)
            #expect(try await stage.fingerprint() == before)
            let again = try await stage.renewald(
                "shadow", "--theirs", "SELECT 1 AS user_id, 'pro' AS entitlement, 0 AS active")
            #expect(again.exit == .code(0), "\(again.standardError)")
        }
    }

    /// An empty fleet, the role of a worker, another database and standard input.
    @Test func worksWithTheRightsOfAWorker() async throws {
        try await onStage { stage in
            let role = "shadower_\(ProcessInfo.processInfo.processIdentifier)"
            try await stage.script("CREATE ROLE \(role) LOGIN IN ROLE renewald_worker")
            try stage.useDatabase("\(stage.conninfo) user=\(role)")
            let other = try await ScratchCluster.shared().newDatabase()
            let query =
                "SELECT n AS user_id, 'pro' AS entitlement, n % 2 AS active "
                + "FROM generate_series(1, 5001) AS n"
            let ended = try await stage.renewald(
                "shadow", "--theirs", query, "--theirs-database", other, "--json")
            #expect(ended.exit == .code(0), "\(ended.standardError)")
            #expect(
                try report(ended)
                    == Report(compared: 5001, agree: 2500, they_grant: ["unknown_user": 2501]))
            let piped = try await ChildProcess.run(
                "sh",
                [
                    "-c", "printf 'active,user_id,entitlement\\nt,1,pro\\n' | \"$0\" \"$@\"",
                    Stage.program("renewald"), "shadow", "--theirs-csv", "-", "--json", "--config",
                    stage.configurationFile,
                ])
            #expect(
                try JSONDecoder().decode(Report.self, from: Data(piped.standardOutput.utf8))
                    == Report(
                        compared: 1, agree: 0, they_grant: ["unknown_user": 1], healed: 2500))
            try await stage.script("DROP OWNED BY \(role); DROP ROLE \(role)")
        }
    }
}
