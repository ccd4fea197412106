import Postgres
import Renewal
import Testing

@testable import Ledger

@Suite(.serialized) struct LeaseTests {
    @Test func takesFreeShardsAndNoneThatIsHeld() async throws {
        let stage = try await Stage()
        let (one, two) = (WorkerID.random(), WorkerID.random())
        let first = try await stage.ledger.takeShards(one, limit: 100, lease: .seconds(3600))
        #expect(first.count == 100)
        #expect(first.allSatisfy { $0.epoch == 1 && $0.suspects.isEmpty })
        let held = first.map(\.shard).max() ?? 0
        let free = try await stage.ledger.takeShards(
            two, limit: 256, lease: .seconds(3600), among: [held, 254, 255])
        #expect(free.map(\.shard).sorted() == [254, 255])
        try await stage.ledger.release(
            Lease(
                worker: two,
                epochs: Dictionary(uniqueKeysWithValues: free.map { ($0.shard, $0.epoch) })))
        let second = try await stage.ledger.takeShards(two, limit: 256, lease: .seconds(3600))
        #expect(second.count == 156)
        #expect(Set(first.map(\.shard)).isDisjoint(with: second.map(\.shard)))
        #expect(try await stage.ledger.takeShards(one, limit: 256, lease: .seconds(60)).isEmpty)
    }

