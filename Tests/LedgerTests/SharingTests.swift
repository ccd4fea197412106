import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

/// What becomes of a purchase that a second user hands in: `[policy] shared`.
@Suite(.serialized) struct SharingTests {
    /// Two users, checked, of whom the second has handed in the purchase of the first.
    private func claimed(
        _ stage: Stage, _ first: String = "ann", _ second: String = "bob"
    ) async throws -> (Int64, Lease) {
        let lease = try await stage.takeAll()
        let id = try await stage.submit(first, "token")
        try await check(stage, lease, .keep)
        #expect(try await stage.submit(second, "token") == id)
        return (id, lease)
    }

    /// Checks all that is due.
    @discardableResult
    private func check(
        _ stage: Stage, _ lease: Lease?, _ shared: Policy.Shared,
        _ answer: (Claim) -> Observation = { inForce($0) }
    ) async throws -> CommitReport {
        let claims = try await stage.due(try await stage.wholeLease(lease))
        return try await stage.ledger.commit(
            claims.map { outcome($0, answer($0), shared) }, under: lease, at: claims.latest)
    }

    @Test func theLatestGetsItWithAllItsRows() async throws {
        let stage = try await Stage()
        let (id, lease) = try await claimed(stage)
        let report = try await check(stage, lease, .move)
        #expect(report.events.map(\.kind) == [.revoke(.transferred), .grant(.transferred)])
        #expect(report.events.map(\.userID) == ["ann", "bob"])
        #expect(
            try await stage.list("SELECT user_id || ' ' || access FROM renewald.purchases")
                == ["bob granted"])
        #expect(try await stage.list("SELECT renewald.has('ann', 'pro')::text") == ["false"])
        #expect(try await stage.list("SELECT renewald.has('bob', 'pro')::text") == ["true"])
        #expect(
            try await stage.list(
                "SELECT id || ' ' || user_id FROM renewald.claimant") == ["\(id) ann"])
        #expect(try await stage.broken() == [])
        // Asked about again, nothing more moves.
        try await stage.makeAllDue()
        #expect(try await check(stage, lease, .move).events.isEmpty)
        // Back to the first, who hands it in again.
        #expect(try await stage.submit("ann", "token") == id)
        let back = try await check(stage, lease, .move)
        #expect(back.events.map(\.userID) == ["bob", "ann"])
        #expect(try await stage.list("SELECT user_id FROM renewald.purchases") == ["ann"])
        #expect(try await stage.broken() == [])
    }

    /// What was heard of it and what was told of it already stay with it.
    @Test func theCluesMoveWithIt() async throws {
        let stage = try await Stage()
        let (_, lease) = try await claimed(stage)
        try await stage.beside.script(
            """
            INSERT INTO renewald.clue (shard, id, clue, settled_at)
            SELECT shard, id, word, CASE WHEN word = 'refund 1' THEN now() END
            FROM renewald.purchase, unnest('{refund 1,refund 2}'::text[]) AS word
            """)
        #expect(try await check(stage, lease, .move).events.count == 2)
        let clues = try await stage.ledger.claims(ofUser: "bob").map(\.purchase.clues)
        #expect(clues == [[.refund(of: "2")]])
        #expect(
            try await stage.number(
                "SELECT count(*) FROM renewald.clue WHERE shard = renewald.shard_of('bob')") == 2)
        #expect(try await stage.broken() == [])
    }

    @Test func movesWithinAShardAsWell() async throws {
        let stage = try await Stage()
        let pair = try await stage.list(
            """
            SELECT 'user ' || number FROM generate_series(1, 5000) AS number
            WHERE renewald.shard_of('user ' || number) = renewald.shard_of('user 1')
            ORDER BY number LIMIT 2
            """)
        let (_, lease) = try await claimed(stage, pair[0], pair[1])
        #expect(try await check(stage, lease, .move).events.count == 2)
        #expect(try await stage.list("SELECT user_id FROM renewald.purchases") == [pair[1]])
        #expect(try await stage.broken() == [])
    }

    @Test func theOneWhoHandsItInLastBeforeTheCheckHasIt() async throws {
        let stage = try await Stage()
        let (_, lease) = try await claimed(stage)
        try await stage.submit("ann", "token")
        #expect(try await check(stage, lease, .move).events.isEmpty)
        try await stage.submit("bob", "token")
        try await stage.submit("cid", "token")
        let report = try await check(stage, lease, .move)
        #expect(report.events.map(\.userID) == ["ann", "cid"])
        #expect(try await stage.broken() == [])
    }

    @Test func aClaimantWhoHoldsItAlreadyIsToldNothing() async throws {
        let stage = try await Stage()
        let (_, lease) = try await claimed(stage)
        try await stage.submit("bob", "own token")
        let report = try await check(stage, lease, .move)
        #expect(
            report.events.map { "\($0.userID) \($0.kind.name) \($0.kind.reason)" }
                .filter { !$0.contains("notice") }
                == ["bob grant purchased", "ann revoke transferred"])
        #expect(try await stage.number("SELECT count(*) FROM renewald.purchase") == 2)
        #expect(try await stage.broken() == [])
    }

    /// The lease is about the shard of the first user; the other one's account decides by its
    /// version.
    @Test func aMoveIsTakenBackWhenTheOtherUserHasMoved() async throws {
        let stage = try await Stage()
        let (_, lease) = try await claimed(stage)
        let claims = try await stage.due(lease)
        let batch = try await stage.ledger.compose(
            claims.map { outcome($0, inForce($0), .move) }, under: lease, at: claims.latest)
        try await stage.beside.script(
            """
            INSERT INTO renewald.account (shard, user_id, version)
            VALUES (renewald.shard_of('bob'), 'bob', 7)
            """)
        let before = try await stage.everything()
        await #expect(throws: PostgresError.self) {
            _ = try await stage.ledger.writes.pipeline(batch.statements)
        }
        #expect(try await stage.everything() == before)
        #expect(try await check(stage, lease, .move).events.count == 2)
        #expect(try await stage.broken() == [])
    }

    @Test func allowedItIsAPurchaseOfEach() async throws {
        let stage = try await Stage()
        let (id, lease) = try await claimed(stage)
        try await stage.submit("cid", "token")
        #expect(try await check(stage, lease, .allow).events.isEmpty)
        #expect(
            try await stage.list(
                "SELECT user_id || ' ' || state FROM renewald.purchases ORDER BY 1")
                == ["ann active", "bob new", "cid new"])
        // An id is one purchase's alone, in whatever shard.
        #expect(try await stage.number("SELECT count(DISTINCT id) FROM renewald.purchases") == 3)
        let copies = try await check(stage, lease, .allow)
        #expect(copies.events.map(\.kind) == [.grant(.purchased), .grant(.purchased)])
        #expect(Set(copies.events.map(\.userID)) == ["bob", "cid"])
        // Each is asked about by itself; what one loses the others keep.
        try await stage.makeAllDue()
        let report = try await check(stage, lease, .allow) { claim in
            claim.purchase.userID == "bob" ? over(claim) : inForce(claim)
        }
        #expect(report.events.map { "\($0.userID) \($0.kind.reason)" } == ["bob cancelled"])
        #expect(try await stage.list("SELECT renewald.has('ann', 'pro')::text") == ["true"])
        #expect(try await stage.broken() == [])
        // Handed in once more by one who has his own: that one is asked about.
        try await stage.beside.script(
            "UPDATE renewald.schedule SET checked_at = checked_at - interval '11 seconds'")
        #expect(try await stage.submit("bob", "token") == id)
        #expect(try await stage.due(lease).map(\.purchase.userID) == ["bob"])
    }

    /// Their apps hand it in at each start, and the store may be asked about it later.
    @Test func allowedItIsEachUsersAlsoWhereItsOwnerHandsItInAgain() async throws {
        let stage = try await Stage()
        let (_, lease) = try await claimed(stage)
        try await stage.submit("ann", "token")
        #expect(try await check(stage, lease, .allow).events.isEmpty)
        let copies = try await check(stage, lease, .allow)
        #expect(copies.events.map { "\($0.userID) \($0.kind.reason)" } == ["bob purchased"])
        // So it is where one of them has a purchase of their own already.
        try await stage.submit("cid", "token")
        try await stage.submit("ann", "token")
        _ = try await check(stage, lease, .allow)
        _ = try await check(stage, lease, .allow)
        #expect(
            try await stage.list(
                "SELECT user_id || ' ' || state FROM renewald.purchases ORDER BY 1")
                == ["ann active", "bob active", "cid active"])
        #expect(try await stage.broken() == [])
    }

    /// One pass leaves what becomes due after its beginning to the next.
    @Test func aCopyIsDueSinceItsOriginalWas() async throws {
        let stage = try await Stage()
        let (_, lease) = try await claimed(stage)
        let claims = try await stage.due(lease)
        try await check(stage, lease, .allow)
        let copies = try await stage.due(lease)
        #expect(copies.map(\.purchase.userID) == ["bob"])
        #expect(copies.map(\.dueAt) == claims.map(\.dueAt))
        // A person asks before it is due: it is due at once.
        try await stage.submit("cid", "token")
        try await stage.beside.script(
            "UPDATE renewald.schedule SET due_at = now() + interval '1 day'")
        let asked = try await stage.ledger.claims(ofUser: "ann")
        _ = try await stage.ledger.commit(
            asked.map { outcome($0, inForce($0), .allow) }, under: nil, at: asked.latest)
        #expect(try await stage.due(lease).map(\.purchase.userID) == ["cid"])
        #expect(try await stage.broken() == [])
    }

    /// The store names another original id for what has ended: each user's own stays their own.
    @Test func allowedItStaysEachUsersOwnUnderAnotherOriginalID() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        func check(_ original: OrderID, isOver: Bool, only user: UserID? = nil) async throws {
            let claims = try await stage.due(lease).filter { claim in
                user.map { $0 == claim.purchase.userID } ?? true
            }
            let outcomes = claims.map { claim in
                var answer = isOver ? over(claim) : inForce(claim, period: 2)
                answer.originalID = original
                return outcome(claim, answer, .allow)
            }
            _ = try await stage.ledger.commit(outcomes, under: lease, at: claims.latest)
        }
        for user in ["ann", "bob", "cid"] {
            try await stage.submit(user, "1000", store: "apple")
        }
        for _ in 0..<2 { try await check("1000", isOver: true) }
        let states = "SELECT user_id || ' ' || state FROM renewald.purchases ORDER BY 1"
        #expect(try await stage.list(states) == ["ann expired", "bob expired", "cid expired"])
        // A copy is asked first, then all.
        try await stage.makeAllDue()
        try await check("2000", isOver: true, only: "bob")
        try await check("2000", isOver: true)
        #expect(try await stage.list(states) == ["ann expired", "bob expired", "cid expired"])
        #expect(
            try await stage.list(
                """
                SELECT purchase.user_id FROM renewald.original_key
                JOIN renewald.purchase USING (shard, id) WHERE original_key.original_id = '2000'
                """) == ["ann"])
        // Each has theirs again with the next period.
        for user in ["ann", "bob", "cid"] {
            try await stage.submit(user, "1000", store: "apple")
        }
        try await stage.makeAllDue()
        try await check("2000", isOver: false)
        #expect(try await stage.list(states) == ["ann active", "bob active", "cid active"])
        // The name of before leads to it as well.
        let broken = try await stage.broken().filter { !$0.contains("each original id") }
        #expect(broken == [])
    }

    /// As 0.1 and early 0.2 have folded a copy into its original: it is found, and asked about.
    @Test func aCopyThatWasFoldedIntoItsOriginalIsWoken() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        for user in ["ann", "bob"] { try await stage.submit(user, "1000", store: "apple") }
        for _ in 0..<2 {
            let claims = try await stage.due(lease)
            let outcomes = claims.map { outcome($0, over($0), .allow) }
            _ = try await stage.ledger.commit(outcomes, under: lease, at: claims.latest)
        }
        try await stage.beside.script(
            """
            UPDATE renewald.purchase SET state = 'superseded' WHERE user_id = 'bob';
            UPDATE renewald.schedule SET due_at = '9999-12-31 00:00+00',
                checked_at = now() - interval '1 hour'
            """)
        try await stage.submit("bob", "1000", store: "apple")
        let claims = try await stage.due(lease)
        #expect(claims.map(\.purchase.userID) == ["bob"])
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0, period: 2), .allow) }, under: lease,
            at: claims.latest)
        #expect(try await stage.list("SELECT renewald.has('bob', 'pro')::text") == ["true"])
        #expect(try await stage.broken() == [])
    }

    /// Users who hand in each other's tokens, two workers who check without leases so that only the
    /// versions decide, and a database that ends their sessions: whatever happens, each user is
    /// told what is so.
    @Test(.timeLimit(.minutes(3)), arguments: [Policy.Shared.move, .allow])
    func unionAndStateAgreeForAllUsersThroughKills(_ shared: Policy.Shared) async throws {
        let stage = try await Stage()
        let users = ["ann", "bob", "cid", "dora"]
        for (number, user) in users.enumerated() {
            try await stage.submit(user, "token \(number)", product: "pro \(number)")
        }
        let hasEnded = Flag()
        let seed = Seeds.fresh()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { hasEnded.set() }
                try await Seeds.run(seed: seed) { chance in
                    let progress =
                        shared == .move
                        ? "SELECT count(*) FROM renewald.event WHERE reason = 'transferred'"
                        : "SELECT count(*) FROM renewald.event WHERE kind = 'revoke'"
                    var rounds = 0
                    var done: Int64 = 0
                    while rounds < 120 || done < 20 && rounds < 5000 {
                        rounds += 1
                        done = try await stage.number(progress)
                        let user = users[Int.random(in: 0..<4, using: &chance)]
                        let token = "token \(Int.random(in: 0..<4, using: &chance))"
                        try await stage.submit(user, token)
                        if Int.random(in: 0..<8, using: &chance) == 0 {
                            try await stage.endSessions()
                        }
                        try await stage.nudge()
                    }
                    print("\(rounds) submissions, \(done) events of \(shared)")
                    #expect(done > 0, "nothing has moved or ended")
                }
            }
            for worker in 0..<2 {
                group.addTask {
                    let ledger = stage.furtherLedger()
                    var rounds = worker
                    while !hasEnded.isSet, !Task.isCancelled {
                        try await checkOnce(stage, ledger, shared, endsEach: rounds)
                        rounds += 1
                    }
                    await ledger.close()
                }
            }
            try await group.waitForAll()
        }
        #expect(try await stage.broken() == [], "seed \(seed)")
    }

    private func checkOnce(
        _ stage: Stage, _ ledger: PostgresLedger, _ shared: Policy.Shared, endsEach: Int
    ) async throws {
        let places = (0..<256).map { Place.start(of: Int16($0)) }
        do throws(LedgerError) {
            guard let lane = try await ledger.allLanes().first else { return }
            let claims = try await ledger.claim(
                ClaimRequest(lane, from: places, perShard: 20, limit: 20))
            let outcomes = claims.enumerated().map { number, claim in
                let product = claim.purchase.facts.product
                // Who has copies of all loses access only where all of them end.
                let isOver =
                    shared == .move ? (number + endsEach) % 4 == 0 : endsEach % 2 == 0
                let answer =
                    isOver ? over(claim, product: product) : inForce(claim, product: product)
                return outcome(claim, answer, shared)
            }
            let report = try await ledger.commit(outcomes, under: nil, at: claims.latest)
            #expect(report.refused.isEmpty)
        } catch {
            guard case .unavailable = error else { throw error }
        }
    }
}

extension Stage {
    /// All shards, as places of a claim.
    func wholeLease(_ lease: Lease?) async throws -> Lease {
        lease
            ?? Lease(
                worker: .random(),
                epochs: Dictionary(uniqueKeysWithValues: (0..<256).map { (Int16($0), 0) }))
    }

    func endSessions() async throws {
        _ = try await beside.query(
            PostgresStatement(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'ledger' AND datname = current_database()
                """, isReadOnly: false))
    }

    /// Makes what is not due now due, where nobody is in the way.
    func nudge() async throws {
        do {
            try await beside.script(
                """
                UPDATE renewald.schedule SET due_at = clock_timestamp() WHERE due_at > now()
                """)
        } catch PostgresError.conflict {
            return
        }
    }
}

func outcome(
    _ claim: Claim, _ observation: Observation, _ shared: Policy.Shared
) -> Outcome {
    outcome(claim, .verdict(observation), shared)
}

func outcome(_ claim: Claim, _ answer: Answer, _ shared: Policy.Shared) -> Outcome {
    var rules = Rules()
    rules.policy.shared = shared
    let moment = Moment(now: claim.claimedAt, jitter: 0.5)
    return decide(claim, hearing: answer, at: moment, under: rules)
}
