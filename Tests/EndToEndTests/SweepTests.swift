import Foundation
import TestSupport
import Testing

/// Calls that nothing due needs find what no news tells of.
struct SweepTests {
    private static let fleet = 20

    @Test func aRefundThatNobodyTellsOfIsFoundBeforeItsTime() async throws {
        try await onStage { stage in
            try stage.configure()
            let made = try await stage.buy("amazon", count: Self.fleet)
            try await stage.submit(made, "amazon") { "user \($0)" }
            #expect(try await stage.renewald("once").exit == .code(0))
            #expect(try await stage.questions() == Self.fleet)
            // They were asked about a day ago, and are due in a day.
            try await stage.script(
                """
                UPDATE renewald.schedule
                SET checked_at = checked_at - interval '1 day', due_at = now() + interval '1 day'
                """)
            try await stage.act(made[7], "refund")
            // One pass asks about what is due, and nothing is.
            #expect(try await stage.renewald("once").exit == .code(0))
            #expect(try await stage.questions() == Self.fleet)

            let daemon = try stage.daemon()
            try await stage.wait {
                try await stage.value(
                    """
                    SELECT count(*) FROM renewald.schedule
                    WHERE checked_at > now() - interval '1 hour'
                    """) == "\(Self.fleet)"
            }
            #expect(
                try await stage.value(
                    "SELECT string_agg(reason, ' ') FROM renewald.events WHERE kind = 'revoke'")
                    == "refunded")
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
            // Each once more.
            #expect(try await stage.questions() == 2 * Self.fleet)
        }
    }
}
