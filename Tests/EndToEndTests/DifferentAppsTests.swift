import Foundation
import TestSupport
import Testing

/// Two workers of one database have configured different apps.
@Suite(.serialized)
struct DifferentAppsTests {
    /// Each purchase is some worker's, and some worker has its app: they take turns.
    @Test func eachAppIsServedWhereverItsPurchasesAre() async throws {
        try await onStage { stage in
            try stage.configure()
            let first = try stage.start(["run"], configuration: file(without: "google", stage))
            let second = try stage.start(["run"], configuration: file(without: "apple", stage))
            try await stage.wait(within: .seconds(60)) {
                try await stage.value(
                    "SELECT count(DISTINCT owner) FROM renewald.shard WHERE owner IS NOT NULL")
                    == "2"
            }
            for store in ["google", "apple"] {
                let made = try await stage.buy(store, count: 24)
                try await stage.submit(made, store) { "\(store)-\($0)" }
            }
            try await stage.expectGrants(48)
            let doctor = try await stage.renewald("doctor").standardOutput
            #expect(doctor.contains("google/\(Stage.app) is not configured for "))
            #expect(doctor.contains("apple/\(Stage.app) is not configured for "))
            try await stage.wait(within: .seconds(60)) {
                first.standardError.contains(
                    "other workers have configured what this one has not: google/\(Stage.app);")
            }
            // Alone, the second one serves its own, wherever they are.
            first.send(SIGTERM)
            #expect(try await first.exit() == .code(0))
            let made = try await stage.buy("google", count: 24)
            try await stage.submit(made, "google") { "late-\($0)" }
            try await stage.expectGrants(72)
            // A pass takes no shard that it holds, and says what nobody asks about there.
            let waiting = try await stage.buy("apple", count: 24)
            try await stage.submit(waiting, "apple") { "waiting-\($0)" }
            let once = try await stage.renewald("once")
            #expect(once.exit == .code(75))
            #expect(
                once.standardError.contains(
                    /apple\/.*: \d+ purchases? waits? in shards of a daemon that has not/))
            second.send(SIGTERM)
            #expect(try await second.exit() == .code(0))
        }
    }

    private func file(without store: String, _ stage: Stage) throws -> String {
        let all = try String(contentsOfFile: stage.configurationFile, encoding: .utf8)
        let apps = all.components(separatedBy: "[[app]]\n")
        #expect(apps.count == 4)
        let file = "\(stage.folder)/without-\(store).toml"
        // What follows the last app's own keys belongs to no app.
        let parts = apps.dropFirst().map { part -> String in
            let end = part.firstRange(of: "\n[") ?? part.endIndex..<part.endIndex
            let rest = String(part[end.lowerBound...])
            return part.hasPrefix("store = \"\(store)\"") ? rest : "[[app]]\n" + part
        }
        try (apps[0] + parts.joined()).write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }
}
