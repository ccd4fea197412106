import Postgres
import Renewal
import Testing

@testable import Ledger

/// Clues of hints are kept until a check has looked into them.
@Suite(.serialized) struct ClueTests {
    private let app = AppKey(store: .google, id: "com.example.reader")
    private let source: SourceID = "google/com.example.reader/voided"
    private let worker = WorkerID.random()

    /// Takes the source.
    private func begin(_ stage: Stage) async throws -> HintTurns {
        var round = HintRound(lease: .seconds(600))
        round.wanted = [source]
        return try await stage.ledger.hintRound(round, by: worker)
    }

    /// News of one refund comes more than once, and late; but an order may be refunded again after
    /// the refund was taken back.
    @Test func whatHappensOnceMoreIsNews() async throws {
        let stage = try await Stage()
        let lease = try await stage.settled(["ann"])
        let now = try await begin(stage).now
        _ = try await hear(stage, clue: "x", as: "1", at: now, happenedAt: now)
        let claim = try #require(try await stage.due(lease).first)
        var observation = inForce(claim)
        observation.pastRefunds = ["x"]
        _ = try await stage.ledger.commit(
            [outcome(claim, observation)], under: lease, at: claim.claimedAt)
        for (id, later) in [("2", nil), ("3", Duration.zero), ("4", .hours(20))] {
            _ = try await hear(
                stage, clue: "x", as: NewsID(id), at: now,
                happenedAt: later.map { now + $0 })
            let known = try await stage.ledger.claims(ofUser: "ann").map(\.purchase)
            #expect(known.map(\.clues) == [[]] && known.map(\.knownRefunds) == [["x"]], "\(id)")
        }
        // A date of no calendar keeps no news from being stored.
        for (id, date) in [("7", Int64.max), ("8", .min), ("9", -1)] {
            let report = try await hear(
                stage, clue: "x", as: NewsID(id), at: now,
                happenedAt: Timestamp(microsecondsSinceEpoch: date))
            #expect(report?.fresh == 1)
        }
        // No store tells of what is to come.
        _ = try await hear(
            stage, clue: "x", as: "5", at: now, happenedAt: now + .days(30))
        #expect(try await stage.ledger.claims(ofUser: "ann").first?.purchase.clues == [])
        try await stage.beside.script(
            "UPDATE renewald.clue SET settled_at = now() - interval '19 days'")
        _ = try await hear(stage, clue: "x", as: "6", at: now, happenedAt: now)
        let again = try #require(try await stage.due(lease).first)
        #expect(again.purchase.clues == [.refund(of: "x")] && again.purchase.knownRefunds == [])
        #expect(Set(again.purchase.cluesHeardAt.keys) == again.purchase.clues)
        #expect(try await stage.broken() == [])
    }

    private func hear(
        _ stage: Stage, clue: OrderID, as id: NewsID, at began: Timestamp,
        happenedAt: Timestamp? = nil
    ) async throws -> HintReport? {
        let hint = Hint(
            id: id, subject: .token("token of ann"), clue: .refund(of: clue),
            happenedAt: happenedAt)
        return try await stage.ledger.take(
            HintDelivery(
                HintPage(hints: [hint]), from: source, about: app, by: worker,
                lease: .seconds(600), began: began))
    }

