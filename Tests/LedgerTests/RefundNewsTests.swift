import Postgres
import Renewal
import Testing

@testable import Ledger

/// What a store asks about a refund is stored with its notice, once.
@Suite(.serialized) struct RefundNewsTests {
    @Test func aQuestionIsStoredAndToldWithWhatIsKnownOfThePurchase() async throws {
        let desk = try await RefundStage()
        let claim = try await desk.settled()
        let question = try await desk.question(account: "hash of ann")
        let report = try await desk.hear([question])
        #expect(
            report?.refundNotices == [
                RefundNotice(
                    .refundRequested, of: desk.app, requestID: 1, purchaseID: claim.purchase.id,
                    userID: "ann", answerBy: question.answerBy)
            ])
        #expect(
            try await desk.requests("id, store, app, purchase_id, user_id, order_id, reason, state")
                == ["1 google com.example.reader 1 ann order..1 4 open"])
        #expect(
            try await desk.requests("asked_at = to_timestamp(0), answer, answered_at, outcome")
                == ["f"])
        #expect(
            try await desk.events(
                "reason, user_id, purchase_id, product, order_id, environment, "
                    + "detail - 'answer_by'")
                == [
                    "refund_requested ann 1 pro order..1 production "
                        + #"{"reason": "4", "request_id": 1, "account_token": "hash of ann"}"#
                ])
        #expect(
            try await desk.stage.list(
                """
                SELECT ((event.detail ->> 'answer_by')::timestamptz = request.answer_by
                    AND event.effective_at = request.asked_at)::text
                FROM renewald.events AS event, renewald.refund_requests AS request
                WHERE event.kind = 'notice'
                """) == ["true"])
        #expect(try await desk.stage.list("SELECT access FROM renewald.purchases") == ["granted"])
        #expect(try await desk.stage.broken() == [])
    }

    @Test func theSameNotificationAgainChangesNothing() async throws {
        let desk = try await RefundStage()
        try await desk.settled()
        let question = try await desk.question()
        try await desk.hear([question])
        let before = try await desk.stage.everything()
        #expect(try await desk.hear([question])?.refundNotices == [])
        // The source itself notes when it was read.
        func rest(_ rows: [String]) -> [String] { rows.filter { !$0.hasPrefix("hint_source") } }
        #expect(rest(try await desk.stage.everything()) == rest(before))
        // Nor once it is closed.
        try await desk.hear(rulings: [RefundRuling(id: "r", order: "order..1", outcome: .refunded)])
        #expect(try await desk.hear([question])?.refundNotices == [])
        #expect(try await desk.requests("state, outcome") == ["closed refunded"])
    }

    @Test func aFurtherQuestionUpdatesTheOpenOneAndIsNoSecondEvent() async throws {
        let desk = try await RefundStage()
        try await desk.hear([
            try await desk.question("1", token: "old", reason: "4"),
            try await desk.question("2", token: "old", reason: "5", within: .seconds(90_000)),
        ])
        let third = try await desk.question(
            "3", token: "new", reason: nil, within: .seconds(99_000))
        #expect(try await desk.hear([third])?.refundNotices == [])
        #expect(try await desk.requests("id, reason, state") == ["1 5 open"])
        #expect(
            try await desk.stage.list(
                """
                SELECT concat_ws(' ', token, answer_by - now() > interval '27 hours', news_ids)
                FROM renewald.refund_request
                """) == ["new t {1,2,3}"])
        #expect(try await desk.events("reason, detail ->> 'reason'") == ["refund_requested 5"])
        // About another renewal it is another question.
        try await desk.hear([try await desk.question("4", order: "order..2")])
        #expect(try await desk.requests("order_id") == ["order..1", "order..2"])
    }

    /// Apple asks up to three times, also once it was answered; after the deadline it is a new
    /// question, and so is one of Google's with another token.
    @Test func aQuestionThatWasAnsweredIsNotAskedAgain() async throws {
        for (store, token, other) in [
            (Store.apple, StoreToken?.none, StoreToken?.none), (.google, "one", "two"),
        ] {
            let desk = try await RefundStage(store)
            try await desk.rule("app", consented: true)
            try await desk.hear([try await desk.question("1", token: token)])
            try await desk.stage.beside.script(
                """
                SELECT renewald.answer_refund(1, 'decline');
                UPDATE renewald.refund_request SET state = 'answered'
                """)
            try await desk.hear([try await desk.question("2", token: token)])
            #expect(try await desk.requests("id, state") == ["1 answered"])
            let late = try await desk.question(
                "3", token: other, asked: .days(2), within: .days(3))
            try await desk.hear([late])
            #expect(try await desk.requests("state") == ["answered", "open"])
            #expect(try await desk.events().count == 2)
        }
    }

    @Test func aQuestionAboutWhatNobodyHasSubmittedIsToldAtOnce() async throws {
        let desk = try await RefundStage()
        let report = try await desk.hear([try await desk.question(account: "hash of ann")])
        #expect(report?.refundNotices.map(\.userID) == [nil])
        #expect(try await desk.requests("state") == ["open"])
        #expect(
            try await desk.events("reason, user_id, purchase_id, product, detail ->> 'original_id'")
                == ["refund_requested order"])
        let told = try await desk.stage.ledger.events(after: 0, limit: 10)
        #expect(told.map(\.userID) == [nil])
        #expect(told.map(\.id) == [1])
    }

    /// Two pages at a time: whoever reads on after the last id misses none.
    @Test func noticesAreNumberedWithoutAGap() async throws {
        let desk = try await RefundStage()
        try await desk.settled()
        var questions: [RefundQuestion] = []
        for number in 1...3 {
            questions.append(
                try await desk.question(
                    NewsID("\(number)"), order: OrderID("order..\(number)")))
        }
        try await desk.hear(questions)
        try await desk.hear(rulings: [
            RefundRuling(id: "a", order: "order..2", outcome: .declined),
            RefundRuling(id: "b", order: "order..3", outcome: .refunded),
            RefundRuling(id: "c", order: "never asked", outcome: .declined),
        ])
        #expect(
            try await desk.events("id, reason, detail ->> 'request_id', user_id") == [
                "2 refund_requested 1 ann", "3 refund_requested 2 ann",
                "4 refund_requested 3 ann", "5 refund_declined 2 ann", "6 refund_declined",
            ])
        #expect(
            try await desk.requests("state, outcome")
                == ["open", "closed declined", "closed refunded"])
        #expect(try await desk.stage.broken() == [])
    }

    /// An event's key is made from the news alone: the same after a restore.
    @Test func keysAreMadeFromTheNews() async throws {
        var keys: [[String]] = []
        for _ in 1...2 {
            let desk = try await RefundStage()
            if keys.isEmpty { try await desk.settled() }
            try await desk.hear(
                [try await desk.question()],
                rulings: [RefundRuling(id: "r", order: "order..1", outcome: .declined)])
            keys.append(try await desk.events("key"))
        }
        #expect(keys[0] == keys[1])
        #expect(Set(keys[0]).count == 2)
    }

    /// A store declines, the customer asks again, and both are read together.
    @Test func aRulingClosesNoLaterQuestion() async throws {
        let desk = try await RefundStage()
        try await desk.hear([try await desk.question("1", asked: .seconds(-7200))])
        let later = try await desk.question("2", token: "another token")
        try await desk.hear(
            [later],
            rulings: [
                RefundRuling(
                    id: "r", order: "order..1", outcome: .declined,
                    ruledAt: later.askedAt - .seconds(3600))
            ])
        #expect(
            try await desk.requests("state, outcome") == ["closed declined", "open"])
    }

    /// What the database would refuse must not keep a page from being stored.
    @Test func nonsenseHoldsUpNothing() async throws {
        let desk = try await RefundStage()
        try await desk.hear([
            try await desk.question("1", order: "order\0"),
            try await desk.question("2", order: OrderID(String(repeating: "x", count: 2000))),
            try await desk.question(
                "3", reason: "a\0b", account: String(repeating: "x", count: 500)),
        ])
        #expect(try await desk.requests("order_id, reason, state") == ["order..1 open"])
    }

    /// Submitted later, whatever became of the question meanwhile.
    @Test func isFilledInWhenSomebodySubmitsIt() async throws {
        let desk = try await RefundStage()
        try await desk.hear([
            try await desk.question(), try await desk.question("2", order: "o", original: "other"),
        ])
        try await desk.stage.beside.script(
            "UPDATE renewald.refund_request SET state = 'expired' WHERE order_id = 'order..1'")
        let claim = try await desk.settled()
        #expect(
            try await desk.requests("id, purchase_id, user_id")
                == ["1 \(claim.purchase.id) ann", "2"])
        #expect(
            try await desk.stage.ledger.history(ofUser: "ann").purchases[0].refunds.map(\.id) == [1]
        )
        #expect(try await desk.stage.broken() == [])
    }

    /// Stored while the first check was being committed: neither saw the other.
    @Test func isFilledInAlsoWhenBothCameTogether() async throws {
        let desk = try await RefundStage()
        try await desk.settled()
        try await desk.hear([try await desk.question()])
        try await desk.stage.beside.script("UPDATE renewald.refund_request SET purchase_id = NULL")
        _ = try await desk.stage.ledger.refundRound(of: [], under: RefundRule())
        #expect(try await desk.requests("user_id") == ["ann"])
    }

    /// Of several consumables some were given back, and the store asks about the rest.
    @Test(arguments: [("order..1 refunded 40000", "open"), ("order..1", "closed refunded")])
    func whatIsLeftOfConsumablesIsAskedAbout(_ period: OrderID, _ state: String) async throws {
        let desk = try await RefundStage(.apple)
        let lease = try await desk.stage.takeAll()
        try await desk.stage.submit("ann", "coins", store: "apple", app: desk.app.id.text)
        try await desk.hear([try await desk.question()])
        for isRefunded in [false, true] {
            try await desk.stage.makeAllDue()
            let claim = try #require(try await desk.stage.due(lease).first)
            var observation = Observation(
                environment: .production, kind: .consumable,
                status: isRefunded ? .refunded(at: claim.claimedAt) : .active,
                items: [Item(names: ["coins"], expiresAt: nil)], originalID: "order",
                orderID: "order..1", period: isRefunded ? period : "order..1", words: "coins")
            if isRefunded, period != "order..1" {
                observation.refundedParts["order..1"] = RefundedPart(share: Share(2, of: 5))
            }
            _ = try await desk.stage.ledger.commit(
                [outcome(claim, observation)], under: lease, at: claim.claimedAt)
        }
        #expect(try await desk.stage.list("SELECT state FROM renewald.purchases") == ["refunded"])
        #expect(try await desk.requests("state, outcome") == [state])
        try await desk.hear([try await desk.question("2", token: "another")])
        #expect(try await Set(desk.requests("state, outcome")) == [state])
    }

    @Test func aCheckThatFindsTheOrderRefundedClosesIt() async throws {
        let desk = try await RefundStage()
        try await desk.settled()
        try await desk.hear([
            try await desk.question(), try await desk.question("2", order: "order..0"),
        ])
        try await desk.stage.makeAllDue()
        let lease = try await desk.stage.takeAll()
        let claim = try #require(try await desk.stage.due(lease).first)
        var observation = inForce(claim)
        observation.observed = .own(.refunded(at: claim.claimedAt))
        _ = try await desk.stage.ledger.commit(
            [outcome(claim, observation)], under: lease, at: claim.claimedAt)
        #expect(try await desk.stage.list("SELECT access FROM renewald.purchases") == ["none"])
        #expect(
            try await desk.requests("order_id, state, outcome")
                == ["order..1 closed refunded", "order..0 open"])
        #expect(try await desk.stage.ledger.refundStatus().map(\.open) == [1])
        // One that was asked before and is heard only now is told, and not answered any more.
        let late = try await desk.question("3", order: "order..1", token: "another")
        let report = try await desk.hear([late, try await desk.question("4", order: "order..7")])
        #expect(report?.refundNotices.map(\.reason) == [.refundRequested, .refundRequested])
        #expect(
            try await desk.requests("order_id, state, outcome")
                == [
                    "order..1 closed refunded", "order..0 open", "order..1 closed refunded",
                    "order..7 open",
                ])
        #expect(try await desk.stage.broken() == [])
    }
}
