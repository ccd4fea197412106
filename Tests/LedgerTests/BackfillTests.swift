import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

/// What is imported: behind all that is due, and as a baseline without events.
@Suite(.serialized) struct BackfillTests {
    private func bring(
        _ tokens: [(user: String, token: String)], _ stage: Stage, isBaseline: Bool = true
    ) async throws {
        var batch = ImportBatch()
        for (user, token) in tokens {
            batch.add(
                userID: UserID(user), store: "google", app: "com.example.reader", product: "pro",
                token: StoreToken(token), storeUserID: nil)
        }
        _ = try await stage.ledger.takeIn(batch, isBaseline: isBaseline, from: nil) { _ in
            ImportPlace(reading: "")
        }
    }

    /// What a worker gets that asks for so many.
    private func claims(
        _ stage: Stage, _ lease: Lease, limit: Int = 100
    ) async throws -> [Claim] {
        let shards = lease.epochs.keys.sorted()
        let lane = try #require(try await stage.ledger.allLanes().first)
        return try await stage.ledger.claim(
            ClaimRequest(
                lane, from: shards.map(Place.start(of:)),
                behind: shards.map(Place.startOfBackfill(of:)), perShard: limit, limit: limit))
    }

    private func commit(
        _ outcomes: [Outcome], _ stage: Stage, _ lease: Lease
    ) async throws -> [Event] {
        let report = try await stage.ledger.commit(
            outcomes, under: lease, at: outcomes.map(\.claim).latest)
        #expect(report.committed.count == outcomes.count)
        let broken = Set(try await stage.broken())
        #expect(broken.isSubset(of: Self.rulesOfTelling), "\(broken)")
        return report.events
    }

    /// What a baseline gives was never told.
    private static let rulesOfTelling: Set = [
        "grants and revokes take turns", "who was told a grant last holds it",
    ]

    // MARK: Order