    /// A clue outlives the process that has heard it, until a check has looked into it; after that
    /// the same is no news, whoever brings it. A check since the pull began may not have seen it.
    @Test func keepsAClueUntilItWasLookedInto() async throws {
        let stage = try await Stage()
        let lease = try await stage.settled(["ann"])
        let began = try await begin(stage).now
        let early = began - .days(1)
        #expect(try await hear(stage, clue: "x", as: "1", at: early)?.woken == 1)
        #expect(try await hear(stage, clue: "y", as: "2", at: early)?.fresh == 1)
        for (orders, left) in [
            (Set<OrderID>(), Set<OrderID>(["x", "y"])), (["x"], ["y"]), (["y"], []),
        ] {
            let claim = try #require(try await stage.due(lease).first)
            var observation = inForce(claim)
            observation.pastRefunds = orders
            _ = try await stage.ledger.commit(
                [outcome(claim, observation)], under: lease, at: claim.claimedAt)
            #expect(try await stage.due(lease).isEmpty)
            let known = try await stage.ledger.claims(ofUser: "ann").map(\.purchase.clues)
            #expect(known == [Set(left.map(Clue.refund(of:)))])
            try await stage.makeAllDue()
        }
        let claim = try #require(try await stage.due(lease).first)
        #expect(claim.purchase.clues == [])
        _ = try await stage.ledger.commit(
            [outcome(claim, inForce(claim))], under: lease, at: claim.claimedAt)
        #expect(try await hear(stage, clue: "x", as: "3", at: early)?.woken == 0)
        #expect(try await stage.due(lease).isEmpty)
        #expect(
            try await stage.list(
                """
                SELECT detail ->> 'refunded_order' FROM renewald.events
                WHERE reason = 'refund_of_past_period' ORDER BY id
                """) == ["x", "y"])
        #expect(try await stage.broken() == [])
    }

    /// It was read as due before the news came, and nobody has noted yet that it is being asked about.
    @Test func aClueThatComesDuringACheckIsNotOverlooked() async throws {
        let stage = try await Stage()
        let lease = try await stage.settled(["ann"])
        try await stage.makeAllDue()
        let began = try await begin(stage).now
        let claims = try await stage.due(lease)
        #expect(try await hear(stage, clue: "x", as: "1", at: began)?.woken == 0)
        let late = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(late.dropped == claims)
        let again = try await stage.due(lease)
        #expect(again.map(\.purchase.clues) == [[.refund(of: "x")]])
        _ = try await stage.ledger.commit(
            again.map { outcome($0, inForce($0)) }, under: lease, at: again.latest)
        // The same again is no news, and moves nothing.
        try await stage.makeAllDue()
        let others = try await stage.due(lease)
        _ = try await hear(stage, clue: "x", as: "2", at: began)
        let report = try await stage.ledger.commit(
            others.map { outcome($0, inForce($0)) }, under: lease, at: others.latest)
        #expect(report.committed.count == 1)
    }

    /// What a refund is and why it came are two pieces of news about one purchase.
    @Test func keepsWhyAnOrderWasRefunded() async throws {
        let stage = try await Stage()
        let lease = try await stage.settled(["ann"])
        let began = try await begin(stage).now
        let clues: [Clue] = [.refund(of: "x"), .void(of: "x", source: "user", reason: "remorse")]
        let hints = clues.enumerated().map { number, clue in
            Hint(id: NewsID("\(number)"), subject: .token("token of ann"), clue: clue)
        }
        let report = try await stage.ledger.take(
            HintDelivery(
                HintPage(hints: hints), from: source, about: app, by: worker,
                lease: .seconds(600), began: began - .days(1)))
        #expect(report?.fresh == 2 && report?.woken == 1)
        let claim = try #require(try await stage.due(lease).first)
        #expect(claim.purchase.clues == Set(clues))
        var observation = inForce(claim)
        observation.pastRefunds = ["x"]
        _ = try await stage.ledger.commit(
            [outcome(claim, observation)], under: lease, at: claim.claimedAt)
        #expect(
            try await stage.list(
                """
                SELECT concat_ws(' ', detail ->> 'refunded_order', detail ->> 'refund_source',
                    detail ->> 'refund_reason')
                FROM renewald.events WHERE reason = 'refund_of_past_period'
                """) == ["x user remorse"])
        #expect(try await stage.ledger.claims(ofUser: "ann").first?.purchase.clues == [])
        #expect(try await stage.broken() == [])
    }

    /// A clue is watched for three days, so its age must be right, also when it is heard again.
    @Test func saysSinceWhenEachClueWaits() async throws {
        let stage = try await Stage()
        let lease = try await stage.settled(["ann"])
        let began = try await begin(stage).now
        _ = try await hear(stage, clue: "y", as: "1", at: began)
        _ = try await hear(stage, clue: "x", as: "2", at: began)
        try await stage.beside.script(
            """
            UPDATE renewald.clue SET heard_at = timestamptz '2026-02-01 10:20:30.456789+00'
            WHERE clue = 'refund x'
            """)
        _ = try await hear(stage, clue: "x", as: "3", at: began)
        let claim = try #require(try await stage.due(lease).first)
        let ofUser = try await stage.ledger.claims(ofUser: "ann")
        for purchase in [claim.purchase] + ofUser.map(\.purchase) {
            let times = purchase.cluesHeardAt
            #expect(Set(times.keys) == purchase.clues && purchase.clues.count == 2)
            #expect(
                times[.refund(of: "x")]
                    == Timestamp(microsecondsSinceEpoch: 1_769_941_230_456_789))
            #expect(times[.refund(of: "y")].map { $0 >= began } == true)
        }
    }

    @Test func tellsTwoRefundsOfOneCheckApart() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann"], lease)
        var observation = inForce(claims[0])
        observation.pastRefunds = ["x", "y"]
        let report = try await stage.ledger.commit(
            [outcome(claims[0], observation)], under: lease, at: claims.latest)
        #expect(report.events.count == 3 && report.refused.isEmpty)
        #expect(try await stage.number("SELECT count(DISTINCT key) FROM renewald.event") == 3)
    }

    @Test func forgetsCluesThatAreOld() async throws {
        let stage = try await Stage()
        _ = try await begin(stage)
        try await stage.beside.script(
            """
            INSERT INTO renewald.clue (shard, id, clue, heard_at, settled_at) VALUES
                (1, 1, 'a', now() - interval '29 days', NULL),
                (1, 1, 'b', now() - interval '31 days', NULL),
                (1, 1, 'c', now() - interval '31 days', now()),
                (1, 1, 'd', now() - interval '181 days', now())
            """)
        try await stage.ledger.forgetOldHints()
        #expect(try await stage.list("SELECT clue FROM renewald.clue ORDER BY 1") == ["a", "c"])
    }
}
