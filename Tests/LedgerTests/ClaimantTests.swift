import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

/// Who claims a purchase that another user has, and what the store says of the buyer.
@Suite(.serialized) struct ClaimantTests {
    @discardableResult
    private func check(
        _ stage: Stage, _ lease: Lease, _ shared: Policy.Shared = .keep,
        _ answer: (Claim) -> Observation = { inForce($0) }
    ) async throws -> [String] {
        let claims = try await stage.due(lease)
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, answer($0), shared) }, under: lease, at: claims.latest)
        return report.events.map { "\($0.userID) \($0.kind.name) \($0.kind.reason)" }
    }

    private func named(_ user: UserID) -> (Claim) -> Observation {
        { claim in
            var observation = inForce(claim)
            observation.accountToken = user
            return observation
        }
    }

    @Test func theNoticeNamesTheClaimantOnce() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        try await check(stage, lease)
        try await stage.submit("bob", "token")
        #expect(try await check(stage, lease) == ["ann notice shared_receipt"])
        #expect(
            try await stage.list(
                """
                SELECT user_id || ' ' || (detail ->> 'claimed_by') FROM renewald.events
                WHERE reason = 'shared_receipt'
                """) == ["ann bob"])
        for user in ["cid", "bob"] {
            try await stage.submit(user, "token")
            #expect(try await check(stage, lease).isEmpty)
        }
        #expect(try await stage.broken() == [])
    }

    /// Whichever of several claimants it is, and also when the store names them only later.
    @Test(arguments: [Policy.Shared.keep, .move])
    func theUserWhomTheStoreNamesHasIt(_ shared: Policy.Shared) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        try await check(stage, lease, shared)
        for user in ["bob", "cid"] { try await stage.submit(user, "token") }
        #expect(
            try await check(stage, lease, shared, named("bob"))
                == ["ann revoke transferred", "bob grant transferred"])
        #expect(
            try await stage.list(
                "SELECT user_id || ' ' || account_token FROM renewald.purchases") == ["bob bob"])
        #expect(try await stage.broken() == [])
        // Nobody else gets it any more; the answer need not say so each time.
        for user in ["ann", "cid"] {
            try await stage.submit(user, "token")
            let told = try await check(stage, lease, shared)
            #expect(told == (user == "ann" ? ["bob notice shared_receipt"] : []))
        }
        #expect(try await stage.list("SELECT user_id FROM renewald.purchases") == ["bob"])
        #expect(try await stage.broken() == [])
    }

    /// An original id belongs to an Apple ID for ever, and people make second accounts.
    @Test func whoBuysAnewWhatGivesItsOwnerNothingHasIt() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let id = try await stage.submit("ann", "1000", store: "apple")
        try await check(stage, lease)
        try await stage.makeAllDue()
        try await check(stage, lease) { over($0) }
        #expect(try await stage.submit("bob", "1000", store: "apple") == id)
        #expect(try await check(stage, lease) { over($0) } == ["ann notice shared_receipt"])
        try await stage.makeAllDue()
        #expect(
            try await check(stage, lease) { inForce($0, period: 2) } == ["bob grant resubscribed"])
        #expect(
            try await stage.list("SELECT user_id || ' ' || access FROM renewald.purchases")
                == ["bob granted"])
        #expect(try await stage.broken() == [])
    }

    /// The first has handed it in once more after the other: the last word is theirs.
    @Test func whoBuysAnewAndHandsItInKeepsIt() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        try await check(stage, lease)
        try await stage.makeAllDue()
        try await check(stage, lease) { over($0) }
        try await stage.submit("bob", "token")
        try await check(stage, lease) { over($0) }
        try await stage.submit("ann", "token")
        try await stage.makeAllDue()
        #expect(
            try await check(stage, lease) { inForce($0, period: 2) } == ["ann grant resubscribed"])
        #expect(try await stage.broken() == [])
    }

    @Test func whatAUserHasClaimedIsFoundByTheUser() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let id = try await stage.submit("ann", "token")
        try await stage.submit("bob", "own")
        try await stage.submit("bob", "token")
        let claims = try await stage.ledger.claims(ofUser: "bob", includingClaimed: true)
        #expect(claims.map(\.purchase.userID) == ["ann", "bob"])
        #expect(claims.first?.purchase.claimants == ["bob"])
        #expect(claims.first?.purchase.claimedAt != nil)
        #expect(try await stage.ledger.claims(ofUser: "bob").map(\.purchase.userID) == ["bob"])
        #expect(
            try await stage.ledger.claims(ofUser: "ann", includingClaimed: true)
                .map(\.purchase.id) == [id])
        // With a purchase of their own it is that one alone.
        try await check(stage, lease, .allow)
        let own = try await stage.ledger.claims(ofUser: "bob", includingClaimed: true)
        #expect(own.map(\.purchase.userID) == ["bob", "bob"])
    }

    /// Where a row of it is not as it was read, none of it moves.
    @Test func aPurchaseMovesWholeOrNotAtAll() async throws {
        let stage = try await Stage()
        try await stage.submit("ann", "token")
        let before = try await stage.everything()
        let move = """
            SELECT renewald.move_purchase(
                shard, lane, timestamptz 'epoch', id, renewald.shard_of('bob'), 'bob')
            FROM renewald.purchase
            """
        let error = await #expect(throws: PostgresError.self) { _ = try await stage.list(move) }
        #expect(error?.sqlState == "RN001")
        #expect(try await stage.everything() == before)
        let nothing =
            "SELECT renewald.move_purchase(0::int2, 1, timestamptz 'epoch', 99, 0::int2, 'bob')::text"
        #expect(try await stage.list(nothing) == ["false"])
    }

    /// A check that has read the purchase before, and commits after the claim, finds nothing new and
    /// must not move it on for a week.
    @Test func aClaimThatComesDuringACheckIsNotOverlooked() async throws {
        let stage = try await Stage()
        let lease = try await stage.settled(["ann"])
        try await stage.makeAllDue()
        let claims = try await stage.due(lease)
        try await stage.submit("bob", "token of ann")
        let late = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(late.dropped == claims && late.committed.isEmpty)
        #expect(try await check(stage, lease) == ["ann notice shared_receipt"])
        #expect(try await stage.due(lease).isEmpty)
        // Put right meanwhile.
        try await stage.submit("cid", "receipt", store: "amazon", storeUser: "wrong")
        let wrong = try await stage.due(lease)
        try await stage.submit("cid", "receipt", store: "amazon", storeUser: "right")
        let refused = try await stage.ledger.commit(
            wrong.map { outcome($0, .failure(.unreachable(reason: "time-out"))) }, under: lease,
            at: wrong.latest)
        #expect(refused.dropped == wrong)
        #expect(try await check(stage, lease) == ["cid grant purchased"])
        #expect(try await stage.broken() == [])
    }

    /// The first one has named it wrongly, and the store has not said so yet: who has named it
    /// otherwise is asked about then, one after the other, until it is found.
    @Test(arguments: [
        (Policy.Shared.keep, ["ann wrong", "bob right"]),
        (.move, ["ann wrong", "cid wrong too", "bob right"]),
    ])
    func whoHasNamedItOtherwiseIsAskedAboutOnceItIsTurnedDown(
        _ shared: Policy.Shared, _ turns: [String]
    ) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        func submit(_ user: String, _ storeUser: String) async throws {
            try await stage.submit(user, "receipt", store: "amazon", storeUser: storeUser)
        }
        func hear(_ failure: StoreFailure) async throws {
            try await stage.makeAllDue()
            let claims = try await stage.due(lease)
            _ = try await stage.ledger.commit(
                claims.map { outcome($0, .failure(failure), shared) }, under: lease,
                at: claims.latest)
        }
        func asked() async throws -> [String] {
            try await stage.list(
                """
                SELECT user_id || ' ' || store_user_id FROM renewald.purchase
                JOIN renewald.credential USING (shard, id)
                """)
        }
        try await submit("ann", "wrong")
        try await submit("bob", "typo")
        try await submit("bob", "right")
        try await submit("cid", "wrong too")
        try await submit("dora", "wrong")
        try await hear(.unreachable(reason: "time-out"))
        var heard = try await asked()
        for _ in turns.dropFirst() {
            try await hear(.rejected(reason: "status 497"))
            heard += try await asked()
        }
        #expect(heard == turns)
        // All others have named it wrongly: they claim nothing of it.
        #expect(try await check(stage, lease, shared) == ["bob grant purchased"])
        try await stage.makeAllDue()
        #expect(try await check(stage, lease, shared).isEmpty)
        try await hear(.rejected(reason: "status 497"))
        #expect(try await asked() == ["bob right"])
        #expect(try await stage.broken() == [])
    }

    /// A receipt belongs to one Amazon user: who names another one has no part in what was found,
    /// whatever the policy.
    @Test(arguments: [Policy.Shared.keep, .move, .allow])
    func whoNamesAnotherAmazonUserClaimsNothing(_ shared: Policy.Shared) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        func submit(_ user: String, _ storeUser: String) async throws {
            try await stage.submit(user, "receipt", store: "amazon", storeUser: storeUser)
        }
        try await submit("ann", "hers")
        #expect(try await check(stage, lease, shared) == ["ann grant purchased"])
        try await submit("bob", "his")
        #expect(try await check(stage, lease, shared).isEmpty)
        try await submit("cid", "hers")
        let told = try await check(stage, lease, shared)
        let expected =
            switch shared {
            case .keep: ["ann notice shared_receipt"]
            case .move: ["ann revoke transferred", "cid grant transferred"]
            case .allow: [String]()
            }
        #expect(told == expected)
        if shared == .allow {
            #expect(try await check(stage, lease, shared) == ["cid grant purchased"])
        }
        #expect(try await stage.list("SELECT renewald.has('bob', 'pro')::text") == ["false"])
        #expect(try await stage.broken() == [])
    }

    /// Nor do they take the place of somebody who claims it rightly.
    @Test(arguments: [true, false])
    func whoNamesAnotherAmazonUserHidesNoClaim(_ isFound: Bool) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        func submit(_ user: String, _ storeUser: String) async throws {
            try await stage.submit(user, "receipt", store: "amazon", storeUser: storeUser)
        }
        try await submit("ann", "hers")
        if isFound { try await check(stage, lease, .move) }
        try await submit("cid", "hers")
        for _ in 0..<2 { try await submit("bob", "his") }
        let told = try await check(stage, lease, .move)
        let expected =
            isFound
            ? ["ann revoke transferred", "cid grant transferred"] : ["cid grant purchased"]
        #expect(told == expected)
        #expect(try await stage.broken() == [])
    }

    /// Version 1 of Google's turns a token down that is asked about as another product.
    @Test func whoHasNamedTheProductRightlyHasItOnceItIsTurnedDown() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token", product: "typo")
        try await stage.submit("bob", "token", product: "pro")
        let claim = try #require(try await stage.due(lease).first)
        _ = try await stage.ledger.commit(
            [outcome(claim, .failure(.rejected(reason: "status 400")))], under: lease,
            at: claim.claimedAt)
        #expect(try await check(stage, lease) == ["bob grant purchased"])
        #expect(
            try await stage.list("SELECT user_id || ' ' || product FROM renewald.purchases")
                == ["bob pro"])
        #expect(try await stage.broken() == [])
    }

    @Test func theEntitlementsSayWhichEnvironmentHoldsThem() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        for token in ["sandbox", "production"] { try await stage.submit("ann", token) }
        func answer(_ claim: Claim) -> Observation {
            var observation = inForce(claim, period: claim.purchase.token == "sandbox" ? 1 : 2)
            observation.originalID = nil
            if claim.purchase.token == "sandbox" { observation.environment = .sandbox }
            return observation
        }
        let environment = "SELECT environment FROM renewald.entitlements"
        var claims = try await stage.due(lease)
        for claim in claims {
            let outcomes = [outcome(claim, answer(claim))]
            _ = try await stage.ledger.commit(outcomes, under: lease, at: claim.claimedAt)
            #expect(try await stage.list(environment) == [claim.purchase.token.text])
        }
        // The production purchase falls: the sandbox one holds it, and says so.
        try await stage.makeAllDue()
        claims = try await stage.due(lease).filter { $0.purchase.token == "production" }
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, over($0)) }, under: lease, at: claims.latest)
        #expect(try await stage.list(environment) == ["sandbox"])
        #expect(try await stage.broken() == [])
    }
}
