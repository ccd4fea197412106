import Postgres
import Renewal
import Testing

@testable import Ledger

/// News that nobody handles is recorded with the page that brought it, each piece once.
@Suite(.serialized) struct UnhandledNewsTests {
    private let source: SourceID = "google com.example.reader notifications"
    private let app = AppKey(store: .google, id: "com.example.reader")
    private let worker = WorkerID.random()

    private func begin(_ stage: Stage, by worker: WorkerID? = nil) async throws {
        var round = HintRound(lease: .seconds(600))
        round.wanted = [source]
        round.isEarly = true
        let turns = try await stage.ledger.hintRound(round, by: worker ?? self.worker)
        #expect(turns.granted[source] != nil)
    }

    private func take(
        _ stage: Stage, _ news: [(id: NewsID, type: String)], isExpected: Bool = false,
        by worker: WorkerID? = nil
    ) async throws -> HintReport? {
        var page = HintPage(hints: [], receipts: ["r"])
        page.unhandled = news.map {
            UnhandledNews(id: $0.id, type: $0.type, isExpected: isExpected)
        }
        return try await stage.ledger.take(
            HintDelivery(
                page, from: source, about: app, by: worker ?? self.worker,
                lease: .seconds(600), began: .never))
    }

    private func recorded(_ stage: Stage) async throws -> [String] {
        try await stage.list(
            """
            SELECT concat_ws(' ', source, type, count) FROM renewald.unhandled_news
            WHERE first_seen_at <= last_seen_at ORDER BY 1
            """)
    }

    @Test func countsEachPieceOnceByItsType() async throws {
        let stage = try await Stage()
        try await begin(stage)
        let first = try await take(stage, [("1", "DREAM"), ("2", "DREAM"), ("3", "WISH")])
        #expect(
            first?.unhandled == [
                UnhandledCount(type: "DREAM", fresh: 2, isNew: true, isExpected: false),
                UnhandledCount(type: "WISH", fresh: 1, isNew: true, isExpected: false),
            ])
        let again = try await take(stage, [("2", "DREAM"), ("4", "DREAM"), ("4", "DREAM")])
        #expect(
            again?.unhandled == [
                UnhandledCount(type: "DREAM", fresh: 1, isNew: false, isExpected: false)
            ])
        #expect(try await recorded(stage) == ["pubsub DREAM 3", "pubsub WISH 1"])
    }

    /// A worker that dies after it has stored a page and before it has acknowledged it: the same
    /// messages come again, to another.
    @Test func survivesADeathBetweenReadingAndAcknowledging() async throws {
        let stage = try await Stage()
        try await begin(stage)
        _ = try await take(stage, [("1", "DREAM")])
        try await stage.beside.script("UPDATE renewald.hint_source SET lease_until = 'epoch'")
        let heir = WorkerID.random()
        try await begin(stage, by: heir)
        let again = try await take(stage, [("1", "DREAM")], by: heir)
        #expect(again?.unhandled == [])
        #expect(try await recorded(stage) == ["pubsub DREAM 1"])
        // Who has lost the source stores nothing, and so acknowledges nothing.
        #expect(try await take(stage, [("2", "DREAM")]) == nil)
        #expect(try await recorded(stage) == ["pubsub DREAM 1"])
    }

    /// A broken or hostile source: the names of types do not grow without end, the count does.
    @Test func keepsAsManyTypesAsHaveRoom() async throws {
        let stage = try await Stage()
        try await begin(stage)
        for part in 0..<10 {
            _ = try await take(
                stage,
                (0..<1000).map { number in
                    (NewsID("\(part) \(number)"), "TYPE_\(part)_\(number)")
                })
        }
        _ = try await take(stage, [("x", "TYPE_0_0"), ("y", "ONE_MORE")])
        #expect(try await stage.number("SELECT count(*) FROM renewald.unhandled_news") == 201)
        #expect(
            try await stage.number("SELECT sum(count) FROM renewald.unhandled_news") == 10_002)
        #expect(
            try await stage.list(
                "SELECT count::text FROM renewald.unhandled_news WHERE type = 'other'") == ["9801"])
    }

    @Test func tellsWhatIsOfNoUseFromWhatIsStrange() async throws {
        let stage = try await Stage()
        try await begin(stage)
        _ = try await take(stage, [("1", "testNotification")], isExpected: true)
        _ = try await take(stage, [("2", "DREAM")])
        let shown = try await stage.ledger.status().unhandled
        #expect(shown.map(\.type) == ["DREAM", "testNotification"])
        #expect(shown.map(\.isExpected) == [false, true])
        #expect(shown.map(\.source) == ["pubsub", "pubsub"])
        #expect(try await stage.ledger.newsSources().unhandled == shown)
    }
}

/// What was heard of a purchase before anybody submitted it is looked into by its first check.
@Suite(.serialized) struct EarlyHintTests {
    private let worker = WorkerID.random()

    private func hear(
        _ stage: Stage, _ hints: [Hint], from store: Store = .google
    ) async throws -> HintReport? {
        var round = HintRound(lease: .seconds(600))
        round.wanted = ["source"]
        round.isEarly = true
        _ = try await stage.ledger.hintRound(round, by: worker)
        return try await stage.ledger.take(
            HintDelivery(
                HintPage(hints: hints), from: "source",
                about: AppKey(store: store, id: "com.example.reader"), by: worker,
                lease: .seconds(600), began: .never))
    }

