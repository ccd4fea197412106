import Postgres
import Renewal
import Testing

@testable import Ledger

/// A purchase whose check ends the process is found and set aside.
@Suite(.serialized) struct PoisonTests {
    /// A worker dies with these purchases in hand, and another takes over.
    private func crash(
        _ stage: Stage, _ claims: [Claim], under lease: Lease
    ) async throws -> (suspects: [Int64], lease: Lease) {
        var inFlight: [Int16: [Int64]] = [:]
        for claim in claims { inFlight[claim.shard, default: []].append(claim.purchase.id) }
        let marked = try await stage.ledger.mark(inFlight, under: lease)
        #expect(marked == Set(inFlight.keys))
        try await stage.endAllLeases()
        let worker = WorkerID.random()
        let taken = try await stage.ledger.takeShards(worker, limit: 256, lease: .seconds(3600))
        return (
            taken.flatMap(\.suspects).sorted(),
            Lease(
                worker: worker,
                epochs: Dictionary(taken.map { ($0.shard, $0.epoch) }, uniquingKeysWith: { $1 }))
        )
    }

    @Test func threeTriesAsASuspectSetItAsideAndShowIt() async throws {
        let stage = try await Stage()
        var lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "bob"], lease)
        let poison = claims[0]
        for crashes in 1...PostgresLedger.crashLimit {
            let next = try await crash(stage, [poison], under: lease)
            #expect(next.suspects == [poison.purchase.id])
            lease = next.lease
            let due = try await stage.due(lease)
            #expect(
                due.map(\.purchase.userID)
                    == (crashes < PostgresLedger.crashLimit ? ["ann", "bob"] : ["bob"]))
            #expect(
                due.map(\.crashes) == (crashes < PostgresLedger.crashLimit ? [crashes, 0] : [0]))
        }
        #expect(
            try await stage.list(
                """
                SELECT problem || ' ' || (next_check_at IS NULL) FROM renewald.purchases
                WHERE user_id = 'ann'
                """) == [
                    "set_aside: the process crashed again and again while checking this purchase "
                        + "alone true"
                ])
        let status = try await stage.ledger.status()
        #expect(status.apps.first?.setAside == 1)
        #expect(status.apps.first?.problems == [.setAside: 1])
    }

    @Test func aSubmitWakesOneThatWasSetAside() async throws {
        let stage = try await Stage()
        var lease = try await stage.takeAll()
        let poison = try await stage.claims(of: ["ann"], lease)
        for _ in 1...PostgresLedger.crashLimit {
            lease = try await crash(stage, poison, under: lease).lease
        }
        #expect(try await stage.due(lease).isEmpty)
        try await stage.submit("ann", "token of ann")
        #expect(try await stage.due(lease).map(\.crashes) == [0])
    }

    /// Also where it is in force, for which a submit changes nothing otherwise.
    @Test func aSubmitWakesOneInForceThatWasSetAside() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann"], lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        try await stage.beside.script(
            """
            UPDATE renewald.schedule SET due_at = '9999-12-31 00:00+00', crashes = 5,
                problem = 'set_aside: why', checked_at = now() - interval '1 hour'
            """)
        try await stage.submit("ann", "token of ann")
        #expect(try await stage.due(lease).map(\.crashes) == [0])
    }

    /// As `renewald check USER` does.
    @Test func aCheckOfItsUserFreesOneThatWasSetAside() async throws {
        let stage = try await Stage()
        var lease = try await stage.takeAll()
        let poison = try await stage.claims(of: ["ann"], lease)
        for _ in 1...PostgresLedger.crashLimit {
            lease = try await crash(stage, poison, under: lease).lease
        }
        let claims = try await stage.ledger.claims(ofUser: "ann")
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: nil, at: claims.latest)
        #expect(report.events.map(\.kind) == [.grant(.purchased)])
        #expect(
            try await stage.number(
                """
                SELECT count(*) FROM renewald.purchases
                WHERE problem IS NULL AND next_check_at IS NOT NULL
                """) == 1)
    }

    /// The clock was ahead when it was claimed, and has been set back.
    @Test func aSuspectIsFoundThoughItIsNotDueAnyMore() async throws {
        let stage = try await Stage()
        var lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann"], lease)
        lease = try await crash(stage, claims, under: lease).lease
        try await stage.beside.script(
            "UPDATE renewald.schedule SET due_at = now() + interval '3 hours'")
        let suspects = try await stage.ledger.suspects(
            of: try await stage.ledger.allLanes(), in: lease.epochs.keys.sorted())
        #expect(suspects.map(\.purchase.id) == claims.map(\.purchase.id))
    }

    @Test func aSuccessInBetweenStartsTheCountAnew() async throws {
        let stage = try await Stage()
        var lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann"], lease)
        for _ in 1...2 { lease = try await crash(stage, claims, under: lease).lease }
        let suspect = try #require(try await stage.due(lease).first)
        #expect(suspect.crashes == 2)
        _ = try await stage.ledger.commit(
            [outcome(suspect, inForce(suspect))], under: lease, at: suspect.claimedAt)
        try await stage.makeAllDue()
        #expect(try await stage.due(lease).map(\.crashes) == [0])
        for _ in 1...2 { lease = try await crash(stage, claims, under: lease).lease }
        #expect(try await stage.due(lease).map(\.crashes) == [2])
    }

    @Test func oneThatWasCheckedBeforeTheCrashIsNoSuspect() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "bob"], lease)
        _ = try await stage.ledger.mark(
            Dictionary(claims.map { ($0.shard, [$0.purchase.id]) }, uniquingKeysWith: { $0 + $1 }),
            under: lease)
        _ = try await stage.ledger.commit(
            [outcome(claims[0], inForce(claims[0]))], under: lease, at: claims.latest)
        try await stage.endAllLeases()
        let next = try await stage.takeAll()
        #expect(try await stage.due(next).map(\.crashes) == [1])
        #expect(try await stage.number("SELECT sum(crashes) FROM renewald.schedule") == 1)
    }

    @Test func anOrderlyReleaseMakesNoSuspects() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann"], lease)
        _ = try await stage.ledger.mark([claims[0].shard: [claims[0].purchase.id]], under: lease)
        try await stage.ledger.release(lease)
        let next = try await stage.takeAll()
        #expect(try await stage.due(next).map(\.crashes) == [0])
    }

    /// However much is due when a worker starts: else the database's time-out would refuse the
    /// look, and no shard would be opened.
    @Test func theLookForSuspectsMeetsNothingElseThatIsDue() async throws {
        let stage = try await Stage()
        try await stage.beside.script(
            """
            INSERT INTO renewald.schedule (shard, lane, due_at, id)
            SELECT n % 256, 1, now() - interval '1 hour', n FROM generate_series(1, 30000) AS n;
            UPDATE renewald.schedule SET crashes = 1 WHERE id = 17;
            ANALYZE renewald.schedule
            """)
        let shards = Array(0..<256 as Range<Int16>)
        let looks = [
            SQL.suspectLanes(.int32s([1]), .int16s(shards)),
            SQL.claimSuspects(
                .int16s(shards), .timestamps(shards.map { _ in 0 }), .int64s(shards.map { _ in 0 }),
                .int32(1), .int32(1000), .int32(100_000)),
        ]
        for look in looks {
            let plan = try await stage.beside.query(look.plan).rows
                .map { row throws(PostgresError) in try row.text(0) }.joined(separator: "\n")
            #expect(plan.contains("schedule_suspects"), "\(plan)")
            #expect(!plan.contains("Scan on schedule\n") && !plan.contains("schedule_pkey"))
        }
        await stage.close()
    }
}
