import Foundation
import TestSupport
import Testing

/// A store calls everybody expired: first wrongly, then truly (design rule 13). `RENEWALD_FLEET`
/// says how many that are.
@Suite(.serialized)
struct AvalancheTests {
    private static let count =
        ProcessInfo.processInfo.environment["RENEWALD_FLEET"].flatMap { Int($0) } ?? 300
    private static let floor = 20
    private static let held = count - floor

    private struct Released: Decodable, Equatable {
        let released: Int
        let dropped: Int
    }

    private func once(_ stage: Stage) async throws -> Stage.Ended {
        let output = try await stage.renewald("once", within: .seconds(900))
        #expect(output.exit == .code(0), "\(output.standardError)")
        return output
    }

    private func trips(_ output: Stage.Ended) -> Int {
        output.standardError.split(separator: "\n").count { $0.contains("has tripped") }
    }

    private func revokes(_ stage: Stage) async throws -> Int? {
        Int(try await stage.value("SELECT count(*) FROM renewald.events WHERE kind = 'revoke'"))
    }

    private func holders(_ stage: Stage) async throws -> Int? {
        Int(try await stage.value("SELECT count(*) FROM renewald.entitlements WHERE active"))
    }

    private func held(_ stage: Stage) async throws -> Int? {
        Int(try await stage.value("SELECT count(*) FROM renewald.held"))
    }

    /// Every program starts anew, so that nothing is known but what the database knows.
    @Test func aStoreThatCallsEverybodyExpiredIsNotBelieved() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            let made = try await stage.buy("google", count: Self.count)
            try await stage.submit(made, "google") { "user-\($0)" }
            _ = try await once(stage)
            #expect(try await holders(stage) == Self.count)

            try await stage.fault(#"{"kind":"ended","store":"google"}"#)
            try await stage.pass("P8D")
            let avalanche = try await once(stage)
            #expect(trips(avalanche) == 1)
            #expect(try await revokes(stage) == Self.floor)
            #expect(try await held(stage) == Self.held)
            #expect(try await holders(stage) == Self.held)
            let status = try await stage.renewald("status").standardOutput
            #expect(status.contains("breaker       tripped at "))
            #expect(status.contains("held          \(Self.held) revocations: see renewald release"))
            let doctor = try await stage.renewald("doctor").standardOutput
            #expect(doctor.contains(": the breaker tripped at "))
            #expect(doctor.contains(": \(Self.held) revocations are held"))
            let user = try await stage.value("SELECT min(user_id) FROM renewald.held")
            let explained = try await stage.renewald("explain", user).standardOutput
            #expect(explained.contains("access: decided to revoke, held since "))

            // Grants go on, and no further line is written.
            try await stage.clearFaults()
            try await stage.submit(try await stage.buy("google")[0], "google", for: "new")
            #expect(trips(try await once(stage)) == 0)
            #expect(try await stage.story(of: "new") == ["grant monthly purchased"])
            #expect(try await held(stage) == Self.held)

            // The store has come to its senses.
            try await stage.pass("PT2H")
            _ = try await once(stage)
            #expect(try await held(stage) == 0)
            #expect(try await revokes(stage) == Self.floor)
            try await stage.pass("P2D")
            _ = try await once(stage)
            #expect(try await holders(stage) == Self.count + 1)

            try await endTruly(stage, made)
        }
    }

    @Test func theMetricFollowsAReload() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            try stage.configure(
                "[metrics]\nlisten = \"127.0.0.1:0\"\n\n[safety]\nbreaker_floor = 5")
            let made = try await stage.buy("google", count: 10)
            try await stage.submit(made, "google") { "user-\($0)" }
            _ = try await once(stage)
            try await stage.fault(#"{"kind":"ended","store":"google"}"#)
            try await stage.pass("P8D")
            #expect(trips(try await once(stage)) == 1)

            let daemon = try stage.daemon()
            let line = try await daemon.line { $0.contains("metrics are served on ") }
            let port = try #require(line.firstMatch(of: /port (\d+)/)?.1)
            func isTripped(_ told: String) async throws -> Bool {
                let page = try await ChildProcess.run(
                    "curl", ["-s", "http://127.0.0.1:\(port)/metrics"])
                return page.standardOutput.split(separator: "\n").contains { line in
                    line.hasPrefix("renewald_breaker_tripped{")
                        && line.contains("store=\"google\"") && line.hasSuffix("} \(told)")
                }
            }
            try await stage.wait { try await isTripped("1") }
            try stage.editConfiguration { text in
                text.replacingOccurrences(of: "breaker_floor = 5", with: "breaker = \"off\"")
            }
            daemon.send(SIGHUP)
            try await stage.wait { try await isTripped("0") }
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    private func endTruly(_ stage: Stage, _ made: [Stage.Made]) async throws {
        for purchase in made { try await stage.act(purchase, "expire") }
        try await stage.pass("P8D")
        #expect(trips(try await once(stage)) == 1)
        #expect(try await revokes(stage) == Self.floor * 2)
        #expect(try await holders(stage) == Self.count + 1 - Self.floor)

        // Nobody is there to be asked: it shows and changes nothing.
        let shown = try await stage.renewald("release")
        #expect(shown.exit == .code(64))
        #expect(shown.standardOutput.contains("\(Self.held) revocations are held:"))
        #expect(shown.standardOutput.contains("\(Self.held) google \(Stage.app) "))
        #expect(shown.standardOutput.contains("the first ten:"))
        #expect(shown.standardOutput.split(separator: "\n").count == 13)
        #expect(try await held(stage) == Self.held)

        try await releaseSomethingElse(stage)

        // A store that cannot be asked confirms nothing.
        try await stage.fault(#"{"kind":"status","store":"google","status":503,"count":1}"#)
        let most = try await stage.renewald("release", "--yes", "--json", within: .seconds(900))
        #expect(most.exit == .code(75))
        #expect(try released(most) == Released(released: Self.held - 1, dropped: 0))
        let rest = try await stage.renewald("release", "--yes", "--json", within: .seconds(900))
        #expect(rest.exit == .code(0))
        #expect(try released(rest) == Released(released: 1, dropped: 0))
        #expect(try await held(stage) == 0)
        #expect(try await holders(stage) == 1)
        #expect(try await revokes(stage) == Self.count + Self.floor)
        let nothing = try await stage.renewald("release")
        #expect(nothing.exit == .code(0) && nothing.standardOutput.contains("nothing is held"))
    }

    /// Who asks for the wrong part is told so: nothing of it is held, but not nothing at all.
    private func releaseSomethingElse(_ stage: Stage) async throws {
        let unknown = try await stage.renewald("release", "--app", "google/com.example.readr")
        #expect(unknown.exit == .code(64))
        #expect(
            unknown.standardError.contains(
                "there is no app google/com.example.readr; the nearest is google/\(Stage.app)"))
        #expect(unknown.standardOutput.isEmpty)
        let others = try await stage.renewald("release", "--reason", "family_removed")
        #expect(others.exit == .code(0))
        #expect(others.standardOutput == "nothing of these is held; \(Self.held) others are\n")
        #expect(try await held(stage) == Self.held)
    }

    private func released(_ output: Stage.Ended) throws -> Released {
        try JSONDecoder().decode(Released.self, from: Data(output.standardOutput.utf8))
    }
}
