import Postgres
import Renewal
import Testing

@testable import Ledger

/// The revocation breaker (design rule 13), where a purchase loses what another takes over.
@Suite(.serialized) struct BreakerChainTests {
    private let breaker = RevocationBreakerTests()
    private static let floor = RevocationBreakerTests.floor

    /// Each of so many users, or another, has a newer link of another product, which gives less.
    private func successors(
        of count: Int, _ stage: Stage, _ lease: Lease, ofOthers: Bool = false
    ) async throws -> CommitReport {
        for number in 0..<count {
            try await stage.submit(
                ofOthers ? "heir \(number)" : "user \(number)", "newer \(number)", product: "gold")
        }
        let claims = try await stage.due(lease).filter { !$0.purchase.facts.wasGranted }
        let outcomes = claims.map { claim in
            var observation = inForce(claim, product: "gold")
            let number = claim.purchase.token.text.split(separator: " ").last ?? ""
            observation.predecessorToken = StoreToken("token of user \(number)")
            return outcome(claim, observation)
        }
        #expect(outcomes.count == count)
        return try await stage.ledger.commit(outcomes, under: lease, at: claims.latest)
    }

    private func reasons(_ report: CommitReport) -> [String: Int] {
        Dictionary(
            report.events.map { ("\($0.kind.name) \($0.kind.reason)", 1) }, uniquingKeysWith: +)
    }

    private func held(_ stage: Stage) async throws -> [String] {
        try await stage.list(
            """
            SELECT concat_ws(' ', count(*), held.entitlement, held.reason, purchase.product)
            FROM renewald.held JOIN renewald.purchases AS purchase ON purchase.id = held.purchase_id
            GROUP BY held.entitlement, held.reason, purchase.product
            """)
    }

