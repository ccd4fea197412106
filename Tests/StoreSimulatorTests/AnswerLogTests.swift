import Foundation
import NIOCore
import Testing

@testable import StoreSimulator

@Suite("The log of answers", .serialized)
struct AnswerLogTests {
    /// One script: all stores, faults with shares and latencies, the clock moved, wrong requests.
    private func run(_ log: URL, seed: UInt64) async throws -> String {
        try await CurlStage.with(seed: seed, answers: log) { curl in
            let stage = curl.stage
            let purchases = try StoreName.allCases.flatMap { store in
                try [stage.buy(store, #","trial":"P7D""#), stage.buy(store)]
            }
            for fault in [
                #"{"kind":"status","status":503,"share":0.3}"#,
                #"{"kind":"slow","latency":"lognormal 2 30","share":0.5}"#,
                #"{"kind":"truncated","store":"apple","share":0.2}"#,
                #"{"kind":"wrong_signature","share":0.2}"#,
            ] { _ = stage.control("POST", "/faults", fault) }
            for round in 0..<3 {
                for purchase in purchases {
                    _ = try await curl.ask(purchase, [round == 1 ? "--http1.1" : "--http2"])
                }
                _ = stage.act("fail_payment", purchases[round])
                _ = stage.control("POST", "/clock", #"{"advance":"P20D"}"#)
            }
            _ = try await curl.curl("/nothing")
            _ = try await curl.curl("/inApps/v1/subscriptions/1", bearer: "no")
        }
        return try String(contentsOf: log, encoding: .utf8)
    }

    @Test("is the same, byte by byte, for the same seed and script, and not for another seed")
    func repeats() async throws {
        let folder = FileManager.default.temporaryDirectory
        let files = (0..<3).map { _ in
            folder.appendingPathComponent("storesim-answers-\(UUID().uuidString)")
        }
        defer { for file in files { try? FileManager.default.removeItem(at: file) } }
        let first = try await run(files[0], seed: 7)
        let second = try await run(files[1], seed: 7)
        #expect(first == second)
        #expect(try await run(files[2], seed: 8) != first)
        // Each Google read of the script was preceded by a call for its bearer.
        let lines = first.split(separator: "\n")
        let expected = 3 * 8 + 2
        #expect(lines.count == expected)
        for line in lines {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect(object?["status"] is Int && object?["body"] != nil)
        }
        #expect(first.contains(#""fault":"status","faults":[1"#))
        #expect(first.contains(#""signedTransactionInfo":{"transactionId":"#))
        #expect(!first.contains("x5c") && !first.contains("eyJ"))
    }

    @Test("leaves nothing out of what is not signed")
    func keepsTheRest() {
        for text in [#"{"a":"eyJ","b":"eyJ.x.y","c":"MII","d":"say \"eyJ\""}"#, "{}", "{\"a", ""] {
            let bytes = Array(text.utf8)
            #expect(AnswerLog.withoutSignatures(bytes) == bytes)
        }
    }

    @Test("puts the payload in the place of a JWS, also of one within another")
    func opensPayloads() {
        let inner = "eyJhIjoxfQ." + String(decoding: Base64.url(#"{"x":1}"#.utf8), as: UTF8.self)
        let outer = Base64.url(#"{"data":"\#(inner).c2ln"}"#.utf8)
        let text = #"{"p":"eyJhIjoxfQ.\#(String(decoding: outer, as: UTF8.self)).c2ln","n":2}"#
        let opened = AnswerLog.withoutSignatures(Array(text.utf8))
        #expect(String(decoding: opened, as: UTF8.self) == #"{"p":{"data":{"x":1}},"n":2}"#)
    }
}