    private func hint(
        _ id: NewsID, _ token: StoreToken, _ clue: Clue? = nil, account: String? = nil
    ) -> Hint {
        Hint(id: id, subject: .token(token), clue: clue, accountToken: account)
    }

    @Test func goesWithTheSubmissionToTheFirstCheck() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let report = try await hear(
            stage,
            [
                hint("1", "early", .refund(of: "GPA.1"), account: "ann-7"),
                hint("2", "early", .pause(news: "2")), hint("3", "early"),
            ])
        #expect(report == HintReport(fresh: 3, woken: 0, unclaimed: 1))
        _ = try await hear(stage, [hint("4", "early", .refund(of: "GPA.2"))])
        try await stage.submit("ann", "early")
        let claim = try #require(try await stage.due(lease).first)
        #expect(
            claim.purchase.clues == [
                .refund(of: "GPA.1"), .refund(of: "GPA.2"), .pause(news: "2"),
            ])
        #expect(claim.purchase.facts.accountToken == "ann-7")
        #expect(
            try await stage.list("SELECT account_token FROM renewald.purchases") == ["ann-7"])
        #expect(try await stage.number("SELECT count(*) FROM renewald.unclaimed_hint") == 0)
        // An answer without one leaves what was heard.
        _ = try await stage.ledger.commit(
            [outcome(claim, inForce(claim))], under: lease, at: claim.claimedAt)
        #expect(
            try await stage.list("SELECT account_token FROM renewald.purchases") == ["ann-7"])
        #expect(try await stage.broken() == [])
    }

    @Test func tellsTheRefundOfAPastPeriodThatWasHeardBefore() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        _ = try await hear(stage, [hint("1", "early", .refund(of: "GPA.1"))])
        try await stage.submit("ann", "early")
        let claim = try #require(try await stage.due(lease).first)
        var observation = inForce(claim)
        observation.pastRefunds = claim.purchase.clues.refundedOrders
        _ = try await stage.ledger.commit(
            [outcome(claim, observation)], under: lease, at: claim.claimedAt)
        #expect(
            try await stage.list(
                """
                SELECT detail ->> 'refunded_order' FROM renewald.events
                WHERE reason = 'refund_of_past_period'
                """) == ["GPA.1"])
    }

    /// Submitted in another form, its original id becomes known with its first answer only.
    @Test(arguments: [true, false])
    func findsItByItsOriginalID(isHeardFirst: Bool) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let news = Hint(
            id: "1", subject: .originalID("order"), clue: .refund(of: "77"), accountToken: "a-1")
        if isHeardFirst { _ = try await hear(stage, [news], from: .apple) }
        try await stage.submit("ann", "a signed transaction", store: "apple")
        let claim = try #require(try await stage.due(lease).first)
        if !isHeardFirst { _ = try await hear(stage, [news], from: .apple) }
        #expect(claim.purchase.clues == [])
        #expect(try await stage.number("SELECT count(*) FROM renewald.unclaimed_hint") == 1)
        _ = try await stage.ledger.commit(
            [outcome(claim, inForce(claim))], under: lease, at: claim.claimedAt)
        #expect(try await stage.due(lease).map(\.purchase.clues) == [[.refund(of: "77")]])
        #expect(
            try await stage.list("SELECT account_token FROM renewald.purchases") == ["a-1"])
        #expect(try await stage.number("SELECT count(*) FROM renewald.unclaimed_hint") == 0)
        #expect(try await stage.broken() == [])
    }

    /// A hint that was stored while the submission was: neither has seen the other.
    @Test func findsWhatCameDuringTheSubmission() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "crossed")
        let claim = try #require(try await stage.due(lease).first)
        _ = try await stage.ledger.commit(
            [outcome(claim, inForce(claim))], under: lease, at: claim.claimedAt)
        try await stage.beside.script(
            """
            INSERT INTO renewald.unclaimed_hint (lane, digest, clues)
            SELECT lane, digest, ARRAY['refund GPA.5'] FROM renewald.token_key
            """)
        try await stage.ledger.forgetOldHints()
        #expect(try await stage.due(lease).map(\.purchase.clues) == [[.refund(of: "GPA.5")]])
        #expect(try await stage.number("SELECT count(*) FROM renewald.unclaimed_hint") == 0)
        try await stage.ledger.forgetOldHints()
    }

    /// However much is said of what nobody submits.
    @Test func keepsFiftyClues() async throws {
        let stage = try await Stage()
        for part in 0..<4 {
            _ = try await hear(
                stage,
                (0..<100).map { number in
                    hint("\(part) \(number)", "early", .refund(of: "GPA.\(part).\(number)"))
                })
        }
        #expect(
            try await stage.number("SELECT cardinality(clues) FROM renewald.unclaimed_hint") == 50)
        try await stage.submit("ann", "early")
        #expect(try await stage.number("SELECT count(*) FROM renewald.clue") == 50)
    }
}
