import Postgres
import Renewal
import Testing

@testable import Ledger

@Suite(.serialized) struct EvidenceTests {
    private static let call = Evidence.Call(
        name: "subscriptionsv2.get", status: 200, bytes: 1234,
        digest: String(repeating: "0a", count: 32))

    /// As the engine makes it of a check that mattered.
    private func kept(
        _ claim: Claim, _ answer: Answer, calls: [Evidence.Call] = [call],
        under rules: Rules = Rules()
    ) -> Outcome {
        var outcome = decide(
            claim, hearing: answer, at: Moment(now: claim.claimedAt, jitter: 0.5), under: rules)
        if outcome.matters {
            outcome.evidence = Evidence(answer.kind, heard: answer.words, calls: calls)
        }
        return outcome
    }

    /// Makes due, claims and commits what is heard of each.
    private func round(
        _ stage: Stage, _ lease: Lease, _ hear: (Claim) -> Answer, under rules: Rules = Rules()
    ) async throws {
        try await stage.makeAllDue()
        let claims = try await stage.due(lease)
        _ = try await stage.ledger.commit(
            claims.map { kept($0, hear($0), under: rules) }, under: lease, at: claims.latest)
    }

    @Test func aCheckThatMatteredIsKeptAndOneThatDidNotIsNot() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        try await round(stage, lease, { .verdict(inForce($0)) })
        try await round(stage, lease, { .verdict(inForce($0)) })
        try await round(stage, lease) { _ in .failure(.unreachable(reason: "time-out")) }
        try await round(stage, lease) { _ in .failure(.unreachable(reason: "another")) }
        try await round(stage, lease) { _ in .failure(.malformed(field: "x")) }
        try await round(stage, lease, { .verdict(over($0)) })
        let history = try await stage.ledger.history(ofUser: "ann")
        let purchase = try #require(history.purchases.first)
        #expect(
            purchase.evidence.map { "\($0.evidence.kind) \($0.stateBefore)>\($0.state)" } == [
                "verdict new>active", "failure active>active", "failure active>active",
                "verdict active>expired",
            ])
        #expect(
            purchase.evidence.map { $0.problem?.split(separator: ":").first } == [
                nil, "unreachable", "malformed", nil,
            ])
        let first = try #require(purchase.evidence.first)
        #expect(first.evidence.calls == [Self.call])
        #expect(first.evidence.heard == "active")
        #expect(first.rule == "in force and paid")
        #expect(first.accessBefore == "none" && first.access == "granted")
        #expect(first.orderID == "order..1" && first.expiresAt != nil)
        #expect(first.nextCheckAt != nil)
        let grant = try #require(purchase.events.first)
        #expect(grant.createdAt == first.at, "what was told is of the same commit")
        #expect(purchase.events.map(\.reason) == ["purchased", "cancelled"])
        #expect(history.entitlements.map(\.active) == [false])
        await stage.close()
    }

    @Test func keepsACallWithoutAReplyAndABodyWithEveryCharacter() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let calls = [
            Evidence.Call(name: "a", status: nil, bytes: 0, digest: nil),
            Evidence.Call(
                name: #"b, "c" {d\e}"#, status: 410, bytes: 9, digest: "ff",
                raw: "{\"heard\": \"\\ é\u{1F600}\n\"}"),
        ]
        let claim = try #require(try await stage.claims(of: ["ann"], lease).first)
        _ = try await stage.ledger.commit(
            [kept(claim, .verdict(inForce(claim)), calls: calls)], under: lease,
            at: claim.claimedAt)
        let history = try await stage.ledger.history(ofUser: "ann")
        #expect(history.purchases.first?.evidence.first?.evidence.calls == calls)
        await stage.close()
    }

    @Test func anUnknownUserHasNoHistory() async throws {
        let stage = try await Stage()
        let history = try await stage.ledger.history(ofUser: "nobody")
        #expect(history.purchases.isEmpty && history.entitlements.isEmpty)
        await stage.close()
    }

    @Test func aPurchaseIsFoundByEachNameItHasEverHad() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "amazon-receipt", store: "amazon", storeUser: "a")
        try await stage.submit("bob", "google token")
        try await stage.submit("cyd", "2000000000000001", store: "apple")
        for period in 1...3 {
            try await round(stage, lease) { claim in
                var heard = inForce(claim, period: period)
                switch claim.purchase.app.store {
                case .google:
                    heard.originalID = "GPA.1-2-3-4"
                    heard.orderID = "GPA.1-2-3-4..\(period)"
                    heard.period = heard.orderID
                case .apple:
                    heard.originalID = "2000000000000001"
                    heard.orderID = "200000000000010\(period)"
                    heard.period = "line \(period)"
                case .amazon:
                    heard.originalID = "amazon-receipt"
                    heard.orderID = "amazon-receipt"
                }
                return .verdict(heard)
            }
        }
        let named: [UserID: [OrderID]] = [
            "ann": ["amazon-receipt"],
            "bob": ["GPA.1-2-3-4", "GPA.1-2-3-4..1", "GPA.1-2-3-4..2", "GPA.1-2-3-4..99"],
            "cyd": ["2000000000000001", "2000000000000102", "line 1", "line 3"],
        ]
        for (user, names) in named {
            for name in names {
                #expect(try await stage.ledger.users(ofOrder: name) == [user], "\(name)")
            }
        }
        for unknown in ["GPA.1-2-3-5", "GPA.1-2-3", "line 4", "", "'; --"] as [OrderID] {
            #expect(try await stage.ledger.users(ofOrder: unknown) == [], "\(unknown)")
        }
        // What is left when the evidence is gone.
        try await stage.beside.script("TRUNCATE renewald.evidence, renewald.original_key")
        let kept: [(UserID, OrderID)] = [
            ("bob", "GPA.1-2-3-4"), ("bob", "GPA.1-2-3-4..3"), ("cyd", "line 3"),
        ]
        for (user, name) in kept {
            #expect(try await stage.ledger.users(ofOrder: name) == [user], "\(name)")
        }
        await stage.close()
    }

    @Test func whoeverHasItNowSeesWhatCameBefore() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        try await round(stage, lease, { .verdict(inForce($0)) })
        try await stage.submit("bob", "token")
        var rules = Rules()
        rules.policy.shared = .move
        try await round(stage, lease, { .verdict(inForce($0)) }, under: rules)
        let bob = try await stage.ledger.history(ofUser: "bob")
        #expect(bob.purchases.first?.evidence.map(\.userID) == ["ann", "bob"])
        #expect(try await stage.ledger.history(ofUser: "ann").purchases.isEmpty)
        #expect(try await stage.ledger.users(ofOrder: "order..1") == ["bob"])
        await stage.close()
    }

    @Test func theLinkThatWasTakenOverSaysByWhom() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "first")
        try await round(stage, lease, { .verdict(inForce($0)) })
        try await stage.submit("ann", "second")
        try await round(stage, lease) { claim in
            var heard = inForce(claim, product: "pro-yearly")
            guard claim.purchase.token == "second" else { return .verdict(inForce(claim)) }
            heard.predecessorToken = "first"
            heard.originalID = "another"
            return .verdict(heard)
        }
        let history = try await stage.ledger.history(ofUser: "ann")
        let old = try #require(history.purchases.first?.evidence.last)
        #expect(old.stateBefore == "active" && old.state == "superseded")
        #expect(old.rule.contains("purchase 2"))
        await stage.close()
    }

    // MARK: Months

    private func months(_ stage: Stage) async throws -> [String] {
        try await stage.list(
            """
            SELECT child.relname::text FROM pg_inherits
            JOIN pg_class AS child ON child.oid = inhrelid
            WHERE inhparent = 'renewald.evidence'::regclass ORDER BY 1
            """)
    }

    @Test func aMonthIsDroppedWholeWhenItsLastDayIsTooOld() async throws {
        let stage = try await Stage()
        #expect(try await months(stage).count == 4, "this month, two more, and the rest")
        try await stage.beside.script(
            """
            CREATE TABLE renewald.evidence_2020_01 (LIKE renewald.evidence INCLUDING ALL);
            ALTER TABLE renewald.evidence ATTACH PARTITION renewald.evidence_2020_01
                FOR VALUES FROM ('2020-01-01 00:00+00') TO ('2020-02-01 00:00+00');
            """)
        let age = try await stage.number(
            "SELECT extract(epoch FROM now() - '2020-02-01 00:00+00'::timestamptz)")
        #expect(try await stage.ledger.rotateEvidence(keep: .seconds(age + 3600)) == 0)
        #expect(try await months(stage).contains("evidence_2020_01"))
        #expect(try await stage.ledger.rotateEvidence(keep: .seconds(age - 3600)) == 1)
        #expect(try await months(stage).contains("evidence_2020_01") == false)
        #expect(try await stage.ledger.rotateEvidence(keep: .zero) == 0, "the present stays")
        #expect(try await months(stage).count == 4)
        await stage.close()
    }

    @Test func whatHasNoMonthIsKeptAndGoesInItsTime() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        for month in try await months(stage) where month != "evidence_rest" {
            try await stage.beside.script("DROP TABLE renewald.\(month)")
        }
        try await stage.submit("ann", "token")
        try await round(stage, lease, { .verdict(inForce($0)) })
        #expect(try await stage.number("SELECT count(*) FROM renewald.evidence_rest") == 1)
        try await stage.ledger.rotateEvidence(keep: .days(1))
        #expect(try await stage.ledger.history(ofUser: "ann").purchases[0].evidence.count == 1)
        #expect(try await months(stage).count == 3, "the present month has begun in the rest")
        try await stage.beside.script("UPDATE renewald.evidence SET at = at - interval '2 days'")
        try await stage.ledger.rotateEvidence(keep: .days(1))
        #expect(try await stage.number("SELECT count(*) FROM renewald.evidence") == 0)
        await stage.close()
    }

    @Test func theWorkerMayRotateThoughItOwnsNothing() async throws {
        let stage = try await Stage()
        let worker = stage.session()
        try await worker.script("SET ROLE renewald_worker")
        #expect(
            try await worker.query(
                PostgresStatement("SELECT renewald.rotate_evidence('1 day') AS dropped"))[0]
                .int32("dropped") == 0)
        await worker.close()
        await stage.close()
    }

    @Test func aRotationWaitsForNobodyAndIsMadeUpFor() async throws {
        let stage = try await Stage()
        try await stage.beside.script(
            """
            CREATE TABLE renewald.evidence_2020_01 (LIKE renewald.evidence INCLUDING ALL);
            ALTER TABLE renewald.evidence ATTACH PARTITION renewald.evidence_2020_01
                FOR VALUES FROM ('2020-01-01 00:00+00') TO ('2020-02-01 00:00+00');
            """)
        let reader = stage.session("reader")
        try await reader.script("BEGIN; SELECT count(*) FROM renewald.evidence")
        #expect(try await stage.ledger.rotateEvidence(keep: .days(1)) == 0)
        #expect(try await months(stage).contains("evidence_2020_01"))
        try await reader.script("COMMIT")
        #expect(try await stage.ledger.rotateEvidence(keep: .days(1)) == 1)
        await reader.close()
        await stage.close()
    }
}
