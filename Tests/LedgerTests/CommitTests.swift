import Postgres
import Renewal
import Testing

@testable import Ledger

@Suite(.serialized) struct CommitTests {
    @Test func anUnchangedAnswerWritesOnlyTheSchedule() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let first = try await stage.claims(of: ["ann", "bob"], lease)
        _ = try await stage.ledger.commit(
            first.map { outcome($0, inForce($0)) }, under: lease, at: first.latest)
        try await stage.makeAllDue()
        let tables = ["purchase", "account", "entitlement", "event", "event_counter", "credential"]
        func marks() async throws -> [String] {
            var marks: [String] = []
            for table in tables {
                marks += try await stage.list(
                    "SELECT '\(table)' || xmin || ctid || t FROM renewald.\(table) AS t ORDER BY 1")
            }
            return marks
        }
        let before = try await marks()
        let claims = try await stage.due(lease)
        let outcomes = claims.map { outcome($0, inForce($0)) }
        #expect(outcomes.allSatisfy { !$0.isChange })
        let report = try await stage.ledger.commit(outcomes, under: lease, at: claims.latest)
        #expect(report.committed.count == 2)
        #expect(report.events.isEmpty)
        #expect(try await marks() == before)
        #expect(
            try await stage.number(
                """
                SELECT count(*) FROM renewald.schedule
                WHERE due_at > now() AND checked_at <= now()
                """) == 2)
    }

    @Test func aChangedPurchaseIsAHeapOnlyUpdate() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        var claims = try await stage.claims(of: (0..<20).map { "user \($0)" }, lease)
        for period in 1...3 {
            for claim in claims {
                _ = try await stage.ledger.commit(
                    [outcome(claim, inForce(claim, period: period))], under: lease,
                    at: claim.claimedAt)
            }
            try await stage.makeAllDue()
            claims = try await stage.due(lease)
        }
        // The figures of a session are counted when it ends, at the latest.
        await stage.ledger.close()
        let figures = "FROM pg_stat_user_tables WHERE relid = 'renewald.purchase'::regclass"
        try await stage.wait(untilThereAre: "SELECT \(figures) AND n_tup_upd >= 60")
        #expect(try await stage.number("SELECT n_tup_upd \(figures)") == 60)
        // How many depends on the room in the pages; that they can be, on the indexes alone.
        #expect(try await stage.number("SELECT n_tup_hot_upd \(figures)") > 0)
        #expect(
            try await stage.list(
                """
                SELECT DISTINCT attname::text FROM pg_index
                JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
                WHERE indrelid = 'renewald.purchase'::regclass ORDER BY 1
                """) == ["id", "shard", "user_id"])
    }

    @Test func aFailedCheckKeepsAccessAndSaysWhy() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let first = try await stage.claims(of: ["ann"], lease)
        _ = try await stage.ledger.commit(
            first.map { outcome($0, inForce($0)) }, under: lease, at: first.latest)
        try await stage.makeAllDue()
        let claims = try await stage.due(lease)
        let failure = Answer.failure(.unreachable(reason: "time-out"))
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, failure) }, under: lease, at: claims.latest)
        #expect(report.committed.count == 1)
        #expect(report.events.isEmpty)
        #expect(
            try await stage.list(
                """
                SELECT concat_ws(' ', state, access, problem) || ' ' || (next_check_at > now())
                FROM renewald.purchases
                """) == [
                    "active granted unreachable: the store gave no usable reply (time-out) true"
                ])
        #expect(try await stage.number("SELECT max(attempts) FROM renewald.schedule") == 1)
        #expect(
            try await stage.number(
                "SELECT count(*) FROM renewald.schedule WHERE checked_at < due_at") == 1)
    }

    @Test func storesEveryFactAndReadsItBack() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claim = try #require(try await stage.claims(of: ["ann"], lease).first)
        var heard = inForce(claim)
        let names: [ProductID] = ["a, \"b\" {c} \\ NULL", "NULL", "é\n"]
        heard.items = names.map { Item(names: [$0], expiresAt: nil) }
        heard.items[1] = Item(names: [names[1]], expiresAt: claim.claimedAt)
        heard.phase = .trial
        heard.statedAt = claim.claimedAt
        heard.signals = [.tokenEnding, .priceIncreasePending]
        let told = outcome(claim, heard)
        _ = try await stage.ledger.commit([told], under: lease, at: claim.claimedAt)
        let again = try #require(try await stage.ledger.claims(ofUser: "ann").first)
        var stored = told.facts
        stored.gainReason = .purchased
        #expect(again.purchase.facts == stored && stored.holdings.count == 3)
        #expect(again.version == 1)
        #expect(try await stage.broken() == [])
    }

    /// The core never says that. What was known wrong is stored again, beside a doubt.
    private func holdingsWithoutAccess(_ claim: Claim) -> Outcome {
        let known = claim.purchase
        let facts = Facts(
            storedProduct: known.facts.product, state: .active, access: .none,
            holdings: [Holding(entitlement: "pro", product: "pro", expiresAt: nil)])
        let purchase = Purchase(
            id: known.id, userID: known.userID, app: known.app, token: known.token,
            createdAt: known.createdAt, facts: facts)
        let wrong = Claim(
            purchase: purchase, shard: claim.shard, lane: claim.lane, dueAt: claim.dueAt,
            version: claim.version, attempts: claim.attempts, crashes: claim.crashes,
            checkedAt: claim.checkedAt, claimedAt: claim.claimedAt)
        return outcome(wrong, .doubt(.gone))
    }

    @Test func oneBadOutcomeAmongAHundredIsRefusedAlone() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: (0..<100).map { "user \($0)" }, lease)
        let faults: [(String, (Claim) -> Outcome)] = [
            ("a NUL in the product", { outcome($0, inForce($0, product: "p\0o")) }),
            ("an empty product", { outcome($0, inForce($0, product: "")) }),
            (
                "an end beyond all time",
                {
                    var observation = inForce($0)
                    observation.expiresAt = Timestamp(microsecondsSinceEpoch: .max)
                    return outcome($0, observation)
                }
            ),
            ("holdings without access", holdingsWithoutAccess),
        ]
        for (number, fault) in faults.enumerated() {
            let bad = claims[17 * number + 5]
            var outcomes = claims.map { outcome($0, inForce($0)) }
            if number > 0 {
                try await stage.makeAllDue()
                outcomes = try await stage.due(lease).map {
                    outcome($0, inForce($0, period: number + 1))
                }
            }
            outcomes = outcomes.map { good in
                good.claim.purchase.id == bad.purchase.id ? fault.1(good.claim) : good
            }
            let report = try await stage.ledger.commit(
                outcomes, under: lease, at: outcomes.map(\.claim).latest)
            #expect(report.committed.count == 99, "\(fault.0)")
            #expect(report.refused.map(\.claim.purchase.id) == [bad.purchase.id], "\(fault.0)")
            #expect(report.events.count >= 99, "\(fault.0)")
            // It is asked again, but not at once, and a person can see why.
            #expect(
                try await stage.list(
                    """
                    SELECT problem FROM renewald.purchases
                    WHERE id = $1 AND next_check_at > now() + interval '4 seconds'
                    """, [.int64(bad.purchase.id)]
                ).map { $0.prefix(10) } == ["malformed:"],
                "\(fault.0)")
        }
        #expect(try await stage.broken() == [])
    }

    @Test(arguments: [false, true])
    func aSuccessorTakesOverFromItsPredecessorInTheSameBatch(_ isSubmittedFirst: Bool) async throws
    {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let tokens = isSubmittedFirst ? ["new", "old"] : ["old", "new"]
        for token in tokens { try await stage.submit("ann", token) }
        let claims = try await stage.due(lease)
        let outcomes = claims.map { claim in
            var observation = inForce(claim, product: ProductID(claim.purchase.token.text))
            if claim.purchase.token == "new" { observation.predecessorToken = "old" }
            return outcome(claim, observation)
        }
        let report = try await stage.ledger.commit(outcomes, under: lease, at: claims.latest)
        #expect(report.committed.count == 2)
        #expect(
            try await stage.list(
                """
                SELECT token || ' ' || state || ' ' || access FROM renewald.purchase
                JOIN renewald.credential USING (shard, id) ORDER BY token
                """) == ["new active granted", "old superseded none"])
        #expect(
            try await stage.list(
                "SELECT entitlement FROM renewald.entitlements WHERE active ORDER BY 1") == ["new"])
        #expect(try await stage.broken() == [])
    }

    @Test func threeHundredPurchasesOfOneUserCommitTogether() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        for number in 0..<300 {
            try await stage.submit("ann", "token \(number)", product: "product \(number % 7)")
        }
        var claims = try await stage.due(lease)
        #expect(claims.count == 300)
        var report = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0, product: $0.purchase.facts.product)) },
            under: lease, at: claims.latest)
        #expect(report.committed.count == 300)
        #expect(report.events.map(\.kind) == Array(repeating: .grant(.purchased), count: 7))
        #expect(try await stage.broken() == [])
        try await stage.makeAllDue()
        claims = try await stage.due(lease)
        // All but one of the first product are over: only the six others are revoked.
        let last = claims.last { $0.purchase.facts.product == "product 0" }
        report = try await stage.ledger.commit(
            claims.map { claim in
                claim.purchase.id == last?.purchase.id
                    ? outcome(claim, inForce(claim, product: "product 0"))
                    : outcome(claim, over(claim))
            }, under: lease, at: claims.latest)
        #expect(report.committed.count == 300)
        #expect(report.events.map(\.kind) == Array(repeating: .revoke(.cancelled), count: 6))
        #expect(try await stage.list("SELECT renewald.has('ann', 'product 0')::text") == ["true"])
        #expect(try await stage.broken() == [])
    }

    @Test func previewWritesNothing() async throws {
        let stage = try await Stage()
        try await stage.submit("ann", "token")
        let claims = try await stage.ledger.claims(ofUser: "ann")
        let before = try await stage.everything()
        let events = try await stage.ledger.preview(
            claims.map { outcome($0, inForce($0)) }, at: claims.latest
        ).events
        #expect(events.map(\.kind) == [.grant(.purchased)])
        #expect(try await stage.everything() == before)
    }
}
