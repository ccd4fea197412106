import Postgres
import Renewal
import Testing

@testable import Ledger

/// From an answer to the store that has it: what is due, who sends it, and what is written down.
@Suite(.serialized) struct RefundAnswerTests {
    private let policy: RefundRule = {
        var rule = RefundRule()
        rule.answering = .policy
        rule.policy = .decline
        rule.wait = .hours(4)
        return rule
    }()
    private var byApp: RefundRule {
        var rule = policy
        rule.answering = .app
        return rule
    }

    private func round(_ desk: RefundStage, _ rule: RefundRule) async throws -> RefundRound {
        try await desk.stage.ledger.refundRound(of: [desk.app], under: rule)
    }

    private func attempt(
        _ desk: RefundStage, _ one: RefundCase, _ rule: RefundRule,
        by worker: WorkerID = .random()
    ) async throws -> RefundAttempt {
        RefundAttempt(
            of: one, answer: one.answer(under: rule, at: try await desk.now()), by: worker,
            limit: .seconds(120))
    }

    /// So much later.
    private func pass(_ desk: RefundStage, _ interval: String) async throws {
        try await desk.stage.beside.script(
            """
            UPDATE renewald.refund_request
            SET asked_at = asked_at - interval '\(interval)',
                heard_at = heard_at - interval '\(interval)',
                answer_by = answer_by - interval '\(interval)',
                send_at = send_at - interval '\(interval)',
                sending_until = sending_until - interval '\(interval)'
            """)
    }

    @Test func isDueByWhatTheConfigurationSays() async throws {
        let desk = try await RefundStage()
        try await desk.hear([
            try await desk.question("1"), try await desk.question("2", order: "other"),
        ])
        try await desk.stage.ledger.follow(byApp)
        try await desk.stage.beside.script("SELECT renewald.answer_refund(1, 'grant')")
        #expect(try await round(desk, RefundRule()).due == [])
        #expect(try await round(desk, byApp).due.map(\.id) == [1])
        #expect(try await round(desk, policy).due.map(\.author) == [.app])
        #expect(try await desk.stage.ledger.refundRound(of: [], under: policy).due == [])
        try await pass(desk, "3 hours 59 minutes")
        #expect(try await round(desk, policy).due.map(\.id) == [1])
        try await pass(desk, "2 minutes")
        #expect(try await round(desk, policy).due.map(\.author) == [.app, .policy])
        #expect(try await round(desk, byApp).due.map(\.id) == [1])
        let now = try await desk.now()
        let answers = try await round(desk, policy).due.map {
            $0.answer(under: policy, at: now).preference
        }
        #expect(answers == [.grant, .decline])
    }

    /// The app answers one in a session that does not commit: the others have their turn.
    @Test func oneThatIsHeldStopsNobodyElse() async throws {
        let desk = try await RefundStage()
        try await desk.hear([
            try await desk.question("1", within: .hours(6)),
            try await desk.question("2", order: "other"),
        ])
        try await pass(desk, "5 hours")
        let backend = desk.stage.session("backend")
        try await backend.script(
            "BEGIN; SELECT FROM renewald.refund_request WHERE id = 1 FOR UPDATE")
        let hasty = hasty(desk)
        let first = try await hasty.refundRound(of: [desk.app], under: policy)
        #expect(first.due.map(\.id) == [1, 2] && first.alarms == [])
        #expect(try await !hasty.begin(try await attempt(desk, first.due[0], policy)))
        #expect(try await hasty.begin(try await attempt(desk, first.due[1], policy)))
        try await backend.script("ROLLBACK")
        let second = try await hasty.refundRound(of: [desk.app], under: policy)
        #expect(second.due.map(\.id) == [1] && second.alarms.map(\.id) == [1])
        #expect(try await hasty.begin(try await attempt(desk, second.due[0], policy)))
        await backend.close()
        await hasty.close()
    }