    @Test func racingWorkersNeverHoldTheSameShard() async throws {
        let stage = try await Stage()
        let taken = try await withThrowingTaskGroup(of: [TakenShard].self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let ledger = stage.furtherLedger()
                    var taken: [TakenShard] = []
                    let worker = WorkerID.random()
                    for _ in 0..<30 {
                        taken += try await ledger.takeShards(
                            worker, limit: 16, lease: .seconds(3600))
                    }
                    await ledger.close()
                    return taken
                }
            }
            return try await group.reduce(into: [TakenShard]()) { $0 += $1 }
        }
        #expect(taken.count == 256)
        #expect(Set(taken.map(\.shard)).count == 256)
        #expect(taken.allSatisfy { $0.epoch == 1 })
    }

    @Test func renewsOnlyWhatIsStillOwned() async throws {
        let stage = try await Stage()
        var lease = try await stage.takeAll()
        #expect(try await stage.ledger.renew(lease, for: .seconds(7200)).count == 256)
        #expect(
            try await stage.number(
                "SELECT count(*) FROM renewald.shard WHERE lease_until > now() + interval '1 hour'")
                == 256)
        lease.epochs[7] = 99
        try await stage.beside.script("UPDATE renewald.shard SET owner = NULL WHERE shard = 8")
        let owned = try await stage.ledger.renew(lease, for: .seconds(7200))
        #expect(owned == Set((0..<256).map(Int16.init)).subtracting([7, 8]))
    }

    /// A worker has died, and the clock of the database is set back after it.
    @Test func aLeaseOfTheFutureHoldsNothing() async throws {
        let stage = try await Stage()
        let dead = try await stage.takeAll()
        _ = try await stage.ledger.beat(dead.worker, name: "dead", lease: .seconds(600))
        try await stage.beside.script(
            "UPDATE renewald.shard SET lease_until = now() + interval '64 minutes'")
        #expect(
            try await stage.ledger.takeShards(.random(), limit: 256, lease: .seconds(60)).isEmpty)
        try await stage.beside.script(
            """
            UPDATE renewald.shard SET lease_until = now() + interval '3 hours';
            UPDATE renewald.worker SET seen_until = now() + interval '3 hours'
            """)
        let taken = try await stage.ledger.takeShards(.random(), limit: 256, lease: .seconds(60))
        #expect(taken.count == 256)
        #expect(try await stage.ledger.status().workers.isEmpty)
        #expect(try await stage.ledger.renew(dead, for: .seconds(60)).isEmpty)
    }

    @Test func aReleasedShardIsFreeAtOnceAndClean() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        _ = try await stage.ledger.mark([3: [11, 12]], under: lease)
        try await stage.ledger.release(Lease(worker: lease.worker, epochs: [3: 1, 4: 1]))
        let taken = try await stage.ledger.takeShards(.random(), limit: 256, lease: .seconds(60))
        #expect(Set(taken.map(\.shard)) == [3, 4])
        #expect(taken.allSatisfy { $0.epoch == 2 && $0.suspects.isEmpty })
    }

    @Test func aStaleOwnerCannotReleaseRenewOrMark() async throws {
        let stage = try await Stage()
        let stale = try await stage.takeAll()
        try await stage.endAllLeases()
        let owner = try await stage.takeAll()
        #expect(owner.epochs.values.allSatisfy { $0 == 2 })
        let before = try await stage.everything()
        try await stage.ledger.release(stale)
        #expect(try await stage.ledger.renew(stale, for: .seconds(60)).isEmpty)
        #expect(try await stage.ledger.mark([3: [11]], under: stale).isEmpty)
        #expect(try await stage.everything() == before)
    }

    /// I7: nothing of an owner commits once a later one has taken over.
    @Test func aStaleOwnersCommitIsDropped() async throws {
        let stage = try await Stage()
        let stale = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann"], stale)
        try await stage.endAllLeases()
        _ = try await stage.takeAll()
        let before = try await stage.everything()
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: stale, at: claims.latest)
        #expect(report.committed.isEmpty)
        #expect(report.dropped == claims)
        #expect(try await stage.everything() == before)
    }

    @Test func anOwnerWhoseLeaseHasRunOutCannotCommitEvenBeforeATakeOver() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann"], lease)
        try await stage.endAllLeases()
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(report.dropped == claims)
    }

    @Test func aLostShardTakesOnlyItsOwnClaimsWithIt() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: (0..<40).map { "user \($0)" }, lease)
        let lost = claims[0].shard
        try await stage.beside.script("UPDATE renewald.shard SET epoch = 9 WHERE shard = \(lost)")
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(Set(report.dropped) == Set(claims.filter { $0.shard == lost }))
        #expect(report.committed.count == 40 - report.dropped.count)
        #expect(try await stage.broken() == [])
    }

    /// The fence locks the shards' rows: a take-over waits for a commit under way.
    @Test func aTakeOverWaitsForACommitUnderWay() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann"], lease)
        let batch = try await stage.ledger.compose(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        let slow = stage.session("slow")
        let other = stage.furtherLedger()
        let waiting = try await slow.transaction { connection in
            for statement in batch.statements { try await connection.query(statement) }
            let waiting = Task {
                try await stage.session("thief").script(
                    "UPDATE renewald.shard SET lease_until = 'epoch'")
                return try await other.takeShards(.random(), limit: 256, lease: .seconds(60))
            }
            try await stage.wait(until: "application_name = 'thief' AND wait_event_type = 'Lock'")
            return waiting
        }
        #expect(try await waiting.value.count == 256)
        #expect(try await stage.number("SELECT count(*) FROM renewald.event") == 1)
    }

    /// Its owner may be cut off in the middle of a commit, and the server does not know of it yet.
    @Test func aTakeOverLeavesAShardThatAnotherSessionHolds() async throws {
        let stage = try await Stage()
        _ = try await stage.takeAll()
        try await stage.beside.script(
            "UPDATE renewald.shard SET lease_until = now() - (CASE shard WHEN 7 THEN 2 ELSE 1 END)"
                + " * interval '1 day'")
        let heir = WorkerID.random()
        try await stage.session("cut off").transaction { connection in
            try await connection.query(
                PostgresStatement(
                    "SELECT FROM renewald.shard WHERE shard = 7 FOR NO KEY UPDATE"))
            // It has waited for longest, and still another one is taken.
            let first = try await stage.ledger.takeShards(heir, limit: 1, lease: .seconds(60))
            #expect(first.count == 1 && first.first?.shard != 7)
            let others = try await stage.ledger.takeShards(heir, limit: 256, lease: .seconds(60))
            #expect(others.count == 254 && !others.contains { $0.shard == 7 })
        }
        let left = try await stage.ledger.takeShards(heir, limit: 256, lease: .seconds(60))
        #expect(left.map(\.shard) == [7])
    }

    @Test func countsTheWorkersThatAreAlive() async throws {
        let stage = try await Stage()
        let (one, two) = (WorkerID.random(), WorkerID.random())
        #expect(try await stage.ledger.beat(one, name: "one", lease: .seconds(600)) == 1)
        #expect(try await stage.ledger.beat(two, name: "two", lease: .seconds(600)) == 2)
        #expect(try await stage.ledger.beat(one, name: "one", lease: .seconds(600)) == 2)
        try await stage.beside.script(
            "UPDATE renewald.worker SET seen_until = now() WHERE name = 'two'")
        #expect(try await stage.ledger.beat(one, name: "one", lease: .seconds(600)) == 1)
        try await stage.ledger.leave(one)
        #expect(try await stage.list("SELECT name FROM renewald.worker") == ["two"])
    }
}
