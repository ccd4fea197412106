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
}
