import Postgres
import Renewal
import Testing

@testable import Ledger

/// What is not due is made due, with calls that nothing due needs.
@Suite(.serialized) struct SweepingTests {
    /// So many purchases in force that were asked about days ago and are due tomorrow.
    private func fleet(_ count: Int, _ stage: Stage) async throws {
        let lease = try await stage.takeAll()
        for number in 1...count { try await stage.submit("user \(number)", "token \(number)") }
        let claims = try await stage.due(lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        try await stage.beside.script(
            """
            UPDATE renewald.schedule
            SET due_at = now() + interval '1 day' + id * interval '1 second',
                checked_at = now() - interval '6 days'
            """)
    }

    private func sweep(
        _ stage: Stage, limit: Int = 100, perShard: Int = 64, from places: [Place]? = nil,
        sources: [SourceID: NewsScope] = [:]
    ) async throws -> SweepStep {
        let lane = try #require(try await stage.ledger.allLanes().first)
        var walk = SweepWalk(at: .now - .seconds(4))
        let shards = (0..<Int16(256)).map(\.self)
        let stepStep = walk.next(spending: 100, in: shards, at: .now)
        let step = try #require(stepStep)
        var request = SweepRequest(lane, step, sources: [:], patience: .seconds(5))
        request.limit = limit
        request.sources = sources
        request.perShard = perShard
        request.places = places ?? request.places
        return try await stage.ledger.sweep(request)
    }

    /// The clock was ahead, and was set back: when they are due was computed with that time.
    /// Purchase 1 has had a verdict then, 2 and 3 were asked about in vain; 4 was asked about just
    /// now, 5 waits for its first check, 6 is a suspect of a crash, 7 was asked about in vain since.
    private func setBack(_ stage: Stage) async throws {
        try await fleet(7, stage)
        try await stage.beside.script(
            """
            UPDATE renewald.schedule SET checked_at = now();
            UPDATE renewald.schedule SET checked_at = now() + interval '3 days' WHERE id IN (1, 5, 6, 7);
            UPDATE renewald.schedule SET attempts = 1, in_vain_since = now(), in_vain_at = now()
            WHERE id = 7;
            UPDATE renewald.schedule
            SET attempts = 3, in_vain_since = now() + interval '2 days',
                in_vain_at = now() + interval '3 days'
            WHERE id IN (2, 3);
            UPDATE renewald.schedule SET checked_at = NULL WHERE id = 3;
            UPDATE renewald.schedule SET due_at = '9100-01-01 00:00+00' WHERE id = 5;
            UPDATE renewald.schedule SET crashes = 1 WHERE id = 6
            """)
    }

    private static let dueIDs =
        "SELECT id::text FROM renewald.schedule WHERE due_at <= now() ORDER BY id"

    @Test func theSweepTakesWhatWasAskedInTheFuture() async throws {
        let stage = try await Stage()
        try await setBack(stage)
        #expect(try await woken(stage, sources: [:]) == 3)
        #expect(try await stage.list(Self.dueIDs) == ["1", "2", "3"])
        await stage.close()
    }

    @Test func recallsWhatWasAskedInTheFuture() async throws {
        let stage = try await Stage()
        try await setBack(stage)
        let lanes = try await stage.ledger.allLanes()
        #expect(try await stage.ledger.recall([]) == 0)
        #expect(try await stage.ledger.recall(lanes) == 3)
        #expect(try await stage.list(Self.dueIDs) == ["1", "2", "3"])
        // They are due, and wait to be asked about.
        #expect(try await stage.ledger.recall(lanes) == 0)
        await stage.close()
    }

    private func due(_ stage: Stage) async throws -> Int64 {
        try await stage.number("SELECT count(*) FROM renewald.schedule WHERE due_at <= now()")
    }

    @Test func makesDueWhatWasNotAskedForLong() async throws {
        let stage = try await Stage()
        try await fleet(20, stage)
        try await stage.beside.script(
            "UPDATE renewald.schedule SET checked_at = now() - interval '1 minute' WHERE id <= 5")
        guard case .swept(let count, let reached, let ended) = try await sweep(stage) else {
            Issue.record("it is behind")
            return
        }
        #expect(count == 15)
        #expect(reached.isEmpty)
        #expect(ended.count == 256)
        #expect(try await due(stage) == 15)
        #expect(
            try await stage.number(
                "SELECT min(id) FROM renewald.schedule WHERE due_at <= now()") == 6)
        // The second time all of them are due already.
        #expect(try await sweep(stage) == .swept(0, reached: [], ended: ended))
        await stage.close()
    }