    @Test func waitsBehindAllThatIsDue() async throws {
        let stage = try await Stage()
        try await bring((1...40).map { ("user \($0)", "imported \($0)") }, stage)
        let lease = try await stage.takeAll()
        for number in 1...5 { try await stage.submit("user \(number)", "bought \(number)") }
        let few = try await claims(stage, lease, limit: 5)
        #expect(few.allSatisfy { $0.purchase.token.text.hasPrefix("bought") })
        let all = try await claims(stage, lease, limit: 25)
        #expect(all.count == 25)
        #expect(all.map(\.isBackfill) == (0..<25).map { $0 >= 5 })
        #expect(try await stage.due(lease).count == 5)
        #expect(
            try await stage.number(
                "SELECT count(*) FROM renewald.purchases WHERE next_check_at IS NULL") == 40)
        let status = try #require(try await stage.ledger.status().apps.first)
        #expect(status.due == 5 && status.nextDueAt == nil)
        #expect(status.backfill?.left == 40 && status.backfill?.done == 0)
    }

    /// A lane in which nothing else is due is looked at all the same, and no other one.
    @Test func isFoundByWhoLooksForWork() async throws {
        let stage = try await Stage()
        try await bring([("ann", "1")], stage)
        try await stage.submit("ann", "2", store: "apple")
        let lease = try await stage.takeAll()
        _ = try await commit(
            try await stage.due(lease).map { outcome($0, inForce($0)) }, stage, lease)
        let lanes = try await stage.ledger.allLanes()
        let heads = try await stage.ledger.heads(
            of: lanes, in: lease.epochs.keys.sorted(), after: 0)
        for lane in lanes {
            let dueAt = try #require(heads.dueAt[lane.number])
            #expect((dueAt <= heads.now) == (lane.app.store == .google))
        }
    }

    @Test func aSuspectOfTheBackfillIsFoundAmongTheSuspects() async throws {
        let stage = try await Stage()
        try await bring([("ann", "1")], stage)
        let lease = try await stage.takeAll()
        let claim = try #require(try await claims(stage, lease).first)
        _ = try await stage.ledger.mark([claim.shard: [claim.purchase.id]], under: lease)
        try await stage.endAllLeases()
        let next = try await stage.takeAll()
        #expect(try await claims(stage, next) == [])
        let suspects = try await stage.ledger.suspects(
            of: try await stage.ledger.allLanes(), in: next.epochs.keys.sorted())
        #expect(suspects.map(\.purchase.id) == [claim.purchase.id])
    }

    @Test func countsAnewWhenNothingWaits() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        func progress() async throws -> [Int64?] {
            let backfill = try await stage.ledger.status().apps.first?.backfill
            // What the metrics show is counted otherwise.
            let counted = try await stage.ledger.queueDepth().apps.first?.backfill
            #expect(counted?.left == backfill?.left)
            #expect(counted.map { $0.imported - $0.left } == backfill?.done)
            return [backfill?.done, backfill?.left]
        }
        try await bring([("ann", "1"), ("bob", "2")], stage)
        let first = try await claims(stage, lease, limit: 1)
        _ = try await commit(first.map { outcome($0, inForce($0)) }, stage, lease)
        #expect(try await progress() == [1, 1])
        try await bring([("cid", "3")], stage)
        #expect(try await progress() == [1, 2])
        let rest = try await claims(stage, lease)
        _ = try await commit(rest.map { outcome($0, inForce($0)) }, stage, lease)
        #expect(try await progress() == [3, 0])
        try await bring([("dee", "4")], stage)
        #expect(try await progress() == [0, 1])
    }

    // MARK: Baseline

    @Test(arguments: [true, false]) func theFirstSightIsStoredAndTheNextIsTold(
        isBaseline: Bool
    ) async throws {
        let stage = try await Stage()
        try await bring(
            [("ann", "1"), ("bob", "2"), ("cid", "3")], stage, isBaseline: isBaseline)
        let lease = try await stage.takeAll()
        var found = try await claims(stage, lease).sorted { $0.purchase.id < $1.purchase.id }
        #expect(found.count == 3)
        let first = try await commit(
            [
                outcome(found[0], inForce(found[0])), outcome(found[1], inForce(found[1])),
                outcome(found[2], over(found[2])),
            ], stage, lease)
        #expect(first.map(\.kind) == (isBaseline ? [] : [.grant(.purchased), .grant(.purchased)]))
        #expect(
            try await stage.list(
                "SELECT user_id || active FROM renewald.entitlements ORDER BY 1")
                == ["anntrue", "bobtrue"])
        #expect(
            try await stage.number("SELECT count(*) FROM renewald.purchase WHERE baseline") == 0)
        try await stage.makeAllDue()
        found = try await claims(stage, lease).sorted { $0.purchase.id < $1.purchase.id }
        let second = try await commit(
            [
                outcome(found[0], over(found[0])), outcome(found[1], inForce(found[1], period: 2)),
                outcome(found[2], inForce(found[2])),
            ], stage, lease)
        #expect(second.count == 3)
        #expect(second.contains { $0.kind == .revoke(.cancelled) && $0.userID == "ann" })
        #expect(second.contains { $0.kind == .notice(.renewed) && $0.userID == "bob" })
        // It was bought before it moved in.
        let isBack = EventKind.grant(isBaseline ? .resubscribed : .purchased)
        #expect(second.contains { $0.kind == isBack && $0.userID == "cid" })
    }

    /// A check that comes to nothing is no sight, and what the store does not know is one.
    @Test func whatTheStoreDoesNotKnowIsNotToldEither() async throws {
        let stage = try await Stage()
        try await bring([("ann", "1"), ("bob", "2")], stage)
        let lease = try await stage.takeAll()
        for answers: [Answer] in [
            [.failure(.unreachable(reason: "?")), .doubt(.notFound)],
            [.doubt(.notFound), .doubt(.notFound)],
        ] {
            let found = try await claims(stage, lease).sorted { $0.purchase.id < $1.purchase.id }
            let told = try await commit(
                zip(found, answers).map { outcome($0, $1) }, stage, lease)
            #expect(told == [])
            try await stage.beside.script(
                """
                UPDATE renewald.schedule SET due_at = now() - interval '1 second';
                UPDATE renewald.purchase SET doubt_since = doubt_since - interval '1 day'
                """)
        }
        #expect(
            try await stage.list(
                "SELECT concat_ws(' ', user_id, state, baseline) FROM renewald.purchase ORDER BY 1")
                == ["ann new t", "bob invalid f"])
        let found = try await claims(stage, lease).sorted { $0.purchase.id < $1.purchase.id }
        let told = try await commit(found.map { outcome($0, inForce($0)) }, stage, lease)
        #expect(told.map(\.userID) == ["bob"])
        #expect(told.map(\.kind.name) == ["grant"])
    }

    /// Somebody who submits it waits for the answer: it is told, and at once.
    @Test(arguments: ["ann", "bob"]) func whoSubmitsItIsTold(_ user: String) async throws {
        let stage = try await Stage()
        try await bring([("ann", "1")], stage)
        let lease = try await stage.takeAll()
        try await stage.submit(user, "1")
        let found = try await stage.due(lease)
        #expect(found.count == 1)
        let told = try await commit(found.map { outcome($0, inForce($0)) }, stage, lease)
        #expect(told.contains { $0.kind == .grant(.purchased) })
    }

    /// Another line of the file names another user: neither their claim nor what comes of it is
    /// told, and it stays in its place.
    @Test func aClaimOfTheSameFileIsNotTold() async throws {
        let stage = try await Stage()
        try await bring([("ann", "1"), ("bob", "1"), ("ann", "1")], stage)
        let lease = try await stage.takeAll()
        #expect(try await stage.due(lease).isEmpty)
        let found = try await claims(stage, lease)
        #expect(found.map(\.purchase.isClaimedByOthers) == [true])
        #expect(
            try await commit(found.map { outcome($0, inForce($0)) }, stage, lease).isEmpty)
        #expect(try await stage.list("SELECT renewald.has('ann', 'pro')::text") == ["true"])
    }

    /// What was told as held, and is lost by a first sight, is told.
    @Test func aKnownPurchaseThatTheImportedOneReplacesIsTold() async throws {
        let stage = try await Stage()
        try await stage.submit("ann", "old")
        let lease = try await stage.takeAll()
        _ = try await commit(
            try await stage.due(lease).map { outcome($0, inForce($0)) }, stage, lease)
        try await bring([("ann", "new")], stage)
        let claim = try #require(try await claims(stage, lease).first)
        var newer = inForce(claim, product: "gold")
        newer.predecessorToken = "old"
        let told = try await commit([outcome(claim, newer)], stage, lease)
        #expect(told.map(\.kind) == [.revoke(.productChanged)])
        #expect(
            try await stage.list(
                "SELECT entitlement FROM renewald.entitlements WHERE active") == ["gold"])
    }
}
