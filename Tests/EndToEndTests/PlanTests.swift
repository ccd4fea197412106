import Foundation
import TestSupport
import Testing

/// What a fleet will cost, by the real program.
@Suite(.serialized)
struct PlanTests {
    struct Planned: Decodable {
        struct App: Decodable {
            struct Lag: Decodable {
                let expiry_p99_seconds: Int
                let refund_p99_seconds: Int
            }

            struct Backfill: Decodable {
                let left: Int
                let seconds: Int?
            }

            let store: String
            let app: String
            let purchases: Int
            let calls_per_day: Double
            let calls_per_day_wanted: Double
            let quota_share: Double
            let sweep_seconds: Int
            let lag: Lag
            let backfill: Backfill?
            let advice: [String]
        }

        struct Unknown: Decodable {
            let store: String
            let app: String
            let purchases: Int
        }

        let apps: [App]
        let unknown_apps: [Unknown]
    }

    /// There is no such database: nobody asks for one.
    private static let configuration = """
        [database]
        url = "host=/nowhere"
        [[app]]
        store = "google"
        id = "com.example.reader"
        service_account = "file:/nowhere/google.json"
        [[app]]
        store = "amazon"
        id = "com.example.reader"
        shared_secret = "file:/nowhere/secret"
        [[app]]
        store = "amazon"
        id = "com.example.other"
        shared_secret = "file:/nowhere/secret"
        """