    /// One of them is held by another session: it is left, and nobody waits.
    @Test func leavesWhatAnotherSessionHolds() async throws {
        let stage = try await Stage()
        try await fleet(5, stage)
        let backend = stage.session("backend")
        try await backend.script(
            "BEGIN; SELECT FROM renewald.schedule WHERE id = 2 FOR UPDATE")
        #expect(try await woken(stage, sources: [:]) == 4)
        #expect(try await due(stage) == 4)
        await backend.close()
        await stage.close()
    }

    /// An app whose news is read is asked a quarter as often; a source that is not read is none.
    @Test func newsCountsWhileItIsRead() async throws {
        let stage = try await Stage()
        try await fleet(8, stage)
        try await stage.beside.script(
            """
            UPDATE renewald.schedule SET checked_at = now() - interval '3 hours';
            INSERT INTO renewald.hint_source (source, pulled_at)
            VALUES ('silent', now() - interval '2 hours'), ('read', now() - interval '1 minute')
            """)
        #expect(try await woken(stage, sources: ["read": .refunds, "silent": .refunds]) == 0)
        #expect(
            try await woken(stage, sources: ["silent": .everything, "unknown": .everything]) == 8)
        await stage.close()
    }

    /// One from which nothing comes, though purchases have been there for a week, tells of nothing.
    @Test func aSilentSourceCountsAsNone() async throws {
        let stage = try await Stage()
        try await fleet(8, stage)
        let source = SourceID("google com.example.reader notifications")
        try await stage.beside.script(
            """
            UPDATE renewald.schedule SET checked_at = now() - interval '3 hours';
            UPDATE renewald.app SET counted_since = now() - interval '6 days';
            INSERT INTO renewald.hint_source (source, pulled_at) VALUES ('\(source)', now())
            """)
        #expect(try await woken(stage, sources: [source: .everything]) == 0)
        try await stage.beside.script(
            "UPDATE renewald.app SET counted_since = now() - interval '8 days'")
        #expect(try await woken(stage, sources: [source: .everything]) == 8)
        try await stage.beside.script(
            """
            UPDATE renewald.schedule
            SET due_at = now() + interval '1 day', checked_at = now() - interval '3 hours';
            INSERT INTO renewald.heard_hint (source, digest, heard_at)
            VALUES ('\(source)', sha256(''), now() - interval '20 days')
            """)
        #expect(try await woken(stage, sources: [source: .everything]) == 0)
        await stage.close()
    }

    /// A free trial comes on every fourth walk, whoever may have paid a debt on each.
    @Test func readsWhatThePurchaseIs() async throws {
        let stage = try await Stage()
        try await fleet(9, stage)
        try await stage.beside.script(
            """
            UPDATE renewald.schedule SET checked_at = now() - interval '90 minutes';
            UPDATE renewald.purchase SET phase = 'trial' WHERE id <= 4;
            UPDATE renewald.purchase
            SET state = 'hold', access = 'none', holding_entitlements = '{}',
                holding_products = '{}', holding_ends = '{}'
            WHERE id = 5;
            """)
        // But for the trials, all are in their first days.
        #expect(try await woken(stage, sources: [:]) == 5)
        #expect(
            try await stage.number(
                "SELECT count(*) FROM renewald.schedule WHERE due_at <= now() AND id <= 4") == 0)
        await stage.close()
    }

    private func woken(_ stage: Stage, sources: [SourceID: NewsScope]) async throws -> Int? {
        guard case .swept(let count, _, _) = try await sweep(stage, sources: sources) else {
            return nil
        }
        return count
    }

    @Test func aStepEndsWithItsCalls() async throws {
        let stage = try await Stage()
        try await fleet(20, stage)
        guard case .swept(let count, let reached, _) = try await sweep(stage, limit: 7) else {
            Issue.record("it is behind")
            return
        }
        #expect(count == 7)
        #expect(try await due(stage) == 7)
        #expect(!reached.isEmpty)
        guard case .swept(let rest, let left, _) = try await sweep(stage, from: reached) else {
            Issue.record("it is behind")
            return
        }
        #expect(rest == 13)
        #expect(left.isEmpty)
        await stage.close()
    }

    @Test func goesOnFromItsPlaceInAShard() async throws {
        let stage = try await Stage()
        try await fleet(40, stage)
        var places: [Place]?
        var (count, steps) = (0, 0)
        repeat {
            guard
                case .swept(let woken, let reached, _) = try await sweep(
                    stage, perShard: 1, from: places)
            else {
                Issue.record("it is behind")
                return
            }
            count += woken
            steps += 1
            places = reached
        } while !(places ?? []).isEmpty
        #expect(count == 40)
        #expect(steps > 1)
        await stage.close()
    }

    @Test func takesNothingWhileSomethingWaits() async throws {
        let stage = try await Stage()
        try await fleet(20, stage)
        try await stage.beside.script(
            "UPDATE renewald.schedule SET due_at = now() - interval '4 seconds' WHERE id = 1")
        guard case .swept(19, _, _) = try await sweep(stage) else {
            Issue.record("four seconds are not long")
            return
        }
        try await stage.beside.script(
            """
            UPDATE renewald.schedule SET due_at = now() + interval '1 day' WHERE id > 1;
            UPDATE renewald.schedule SET due_at = now() - interval '6 seconds' WHERE id = 1
            """)
        #expect(try await sweep(stage) == .behind)
        #expect(try await due(stage) == 1)
        // A suspect of a crash is cleared elsewhere, and is no backlog.
        try await stage.beside.script("UPDATE renewald.schedule SET crashes = 1 WHERE id = 1")
        #expect(try await sweep(stage) != .behind)
        await stage.close()
    }

    @Test func takesNothingWhileABackFillIsLeft() async throws {
        let stage = try await Stage()
        try await fleet(20, stage)
        try await stage.beside.script(
            """
            INSERT INTO renewald.backfill (lane, total) SELECT lane, 1 FROM renewald.app;
            UPDATE renewald.schedule SET due_at = '9001-01-01 00:00+00' WHERE id = 1
            """)
        #expect(try await sweep(stage) == .behind)
        // Once it is done its row is all that is left of it.
        try await stage.beside.script(
            "UPDATE renewald.schedule SET due_at = now() + interval '1 day' WHERE id = 1")
        #expect(try await woken(stage, sources: [:]) == 20)
        await stage.close()
    }

    @Test func leavesWhatIsFinalImportedSuspectOrUnreadable() async throws {
        let stage = try await Stage()
        try await fleet(6, stage)
        try await stage.beside.script(
            """
            UPDATE renewald.schedule SET due_at = '9999-12-31 00:00+00' WHERE id = 1;
            UPDATE renewald.schedule SET due_at = '9100-01-01 00:00+00' WHERE id = 2;
            UPDATE renewald.schedule SET crashes = 1 WHERE id = 3;
            ALTER TABLE renewald.purchase DROP CONSTRAINT purchase_state_check;
            UPDATE renewald.purchase SET state = 'of the future' WHERE id = 4;
            UPDATE renewald.schedule SET attempts = 2 WHERE id = 5
            """)
        guard case .swept(let count, _, _) = try await sweep(stage) else {
            Issue.record("it is behind")
            return
        }
        #expect(count == 1)
        #expect(
            try await stage.list("SELECT id::text FROM renewald.schedule WHERE due_at <= now()")
                == ["6"])
        await stage.close()
    }

    /// A row without its purchase is no end of its shard.
    @Test func aMissingPurchaseHidesNoOther() async throws {
        let stage = try await Stage()
        try await fleet(40, stage)
        try await stage.beside.script(
            """
            UPDATE renewald.schedule SET due_at = now() + id * interval '1 hour';
            DELETE FROM renewald.purchase WHERE id IN (
                SELECT (array_agg(id ORDER BY due_at))[1] FROM renewald.schedule GROUP BY shard)
            """)
        let first = try await sweep(stage, perShard: 1)
        guard case .swept(0, let reached, _) = first else {
            Issue.record("\(first)")
            return
        }
        let shards = try await stage.number("SELECT count(DISTINCT shard) FROM renewald.schedule")
        #expect(reached.count == Int(shards))
        await stage.close()
    }
}
