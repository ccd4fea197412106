import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

/// Each statement of a commit compares what it moves with what was claimed; one that does not match
/// takes the whole batch back.
@Suite(.serialized) struct CommitGuardTests {
    /// What another does between the claim and the commit, to the purchase of the first user.
    private static let moves: [(name: String, what: String, move: String)] = [
        (
            "the version moved", "the version of a purchase",
            "UPDATE renewald.purchase SET version = version + 1 WHERE user_id = 'ann'"
        ),
        (
            "it was made due anew", "the place of a purchase in the schedule",
            """
            UPDATE renewald.schedule SET due_at = due_at + interval '1 microsecond'
            WHERE id = (SELECT id FROM renewald.purchase WHERE user_id = 'ann')
            """
        ),
        (
            "the account moved", "the version of an account",
            "UPDATE renewald.account SET version = version + 1 WHERE user_id = 'ann'"
        ),
        (
            "the epoch moved", "the lease of a shard",
            """
            UPDATE renewald.shard SET epoch = epoch + 1 WHERE shard = renewald.shard_of('ann')
            """
        ),
        (
            "the owner moved", "the lease of a shard",
            """
            UPDATE renewald.shard SET owner = gen_random_uuid()
            WHERE shard = renewald.shard_of('ann')
            """
        ),
        (
            "the lease ran out", "the lease of a shard",
            """
            UPDATE renewald.shard SET lease_until = now() - interval '1 second'
            WHERE shard = renewald.shard_of('ann')
            """
        ),
        (
            "the purchase is gone", "the version of a purchase",
            "DELETE FROM renewald.purchase WHERE user_id = 'ann'"
        ),
        (
            "the place in the schedule is gone", "the place of a purchase in the schedule",
            """
            DELETE FROM renewald.schedule
            WHERE id = (SELECT id FROM renewald.purchase WHERE user_id = 'ann')
            """
        ),
    ]

    @Test(arguments: moves.indices)
    func oneThatHasMovedTakesTheWholeBatchBack(_ index: Int) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "bob", "cid"], lease)
        let batch = try await stage.ledger.compose(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        try await stage.beside.script(Self.moves[index].move)
        let before = try await stage.everything()
        do {
            _ = try await stage.ledger.writes.pipeline(batch.statements)
            Issue.record("committed though \(Self.moves[index].name)")
        } catch {
            let told = "\(Self.moves[index].what) has changed since it was read"
            #expect(error.sqlState == "RN001", "\(Self.moves[index].name)")
            #expect(LedgerError(error) == .noLongerValid(what: told), "\(Self.moves[index].name)")
        }
        #expect(try await stage.everything() == before, "\(Self.moves[index].name)")
    }

    @Test func theKeyOfAnOriginalIDThatAnotherHasTakenIsNamed() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "1000", store: "apple")
        let claims = try await stage.due(lease)
        let batch = try await stage.ledger.compose(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        try await stage.beside.script(
            """
            INSERT INTO renewald.original_key (lane, original_id, shard, id)
            SELECT lane, 'order', shard, id + 1 FROM renewald.purchase
            """)
        let error = await #expect(throws: PostgresError.self) {
            try await stage.ledger.writes.pipeline(batch.statements)
        }
        #expect(
            error.map { LedgerError($0) }
                == .noLongerValid(what: "the key of an original id has changed since it was read"))
    }

    @Test(arguments: moves.indices)
    func theOthersAreCommittedWithoutIt(_ index: Int) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "bob", "cid"], lease)
        let (name, _, move) = Self.moves[index]
        try await stage.beside.script(move)
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        // An account that has moved is only read again: the claim itself still stands.
        let dropped = name == "the account moved" ? [] : [claims[0]]
        #expect(report.dropped == dropped, "\(name)")
        #expect(report.committed.count == 3 - dropped.count, "\(name)")
        #expect(report.refused.isEmpty, "\(name)")
        #expect(
            try await stage.number("SELECT count(*) FROM renewald.event")
                == Int64(3 - dropped.count), "\(name)")
        if !name.hasSuffix("gone") { #expect(try await stage.broken() == [], "\(name)") }
    }

    @Test func aShardThatIsNotInTheLeaseIsNotCommitted() async throws {
        let stage = try await Stage()
        var lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "bob"], lease)
        lease.epochs[claims[0].shard] = nil
        let batch = try await stage.ledger.compose(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        await #expect(throws: PostgresError.self) {
            try await stage.ledger.writes.pipeline(batch.statements)
        }
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(report.dropped == [claims[0]])
        #expect(report.committed.map(\.claim) == [claims[1]])
    }

    @Test func theSameOutcomesAgainAreDropped() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "bob"], lease)
        let outcomes = claims.map { outcome($0, inForce($0)) }
        #expect(
            try await stage.ledger.commit(outcomes, under: lease, at: claims.latest).committed.count
                == 2)
        let before = try await stage.everything()
        let again = try await stage.ledger.commit(outcomes, under: lease, at: claims.latest)
        #expect(again.dropped == claims)
        #expect(again.events.isEmpty)
        #expect(try await stage.everything() == before)
    }

    /// Two people check the same user at once, outside of any lease: the versions decide.
    @Test func withoutALeaseTwoCommitsOfOneUserMakeOneUnion() async throws {
        let stage = try await Stage()
        for number in 0..<8 { try await stage.submit("ann", "token \(number)") }
        let claims = try await stage.ledger.claims(ofUser: "ann")
        #expect(claims.count == 8)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let ledger = stage.furtherLedger()
                    for claim in claims.dropFirst(2 * number).prefix(2) {
                        var pending = true
                        while pending {
                            do {
                                _ = try await ledger.commit(
                                    [outcome(claim, inForce(claim, period: number + 1))],
                                    under: nil, at: claim.claimedAt)
                                pending = false
                            } catch LedgerError.unavailable {
                                continue
                            }
                        }
                    }
                    await ledger.close()
                }
            }
            try await group.waitForAll()
        }
        #expect(try await stage.broken() == [])
        #expect(try await stage.list("SELECT kind FROM renewald.events") == ["grant"])
        #expect(
            try await stage.number("SELECT count(*) FROM renewald.purchase WHERE version = 1") == 8)
    }
}