    /// A further question about it comes again, and the news beside it does not wait.
    @Test func newsBesideAQuestionThatIsHeldGoesOn() async throws {
        let desk = try await RefundStage()
        try await desk.settled()
        try await desk.hear([try await desk.question("1", order: "other")])
        let backend = desk.stage.session("backend")
        try await backend.script(
            "BEGIN; SELECT FROM renewald.refund_request WHERE id = 1 FOR UPDATE")
        let hasty = hasty(desk)
        let further = try await desk.question("2", order: "other")
        let hint = Hint(id: "3", subject: .token("token of ann"))
        await #expect(throws: LedgerError.self) {
            try await desk.hear([further], hints: [hint], position: "further", by: hasty)
        }
        let place = "SELECT coalesce(position, 'begin') FROM renewald.hint_source"
        let due = "SELECT count(*) FROM renewald.schedule WHERE due_at <= now()"
        #expect(try await desk.stage.list(place) == ["begin"])
        #expect(try await desk.stage.number(due) == 1)
        try await backend.script("ROLLBACK")
        let report = try await desk.hear([further], hints: [hint], position: "further", by: hasty)
        #expect(report?.fresh == 0)
        #expect(try await desk.stage.list(place) == ["further"])
        let heard = "SELECT array_to_string(news_ids, ' ') FROM renewald.refund_request"
        #expect(try await desk.stage.list(heard) == ["1 2"])
        await backend.close()
        await hasty.close()
    }

    private func hasty(_ desk: RefundStage) -> PostgresLedger {
        var settings = PostgresSettings(
            conninfo: desk.stage.conninfo, applicationName: "ledger",
            statementTimeout: .seconds(60))
        settings.lockLimit = .milliseconds(200)
        return PostgresLedger(settings)
    }

    /// A row from the future is put off by itself; what cannot be read of its purchase is not known.
    @Test func oneThatCannotBeReadStopsNobodyElse() async throws {
        let desk = try await RefundStage()
        let claim = try await desk.settled()
        try await desk.hear([
            try await desk.question("1"), try await desk.question("2", order: "other"),
        ])
        try await pass(desk, "5 hours")
        try await desk.stage.beside.script(
            """
            ALTER TABLE renewald.refund_request DROP CONSTRAINT refund_request_environment_check;
            UPDATE renewald.refund_request SET environment = 'lunar' WHERE id = 1;
            ALTER TABLE renewald.purchase DROP CONSTRAINT purchase_kind_check;
            UPDATE renewald.purchase SET kind = 'rented' WHERE id = \(claim.purchase.id);
            """)
        let first = try await round(desk, policy)
        #expect(first.due.map(\.id) == [2] && first.due.map(\.kind) == [nil])
        #expect(first.unreadable.map(\.id) == [1])
        #expect(first.unreadable.map(\.column) == ["environment"])
        // Told again after an hour, not with each round.
        #expect(try await round(desk, policy).unreadable == [])
        try await pass(desk, "61 minutes")
        #expect(try await round(desk, policy).unreadable.map(\.id) == [1])
        #expect(
            try await desk.requests("coalesce(problem, '-')") == [
                "set_aside: its row cannot be read (column environment): fix the row", "-",
            ])
        try await desk.stage.beside.script(
            "UPDATE renewald.refund_request SET environment = 'production', send_at = now()")
        #expect(Set(try await round(desk, policy).due.map(\.id)) == [1, 2])
    }

    /// A wait that is too long for the deadline ends three hours before it.
    @Test func thePolicyDoesNotMissTheDeadline() async throws {
        let desk = try await RefundStage()
        var patient = policy
        patient.wait = .hours(24)
        try await desk.hear([try await desk.question(within: .hours(12))])
        try await pass(desk, "8 hours 59 minutes")
        #expect(try await round(desk, patient).due == [])
        try await pass(desk, "2 minutes")
        #expect(try await round(desk, patient).due.map(\.id) == [1])
    }

    @Test func appleIsToldNothingWithoutConsent() async throws {
        let desk = try await RefundStage(.apple)
        try await desk.hear([try await desk.question(token: nil, within: .hours(12))])
        try await pass(desk, "5 hours")
        #expect(try await round(desk, policy).due == [])
        var agreed = policy
        agreed.isConsented = true
        let one = try #require(try await round(desk, agreed).due.first)
        #expect(one.answer(under: agreed, at: try await desk.now()).isConsented)
    }

    @Test func ofTwoWorkersOneSendsIt() async throws {
        let desk = try await RefundStage()
        try await desk.hear([try await desk.question()])
        try await pass(desk, "5 hours")
        let other = desk.stage.furtherLedger()
        for _ in 1...5 {
            let one = try #require(try await round(desk, policy).due.first)
            let mine = try await attempt(desk, one, policy)
            let theirs = try await attempt(desk, one, policy)
            async let first = desk.stage.ledger.begin(mine)
            async let second = other.begin(theirs)
            let begun = try await [first, second]
            #expect(begun.filter { $0 }.count == 1)
            #expect(try await round(desk, policy).due == [])
            // The one that was slower writes nothing.
            try await desk.stage.ledger.end(
                begun[0] ? theirs : mine, .refused(.init(.rejected, "")))
            #expect(
                try await desk.requests("state, answer, problem LIKE 'rejected%'")
                    != ["open decline t"])
            try await desk.stage.ledger.end(
                begun[0] ? mine : theirs, .later(Problem(.unreachable, "no reply"), rest: .zero))
        }
        #expect(try await desk.requests("problem") == ["unreachable: no reply"])
        await other.close()
    }

    @Test func whatHasChangedSinceItWasReadIsNotSent() async throws {
        for change in [
            "SELECT renewald.answer_refund(1, 'grant')",
            "UPDATE renewald.refund_request SET token = 'newer'",
            "UPDATE renewald.refund_request SET state = 'closed', outcome = 'refunded'",
            "UPDATE renewald.refund_request SET answer_by = now()",
        ] {
            let desk = try await RefundStage()
            try await desk.rule("policy")
            try await desk.hear([try await desk.question()])
            try await pass(desk, "5 hours")
            let one = try #require(try await round(desk, policy).due.first)
            try await desk.stage.beside.script(change)
            let late = try await attempt(desk, one, policy)
            #expect(try await !desk.stage.ledger.begin(late), "\(change)")
        }
    }

    @Test func writesDownHowItEnded() async throws {
        let problem = Problem(.unreachable, "time-out")
        for (ending, row, isDue) in [
            (RefundEnding.taken, "answered decline", false),
            (.uncertain(problem), "answered decline unreachable: time-out", false),
            (.refused(problem), "open decline unreachable: time-out", false),
            (.later(problem, rest: .minutes(1)), "open decline unreachable: time-out", true),
        ] {
            let desk = try await RefundStage()
            try await desk.hear([try await desk.question()])
            try await pass(desk, "5 hours")
            let one = try #require(try await round(desk, policy).due.first)
            let own = try await attempt(desk, one, policy)
            #expect(try await desk.stage.ledger.begin(own))
            try await desk.stage.ledger.end(own, ending)
            #expect(try await desk.requests("state, answer, problem") == [row])
            #expect(try await round(desk, policy).due == [])
            try await pass(desk, "2 minutes")
            let again = try await round(desk, policy).due
            #expect(again.map(\.given?.preference) == (isDue ? [.decline] : []), "\(row)")
            try await pass(desk, "20 hours")
            let alarms = try await round(desk, policy).alarms.map(\.cause)
            #expect(alarms.contains(.expired) == row.hasPrefix("open"), "\(row)")
        }
    }

    /// What was put off, and who sends it, until a time that has become far.
    @Test func nothingRestsLongerWhenTheClockIsSetBack() async throws {
        let desk = try await RefundStage()
        try await desk.hear([try await desk.question()])
        try await pass(desk, "5 hours")
        let first = try await attempt(
            desk, try #require(try await round(desk, policy).due.first), policy)
        #expect(try await desk.stage.ledger.begin(first))
        try await desk.stage.ledger.end(
            first, .later(Problem(.unreachable, "time-out"), rest: .minutes(5)))
        #expect(try await round(desk, policy).due == [])
        try await desk.stage.beside.script(
            "UPDATE renewald.refund_request SET send_at = send_at + interval '1 day'")
        let second = try await attempt(
            desk, try #require(try await round(desk, policy).due.first), policy)
        #expect(try await desk.stage.ledger.begin(second))
        try await desk.stage.beside.script(
            "UPDATE renewald.refund_request SET sending_until = sending_until + interval '1 day'")
        #expect(try await round(desk, policy).alarms.map(\.cause) == [.uncertain])
    }

    /// Google keeps the first call: what may have been sent is not sent again. Apple is told again.
    @Test func aSenderThatHasDiedIsFoundOut() async throws {
        for (store, state, isDue) in [(Store.google, "answered", false), (.apple, "open", true)] {
            let desk = try await RefundStage(store)
            var agreed = policy
            agreed.isConsented = true
            try await desk.hear([try await desk.question()])
            try await pass(desk, "5 hours")
            let one = try #require(try await round(desk, agreed).due.first)
            let dead = try await attempt(desk, one, agreed)
            #expect(try await desk.stage.ledger.begin(dead))
            try await pass(desk, "1 minute")
            #expect(try await round(desk, agreed).alarms == [])
            try await pass(desk, "2 minutes")
            let found = try await round(desk, agreed)
            #expect(found.alarms.map(\.cause) == (isDue ? [] : [.uncertain]))
            #expect(try await round(desk, agreed).alarms == [])
            #expect(found.due.map(\.attempts) == (isDue ? [1] : []))
            #expect(
                try await desk.requests("state, answer, problem LIKE '%not known whether Google%'")
                    == ["\(state) decline" + (isDue ? "" : " t")])
            // It had only been slow, and the store has it.
            try await desk.stage.ledger.end(dead, .taken)
            #expect(try await desk.requests("state, problem") == ["answered"])
        }
    }

    @Test func whatNobodyAnswersIsToldAndExpires() async throws {
        let desk = try await RefundStage()
        try await desk.hear([try await desk.question()])
        #expect(try await round(desk, byApp).alarms == [])
        try await pass(desk, "21 hours 59 minutes")
        #expect(try await round(desk, byApp).alarms == [])
        try await pass(desk, "2 minutes")
        #expect(try await round(desk, byApp).alarms.map(\.cause) == [.unanswered])
        #expect(try await round(desk, byApp).alarms == [])
        try await pass(desk, "2 hours")
        // Also where nothing is ever sent, and whoever asks.
        let alarms = try await desk.stage.ledger.refundRound(of: [], under: RefundRule()).alarms
        #expect(alarms.map(\.cause) == [.expired])
        #expect(try await desk.requests("state, answer, outcome") == ["expired"])
        try await desk.hear(rulings: [RefundRuling(id: "r", order: "order..1", outcome: .refunded)])
        #expect(try await desk.requests("state, outcome") == ["closed refunded"])
        #expect(try await desk.stage.broken() == [])
    }

    /// The paid period of the order that is asked about, from the evidence.
    @Test func knowsHowMuchOfThePeriodHasPassed() async throws {
        let desk = try await RefundStage()
        let claim = try await desk.settled()
        try await desk.hear([try await desk.question()])
        try await pass(desk, "5 hours")
        let one = try #require(try await round(desk, policy).due.first)
        let start = claim.purchase.createdAt
        #expect(one.period == start..<(start + .days(30)))
    }
}
