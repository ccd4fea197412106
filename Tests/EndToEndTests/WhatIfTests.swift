import Foundation
import TestSupport
import Testing

/// Another table of products for a fleet that a daemon serves (design rule 14).
@Suite(.serialized)
struct WhatIfTests {
    private struct Difference: Decodable, Equatable {
        var purchases: Int
        var gain: [String: Int] = [:]
        var lose: [String: Int] = [:]
        var reasons: [String: Int] = [:]
    }

    private struct Replayed: Decodable, Equatable {
        let decided: Int
        let different: Int
    }

    private func read<Value: Decodable>(_ output: Stage.Ended, _ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(output.standardOutput.utf8))
    }

    private static let product = """

        [[product]]
        id = "monthly"
        entitlements = ["monthly", "plus"]
        """

    /// An upgrade starts the daemon anew: what was mistyped meanwhile is told then.
    @Test func aStartWithOtherProductsSaysWhatTheyChange() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            try await stage.submit(try await stage.buy("google", count: 3), "google") {
                "user-\($0)"
            }
            for isChanged in [false, true] {
                let daemon = try stage.daemon()
                try await stage.wait {
                    try await stage.value("SELECT count(*) FROM renewald.policy") == "1"
                }
                if isChanged {
                    _ = try await daemon.line { $0.contains("would change 3 of 3 purchases") }
                }
                daemon.send(SIGTERM)
                #expect(try await daemon.exit() == .code(0))
                #expect(isChanged == daemon.standardError.contains("would change"))
                if !isChanged { try stage.editConfiguration { $0 + Self.product } }
            }
        }
    }

    @Test func anAddedEntitlementReachesItsBuyersWithoutAQuestion() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            try await stage.submit(try await stage.buy("google", count: 12), "google") {
                "user-\($0)"
            }
            let daemon = try stage.daemon()
            try await stage.wait {
                try await stage.value("SELECT count(*) FROM renewald.entitlements") == "12"
            }
            let asked = try await stage.questions()
            let other = stage.configurationFile.replacingOccurrences(
                of: ".toml", with: "-next.toml")
            let now = try String(contentsOfFile: stage.configurationFile, encoding: .utf8)
            try (now + Self.product).write(toFile: other, atomically: true, encoding: .utf8)
            let gained = Difference(
                purchases: 12, gain: ["plus": 12], reasons: ["product_changed": 12])

            let tried = try stage.start(["what-if", "--json"], configuration: other)
            #expect(try await tried.exit(within: .seconds(60)) == .code(0))
            #expect(
                try JSONDecoder().decode(
                    Difference.self, from: Data(tried.standardOutput.utf8)) == gained)
            #expect(
                try read(await stage.renewald("what-if", "--json"), Difference.self)
                    == Difference(purchases: 12))

            try stage.editConfiguration { $0 + Self.product }
            daemon.send(SIGHUP)
            _ = try await daemon.line { $0.contains("would change 12 of 12 purchases") }
            #expect(try await stage.story(of: "user-0") == ["grant monthly purchased"])

            let shown = try await stage.renewald("apply", "--json")
            #expect(shown.exit == .code(64))
            #expect(try read(shown, Difference.self) == gained)
            #expect(try await stage.story(of: "user-0") == ["grant monthly purchased"])
            let applied = try await stage.renewald("apply", "--yes", "--json")
            #expect(applied.exit == .code(0), "\(applied.standardError)")
            #expect(try read(applied, Difference.self) == gained)
            #expect(
                try await stage.story(of: "user-0") == [
                    "grant monthly purchased", "grant plus product_changed",
                ])
            #expect(try await stage.questions() == asked)
            let explained = try await stage.renewald("explain", "user-0").standardOutput
            #expect(explained.contains("no store was asked"))

            try await replays(stage)
        }
    }

    private func replays(_ stage: Stage) async throws {
        let same = try await stage.renewald("replay", "--since", "2025-12-31", "--json")
        #expect(same.exit == .code(0), "\(same.standardError)")
        #expect(try read(same, Replayed.self) == Replayed(decided: 12, different: 0))
        try await stage.script(
            """
            UPDATE renewald.policy SET rules =
                jsonb_set(rules, '{products}', '{"monthly": {"entitlements": ["gold"]}}')
            """)
        let sabotaged = try await stage.renewald("replay", "--since", "P1D", "--json")
        #expect(sabotaged.exit == .code(65))
        #expect(try read(sabotaged, Replayed.self) == Replayed(decided: 12, different: 12))
        #expect(try await stage.renewald("replay", "--since", "soon").exit == .code(64))
    }
}
