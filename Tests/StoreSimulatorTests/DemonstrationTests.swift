import Foundation
import Testing

@testable import StoreSimulator

@Suite("The first steps of a stranger", .serialized)
struct DemonstrationTests {
    @Test("one curl line gets an answer of each store, signed by Apple")
    func answersCurl() async throws {
        try await CurlStage.with(isDemonstration: true) { curl in
            let has = [
                "apple": "signedTransactionInfo", "google": "subscriptionState",
                "amazon": "receiptId",
            ]
            for (store, word) in has {
                let file = curl.folder.appendingPathComponent("\(store).curl").path
                let sight = try await curl.run(["--include", "-K", file])
                #expect(sight.status == 200 && sight.body.contains(word), "\(store)")
                let mode = try FileManager.default.attributesOfItem(atPath: file)
                #expect(mode[.posixPermissions] as? Int == 0o600)
            }
        }
    }

    @Test(
        "a control call gives the line for any purchase",
        arguments: [
            ("apple", "auto_renewable", "production"), ("apple", "consumable", "sandbox"),
            ("google", "auto_renewable", "production"), ("google", "non_consumable", "production"),
            ("amazon", "auto_renewable", "sandbox"),
        ])
    func givesLines(_ store: String, _ kind: String, _ environment: String) async throws {
        try await CurlStage.with { curl in
            let purchase = try curl.stage.buy(
                try #require(StoreName(rawValue: store)),
                #","kind":"\#(kind)","environment":"\#(environment)""#)
            let line = curl.stage.control("GET", "/curl/\(purchase.number)")
            let file = curl.folder.appendingPathComponent("own.curl")
            try line.text.write(to: file, atomically: true, encoding: .utf8)
            #expect(try await curl.run(["--include", "-K", file.path]).status == 200)
            #expect(curl.stage.control("GET", "/curl/99").status == 404)
        }
    }

    @Test("what is told at the start names files that are there and addresses that answer")
    func tellsTheTruth() async throws {
        try await CurlStage.with { curl in
            let told = try #require(
                JSONSerialization.jsonObject(with: Data(curl.simulator.welcome.json.utf8))
                    as? [String: String])
            for (name, value) in told where value.hasPrefix("/") {
                #expect(FileManager.default.fileExists(atPath: value), "\(name)")
            }
            #expect(told["apple_base_url"] == curl.simulator.origin)
            #expect(told["apple_sandbox_base_url"] == curl.simulator.sandboxOrigin)
            let clock = try await curl.curl("/control/clock")
            #expect(told["control_url"] == curl.simulator.origin + "/control")
            #expect(clock.object["now"] as? String == "2026-01-01T00:00:00Z")
            #expect(curl.simulator.welcome.text.contains("[store.apple]"))
            #expect(!curl.simulator.welcome.text.contains(curl.stage.credentials.amazonSecret))
        }
    }
}
