import Postgres
import Renewal
import Testing

@testable import Ledger

/// The revocation breaker (design rule 13), with the real database.
@Suite(.serialized) struct RevocationBreakerTests {
    static let floor = BreakerPolicy().floor

    /// A fleet in force: one purchase a user, for the given period.
    func fleet(
        _ count: Int, period: Int = 1, renews: Bool = true
    ) async throws -> (Stage, Lease) {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: (0..<count).map { "user \($0)" }, lease)
        let outcomes = claims.map { claim in
            var observation = inForce(claim, period: period)
            observation.willRenew = renews
            return outcome(claim, observation)
        }
        _ = try await stage.ledger.commit(outcomes, under: lease, at: claims.latest)
        return (stage, lease)
    }

    /// All that are due hear the same; `users` are those it is heard of.
    func hear(
        _ stage: Stage, _ lease: Lease, isReleasing: Bool = false,
        _ answer: (Claim) -> Answer?
    ) async throws -> CommitReport {
        try await stage.makeAllDue()
        let claims = try await stage.due(lease)
        let outcomes = claims.compactMap { claim in
            answer(claim).map { answer in
                decide(
                    claim, hearing: answer, at: Moment(now: claim.claimedAt, jitter: 0.5),
                    under: Rules(), isReleasing: isReleasing)
            }
        }
        return try await stage.ledger.commit(outcomes, under: lease, at: claims.latest)
    }

    func revokes(_ report: CommitReport) -> Int {
        report.events.count { if case .revoke = $0.kind { true } else { false } }
    }

    func held(_ stage: Stage) async throws -> Int64 {
        try await stage.number("SELECT count(*) FROM renewald.held")
    }

    func active(_ stage: Stage) async throws -> Int64 {
        try await stage.number("SELECT count(*) FROM renewald.entitlements WHERE active")
    }

    /// Who wanted a refund, and why, is known before it is let go, and told with it.
    @Test func tellsWhyWhatItHasHeldWasRefunded() async throws {
        let (stage, lease) = try await fleet(30)
        try await stage.beside.script(
            """
            INSERT INTO renewald.clue (shard, id, clue)
            SELECT shard, id, words || ' ' || order_id
            FROM renewald.purchase, unnest(ARRAY['refund', 'void store fraud']) AS words
            """)
        func refunded(_ claim: Claim) -> Answer {
            var observation = inForce(claim)
            observation.observed = .own(.refunded(at: claim.purchase.createdAt))
            return .verdict(observation)
        }
        let first = try await hear(stage, lease, refunded)
        #expect(revokes(first) == Self.floor)
        #expect(try await held(stage) == 10)
        _ = try await hear(stage, lease, refunded)
        #expect(
            try await stage.number(
                "SELECT count(*) FROM renewald.clue WHERE settled_at IS NULL AND clue ~ '^refund'")
                == 0)
        let released = try await hear(stage, lease, isReleasing: true, refunded)
        #expect(revokes(released) == 10)
        #expect(
            try await stage.list(
                """
                SELECT concat_ws(' ', count(*), detail ->> 'refund_source',
                    detail ->> 'refund_reason')
                FROM renewald.events WHERE kind = 'revoke'
                GROUP BY detail ->> 'refund_source', detail ->> 'refund_reason'
                """) == ["30 store fraud"])
        #expect(
            try await stage.number("SELECT count(*) FROM renewald.clue WHERE settled_at IS NULL")
                == 0)
    }

    @Test func holdsTheFirstThatWouldExceedTheFloor() async throws {
        let (stage, lease) = try await fleet(30)
        let report = try await hear(stage, lease) { .verdict(over($0)) }
        #expect(revokes(report) == Self.floor)
        #expect(report.trips.map(\.exceeded) == [.early(Self.floor)])
        #expect(try await held(stage) == 10)
        #expect(try await active(stage) == 10)
        #expect(
            try await stage.list(
                """
                SELECT DISTINCT concat_ws(' ', reason, store, app, trip_id) FROM renewald.held
                """) == ["cancelled google com.example.reader 1"])
        #expect(
            try await stage.list(
                """
                SELECT access || ' ' || count(*) FROM renewald.purchases
                GROUP BY access ORDER BY access
                """) == ["held 10", "none 20"])
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    @Test func whoIsInForceAgainIsDroppedWithoutAnEvent() async throws {
        let (stage, lease) = try await fleet(30)
        _ = try await hear(stage, lease) { .verdict(over($0)) }
        let report = try await hear(stage, lease) { claim in
            claim.purchase.facts.access == .held ? .verdict(inForce(claim)) : nil
        }
        #expect(report.events.isEmpty)
        #expect(try await held(stage) == 0)
        #expect(try await active(stage) == 10)
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    /// What is heard again meanwhile stays held, as does what cannot be asked about.
    @Test func staysHeldUntilItIsReleased() async throws {
        let (stage, lease) = try await fleet(25)
        _ = try await hear(stage, lease) { .verdict(over($0)) }
        let before = try await stage.list("SELECT held_at::text FROM renewald.held ORDER BY id")
        for answer in [Answer.failure(.unreachable(reason: "time-out")), .doubt(.gone)] {
            let report = try await hear(stage, lease) { _ in answer }
            #expect(report.events.isEmpty)
        }
        #expect(try await hear(stage, lease) { .verdict(over($0)) }.events.isEmpty)
        #expect(
            try await stage.list("SELECT held_at::text FROM renewald.held ORDER BY id") == before)
        let unasked = try await hear(stage, lease, isReleasing: true) { _ in
            .failure(.unreachable(reason: "time-out"))
        }
        #expect(unasked.events.isEmpty)
        #expect(try await held(stage) == 5)

        let report = try await hear(stage, lease, isReleasing: true) { .verdict(over($0)) }
        #expect(revokes(report) == 5)
        #expect(try await held(stage) == 0)
        #expect(try await active(stage) == 0)
        #expect(
            try await stage.list("SELECT DISTINCT access FROM renewald.purchases") == ["none"])
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    @Test func grantsGoOn() async throws {
        let (stage, lease) = try await fleet(30)
        _ = try await hear(stage, lease) { .verdict(over($0)) }
        try await stage.submit("new", "a new token")
        let report = try await hear(stage, lease) { claim in
            claim.purchase.userID == "new" ? .verdict(inForce(claim)) : nil
        }
        #expect(report.events.map(\.kind) == [.grant(.purchased)])
        await stage.close()
    }

    /// A month's end: what was cancelled runs out.
    @Test func whatWasKnownToEndIsNotCounted() async throws {
        let (stage, lease) = try await fleet(40, period: 0, renews: false)
        let report = try await hear(stage, lease) { .verdict(over($0)) }
        #expect(revokes(report) == 40)
        #expect(report.trips.isEmpty)
        await stage.close()
    }

    /// Half of the ends of a window may come with the revoke, as long as the others are survived.
    @Test func whatEndsThoughItWasToRenewIsCountedApart() async throws {
        let (stage, lease) = try await fleet(100, period: 0)
        let renewed = try await hear(stage, lease) { claim in
            claim.purchase.id <= 60 ? .verdict(inForce(claim)) : nil
        }
        #expect(revokes(renewed) == 0)
        let lapsed = try await hear(stage, lease) { claim in
            claim.purchase.id > 60 ? .verdict(over(claim)) : nil
        }
        #expect(revokes(lapsed) == 40)
        #expect(lapsed.trips.isEmpty)
        await stage.close()
    }

    @Test func aStoreThatEndsEverythingAtItsEndIsHeld() async throws {
        let (stage, lease) = try await fleet(100, period: 0)
        let report = try await hear(stage, lease) { .verdict(over($0)) }
        #expect(revokes(report) == 50)
        #expect(try await held(stage) == 50)
        await stage.close()
    }

    /// Two workers share one breaker, whoever is first.
    @Test func twoWorkersShareIt() async throws {
        let (stage, lease) = try await fleet(60)
        try await stage.makeAllDue()
        let claims = try await stage.due(lease)
        let outcomes = claims.map { outcome($0, over($0)) }
        let other = stage.furtherLedger()
        let now = claims.latest
        async let first = stage.ledger.commit(Array(outcomes[..<30]), under: lease, at: now)
        async let second = other.commit(Array(outcomes[30...]), under: lease, at: now)
        let reports = try await [first, second]
        #expect(reports.map(revokes).reduce(0, +) == Self.floor)
        #expect(reports.flatMap(\.trips).count == 1)
        #expect(try await held(stage) == 40)
        await other.close()
        await stage.close()
    }

    /// A restart keeps it: the next batch holds everything.
    @Test func itIsTheDatabasesNotTheProcesss() async throws {
        let (stage, lease) = try await fleet(40)
        _ = try await hear(stage, lease) { claim in
            claim.purchase.id <= 25 ? .verdict(over(claim)) : nil
        }
        let again = stage.furtherLedger()
        try await stage.makeAllDue()
        let claims = try await stage.due(lease).filter { $0.purchase.id > 25 }
        let report = try await again.commit(
            claims.map { outcome($0, over($0)) }, under: lease, at: claims.latest)
        #expect(report.events.isEmpty)
        #expect(report.trips.isEmpty, "it has tripped already")
        #expect(try await held(stage) == 20)
        await again.close()
        await stage.close()
    }

    // MARK: What lets go

    /// The second agreeing answer, at least a day later.
    @Test func aSecondAnswerLetsGoWhereThatIsEnough() async throws {
        let (stage, lease) = try await fleet(25)
        var rules = Rules()
        rules.policy.breaker.release = .confirmed
        _ = try await hear(stage, lease) { .verdict(over($0)) }
        for (hours, told) in [(23, 0), (24, 5)] {
            try await stage.makeAllDue()
            let claims = try await stage.due(lease).filter { $0.purchase.facts.access == .held }
            let now = claims.latest + .hours(hours)
            let outcomes = claims.map { claim in
                decide(
                    claim, hearing: .verdict(over(claim)), at: Moment(now: now, jitter: 0.5),
                    under: rules)
            }
            #expect(
                revokes(try await stage.ledger.commit(outcomes, under: lease, at: now)) == told)
        }
        #expect(try await held(stage) == 0)
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    @Test func whatIsDroppedUnaskedGivesAccessAsBefore() async throws {
        let (stage, lease) = try await fleet(25)
        _ = try await hear(stage, lease) { .verdict(over($0)) }
        try await stage.makeAllDue()
        let claims = try await stage.due(lease).filter { $0.purchase.facts.access == .held }
        let report = try await stage.ledger.commit(
            claims.map { discardHold(of: $0, at: claims.latest, under: Rules()) }, under: lease,
            at: claims.latest)
        #expect(report.events.isEmpty)
        #expect(try await held(stage) == 0)
        #expect(try await active(stage) == 5)
        #expect(
            try await stage.number(
                "SELECT count(*) FROM renewald.schedule WHERE due_at < now() + interval '2 hours'")
                >= 5)
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    /// What is held is asked again, also where nothing more would be asked.
    @Test func whatIsHeldIsAskedAgain() async throws {
        let (stage, lease) = try await fleet(25)
        _ = try await hear(stage, lease) { claim in
            var observation = over(claim)
            observation.observed = .own(.refunded(at: claim.purchase.createdAt))
            return .verdict(observation)
        }
        #expect(
            try await stage.list(
                """
                SELECT DISTINCT (next_check_at BETWEEN now() + interval '50 minutes'
                    AND now() + interval '70 minutes')::text
                FROM renewald.purchases WHERE access = 'held'
                """) == ["true"])
        await stage.close()
    }

    // MARK: Trouble

    /// A transaction that is rolled back has counted nothing, held nothing and tripped nothing.
    @Test func whatIsRolledBackWasNotCounted() async throws {
        let (stage, lease) = try await fleet(30)
        let before = try await stage.everything()
        try await stage.makeAllDue()
        let claims = try await stage.due(lease)
        try await stage.beside.script(
            """
            ALTER TABLE renewald.event ADD CONSTRAINT no_revokes CHECK (kind <> 'revoke') NOT VALID
            """)
        let batch = try await stage.ledger.compose(
            claims.map { outcome($0, over($0)) }, under: lease, at: claims.latest)
        await #expect(throws: PostgresError.self) {
            _ = try await stage.ledger.writes.pipeline(batch.statements)
        }
        func counts(_ rows: [String]) -> [String] {
            rows.filter { row in
                ["breaker", "loss_count", "held_rev"].contains { row.hasPrefix($0) }
            }
        }
        #expect(try await counts(stage.everything()) == counts(before))
        try await stage.beside.script("ALTER TABLE renewald.event DROP CONSTRAINT no_revokes")
        let report = try await hear(stage, lease) { .verdict(over($0)) }
        #expect(revokes(report) == Self.floor)
        await stage.close()
    }

    /// Another fleet's share: of so many in force more may go.
    @Test func theLimitGrowsWithTheFleet() async throws {
        let (stage, lease) = try await fleet(30)
        try await stage.beside.script(
            """
            INSERT INTO renewald.breaker (lane, past, in_force, measured_at)
            VALUES (1, 672 * 5, 2000, now());
            UPDATE renewald.app SET counted_since = now() - interval '30 days'
            """)
        let report = try await hear(stage, lease) { .verdict(over($0)) }
        #expect(revokes(report) == 25, "five times five an hour")
        await stage.close()
    }
}
