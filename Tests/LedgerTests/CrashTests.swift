import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

/// The server's side of the connection is killed in the middle of many commits.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CrashTests {
    @Test func killedSessionsLeaveNothingHalfDone() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let users = (0..<40).map { "user \($0)" }
        for user in users {
            for product in ["first", "second"] {
                try await stage.submit(user, "\(product) of \(user)", product: product)
            }
        }
        let seed = Seeds.fresh()
        let kills = 60
        let hasKilled = Flag()
        let survived = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                defer { hasKilled.set() }
                return try await Seeds.run(seed: seed) { generator in
                    for _ in 0..<kills {
                        let pause = Double.random(in: 0..<0.1, using: &generator)
                        _ = try await stage.beside.query(
                            PostgresStatement(
                                """
                                SELECT pg_terminate_backend(pid) FROM pg_stat_activity, pg_sleep($1)
                                WHERE application_name = 'ledger' AND datname = current_database()
                                """, [.float64(pause)], isReadOnly: false))
                    }
                    return 0
                }
            }
            group.addTask {
                var rounds = 0
                while !hasKilled.isSet, !Task.isCancelled {
                    try await round(stage, lease, rounds)
                    rounds += 1
                }
                return rounds
            }
            return try await group.reduce(0, +)
        }
        #expect(survived > 0)
        #expect(try await stage.broken() == [])
        #expect(try await stage.silentVersions() == 0)
        #expect(
            try await stage.number(
                "SELECT count(*) FROM renewald.schedule WHERE due_at > now()") == 80)
        let told = try await stage.number("SELECT count(*) FROM renewald.event")
        print("survived \(kills) kills: \(survived) rounds of 80 purchases, \(told) events")
    }

    /// Whether it was stored nobody knows then: what counts is what the database has.
    @Test(arguments: [
        "PERFORM pg_terminate_backend(pg_backend_pid());",
        "RAISE EXCEPTION USING ERRCODE = 'serialization_failure';",
    ])
    func aCommitThatEndsInTheMiddleIsNotTakenForStored(_ end: String) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "bob"], lease)
        try await stage.session().script(
            """
            CREATE SEQUENCE public.tries;
            CREATE FUNCTION public.end_the_first() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF nextval('public.tries') = 1 THEN \(end) END IF;
                RETURN NULL;
            END $$;
            CREATE CONSTRAINT TRIGGER end_the_first AFTER INSERT ON renewald.event
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
            EXECUTE FUNCTION public.end_the_first();
            """)
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(report.committed.count == 2)
        #expect(report.events.count == 2)
        #expect(try await stage.number("SELECT count(*) FROM renewald.event") == 2)
        #expect(try await stage.number("SELECT last_value FROM public.tries") >= 2)
    }

    /// Checks all purchases once: each comes into a new period, so that each version tells
    /// something.
    private func round(_ stage: Stage, _ lease: Lease, _ number: Int) async throws {
        if number > 0 {
            try await stage.session().script(
                "UPDATE renewald.schedule SET due_at = now() - interval '1 second'")
        }
        var claims: [Claim] = []
        try await insist { claims = try await stage.due(lease) }
        // Every third round it is over, so that the union changes as well: for everybody.
        var rules = Rules()
        rules.policy.breaker.isOn = false
        let outcomes = claims.map { claim in
            let product = claim.purchase.facts.product
            let observation =
                number % 3 == 2
                ? over(claim, product: product)
                : inForce(claim, period: number + 1, product: product)
            return decide(
                claim, hearing: .verdict(observation),
                at: Moment(now: claim.claimedAt, jitter: 0.5), under: rules)
        }
        for start in stride(from: 0, to: outcomes.count, by: 16) {
            let batch = Array(outcomes[start..<min(start + 16, outcomes.count)])
            try await insist {
                let report = try await stage.ledger.commit(
                    batch, under: lease, at: claims.latest)
                #expect(report.refused.isEmpty)
            }
        }
    }

    private func insist(_ work: () async throws -> Void) async throws {
        while true {
            do {
                return try await work()
            } catch LedgerError.unavailable {
                try Task.checkCancellation()
            }
        }
    }
}
