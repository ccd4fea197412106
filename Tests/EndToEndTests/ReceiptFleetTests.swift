import Foundation
import TestSupport
import Testing

/// Fleets that Apple's deprecated endpoint alone is asked about, while it answers nonsense.
@Suite(.serialized)
struct ReceiptFleetTests {
    private static let fleet = 40
    private static let testers = 2

    /// Has no key of the server API.
    private func submitFleet(_ stage: Stage) async throws {
        try stage.editConfiguration {
            $0.replacing(/(issuer_id|key_id|private_key) = .*\n/, with: "")
        }
        let bought = try await stage.buy("apple", count: Self.fleet)
        let tested = try await stage.buy(
            "apple", terms: #""environment":"sandbox""#, count: Self.testers)
        for made in bought + tested { try await submit(made, on: stage, for: "user \(made.id)") }
    }

    private func submit(_ made: Stage.Made, on stage: Stage, for user: String) async throws {
        let receipt = try await stage.receipt(of: made, style: "transaction")
        try await stage.submit(made, token: receipt, "apple", for: user)
    }

    private func askAll(_ stage: Stage) async throws -> ChildProcess.Exit {
        try await stage.script("UPDATE renewald.schedule SET due_at = now()")
        return try await stage.renewald("once").exit
    }

    private func holders(_ stage: Stage) async throws -> String {
        try await stage.value(
            """
            SELECT string_agg(line, ' ' ORDER BY line) FROM (
                SELECT environment || ' ' || count(*) FROM renewald.entitlements
                WHERE renewald.has(user_id, entitlement) GROUP BY environment) AS environments (line)
            """)
    }

    private static let all = "production \(fleet) sandbox \(testers)"

    /// As in February 2023, when Apple called everybody's receipt malformed.
    @Test func everybodysReceiptIsMalformedForADay() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            try await submitFleet(stage)
            #expect(try await askAll(stage) == .code(0))
            #expect(try await holders(stage) == Self.all)
            try await stage.fault(#"{"kind":"receipt_status","status":21002}"#)
            let made = try await stage.buy("apple")[0]
            try await submit(made, on: stage, for: "new")
            for _ in 1...3 {
                #expect(try await askAll(stage) == .code(75))
                try await stage.pass("PT7H")
            }
            #expect(try await holders(stage) == Self.all)
            try await stage.clearFaults()
            #expect(try await askAll(stage) == .code(0))
            // Told to have a bad receipt, and then to have bought.
            #expect(
                try await stage.story(of: "new") == ["notice rejected", "grant monthly purchased"])
            #expect(
                try await stage.value(
                    "SELECT count(*) FROM renewald.events WHERE kind <> 'grant'") == "1")
        }
    }

    /// What is said of one receipt is said of no other, and costs no further call: the receipts
    /// themselves say where they are from.
    @Test func someReceiptsAreSaidToBeOfTheSandbox() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z", logsAnswers: true) { stage in
            try await submitFleet(stage)
            var calls = Self.fleet + Self.testers
            #expect(try await askAll(stage) == .code(0))
            #expect(try stage.answers(of: "verify_receipt") == calls)
            #expect(try await holders(stage) == Self.all)
            try await stage.fault(#"{"kind":"receipt_status","status":21007,"share":0.2}"#)
            for _ in 1...3 {
                #expect(try await askAll(stage) == .code(75))
                calls += Self.fleet + Self.testers
                #expect(try stage.answers(of: "verify_receipt") == calls)
                #expect(try await holders(stage) == Self.all)
            }
            try await stage.clearFaults()
            #expect(try await askAll(stage) == .code(0))
            #expect(
                try await stage.value(
                    "SELECT count(*) FROM renewald.events WHERE kind = 'revoke'") == "0")
        }
    }
}
