import Postgres
import Renewal
import Testing

@testable import Ledger

/// The same purchase in two forms, and what a store is asked with from then on.
@Suite(.serialized) struct DuplicateTests {
    private func submit(
        _ stage: Stage, _ user: String, _ token: String
    ) async throws -> Int64 {
        try await stage.submit(user, token, store: "apple")
    }

    /// Apple names the same original id for all of them.
    private func answer(_ claim: Claim) -> Observation {
        var observation = inForce(claim)
        observation.originalID = "1000"
        return observation
    }

    @discardableResult
    private func check(
        _ stage: Stage, _ lease: Lease, _ shared: Policy.Shared = .keep, only: StoreToken? = nil
    ) async throws -> CommitReport {
        let claims = try await stage.due(lease).filter { only == nil || $0.purchase.token == only }
        return try await stage.ledger.commit(
            claims.map { outcome($0, answer($0), shared) }, under: lease, at: claims.latest)
    }

    @Test func theLaterFormIsFoldedAndNeverAskedAgain() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        _ = try await submit(stage, "ann", "receipt")
        #expect(try await check(stage, lease).events.map(\.kind) == [.grant(.purchased)])
        let second = try await submit(stage, "ann", "1000")
        #expect(try await check(stage, lease).events.isEmpty)
        #expect(
            try await stage.list(
                """
                SELECT state || ' ' || access || ' ' || (next_check_at IS NULL)
                FROM renewald.purchases WHERE id = $1
                """, [.int64(second)]) == ["superseded none true"])
        #expect(try await stage.broken() == [])
        // Handed in again, the first is meant: it has access, so nothing is asked.
        #expect(try await submit(stage, "ann", "1000") == second)
        #expect(try await stage.due(lease).isEmpty)
        try await stage.beside.script(
            """
            UPDATE renewald.schedule SET checked_at = now() - interval '1 minute';
            UPDATE renewald.purchase SET access = 'none', holding_entitlements = '{}',
                holding_products = '{}', holding_ends = '{}'
            """)
        _ = try await submit(stage, "ann", "1000")
        #expect(try await stage.due(lease).map(\.purchase.token) == ["receipt"])
    }

    @Test func bothInOneBatchAreOne() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let first = try await submit(stage, "ann", "receipt")
        _ = try await submit(stage, "ann", "1000")
        let report = try await check(stage, lease)
        #expect(report.events.map(\.purchaseID) == [first])
        #expect(report.committed.count == 2)
        #expect(report.committed.map(\.facts.state) == [.active, .superseded])
        #expect(try await stage.broken() == [])
    }

    @Test func anotherUsersFormIsAClaim() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let first = try await submit(stage, "ann", "receipt")
        try await check(stage, lease)
        let second = try await submit(stage, "bob", "1000")
        #expect(try await check(stage, lease).events.isEmpty)
        #expect(
            try await stage.list("SELECT id || ' ' || user_id FROM renewald.claimant")
                == ["\(first) bob"])
        let told = try await check(stage, lease)
        #expect(told.events.map(\.kind) == [.notice(.sharedReceipt)])
        #expect(told.events.map(\.userID) == ["ann"])
        #expect(try await stage.list("SELECT renewald.has('bob', 'pro')::text") == ["false"])
        #expect(try await submit(stage, "bob", "1000") == second)
        #expect(try await stage.due(lease).isEmpty)
        #expect(try await stage.broken() == [])
    }

    @Test func anotherUsersFormMovesItByPolicy() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        _ = try await submit(stage, "ann", "receipt")
        try await check(stage, lease)
        _ = try await submit(stage, "bob", "1000")
        try await check(stage, lease)
        let claims = try await stage.due(lease)
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, answer($0), .move) }, under: lease, at: claims.latest)
        #expect(report.events.map(\.userID) == ["ann", "bob"])
        #expect(report.events.map(\.kind) == [.revoke(.transferred), .grant(.transferred)])
        #expect(try await stage.broken() == [])
    }

    /// All who have handed in the later form before it was known for one have claimed the first,
    /// and who did so last has it.
    @Test(arguments: [["bob", "carl"], ["bob", "carl", "bob"], ["bob", "carl", "ann"]])
    func allWhoHaveHandedInTheLaterFormClaimIt(_ users: [String]) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let first = try await submit(stage, "ann", "receipt")
        try await check(stage, lease)
        for user in users { _ = try await submit(stage, user, "1000") }
        #expect(try await check(stage, lease).events.isEmpty)
        #expect(
            try await stage.list(
                "SELECT user_id FROM renewald.claimant WHERE id = $1 ORDER BY 1", [.int64(first)]
            ) == ["bob", "carl"])
        let claims = try await stage.due(lease)
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, answer($0), .move) }, under: lease, at: claims.latest)
        let last = try #require(users.last)
        #expect(report.events.map(\.userID.text) == (last == "ann" ? [] : ["ann", last]))
        #expect(
            try await stage.list("SELECT user_id FROM renewald.purchases WHERE state = 'active'")
                == [last])
        #expect(try await stage.broken() == [])
    }

    /// Those of one transaction have handed it in at one time: the last of them has it all the same.
    @Test(arguments: [
        ["bob", "carl", "dave"], ["dave", "carl", "bob"], ["bob", "dave", "carl"],
        ["bob", "carl", "dave", "carl"], ["bob", "dave", "carl", "bob"],
    ])
    func theLastOfOneTransactionHasIt(_ users: [String]) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        _ = try await submit(stage, "ann", "receipt")
        try await check(stage, lease)
        try await stage.beside.script("BEGIN")
        for user in users { _ = try await submit(stage, user, "1000") }
        try await stage.beside.script("COMMIT")
        #expect(try await check(stage, lease).events.isEmpty)
        let claims = try await stage.due(lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, answer($0), .move) }, under: lease, at: claims.latest)
        #expect(
            try await stage.list("SELECT user_id FROM renewald.purchases WHERE state = 'active'")
                == users.suffix(1))
        #expect(try await stage.broken() == [])
    }

    /// However late the second form is checked: with the first one, or alone.
    @Test(arguments: ["receipt", "1000"], [Policy.Shared.move, .keep])
    func whoHandedInEitherFormLastHasIt(_ late: String, _ shared: Policy.Shared) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let other = late == "receipt" ? "1000" : "receipt"
        _ = try await submit(stage, "ann", other)
        _ = try await submit(stage, "carl", late)
        try await check(stage, lease, shared, only: StoreToken(other))
        _ = try await submit(stage, "bob", other)
        for _ in 0..<2 { try await check(stage, lease, shared) }
        let now = """
            SELECT user_id || ' ' || coalesce(claimed_by, '-') FROM renewald.purchase
            WHERE state = 'active'
            """
        #expect(try await stage.list(now) == [shared == .move ? "bob -" : "ann bob"])
        #expect(try await stage.broken() == [])
    }

    /// The one that was handed in first is the last to be checked: it moves nothing.
    @Test func anOlderFormThatIsCheckedLaterMovesNothing() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        _ = try await submit(stage, "bob", "1000")
        _ = try await submit(stage, "ann", "receipt")
        try await check(stage, lease, .move, only: "receipt")
        let told = try await check(stage, lease, .move)
        #expect(told.events == [])
        #expect(try await check(stage, lease, .move).events == [])
        #expect(
            try await stage.list("SELECT user_id FROM renewald.purchases WHERE state = 'active'")
                == ["ann"])
        #expect(try await stage.broken() == [])
    }

    /// Before any store has told of it, whichever form is checked first.
    @Test(arguments: ["1000", "receipt"], [Policy.Shared.move, .keep])
    func itsOwnerMayHandItInOnceMore(_ first: String, _ shared: Policy.Shared) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        for (user, token) in [("ann", "1000"), ("bob", "receipt"), ("ann", "1000")] {
            _ = try await submit(stage, user, token)
        }
        try await check(stage, lease, shared, only: StoreToken(first))
        for _ in 0..<3 { try await check(stage, lease, shared) }
        #expect(
            try await stage.list("SELECT user_id FROM renewald.purchases WHERE state = 'active'")
                == [shared == .keep && first == "receipt" ? "bob" : "ann"])
        #expect(try await stage.broken() == [])
    }

    /// `check` asks about every form; a later period of the subscription is the first form's.
    @Test(arguments: ["ann", "bob"])
    func theLaterFormStaysFoldedWhenItIsAskedAboutAgain(_ user: String) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        _ = try await submit(stage, "ann", "receipt")
        try await check(stage, lease)
        _ = try await submit(stage, user, "1000")
        for _ in 0..<2 { try await check(stage, lease) }
        for period in ["2", "3"] {
            let claims = try await stage.ledger.claims(ofUser: UserID(user))
                .filter { $0.purchase.token == "1000" }
            #expect(claims.map(\.purchase.facts.state) == [.superseded])
            let report = try await stage.ledger.commit(
                claims.map { claim in
                    var answer = answer(claim)
                    answer.period = OrderID(period)
                    answer.paidThrough = claim.claimedAt + .days(60)
                    return outcome(claim, answer)
                }, under: nil, at: claims.latest)
            #expect(report.committed.map(\.facts.access) == [.none] && report.events.isEmpty)
        }
        #expect(
            try await stage.list(
                """
                SELECT concat_ws(' ', user_id, state, access, next_check_at IS NULL)
                FROM renewald.purchases ORDER BY state
                """) == ["ann active granted f", "\(user) superseded none t"])
        #expect(try await stage.broken() == [])
    }

    /// The first form is in the other user's shard when the second one is folded into it.
    @Test func aFormAndItsFirstMoveInOneBatch() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        _ = try await submit(stage, "ann", "receipt")
        try await check(stage, lease)
        _ = try await submit(stage, "bob", "receipt")
        _ = try await submit(stage, "bob", "1000")
        let claims = try await stage.due(lease)
        #expect(Set(claims.map(\.shard)).count == 2)
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, answer($0), .move) }, under: lease, at: claims.latest)
        #expect(report.committed.count == 2)
        #expect(report.events.map(\.kind) == [.revoke(.transferred), .grant(.transferred)])
        #expect(
            try await stage.list("SELECT state FROM renewald.purchases ORDER BY state")
                == ["active", "superseded"])
        #expect(try await stage.broken() == [])
    }

    @Test func ofTwoRacingWorkersOneTakesTheOriginalID() async throws {
        for _ in 0..<10 {
            let stage = try await Stage()
            for user in ["ann", "bob"] { _ = try await submit(stage, user, "token of \(user)") }
            let lease = try await stage.takeAll()
            let claims = try await stage.due(lease)
            let events = try await withThrowingTaskGroup(of: [Event].self) { group in
                for claim in claims {
                    group.addTask {
                        let ledger = stage.furtherLedger()
                        let report = try await ledger.commit(
                            [outcome(claim, answer(claim))], under: nil, at: claim.claimedAt)
                        await ledger.close()
                        return report.events
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(events.map(\.kind) == [.grant(.purchased)])
            #expect(try await stage.number("SELECT count(*) FROM renewald.original_key") == 1)
            #expect(
                try await stage.list("SELECT state FROM renewald.purchases ORDER BY state")
                    == ["active", "superseded"])
            #expect(try await stage.broken() == [])
            await stage.close()
        }
    }

    @Test func aNewNameIsAskedWithAndTheSubmittedOneStaysTheIdentity() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let id = try await submit(stage, "ann", "receipt")
        let claim = try #require(try await stage.due(lease).first)
        var migrated = answer(claim)
        migrated.nextToken = "1000"
        migrated.isMigrated = true
        let report = try await stage.ledger.commit(
            [outcome(claim, migrated)], under: lease, at: claim.claimedAt)
        #expect(Set(report.events.map(\.kind)) == [.grant(.purchased), .notice(.migrated)])
        // The same again, from the same claim: dropped. A later one: nothing to write.
        let again = try await stage.ledger.commit(
            [outcome(claim, migrated)], under: lease, at: claim.claimedAt)
        #expect(again.committed.isEmpty && again.events.isEmpty)
        try await stage.makeAllDue()
        let next = try #require(try await stage.due(lease).first)
        #expect(next.purchase.token == "1000")
        #expect(!outcome(next, migrated).isChange)
        #expect(try await submit(stage, "ann", "receipt") == id)
        #expect(try await stage.number("SELECT count(*) FROM renewald.purchase") == 1)
        #expect(try await stage.broken() == [])
    }

    @Test func offersAreWrittenWhenTheyChangeAndNotOtherwise() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        _ = try await submit(stage, "ann", "receipt")
        let claim = try #require(try await stage.due(lease).first)
        var trial = answer(claim)
        trial.phase = .trial
        trial.group = "21"
        _ = try await stage.ledger.commit(
            [outcome(claim, trial)], under: lease, at: claim.claimedAt)
        let row = """
            SELECT concat_ws(' ', user_id, store, app, subscription_group, introductory_eligible,
                promotional_eligible, reason) FROM renewald.offers
            """
        #expect(
            try await stage.list(row)
                == ["ann apple com.example.reader 21 f t introductory_used"])
        let mark = try await stage.list("SELECT xmin || ' ' || as_of FROM renewald.offer")
        try await stage.makeAllDue()
        let next = try #require(try await stage.due(lease).first)
        var renewed = inForce(next, period: 2)
        renewed.originalID = "1000"
        _ = try await stage.ledger.commit(
            [outcome(next, renewed)], under: lease, at: next.claimedAt)
        #expect(try await stage.list("SELECT xmin || ' ' || as_of FROM renewald.offer") == mark)
        // Off: the row goes with the next change.
        try await stage.makeAllDue()
        let last = try #require(try await stage.due(lease).first)
        var rules = Rules()
        rules.policy.keepsOffers = false
        let end = decide(
            last, hearing: .verdict(over(last)), at: Moment(now: last.claimedAt, jitter: 0),
            under: rules)
        _ = try await stage.ledger.commit([end], under: lease, at: last.claimedAt)
        #expect(try await stage.list(row) == [])
    }
}
