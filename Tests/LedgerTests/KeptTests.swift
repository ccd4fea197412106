import Postgres
import Renewal
import Testing

@testable import Ledger

/// What is kept of what was heard, with the real database (design rule 14).
@Suite(.serialized) struct KeptInTheLedgerTests {
    private let rules: Rules = {
        var rules = Rules(
            catalog: Catalog([
                "pro": .init(kind: nil, entitlements: ["pro", "a \"quoted\" one"]),
                "pass30": .init(kind: .nonRenewing, duration: .days(30), entitlements: ["pro"]),
                "coins": .init(kind: .consumable, entitlements: []),
            ]))
        rules.policy.leniency = .hours(3)
        rules.policy.breaker.share = 0.015
        return rules
    }()

    /// As the engine does it: with evidence of what mattered.
    private func hear(
        _ stage: Stage, _ lease: Lease, under rules: Rules? = nil, _ answer: (Claim) -> Answer
    ) async throws -> CommitReport {
        let rules = rules ?? self.rules
        try await stage.makeAllDue()
        let claims = try await stage.due(lease)
        let outcomes = claims.map { claim in
            let moment = Moment(now: claim.claimedAt, jitter: 0.5)
            let answer = answer(claim)
            var outcome = decide(claim, hearing: answer, at: moment, under: rules)
            guard outcome.matters else { return outcome }
            var evidence = Evidence(answer.kind, heard: answer.words, calls: [])
            evidence.record = DecisionRecord(
                of: outcome, hearing: answer, at: moment, isReleasing: false)
            outcome.evidence = evidence
            return outcome
        }
        return try await stage.ledger.commit(outcomes, under: lease, at: claims.latest)
    }

    private func row(_ stage: Stage) async throws -> [String] {
        try await stage.list(
            "SELECT concat_ws(' ', xmin, version, predecessor IS NOT NULL) FROM renewald.observation"
        )
    }

    private func heard(_ stage: Stage) async throws -> Observation? {
        let page = try await stage.ledger.keptPage(after: nil, limit: 10)
        #expect(page.purchases.count == 1 && page.unreadable == 0)
        return page.purchases.first?.heard
    }

