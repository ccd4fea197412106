import TestSupport
import Testing

/// A backend submits everybody's purchases under one user id, such as `undefined`.
@Suite(.serialized)
struct CrowdedUserTests {
    private static let purchases = 2000

    @Test func oneUserOfThousandsOfPurchasesHoldsUpNobody() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            let crowd = try await stage.buy("google", count: Self.purchases)
            try await stage.submit(crowd, "google") { _ in "undefined" }
            try await stage.submit(try await stage.buy("apple")[0], "apple", for: "ada")
            #expect(try await stage.renewald("once").exit == .code(0))
            #expect(try await stage.story(of: "ada") == ["grant monthly purchased"])
            #expect(try await stage.story(of: "undefined") == ["grant monthly purchased"])

            try await stage.fault(#"{"kind":"ended","store":"google"}"#)
            try await stage.script(
                "UPDATE renewald.schedule SET due_at = now() WHERE due_at > now()")
            #expect(try await stage.renewald("once").exit == .code(0))
            #expect(try await stage.value("SELECT renewald.has('ada', 'monthly')") == "true")
            let waiting = try await stage.value(
                "SELECT count(*) FROM renewald.schedule WHERE due_at <= now()")
            #expect(waiting == "0")
        }
    }
}
