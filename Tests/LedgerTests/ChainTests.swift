import Postgres
import Renewal
import Testing

@testable import Ledger

/// One subscription over several tokens, which several users have handed in (design rule 8).
@Suite(.serialized) struct ChainTests {
    /// In force; purchases of `later` continue the token `first`.
    private func answer(_ claim: Claim, product: ProductID = "pro") -> Observation {
        var observation = inForce(claim, product: product)
        observation.originalID = nil
        if claim.purchase.token == "later" { observation.predecessorToken = "first" }
        if claim.purchase.token == "last" { observation.predecessorToken = "later" }
        return observation
    }

    private func check(
        _ stage: Stage, _ lease: Lease, later: ProductID = "pro"
    ) async throws -> [String] {
        let claims = try await stage.due(lease)
        let outcomes = claims.map { claim in
            outcome(claim, answer(claim, product: claim.purchase.token == "later" ? later : "pro"))
        }
        let report = try await stage.ledger.commit(outcomes, under: lease, at: claims.latest)
        #expect(report.committed.count == claims.count)
        return Self.words(report.events)
    }

    private static func words(_ events: [Event]) -> [String] {
        events.map { "\($0.userID) \($0.kind.name) \($0.entitlement ?? "-") \($0.kind.reason)" }
    }

    private func states(_ stage: Stage) async throws -> [String] {
        try await stage.list(
            "SELECT user_id || ' ' || state || ' ' || access FROM renewald.purchases ORDER BY id")
    }

