import Foundation
import TestSupport
import Testing

/// Somebody waits at a terminal while the background is at work: thousands of purchases are due, or
/// another worker is at theirs.
@Suite(.serialized)
struct UrgentCheckTests {
    /// More than the background may have reserved before, many times over.
    private static let own = 40
    /// What is reserved when the check begins: a second of the row, at eight calls a second. In
    /// five seconds the background gets as much again, so that it does not starve.
    private static let mostBetween = 16

    @Test func checkGoesBeforeTheBackgroundAndWithinTheQuota() async throws {
        // A store that takes little more than the default rate.
        try await onStage(simulating: ["--quota", "amazon=10/PT1S"], logsAnswers: true) { stage in
            try stage.editConfiguration {
                $0.replacing(
                    "[store.amazon]\nrequests_per_second = 5000\n", with: "[store.amazon]\n")
            }
            let backlog = try await stage.buy("amazon", count: 3000)
            try await stage.submit(backlog, "amazon") { "user \($0)" }
            let daemon = try stage.daemon()
            try await stage.wait { try asked(stage).count >= 8 }
            let made = try await stage.buy("amazon", count: Self.own)
            try await stage.submit(made, "amazon") { _ in "ann" }
            let checked = try await stage.renewald("check", "ann", "--json")
            #expect(checked.exit == .code(0), "\(checked.standardError)")
            #expect(checked.standardOutput.contains(#""state":"active""#))

            let calls = try asked(stage)
            let own = Set(made.map(\.id))
            let places = calls.indices.filter { calls[$0].purchase.map(own.contains) ?? false }
            let first = try #require(places.first)
            let last = try #require(places.last)
            #expect(places.count == Self.own, "each is asked about once")
            let between = last - first + 1 - places.count
            #expect(between <= Self.mostBetween, "\(between) calls of the background came between")
            #expect(calls.allSatisfy { $0.status == 200 }, "the store was asked too often")

            // The background goes on.
            try await stage.wait { try asked(stage).count >= calls.count + 16 }
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    @Test func whatAnotherWorkerChangesEachTimeIsToldAndIsToBeAskedAgain() async throws {
        try await onStage { stage in
            let made = try await stage.buy("google", count: 1)
            try await stage.submit(made, "google") { _ in "ann" }
            // A call takes much longer than the time between two changes.
            try await stage.control("latency", #"{"milliseconds":200}"#)
            let changing = Task {
                while !Task.isCancelled {
                    try await stage.script(
                        "UPDATE renewald.purchase SET version = version + 1")
                }
            }
            let shown = try await stage.renewald("check", "ann")
            let json = try await stage.renewald("check", "ann", "--json")
            changing.cancel()
            _ = await changing.result
            for told in [shown, json] {
                #expect(told.exit == .code(75))
                #expect(
                    told.standardOutput.contains("another session changed or held it each time"))
            }
            #expect(json.standardOutput.contains(#""state":"new""#))
            #expect(try await stage.renewald("check", "ann").exit == .code(0))
            #expect(try await stage.story(of: "ann") == ["grant monthly purchased"])
        }
    }

    private struct Call: Decodable {
        let endpoint: String
        let purchase: Int?
        let status: Int
    }

    /// What Amazon has answered so far, in its order.
    private func asked(_ stage: Stage) throws -> [Call] {
        let decoder = JSONDecoder()
        return try String(contentsOfFile: "\(stage.folder)/answers", encoding: .utf8)
            .split(separator: "\n")
            .compactMap { try? decoder.decode(Call.self, from: Data($0.utf8)) }
            .filter { $0.endpoint == "receipt" }
    }
}
