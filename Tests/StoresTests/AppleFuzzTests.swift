import Curl
import Renewal
import StoreFixtures
import Testing

@testable import Stores

/// Mutated receipts, answers of verifyReceipt, histories and notifications: an error or a value,
/// never a crash. A run is repeated by its seed.
struct AppleFuzzTests {
    private static let now = AppleFixture.now

    /// Inputs that read as a receipt, so that the test is known to reach its reading.
    @Test func survivesMutatedReceipts() {
        let originals = [
            AppleReceiptFixture.app([.init(), .init(product: "max", type: nil)]),
            AppleReceiptFixture.xcode([.init()]),
        ]
        var read = 0
        for original in originals {
            var mutator = Mutator(seed: FuzzTests.seed, of: original)
            for _ in 0..<FuzzTests.inputs {
                let file = AppleReceiptFile(.app, mutator.next())
                guard let receipt = try? AppleReceipt(file) else { continue }
                read += 1
                #expect(receipt.newest?.id.map(AppleIdentifier.isUsable) ?? true)
            }
        }
        #expect(read > FuzzTests.inputs / 20)
    }

    @Test func survivesMutatedTokens() {
        let originals = [
            AppleReceiptFixture.base64(AppleReceiptFixture.app()),
            AppleReceiptFixture.transaction(), AppleReceiptSample.text,
            #"{"receipt-data":"MIIA","transactionId":"1"}"#, "420001010101001",
        ]
        for original in originals {
            var mutator = Mutator(seed: FuzzTests.seed, of: original)
            for _ in 0..<FuzzTests.inputs / 4 {
                let text = String(decoding: mutator.next(), as: UTF8.self)
                guard case .receipt(let file)? = try? AppleIdentifier(token: StoreToken(text))
                else { continue }
                _ = try? AppleReceipt(file)
            }
        }
    }

    @Test func survivesMutatedPropertyLists() {
        var mutator = Mutator(seed: FuzzTests.seed, of: #"{ "a" = "b\"c"; "d" = e; }"#)
        for _ in 0..<FuzzTests.inputs { _ = ApplePropertyList(mutator.next())?["a"] }
    }

    /// No mutation makes an answer about another app, or of an error, into a verdict.
    @Test func survivesMutatedAnswersOfVerifyReceipt() {
        let month = AppleVerifyReceiptTests.month
        let original = #"""
            {"status":0,"environment":"Production","receipt":{"bundle_id":"com.example.reader",
            "request_date_ms":"1774008000417","in_app":[\#(month)]},"latest_receipt_info":[\#(month)],
            "latest_receipt":"\#(AppleReceiptFixture.transaction())",
            "pending_renewal_info":[\#(AppleVerifyReceiptTests.renewal)]}
            """#
        var mutator = Mutator(seed: FuzzTests.seed, of: original)
        var verdicts = 0
        for _ in 0..<FuzzTests.inputs {
            let bytes = mutator.next()
            let reply = AppleReceiptReply(HTTPResponse(status: 200, body: bytes), at: Self.now)
            guard case .answer(let response, let hasExpired, _) = reply else { continue }
            let reader = AppleReceiptReader(
                bundleID: "com.example.reader", environment: .production,
                facts: Facts(product: "plus"), local: nil, hasExpired: hasExpired,
                isSecretRefused: false, time: AppleTime(now: Self.now, told: nil))
            guard case .verdict(let observation)? = try? reader.answer(response) else { continue }
            verdicts += 1
            #expect(response.status == 0 || response.status == 21_006)
            #expect(observation.originalID != nil && !observation.items.isEmpty)
        }
        #expect(verdicts > FuzzTests.inputs / 20)
    }

    @Test func survivesMutatedHistoriesAndPositions() async throws {
        let verifier = try AppleFixture.verifier()
        let reader = AppleReader(
            verifier: verifier, bundleID: "com.example.reader", environment: .production,
            time: AppleTime(now: Self.now, told: nil))
        var mutator = Mutator(seed: FuzzTests.seed, of: try AppleFixture.page(["{}"], next: "r"))
        for _ in 0..<FuzzTests.inputs {
            guard let page = try? await reader.page(mutator.next()) else { continue }
            #expect(page.transactions.allSatisfy { $0.productId == "plus" })
        }
        let place = #"{"production":{"readUpTo":1774008000000,"seen":["a"]}}"#
        mutator = Mutator(seed: FuzzTests.seed, of: place)
        for _ in 0..<FuzzTests.inputs {
            _ = AppleHintPosition(text: String(decoding: mutator.next(), as: UTF8.self)).text
        }
    }
}