    private func plan(
        _ words: String..., configuration: String = Self.configuration
    ) async throws -> ChildProcess.Output {
        let file = FileManager.default.temporaryDirectory
            .appending(path: "plan-\(UUID().uuidString).toml")
        try Data(configuration.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await ChildProcess.run(
            Stage.program("renewald"), ["plan", "--config", file.path] + words,
            within: .seconds(120))
    }

    @Test func aFleetThatIsNotThereYetIsForecast() async throws {
        let ended = try await plan(
            "--purchases", "google=20000,amazon/com.example.other=5000000", "--json")
        #expect(ended.exit == .code(0), "\(ended.standardError)")
        let planned = try JSONDecoder().decode(
            Planned.self, from: Data(ended.standardOutput.utf8))
        #expect(planned.apps.map(\.purchases) == [20_000, 0, 5_000_000])
        #expect(planned.unknown_apps.isEmpty)
        let (google, none, amazon) = (planned.apps[0], planned.apps[1], planned.apps[2])
        #expect(google.quota_share > 0 && google.quota_share < 0.02)
        #expect(google.calls_per_day == google.calls_per_day_wanted)
        #expect(google.sweep_seconds >= 500 && google.sweep_seconds <= 530)
        #expect(google.lag.expiry_p99_seconds <= 60 && google.lag.refund_p99_seconds <= 120)
        #expect(google.advice.contains { $0.hasPrefix("turn on Pub/Sub") })
        #expect(none.calls_per_day == 0 && none.sweep_seconds == 0 && none.quota_share == 0)
        #expect(amazon.quota_share > 1 && amazon.calls_per_day == 8 * 86_400)
        #expect(amazon.advice.contains { $0.contains("requests/s more") })
    }

    @Test func isReadByPeople() async throws {
        let text = try await plan("--purchases", "google=20000", "--more", "google=20000")
            .standardOutput
        #expect(text.contains("purchases     20000, taken for monthly subscriptions in force"))
        #expect(text.contains(" % of the quota\n"))
        #expect(text.contains("\n  with 20000 more\n"))
    }

    @Test(arguments: [
        ("itunes=5", "there is no store \"itunes\""), ("google=-1", "\"-1\" is no number"),
        ("google=1e6", "\"1e6\" is no number"), ("google=99999999999999999999", "is no number"),
        ("google", "is STORE=N or STORE/APP=N"), ("", "is STORE=N or STORE/APP=N"),
        ("google=1,google=2", "google is there twice"),
        ("amazon=1", "2 apps of amazon are configured: say which, as amazon/com.example.reader=N"),
    ])
    func nonsenseIsWrongUsage(_ sizes: String, _ sentence: String) async throws {
        for option in ["--purchases", "--more"] where option == "--purchases" || sizes != "amazon=1"
        {
            let ended = try await plan(option, sizes)
            #expect(ended.exit == .code(64) && ended.standardOutput.isEmpty)
            #expect(ended.standardError.contains(sentence), "\(ended.standardError)")
        }
    }

    @Test func purchasesOfNoAppAreNamed() async throws {
        let ended = try await plan("--purchases", "apple=7,google/com.example.raeder=9", "--json")
        #expect(ended.exit == .code(0))
        #expect(ended.standardError.contains("no app of apple is configured: its 7 purchases"))
        #expect(ended.standardError.contains("google com.example.raeder is not configured"))
        let planned = try JSONDecoder().decode(
            Planned.self, from: Data(ended.standardOutput.utf8))
        #expect(planned.apps.allSatisfy { $0.purchases == 0 })
        #expect(planned.unknown_apps.map(\.purchases) == [9, 7])
    }

    @Test func aFaultyConfigurationIsTold() async throws {
        let ended = try await plan(
            "--purchases", "google=7", configuration: "[databse]\nurl = \"\"\n")
        #expect(ended.exit == .code(78) && ended.standardError.contains("[database]"))
    }

    private func read(_ ended: Stage.Ended) throws -> Planned {
        try JSONDecoder().decode(Planned.self, from: Data(ended.standardOutput.utf8))
    }

    /// From the import to the fleet that a daemon has seen.
    @Test func aFleetIsForecastFromTheDatabase() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            try stage.configure(rate: 2)
            let empty = try await stage.renewald("plan", "--json")
            #expect(empty.exit == .code(0), "\(empty.standardError)")
            #expect(try read(empty).apps.allSatisfy { $0.purchases == 0 && $0.calls_per_day == 0 })

            let made = try await stage.buy("google", count: 90)
            let lines = made.enumerated().map { "user \($0),google,monthly,\($1.token)" }
            let file = "\(stage.folder)/fleet.csv"
            try Data(
                ("user_id,store,product,token\n" + lines.joined(separator: "\n")).utf8
            ).write(to: URL(fileURLWithPath: file))
            _ = try await stage.renewald("import", file, "--baseline")
            try await stage.script(
                "SELECT renewald.submit('nobody', 'google', 'com.example.raeder', 'monthly', 't')")
            let before = try await stage.fingerprint()
            let waiting = try read(try await stage.renewald("plan", "--json"))
            let google = try #require(waiting.apps.first { $0.store == "google" })
            #expect(google.purchases == 90 && google.backfill?.left == 90)
            #expect(google.backfill?.seconds ?? 0 >= 45 && google.sweep_seconds >= 45)
            #expect(waiting.unknown_apps.map(\.app) == ["com.example.raeder"])
            #expect(try await stage.fingerprint() == before)

            try await readsAsARoleThatMayOnlyRead(stage)
            try stage.configure(rate: 5000)
            #expect(try await stage.renewald("once").exit == .code(0))
            let seen = try read(try await stage.renewald("plan", "--json", "--more", "10"))
            let known = try #require(seen.apps.first { $0.store == "google" })
            #expect(known.purchases == 90 && known.backfill == nil)
            // A look a week; the month ends beyond what is looked ahead.
            #expect(known.calls_per_day > 9 && known.calls_per_day < 90, "\(known.calls_per_day)")
            #expect(known.lag.expiry_p99_seconds <= 60)
        }
    }

    private func readsAsARoleThatMayOnlyRead(_ stage: Stage) async throws {
        try await stage.script(
            """
            CREATE ROLE plan_reader;
            GRANT USAGE ON SCHEMA renewald TO plan_reader;
            GRANT SELECT ON ALL TABLES IN SCHEMA renewald TO plan_reader;
            """)
        try stage.useDatabase(stage.conninfo + " options='-c role=plan_reader'")
        let reader = try await stage.renewald("plan", "--json")
        #expect(reader.exit == .code(0), "\(reader.standardError)")
        #expect(try read(reader).apps.map(\.purchases).reduce(0, +) == 90)
        try await stage.script("REVOKE SELECT ON renewald.purchase FROM plan_reader")
        let stranger = try await stage.renewald("plan", "--json")
        #expect(stranger.exit == .code(77) && stranger.standardError.contains("purchase"))
    }

    @Test func aDatabaseThatIsAwayIsTold() async throws {
        let ended = try await plan("--json")
        #expect(ended.exit == .code(69) && ended.standardOutput.isEmpty)
    }
}
