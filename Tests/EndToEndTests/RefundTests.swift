import Foundation
import TestSupport
import Testing

/// A store asks about a refund: it is told, answered once, and what came of it is known.
@Suite(.serialized)
struct RefundTests {
    private struct Asked: Decodable {
        struct Reply: Decodable { let body: String }
        struct Refund: Decodable { let replies: [Reply] }
        let refunds: [Refund]
    }

    /// What the store was told.
    private func replies(_ stage: Stage) async throws -> [String] {
        try JSONDecoder().decode(Asked.self, from: await stage.control("refunds", nil))
            .refunds.flatMap(\.replies).map(\.body)
    }

    private func once(_ stage: Stage) async throws {
        let output = try await stage.renewald("once")
        #expect(output.exit == .code(0), "\(output.standardError)")
    }

    private func configure(_ stage: Stage, _ refunds: String) throws {
        try stage.editConfiguration { text in
            text.replacingOccurrences(
                of: "/google.json\"\n",
                with:
                    "/google.json\"\npubsub_subscription = \"projects/storesim/subscriptions/play\"\n"
            )
                + "[refunds]\n\(refunds)\ncustomer_consented = true\n"
        }
    }

    private func state(_ stage: Stage) async throws -> String {
        try await stage.value(
            "SELECT concat_ws(' ', state, answer, outcome) FROM renewald.refund_requests")
    }

    @Test(
        "the app answers, once, and the refund closes it",
        arguments: [
            ("apple", "UNINTENDED_PURCHASE", "DECLINE"), ("google", "7", "DECLINE"),
        ])
    func theAppAnswers(store: String, reason: String, told: String) async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            try configure(stage, "answer = \"app\"")
            let made = try await stage.buy(store)[0]
            try await stage.submit(made, store, for: "ria")
            try await once(stage)
            try await stage.pass("P3D")
            try await stage.control(
                "refunds", #"{"purchase":\#(made.id),"reason":"\#(reason)"}"#)
            try await stage.pass("PT1M")
            try await once(stage)
            #expect(
                try await stage.story(of: "ria") == [
                    "grant monthly purchased", "notice refund_requested",
                ])
            #expect(
                try await stage.value("SELECT reason FROM renewald.refund_requests") == reason)
            #expect(try await replies(stage).isEmpty, "nobody has answered yet")

            try await stage.script(
                "SELECT renewald.answer_refund(id, 'decline') FROM renewald.refund_requests")
            try await once(stage)
            try await once(stage)
            #expect(try await state(stage) == "answered decline")
            let bodies = try await replies(stage)
            #expect(bodies.count == 1)
            #expect(bodies.first?.contains("\"\(told)\"") == true)

            try await stage.control("refunds/1/decide", #"{"outcome":"refunded"}"#)
            try await stage.pass("PT10M")
            try await once(stage)
            #expect(try await state(stage) == "closed decline refunded")
            #expect(try await stage.story(of: "ria").last == "revoke monthly refunded")
        }
    }

    @Test(
        "with answer = \"off\" nothing is sent, and the deadline passes",
        arguments: [("apple", "LEGAL"), ("google", "7")])
    func nothingIsSent(store: String, reason: String) async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            try configure(stage, "answer = \"off\"")
            let made = try await stage.buy(store)[0]
            try await stage.submit(made, store, for: "rob")
            try await once(stage)
            try await stage.control("refunds", #"{"purchase":\#(made.id),"reason":"\#(reason)"}"#)
            try await stage.pass("PT1M")
            try await once(stage)
            #expect(try await state(stage) == "open")
            try await stage.pass("P2D")
            try await once(stage)
            #expect(try await state(stage) == "expired")
            #expect(try await replies(stage).isEmpty)
            #expect(try await stage.value("SELECT renewald.has('rob', 'monthly')") == "true")
        }
    }

    @Test(
        "the policy answers when the app has had its time",
        arguments: [("apple", "LEGAL", "GRANT_FULL"), ("google", "7", "APPROVE")])
    func thePolicyAnswers(store: String, reason: String, told: String) async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            try configure(stage, "answer = \"policy\"\npolicy = \"grant\"\nwait = \"PT4H\"")
            let made = try await stage.buy(store)[0]
            try await stage.submit(made, store, for: "rex")
            try await once(stage)
            try await stage.control("refunds", #"{"purchase":\#(made.id),"reason":"\#(reason)"}"#)
            try await stage.pass("PT1H")
            try await once(stage)
            #expect(try await state(stage) == "open")
            try await stage.pass("PT4H")
            try await once(stage)
            #expect(try await state(stage) == "answered grant")
            #expect(try await replies(stage).first?.contains("\"\(told)\"") == true)
            // Google does not say that it has declined.
            guard store == "apple" else { return }
            try await stage.control("refunds/1/decide", #"{"outcome":"declined"}"#)
            try await stage.pass("PT10M")
            try await once(stage)
            #expect(try await state(stage) == "closed grant declined")
            #expect(try await stage.story(of: "rex").last == "notice refund_declined")
        }
    }
}