    @Test func whatIsHeardAgainIsNotWrittenAgain() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        _ = try await hear(stage, lease) { .verdict(inForce($0)) }
        let first = try await row(stage)
        #expect(first.count == 1 && first[0].hasSuffix(" 1 f"))
        _ = try await hear(stage, lease) { claim in
            // Said later, in other words: nothing of it is another.
            var observation = inForce(claim)
            observation.statedAt = claim.claimedAt
            observation.words = "active still"
            return .verdict(observation)
        }
        _ = try await hear(stage, lease) { _ in .failure(.unreachable(reason: "time-out")) }
        #expect(try await row(stage) == first)
        // The facts stay as they are, and what was heard does not.
        _ = try await hear(stage, lease) { claim in
            var observation = inForce(claim)
            observation.purchasedAt = claim.purchase.createdAt
            return .verdict(observation)
        }
        let second = try await row(stage)
        #expect(second != first && second[0].hasSuffix(" 1 f"))
        #expect(try await heard(stage)?.purchasedAt != nil)
        _ = try await hear(stage, lease) { .verdict(over($0)) }
        #expect(try await row(stage)[0].hasSuffix(" 2 f"))
        #expect(try await heard(stage)?.willRenew == false)
        await stage.close()
    }

    @Test func whatElseChangesTheFactsEndsItsValidityUntilTheNextVerdict() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        _ = try await hear(stage, lease) { .verdict(inForce($0)) }
        #expect(try await heard(stage) != nil)
        // As a worker of an older release changes them.
        try await stage.beside.script("UPDATE renewald.purchase SET version = version + 1")
        #expect(try await heard(stage) == nil)
        _ = try await hear(stage, lease) { .verdict(inForce($0)) }
        #expect(try await heard(stage) != nil)
        // Of a later program.
        try await stage.beside.script(
            "UPDATE renewald.observation SET heard = set_byte(heard, 0, 99)")
        #expect(try await heard(stage) == nil)
        await stage.close()
    }

    @Test func aTokenIsKeptAsItsDigestAndFoundAgain() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "older secret")
        _ = try await hear(stage, lease) { .verdict(over($0)) }
        try await stage.submit("ann", "newer secret")
        _ = try await hear(stage, lease) { claim in
            var observation = inForce(claim, period: claim.purchase.token == "newer secret" ? 2 : 1)
            if claim.purchase.token == "newer secret" {
                observation.predecessorToken = "older secret"
            }
            return .verdict(observation)
        }
        let page = try await stage.ledger.keptPage(after: nil, limit: 10)
        #expect(page.purchases.contains { $0.heard?.predecessorToken == "older secret" })
        #expect(
            try await stage.number(
                """
                SELECT count(*) FROM renewald.observation AS kept
                WHERE position('secret'::bytea IN kept.heard) > 0
                """) == 0)
        #expect(
            try await stage.number(
                "SELECT count(*) FROM renewald.evidence WHERE position('secret'::bytea IN record) > 0"
            )
                == 0)
        await stage.close()
    }

    @Test func aDecisionIsReadWithTheRulesThatItWasMadeBy() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        let start = try await stage.ledger.now()
        _ = try await hear(stage, lease) { .verdict(inForce($0)) }
        _ = try await hear(stage, lease) { .verdict(over($0)) }
        let page = try await stage.ledger.decisions(since: start, after: nil, limit: 10)
        #expect(page.decisions.count == 2)
        #expect(try await stage.number("SELECT count(*) FROM renewald.policy") == 1)
        for decision in page.decisions {
            let number = try #require(decision.policy)
            let kept = try #require(try await stage.ledger.rules(numbered: number))
            #expect(kept == rules)
            let record = try #require(decision.record)
            #expect(record.decidedAgain(under: kept) == record.decided)
            #expect(decision.isConsistent)
        }
        let none = try await stage.ledger.decisions(since: start, after: page.last, limit: 10)
        #expect(none.decisions.isEmpty && none.last == nil)
        await stage.close()
    }

    /// What was decided may be settled otherwise: its successor was submitted and is waited for.
    @Test func aDecisionThatWaitsForASuccessorIsReadAsDecided() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        let start = try await stage.ledger.now()
        _ = try await hear(stage, lease) { .verdict(inForce($0)) }
        try await stage.submit("ann", "successor")
        _ = try await hear(stage, lease) { claim in
            guard claim.purchase.token == "token" else {
                return .failure(.unreachable(reason: "time-out"))
            }
            var replaced = inForce(claim)
            replaced.observed = .own(.replaced(at: claim.claimedAt - .hours(3)))
            return .verdict(replaced)
        }
        #expect(
            try await stage.number(
                "SELECT count(*) FROM renewald.purchase WHERE access = 'granted'") == 1)
        let page = try await stage.ledger.decisions(since: start, after: nil, limit: 10)
        let decided = page.decisions.compactMap(\.record?.decided.facts.access)
        #expect(decided.contains(.none))
        for decision in page.decisions { #expect(decision.isConsistent) }
        await stage.close()
    }

    /// A reload changes the rules once. Two workers that have different ones take turns.
    @Test func rulesThatDecideInTurnAreTold() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        var other = rules
        other.catalog = Catalog(
            rules.catalog.products.merging([
                "pro": .init(kind: nil, entitlements: ["pro", "plus"])
            ]) { $1 })
        other.policy.leniency = .hours(5)
        var clashes: [[ClashingRules]] = []
        for rules in [rules, other, rules, other] {
            try await stage.beside.script(
                """
                UPDATE renewald.event SET created_at = created_at - interval '2 hours';
                UPDATE renewald.evidence SET at = at - interval '2 hours'
                """)
            let report = try await hear(stage, lease, under: rules) { .verdict(inForce($0)) }
            #expect(!report.events.isEmpty)
            clashes.append(try await stage.ledger.clashingRules())
        }
        let app = AppKey(store: .google, id: "com.example.reader")
        let told = ClashingRules(app: app, differences: [.policy("leniency"), .product("pro")])
        #expect(clashes == [[], [], [], [told]])
        await stage.close()
    }

    /// What a page costs is what is on it, however much is kept.
    @Test func aPageOfDecisionsIsReadPurchaseByPurchase() async throws {
        let stage = try await Stage()
        let statement = StatementText(PackageResources.decision_page_sql).sql
        try await stage.beside.script(
            """
            INSERT INTO renewald.app (store, app) VALUES ('google', 'com.example.reader');
            INSERT INTO renewald.purchase (shard, id, lane, user_id, product)
            SELECT n % 256, n, app.lane, 'user ' || n, 'pro'
            FROM generate_series(1, 20000) AS n CROSS JOIN renewald.app;
            INSERT INTO renewald.evidence (
                shard, purchase_id, user_id, kind, heard, rule, call_names, call_statuses,
                call_bytes, call_digests, state_before, state, access_before, access, product,
                record)
            SELECT
                shard, id, user_id, 'verdict', 'active', 'it is paid', '{}', '{}', '{}', '{}',
                'new', 'active', 'none', 'granted', product, '\\x01'
            FROM renewald.purchase;
            ANALYZE renewald.purchase; ANALYZE renewald.evidence;
            SET plan_cache_mode = force_generic_plan;
            PREPARE page (int2, int8, int4, timestamptz) AS \(statement)
            """)
        let plan = try await stage.list("EXPLAIN EXECUTE page (0, 0, 200, 'epoch')")
            .joined(separator: "\n")
        #expect(plan.contains("Index Cond: ((purchase_id = purchase.id)"), "\(plan)")
        await stage.close()
    }

    /// Nor does each purchase of a page meet all that is scheduled in its shard.
    @Test func aPageOfClaimsIsReadPurchaseByPurchase() async throws {
        let stage = try await Stage()
        let statement = StatementText(PackageResources.kept_claims_sql).sql
        try await stage.beside.script(
            """
            INSERT INTO renewald.app (store, app) VALUES ('google', 'com.example.reader');
            INSERT INTO renewald.purchase (shard, id, lane, user_id, product)
            SELECT n % 16, n, app.lane, 'user ' || n, 'pro'
            FROM generate_series(1, 16000) AS n CROSS JOIN renewald.app;
            INSERT INTO renewald.credential (shard, id, token)
            SELECT shard, id, 'token ' || id FROM renewald.purchase;
            INSERT INTO renewald.schedule (shard, lane, due_at, id)
            SELECT shard, lane, now() + id * interval '1 second', id FROM renewald.purchase;
            ANALYZE renewald.purchase; ANALYZE renewald.credential; ANALYZE renewald.schedule;
            SET plan_cache_mode = force_generic_plan;
            PREPARE page (int2[], text[]) AS \(statement)
            """)
        let users = (1...250).map { "user \($0 * 16 + 3)" }.joined(separator: ",")
        let plan = try await stage.list(
            """
            EXPLAIN (ANALYZE, TIMING OFF)
            EXECUTE page (array_fill(3::int2, ARRAY[250]), '{\(users)}')
            """)
        #expect(plan.contains { $0.contains("rows=250 loops=1") }, "\(plan)")
        // 250 are asked for. A table may be read whole, once; nothing is looked at again and again.
        for line in plan {
            guard let found = line.firstMatch(of: /actual rows=(\d+) loops=(\d+)/),
                let rows = Int(found.1), let loops = Int(found.2)
            else { continue }
            #expect(loops == 1 || rows * loops <= 1000, "\(line)")
        }
        await stage.close()
    }

    /// What goes to another user is kept where that user is.
    @Test func whatWasHeardGoesWithThePurchase() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        _ = try await hear(stage, lease) { .verdict(inForce($0)) }
        try await stage.submit("bob", "token")
        let report = try await hear(stage, lease) { claim in
            var observation = inForce(claim)
            observation.accountToken = "bob"
            return .verdict(observation)
        }
        #expect(report.events.contains { $0.userID == "bob" && $0.kind == .grant(.transferred) })
        let page = try await stage.ledger.keptPage(after: nil, limit: 10)
        #expect(page.purchases.map(\.claim.purchase.userID) == ["bob"])
        #expect(page.purchases.first?.heard?.accountToken == "bob")
        #expect(try await row(stage).count == 1)
        await stage.close()
    }
}
