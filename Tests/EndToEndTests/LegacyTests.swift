import TestSupport
import Testing

/// Apple's legacy receipts: where there is a key of the server API, the deprecated endpoint is
/// asked once at most.
@Suite(.serialized)
struct LegacyTests {
    @Test(arguments: ["app", "transaction"])
    func aReceiptThatNamesItsTransactionIsNeverVerified(style: String) async throws {
        try await onStage(from: "2026-01-01T00:00:00Z", logsAnswers: true) { stage in
            let made = try await stage.buy("apple")[0]
            let receipt = try await stage.receipt(of: made, style: style)
            try await stage.submit(made, token: receipt, "apple", for: "leo")
            try await Self.checkThreeTimes(stage)
            #expect(
                try await stage.story(of: "leo") == [
                    "notice migrated", "grant monthly purchased",
                ])
            #expect(try stage.answers(of: "verify_receipt") == 0)
            #expect(try stage.answers(of: "statuses") == 3)
        }
    }

    /// It does not name the transaction; what Apple answers about the same customer does.
    @Test func aReceiptFromBeforeThePurchaseIsVerifiedOnceAtMost() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z", logsAnswers: true) { stage in
            let terms = #""customer":"leo""#
            let book = try await stage.buy(
                "apple", product: "book", terms: terms + #","kind":"non_consumable""#)[0]
            let receipt = try await stage.receipt(of: book, style: "app")
            try await stage.pass("P1D")
            let made = try await stage.buy("apple", terms: terms)[0]
            try await stage.submit(made, token: receipt, "apple", for: "leo")
            try await Self.checkThreeTimes(stage)
            #expect(
                try await stage.story(of: "leo") == [
                    "notice migrated", "grant monthly purchased",
                ])
            #expect(try stage.answers(of: "verify_receipt") <= 1)
        }
    }

    @Test(arguments: ["app", "transaction"])
    func withASharedSecretAloneTheReceiptIsVerified(style: String) async throws {
        try await onStage(from: "2026-01-01T00:00:00Z", logsAnswers: true) { stage in
            try stage.editConfiguration { text in
                text.split(separator: "\n", omittingEmptySubsequences: false)
                    .filter { line in
                        !["issuer_id", "key_id", "private_key"].contains { line.hasPrefix($0) }
                    }
                    .joined(separator: "\n")
            }
            let made = try await stage.buy("apple")[0]
            let receipt = try await stage.receipt(of: made, style: style)
            try await stage.submit(made, token: receipt, "apple", for: "leo")
            try await Self.once(stage)
            try await stage.act(made, "refund")
            try await stage.script("UPDATE renewald.schedule SET due_at = now()")
            try await Self.once(stage)
            #expect(
                try await stage.story(of: "leo") == [
                    "grant monthly purchased", "revoke monthly refunded",
                ])
            #expect(try stage.answers(of: "verify_receipt") == 2)
            #expect(try stage.answers(of: "statuses") == 0)
        }
    }

    private static func checkThreeTimes(_ stage: Stage) async throws {
        for _ in 1...3 {
            try await stage.script("UPDATE renewald.schedule SET due_at = now()")
            try await once(stage)
        }
    }

    private static func once(_ stage: Stage) async throws {
        let ended = try await stage.renewald("once")
        #expect(ended.exit == .code(0), "\(ended.standardError)")
    }
}