    /// After a pause both are due, and the older one is asked about first.
    @Test func whatWasReplacedLongAgoWaitsForWhatWasSubmitted() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let first = try await stage.submit("ann", "first")
        #expect(try await check(stage, lease) == ["ann grant pro purchased"])
        try await stage.submit("ann", "later")
        try await stage.makeAllDue()
        let older = try #require(
            try await stage.due(lease).first { $0.purchaseID == first })
        var observation = inForce(older)
        observation.observed = .own(.replaced(at: older.claimedAt - .hours(3)))
        let report = try await stage.ledger.commit(
            [outcome(older, observation)], under: lease, at: older.claimedAt)
        #expect(report.events.isEmpty)
        #expect(try await states(stage) == ["ann active granted", "ann new none"])
        #expect(try await check(stage, lease) == [])
        #expect(try await states(stage) == ["ann superseded none", "ann active granted"])
        #expect(try await stage.broken() == [])
    }

    /// As what gives by what an Apple ID has bought under another original id: its end is no news.
    /// What Amazon sells may be an add-on of what has ended.
    @Test(arguments: [("google", 1), ("amazon", 2)])
    func whatLivesByTheSameOrderIsAskedAboutAtOnce(_ store: String, count: Int) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        var ids: [Int64] = []
        for token in ["own", "heir", "other"] {
            ids.append(
                try await stage.submit(
                    "ann", token, store: store, storeUser: store == "amazon" ? "kQ4m" : nil))
        }
        func order(_ claim: Claim) -> OrderID { claim.purchaseID == ids[2] ? "two" : "one" }
        let claims = try await stage.due(lease)
        _ = try await stage.ledger.commit(
            claims.map { claim in
                var observation = inForce(claim)
                observation.orderID = order(claim)
                return outcome(claim, observation)
            }, under: lease, at: claims.latest)
        #expect(try await stage.due(lease).isEmpty)
        try await stage.beside.script(
            "UPDATE renewald.schedule SET due_at = now() - interval '1 hour' WHERE id = \(ids[0])")
        let own = try #require(try await stage.due(lease).first)
        var ended = over(own)
        ended.orderID = order(own)
        _ = try await stage.ledger.commit([outcome(own, ended)], under: lease, at: own.claimedAt)
        let woken = try await stage.due(lease)
        #expect(woken.map(\.purchaseID).sorted() == Array(ids[1...count]))
        #expect(woken.allSatisfy { $0.dueAt == own.dueAt })
        #expect(try await stage.broken() == [])
    }

    /// In each other's shard and in the same one; the newer link in a lease that lacks the older one's
    /// shard.
    @Test(arguments: [false, true])
    func accessMovesToAnotherUserInOneTransaction(_ isSameShard: Bool) async throws {
        let stage = try await Stage()
        let users = try await stage.list(
            """
            SELECT 'user ' || number FROM generate_series(1, 5000) AS number
            WHERE (renewald.shard_of('user ' || number) = renewald.shard_of('user 1')) = $1
                OR number = 1
            ORDER BY number LIMIT 2
            """, [.bool(isSameShard)])
        let lease = try await stage.takeAll()
        let first = try await stage.submit(users[0], "first")
        #expect(try await check(stage, lease) == ["\(users[0]) grant pro purchased"])
        let later = try await stage.submit(users[1], "later")
        let claim = try #require(try await stage.due(lease).first)
        let own = Lease(
            worker: lease.worker, epochs: lease.epochs.filter { $0.key == claim.shard })
        let report = try await stage.ledger.commit(
            [outcome(claim, answer(claim))], under: own, at: claim.claimedAt)
        #expect(
            Self.words(report.events) == [
                "\(users[0]) revoke pro transferred", "\(users[1]) grant pro transferred",
            ])
        // Each is told of the purchase of their own.
        #expect(report.events.map(\.purchaseID) == [first, later])
        #expect(
            try await stage.number("SELECT count(DISTINCT created_at) FROM renewald.event") == 2)
        #expect(
            try await states(stage)
                == ["\(users[0]) superseded none", "\(users[1]) active granted"])
        #expect(try await stage.broken() == [])
        // It stays so, whatever the older one still looks like.
        try await stage.makeAllDue()
        #expect(try await check(stage, lease).isEmpty)
        #expect(try await stage.broken() == [])
    }

    @Test func allowedTheOlderLinkStaysUntilItsStoreEndsIt() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "first")
        _ = try await check(stage, lease)
        try await stage.submit("bob", "later")
        let claim = try #require(try await stage.due(lease).first)
        let report = try await stage.ledger.commit(
            [outcome(claim, answer(claim), .allow)], under: lease, at: claim.claimedAt)
        #expect(Self.words(report.events) == ["bob grant pro purchased"])
        #expect(try await states(stage) == ["ann active granted", "bob active granted"])
        #expect(try await stage.broken() == [])
    }

    /// The one is upgraded while another user hands the older link in, and both are asked about in
    /// one pass.
    @Test func theOlderLinkIsTakenOverBeforeItGoesToAnotherUser() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "first")
        _ = try await check(stage, lease)
        try await stage.submit("ann", "later")
        try await stage.submit("bob", "first")
        let claims = try await stage.due(lease)
        #expect(claims.count == 2)
        let report = try await stage.ledger.commit(
            claims.map { claim in
                let product: ProductID = claim.purchase.token == "later" ? "gold" : "pro"
                return outcome(claim, answer(claim, product: product), .move)
            }, under: lease, at: claims.latest)
        #expect(
            Self.words(report.events)
                == ["ann grant gold product_changed", "ann revoke pro product_changed"])
        #expect(try await states(stage) == ["ann superseded none", "ann active granted"])
        #expect(try await stage.broken() == [])
    }

    /// Whoever has bought something else before the one was over, and both are asked about in one
    /// pass, has never been without.
    @Test(arguments: [false, true])
    func whatOneGivesIsNotLostByAnother(_ isLater: Bool) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let ids = [try await stage.submit("ann", "one"), try await stage.submit("ann", "two")]
        let (old, new) = isLater ? (ids[0], ids[1]) : (ids[1], ids[0])
        let first = try #require(try await stage.due(lease).first { $0.purchaseID == old })
        _ = try await stage.ledger.commit(
            [outcome(first, inForce(first), .keep)], under: lease, at: first.claimedAt)
        try await stage.makeAllDue()
        let claims = try await stage.due(lease)
        let report = try await stage.ledger.commit(
            claims.map { claim in
                outcome(claim, claim.purchaseID == new ? inForce(claim) : over(claim), .keep)
            }, under: lease, at: claims.latest)
        #expect(report.committed.count == 2)
        #expect(Self.words(report.events) == [])
        #expect(try await stage.list("SELECT renewald.has('ann', 'pro')::text") == ["true"])
        #expect(try await stage.broken() == [])
    }

    @Test func whatTheNewerLinkDoesNotGiveIsLostForIt() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "first")
        _ = try await check(stage, lease)
        try await stage.submit("bob", "later")
        #expect(
            try await check(stage, lease, later: "gold")
                == ["ann revoke pro product_changed", "bob grant gold product_changed"])
        #expect(try await stage.broken() == [])
    }

    @Test func whoHoldsItByAnotherPurchaseLosesNothing() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "first")
        try await stage.submit("ann", "another")
        _ = try await check(stage, lease)
        try await stage.submit("bob", "later")
        #expect(try await check(stage, lease) == ["bob grant pro transferred"])
        #expect(try await stage.list("SELECT renewald.has('ann', 'pro')::text") == ["true"])
        #expect(try await stage.broken() == [])
    }

    @Test(arguments: ["ann", "bob"])
    func anOlderLinkThatComesLateGivesNothing(_ user: String) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let later = try await stage.submit("bob", "later")
        #expect(try await check(stage, lease) == ["bob grant pro purchased"])
        let first = try await stage.submit(user, "first")
        let claim = try #require(try await stage.due(lease).first)
        let report = try await stage.ledger.commit(
            [outcome(claim, answer(claim))], under: lease, at: claim.claimedAt)
        #expect(report.events.isEmpty)
        #expect(
            report.committed.map(\.rule) == [
                "a newer link of its chain, purchase \(later), has taken over"
            ])
        #expect(
            try await states(stage) == ["bob active granted", "\(user) superseded none"])
        // Handed in again and asked again, also when it says to have been renewed.
        #expect(try await stage.submit(user, "first") == first)
        try await stage.makeAllDue()
        #expect(try await check(stage, lease).isEmpty)
        #expect(
            try await states(stage) == ["bob active granted", "\(user) superseded none"])
        #expect(try await stage.broken() == [])
    }

    @Test func allLinksInOneBatchAreOneSubscription() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "first")
        try await stage.submit("bob", "later")
        try await stage.submit("cid", "last")
        let events = try await check(stage, lease)
        #expect(events == ["cid grant pro purchased"])
        #expect(
            try await states(stage)
                == ["ann superseded none", "bob superseded none", "cid active granted"])
        #expect(try await stage.broken() == [])
    }

    /// The middle link comes last of all: what it continues is continued by the newest.
    @Test func theMiddleLinkComesLate() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("cid", "last")
        #expect(try await check(stage, lease) == ["cid grant pro purchased"])
        try await stage.submit("bob", "later")
        #expect(try await check(stage, lease).isEmpty)
        try await stage.submit("ann", "first")
        #expect(try await check(stage, lease).isEmpty)
        #expect(
            try await states(stage)
                == ["cid active granted", "bob superseded none", "ann superseded none"])
        #expect(try await stage.broken() == [])
    }

    /// Nonsense must not take everything from everybody.
    @Test func linksThatNameEachOtherLeaveOneHolder() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "first")
        try await stage.submit("bob", "later")
        let claims = try await stage.due(lease)
        let outcomes = claims.map { claim in
            var observation = answer(claim)
            if claim.purchase.token == "first" { observation.predecessorToken = "later" }
            return outcome(claim, observation)
        }
        _ = try await stage.ledger.commit(outcomes, under: lease, at: claims.latest)
        #expect(
            try await stage.number("SELECT count(*) FROM renewald.entitlement WHERE active") == 1)
        #expect(try await stage.broken() == [])
    }

    /// Another worker has moved the older link's user meanwhile: nothing of it is committed.
    @Test func aTakeoverIsTakenBackWhenTheOtherUserHasMoved() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "first")
        _ = try await check(stage, lease)
        try await stage.submit("bob", "later")
        let claims = try await stage.due(lease)
        let batch = try await stage.ledger.compose(
            claims.map { outcome($0, answer($0)) }, under: lease, at: claims.latest)
        for change in [
            "UPDATE renewald.account SET version = version + 1 WHERE user_id = 'ann'",
            "UPDATE renewald.purchase SET version = version + 1 WHERE user_id = 'ann'",
        ] {
            try await stage.beside.script(change)
            let before = try await stage.everything()
            await #expect(throws: PostgresError.self) {
                _ = try await stage.ledger.writes.pipeline(batch.statements)
            }
            #expect(try await stage.everything() == before)
        }
        #expect(
            try await check(stage, lease)
                == ["ann revoke pro transferred", "bob grant pro transferred"])
        #expect(try await stage.broken() == [])
    }

    /// A change of product that nobody has paid for leaves the older link as it was.
    @Test func anUnpaidLinkIsNotRemembered() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("bob", "later")
        let claim = try #require(try await stage.due(lease).first)
        var pending = Observation(
            environment: .production, status: .pending,
            items: [Item(names: ["pro"], expiresAt: nil)])
        pending.predecessorToken = "first"
        _ = try await stage.ledger.commit(
            [outcome(claim, pending)], under: lease, at: claim.claimedAt)
        try await stage.submit("ann", "first")
        #expect(try await check(stage, lease) == ["ann grant pro purchased"])
    }
}
