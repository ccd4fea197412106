import Postgres
import Renewal
import Testing

@testable import Ledger

/// `renewald.answer_refund`: once, in time, and only where it can be sent.
@Suite(.serialized) struct AnswerRefundTests {
    /// Calls it, and gives what the server has against it.
    private func answer(
        _ desk: RefundStage, _ arguments: String, on session: PostgresConnection? = nil
    ) async throws -> String? {
        do {
            try await (session ?? desk.stage.beside).query(
                PostgresStatement(
                    "SELECT renewald.answer_refund(\(arguments))::text", isReadOnly: false))
            return nil
        } catch {
            guard case .rejected(_, let message, _) = error else { throw error }
            return message
        }
    }

    @Test func keepsWhatTheAppSays() async throws {
        let desk = try await RefundStage()
        try await desk.rule("app")
        try await desk.hear([try await desk.question()])
        let app = desk.stage.session()
        try await app.script("SET ROLE renewald_app")
        #expect(
            try await answer(
                desk, "1, 'prorate', consumed_percent => 33.3333, sample_provided => true", on: app)
                == nil)
        // Open until the store has it.
        #expect(
            try await desk.requests("state, answer, answered_at IS NOT NULL") == ["open prorate t"])
        #expect(
            try await desk.stage.list(
                """
                SELECT concat_ws(' ', answered_by, consumed_milli_percent, delivered,
                    sample_provided, customer_consented) FROM renewald.refund_request
                """) == ["app 33333 t t f"])
    }

    @Test(arguments: [
        ("2, 'decline'", "there is no request 2"),
        ("NULL, 'decline'", "there is no request NULL"),
        ("1, 'maybe'", "unknown preference 'maybe'"),
        ("1, NULL", "unknown preference NULL"),
        ("1, 'decline', -0.001", "consumed_percent is -0.001"),
        ("1, 'decline', 100.1", "consumed_percent is 100.1"),
        ("1, 'decline', 'NaN'", "consumed_percent is NaN"),
        ("1, 'decline', 'Infinity'", "consumed_percent is Infinity"),
    ])
    func refusesWhatItCannotMean(_ arguments: String, _ message: String) async throws {
        let desk = try await RefundStage()
        try await desk.rule("app")
        try await desk.hear([try await desk.question()])
        #expect(try await answer(desk, arguments) == "renewald.answer_refund: \(message)")
        #expect(try await desk.requests("state, answer") == ["open"])
    }

    @Test func isAnsweredOnceAndInTime() async throws {
        let desk = try await RefundStage()
        try await desk.rule("policy")
        try await desk.hear([
            try await desk.question("1"),
            try await desk.question("2", order: "late", within: .seconds(-1)),
        ])
        #expect(try await answer(desk, "1, 'decline', 0") == nil)
        #expect(
            try await answer(desk, "1, 'grant', 100")
                == "renewald.answer_refund: request 1 has an answer already: decline, by the app")
        #expect(
            try await answer(desk, "2, 'grant'")?
                .hasPrefix("renewald.answer_refund: request 2 had to be answered by ") == true)
        for state in ["answered", "expired", "closed"] {
            try await desk.stage.beside.script(
                "UPDATE renewald.refund_request SET state = '\(state)' WHERE id = 1")
            #expect(
                try await answer(desk, "1, 'grant'")
                    == "renewald.answer_refund: request 1 is \(state)")
        }
    }

    /// Two at once: one waits for the other and is told.
    @Test func ofTwoAtOnceOneIsTheAnswer() async throws {
        let desk = try await RefundStage()
        try await desk.rule("app")
        try await desk.hear([try await desk.question()])
        let (first, second) = (desk.stage.session("first"), desk.stage.session("second"))
        try await first.script("BEGIN; SELECT renewald.answer_refund(1, 'grant')")
        async let late = answer(desk, "1, 'decline'", on: second)
        try await desk.stage.wait(until: "application_name = 'second' AND wait_event_type = 'Lock'")
        try await first.script("COMMIT")
        #expect(
            try await late
                == "renewald.answer_refund: request 1 has an answer already: grant, by the app")
        #expect(try await desk.requests("answer") == ["grant"])
    }

    @Test func takesNothingThatWouldNotBeSent() async throws {
        let off = "[refunds] answer = \"off\": nothing is sent to a store"
        let consent = "Apple takes no answer without the consent of the customer"
        for (store, rule, isAgreed, arguments, message) in [
            (Store.google, "off", true, "1, 'grant'", String?.some(off)),
            (.apple, "off", true, "1, 'grant'", off),
            (.apple, "app", false, "1, 'grant'", consent),
            (.apple, "app", false, "1, 'grant', customer_consented => true", nil),
            (.apple, "app", true, "1, 'grant'", nil), (.apple, "policy", true, "1, 'grant'", nil),
            (.google, "policy", false, "1, 'grant'", nil),
        ] {
            let desk = try await RefundStage(store)
            try await desk.rule(rule, consented: isAgreed)
            try await desk.hear([try await desk.question()])
            #expect(
                try await answer(desk, arguments)
                    == message.map { "renewald.answer_refund: \($0)" }, "\(store) \(rule)")
        }
        // Before a daemon has told what holds.
        let desk = try await RefundStage()
        try await desk.hear([try await desk.question()])
        #expect(try await answer(desk, "1, 'grant'") == "renewald.answer_refund: \(off)")
    }

    @Test func followsTheConfigurationThatTheDaemonTells() async throws {
        let desk = try await RefundStage(.apple)
        try await desk.hear([try await desk.question()])
        var rule = RefundRule()
        rule.answering = .app
        rule.policy = .decline
        rule.wait = .minutes(90)
        rule.isConsented = true
        try await desk.stage.ledger.follow(rule)
        #expect(
            try await desk.stage.list(
                """
                SELECT concat_ws(' ', answer, policy, wait, customer_consented)
                FROM renewald.refund_rule
                """)
                == ["app decline 01:30:00 t"])
        #expect(try await answer(desk, "1, 'neutral'") == nil)
        rule.answering = .off
        try await desk.stage.ledger.follow(rule)
        #expect(try await answer(desk, "1, 'neutral'") != nil)
    }
}