    /// Nobody has entered the new products in the table, and all go over to them.
    @Test func whatNewerLinksDoNotGiveIsCountedAndHeld() async throws {
        let (stage, lease) = try await breaker.fleet(30)
        let report = try await successors(of: 30, stage, lease)
        #expect(reasons(report) == ["revoke product_changed": 20, "grant product_changed": 30])
        #expect(report.trips.map(\.exceeded) == [.early(Self.floor)])
        #expect(try await held(stage) == ["10 pro product_changed pro"])
        #expect(try await stage.broken() == [])

        // The older links are replaced: what they gave goes when a person lets it.
        for isReleasing in [false, true] {
            try await stage.makeAllDue()
            let claims = try await stage.due(lease).filter { $0.purchase.facts.access == .held }
            let now = claims.latest + .hours(2)
            let outcomes = claims.map { claim in
                var observation = inForce(claim)
                observation.observed = .own(.replaced(at: nil))
                return decide(
                    claim, hearing: .verdict(observation), at: Moment(now: now, jitter: 0.5),
                    under: Rules(), isReleasing: isReleasing)
            }
            let report = try await stage.ledger.commit(outcomes, under: lease, at: now)
            #expect(reasons(report) == (isReleasing ? ["revoke product_changed": 10] : [:]))
        }
        #expect(try await held(stage) == [])
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    @Test func soItIsWhereTheNewerLinksAreOtherUsers() async throws {
        let (stage, lease) = try await breaker.fleet(30)
        let report = try await successors(of: 30, stage, lease, ofOthers: true)
        #expect(reasons(report) == ["revoke product_changed": 20, "grant product_changed": 30])
        #expect(report.trips.count == 1)
        #expect(try await held(stage) == ["10 pro product_changed pro"])
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    /// Each older link that gives what the newer one does not is a revocation.
    @Test func eachOfSeveralOlderLinksIsCountedAndHeld() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let users = (0..<15).map { "user \($0)" }
        for user in users {
            for product in ["plus", "pro"] {
                try await stage.submit(
                    user, receipt(of: user), store: "apple", product: product)
            }
        }
        func hear(_ answer: (Claim) -> Observation) async throws -> CommitReport {
            let claims = try await stage.due(lease).filter { !$0.purchase.facts.wasGranted }
            let outcomes = claims.map { claim in
                var observation = answer(claim)
                observation.originalID = OrderID("\(claim.purchaseID)")
                return outcome(claim, observation)
            }
            return try await stage.ledger.commit(outcomes, under: lease, at: claims.latest)
        }
        _ = try await hear { inForce($0, product: $0.purchase.facts.product) }
        for user in users {
            try await stage.submit(user, "newer \(user)", store: "apple", product: "gold")
        }
        let report = try await hear { claim in
            var observation = inForce(claim, product: "gold")
            observation.predecessorToken = StoreToken(receipt(of: claim.purchase.userID.text))
            return observation
        }
        #expect(reasons(report) == ["revoke product_changed": 20, "grant product_changed": 15])
        #expect(report.trips.map(\.exceeded) == [.early(Self.floor)])
        #expect(try await stage.number("SELECT count(*) FROM renewald.held") == 10)
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    private func receipt(of user: String) -> String {
        "MII\(user.replacing(" ", with: ""))"
    }

    /// A newer link goes to another user in the step in which it takes over an older one: of its
    /// former owner, or of the new one.
    @Test(arguments: [false, true])
    func soItIsWhereTheNewerLinksAreHandedOver(isHeirs: Bool) async throws {
        let (stage, lease) = try await breaker.fleet(30)
        for number in 0..<30 {
            let (owner, heir) = ("user \(number)", "heir \(number)")
            try await stage.submit(isHeirs ? heir : owner, "newer \(number)", product: "gold")
        }
        var rules = Rules()
        rules.policy.shared = .move
        func hear(_ continuing: Bool) async throws -> CommitReport {
            try await stage.makeAllDue()
            let claims = try await stage.due(lease).filter {
                $0.purchase.token.text.hasPrefix("newer")
            }
            let outcomes = claims.map { claim in
                var observation = inForce(claim, product: "gold")
                let number = claim.purchase.token.text.split(separator: " ").last ?? ""
                if continuing {
                    observation.predecessorToken = StoreToken("token of user \(number)")
                }
                return decide(
                    claim, hearing: .verdict(observation),
                    at: Moment(now: claim.claimedAt, jitter: 0.5), under: rules)
            }
            return try await stage.ledger.commit(outcomes, under: lease, at: claims.latest)
        }
        _ = try await hear(false)
        for number in 0..<30 {
            let (owner, heir) = ("user \(number)", "heir \(number)")
            try await stage.submit(isHeirs ? owner : heir, "newer \(number)", product: "gold")
        }
        let report = try await hear(true)
        let pro = report.events.filter { $0.entitlement == "pro" }
        #expect(pro.count == Self.floor)
        #expect(report.trips.map(\.exceeded) == [.early(Self.floor)])
        #expect(try await held(stage) == ["10 pro product_changed pro"])
        #expect(
            try await stage.number(
                "SELECT count(*) FROM renewald.entitlements WHERE active AND entitlement = 'gold'")
                == 30)
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    /// Their successors are handed in by nobody. What says so has moved the end before it ends access.
    @Test(arguments: [true, false]) func whatEndsBeforeItWasPaidToIsEarly(
        _ isReplaced: Bool
    ) async throws {
        let (stage, lease) = try await breaker.fleet(30)
        for isOver in [false, true] {
            try await stage.makeAllDue()
            let claims = try await stage.due(lease)
            let cut = claims.latest + .minutes(1)
            let now = isOver ? claims.latest + .hours(2) : claims.latest
            let outcomes = claims.map { claim in
                var observation = inForce(claim)
                observation.expiresAt = cut
                observation.willRenew = false
                if isReplaced {
                    observation.observed = .own(.replaced(at: nil))
                } else if isOver {
                    observation.observed = .own(.ended(.userCancelled, at: cut))
                }
                return decide(
                    claim, hearing: .verdict(observation), at: Moment(now: now, jitter: 0.5),
                    under: Rules())
            }
            let report = try await stage.ledger.commit(outcomes, under: lease, at: now)
            #expect(breaker.revokes(report) == (isOver ? Self.floor : 0))
        }
        #expect(try await stage.number("SELECT count(*) FROM renewald.held") == 10)
        await stage.close()
    }

    /// The list says what the last answer said.
    @Test func whatIsHeldForAnotherReasonIsListedByIt() async throws {
        let (stage, lease) = try await breaker.fleet(25)
        _ = try await breaker.hear(stage, lease) { .verdict(over($0)) }
        #expect(try await held(stage) == ["5 pro cancelled pro"])
        let report = try await breaker.hear(stage, lease) { claim in
            var observation = over(claim)
            observation.observed = .own(.refunded(at: claim.purchase.createdAt))
            return claim.purchase.facts.access == .held ? .verdict(observation) : nil
        }
        #expect(report.events == [])
        #expect(try await held(stage) == ["5 pro refunded pro"])
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    /// What is held goes with the purchase to the user who gets it.
    @Test func whatIsHeldIsTransferred() async throws {
        let (stage, lease) = try await breaker.fleet(21)
        _ = try await breaker.hear(stage, lease) { .verdict(over($0)) }
        let id = try await stage.number("SELECT purchase_id FROM renewald.held")
        let owner = try await stage.list("SELECT user_id FROM renewald.held")
        try await stage.submit("heir", "token of \(owner[0])")
        var rules = Rules()
        rules.policy.shared = .move
        try await stage.makeAllDue()
        let claims = try await stage.due(lease).filter { $0.purchase.id == id }
        let report = try await stage.ledger.commit(
            claims.map {
                decide(
                    $0, hearing: .verdict(inForce($0)),
                    at: Moment(now: $0.claimedAt, jitter: 0.5), under: rules)
            }, under: lease, at: claims.latest)
        #expect(reasons(report) == ["revoke transferred": 1, "grant transferred": 1])
        #expect(try await held(stage) == [])
        #expect(try await stage.broken() == [])
        await stage.close()
    }
}
