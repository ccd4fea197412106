import Postgres
import Renewal
import Testing

@testable import Ledger

/// Sessions of others that hold what a commit needs.
@Suite(.serialized) struct LockTests {
    private static let others = (0..<40).map { "user \($0)" }

    /// Ann's purchase in force, which bob has claimed; and a purchase of each of the others, due.
    private func claimed(_ stage: Stage, _ lease: Lease) async throws {
        try await stage.submit("ann", "token")
        let claims = try await stage.due(lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0), .move) }, under: lease, at: claims.latest)
        try await stage.submit("bob", "token")
        for user in Self.others { try await stage.submit(user, "token of \(user)") }
    }

    /// Neither the row of a purchase that is asked about, nor its user's: the one who gets it has a
    /// session open in which they were submitted, or looked at.
    @Test(arguments: [
        "INSERT INTO renewald.account (shard, user_id) VALUES (renewald.shard_of('bob'), 'bob')",
        "SELECT renewald.submit('bob', 'google', 'com.example.reader', 'pro', 'own')",
    ])
    func aUserWhoIsHeldElsewhereHoldsUpNobodyElse(_ sql: String) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await claimed(stage, lease)
        let backend = stage.session("backend")
        try await backend.script("BEGIN; \(sql)")
        let ledger = stage.hastyLedger()
        let claims = try await stage.due(lease)
        #expect(claims.count == Self.others.count + 1)
        let report = try await ledger.commit(
            claims.map { outcome($0, inForce($0), .move) }, under: lease, at: claims.latest)
        #expect(report.events.map(\.kind) == Self.others.map { _ in .grant(.purchased) })
        #expect(report.dropped == [] && report.refused == [])
        #expect(report.committed.count == claims.count)
        // Its own check comes again soon, and is no failure of the store's.
        let waits = """
            SELECT user_id || ' ' || problem FROM renewald.purchases
            WHERE next_check_at <= now() + interval '20 seconds'
            """
        let held = ["ann unreachable: another session of the database holds its rows"]
        #expect(try await stage.list(waits) == held)
        // The next time it does not even stand in the way of the others.
        try await stage.makeAllDue()
        let again = try await stage.due(lease)
        let second = try await ledger.commit(
            again.map { outcome($0, inForce($0, period: 2), .move) }, under: lease,
            at: again.latest)
        #expect(second.events.map(\.kind) == Self.others.map { _ in .notice(.renewed) })
        #expect(
            try await stage.list("SELECT user_id FROM renewald.purchases WHERE problem > ''")
                == ["ann"])
        try await backend.script("ROLLBACK")
        try await stage.makeAllDue()
        let last = try await stage.due(lease)
        let third = try await ledger.commit(
            last.map { outcome($0, inForce($0, period: 2), .move) }, under: lease, at: last.latest)
        #expect(
            third.events.map { "\($0.userID) \($0.kind.name) \($0.kind.reason)" }
                .filter { !$0.contains("notice") }
                == ["ann revoke transferred", "bob grant transferred"])
        #expect(try await stage.broken() == [])
        await backend.close()
        await ledger.close()
    }

    /// The row of another purchase of the user, which a newer link takes over.
    @Test func aPurchaseThatIsTakenOverAndHeldHoldsUpNobodyElse() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let old = try await stage.submit("ann", "old")
        let claims = try await stage.due(lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        try await stage.submit("ann", "new")
        for user in Self.others { try await stage.submit(user, "token of \(user)") }
        let backend = stage.session("backend")
        try await backend.script(
            "BEGIN; SELECT FROM renewald.purchase WHERE id = \(old) FOR UPDATE")
        let ledger = stage.hastyLedger()
        func commit() async throws -> CommitReport {
            let claims = try await stage.due(lease)
            let outcomes = claims.map { claim in
                var answer = inForce(claim)
                if claim.purchase.userID == "ann" { answer.predecessorToken = "old" }
                return outcome(claim, answer)
            }
            return try await ledger.commit(outcomes, under: lease, at: claims.latest)
        }
        #expect(try await commit().events.count == Self.others.count)
        #expect(try await stage.list("SELECT renewald.has('ann', 'pro')::text") == ["true"])
        try await backend.script("ROLLBACK")
        try await stage.beside.script(
            "UPDATE renewald.schedule SET due_at = now() WHERE problem > ''")
        #expect(try await commit().committed.map(\.facts.state) == [.active])
        #expect(
            try await stage.list("SELECT state FROM renewald.purchases WHERE user_id = 'ann'")
                .sorted() == ["active", "superseded"])
        #expect(try await stage.broken() == [])
        await backend.close()
        await ledger.close()
    }

    /// A session that holds a purchase which a dead worker had in hand: its shards are taken over.
    @Test func aRowThatIsHeldKeepsNoShardFromItsNextOwner() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "bob"], lease)
        let inHand = Dictionary(grouping: claims, by: \.shard).mapValues { $0.map(\.purchase.id) }
        _ = try await stage.ledger.mark(inHand, under: lease)
        let backend = stage.session("backend")
        try await backend.script(
            """
            BEGIN; SELECT FROM renewald.schedule
            WHERE id = \(claims[0].purchase.id) FOR UPDATE
            """)
        try await stage.endAllLeases()
        let ledger = stage.hastyLedger()
        let taken = try await ledger.takeShards(.random(), limit: 256, lease: .seconds(3600))
        #expect(taken.count == 256)
        #expect(Set(taken.flatMap(\.suspects)) == Set(claims.map(\.purchase.id)))
        try await backend.script("ROLLBACK")
        #expect(
            try await stage.list("SELECT crashes::text FROM renewald.schedule ORDER BY id")
                == ["0", "1"])
        await backend.close()
        await ledger.close()
    }

    /// One that cannot be read, and whose place is held, is set aside later.
    @Test func aRowThatIsHeldKeepsNobodyElseFromBeingClaimed() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let bad = try await stage.submit("ann", "token")
        try await stage.submit("bob", "other")
        let backend = stage.session("backend")
        try await stage.beside.script(
            "UPDATE renewald.purchase SET lapse = 'nonsense' WHERE id = \(bad)")
        try await backend.script(
            "BEGIN; SELECT FROM renewald.schedule WHERE id = \(bad) FOR UPDATE")
        let problem = "SELECT count(*) FROM renewald.purchases WHERE problem LIKE 'set_aside:%'"
        #expect(try await stage.due(lease).map(\.purchase.userID) == ["bob"])
        #expect(try await stage.number(problem) == 0)
        try await backend.script("ROLLBACK")
        #expect(try await stage.due(lease).map(\.purchase.userID) == ["bob"])
        #expect(try await stage.number(problem) == 1)
        await backend.close()
    }

    /// Too many users of one batch are held: what was stored before that showed is told, once, and
    /// what is left is what was not.
    @Test func whatWasStoredOfABatchThatWasGivenUpIsTold() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let owners = Self.others.map { "owner of \($0)" }
        let claims = try await stage.claims(of: owners, lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0), .move) }, under: lease, at: claims.latest)
        try await stage.makeAllDue()
        let backend = stage.session("backend")
        try await backend.script(
            """
            BEGIN; SELECT FROM renewald.entitlement
            WHERE right(user_id, 1) IN ('0', '2', '4', '6', '8') FOR UPDATE
            """)
        let ledger = stage.hastyLedger()
        let again = try await stage.due(lease)
        let outcomes = again.map { outcome($0, inForce($0, period: 2), .move) }
        let before = try await stage.number("SELECT count(*) FROM renewald.events")
        let report = try await ledger.commit(outcomes, under: lease, at: again.latest)
        let stored = try await stage.number("SELECT count(*) FROM renewald.events") - before
        #expect(stored > 0 && report.events.count == Int(stored))
        let unfinished = try #require(report.unfinished)
        #expect(unfinished.error.sentence.contains("SQLSTATE 55P03"))
        let told = report.committed.map(\.claim) + report.dropped
        #expect(!unfinished.left.isEmpty)
        #expect(
            Set(told).union(unfinished.left.map(\.claim)) == Set(again)
                && told.count + unfinished.left.count == again.count)
        // They go on where the others ended.
        try await backend.script("ROLLBACK")
        let rest = try await ledger.commit(unfinished.left, under: lease, at: again.latest)
        #expect(rest.unfinished == nil && rest.dropped == [])
        #expect(rest.committed.count == unfinished.left.count)
        #expect(try await stage.broken() == [])
        await backend.close()
        await ledger.close()
    }

    /// Every one waits for it: a few show that, and nothing is lost.
    @Test(arguments: [
        "renewald.entitlement IN ACCESS EXCLUSIVE MODE", "renewald.purchase IN SHARE MODE",
        "renewald.schedule IN SHARE MODE",
    ])
    func aTableThatIsHeldIsAFaultOfTheDatabase(_ table: String) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: Self.others, lease)
        let outcomes = claims.map { outcome($0, inForce($0)) }
        let backend = stage.session("backend")
        try await backend.script("BEGIN; LOCK TABLE \(table)")
        let ledger = stage.hastyLedger()
        let began = ContinuousClock.now
        // Where the schedule can be written, the next checks of those that were tried are moved.
        var fault: LedgerError?
        do {
            let report = try await ledger.commit(outcomes, under: lease, at: claims.latest)
            #expect(report.events.isEmpty && report.committed.count <= 3)
            #expect(report.unfinished?.left.count == claims.count - report.committed.count)
            fault = report.unfinished?.error
        } catch {
            fault = error
        }
        #expect(fault?.sentence.contains("SQLSTATE 55P03") == true)
        // A fifth of a second for each would be eight.
        #expect(ContinuousClock.now - began < .seconds(4))
        try await backend.script("ROLLBACK")
        var told = try await ledger.commit(outcomes, under: lease, at: claims.latest).events.count
        #expect(told >= Self.others.count - 3)
        try await stage.beside.script(
            """
            UPDATE renewald.schedule SET due_at = now() WHERE problem > '' OR checked_at IS NULL
            """)
        let rest = try await stage.due(lease)
        told += try await ledger.commit(
            rest.map { outcome($0, inForce($0)) }, under: lease, at: rest.latest
        ).events.count
        #expect(told == Self.others.count)
        #expect(try await stage.broken() == [])
        await backend.close()
        await ledger.close()
    }

    /// A check commits while news is taken: PostgreSQL tries the conditions again on what has become
    /// of the row, and comes to those that it did not need before.
    @Test func newsOfAPurchaseThatIsCheckedMeanwhileIsTaken() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann"], lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        let worker = WorkerID.random()
        var round = HintRound(lease: .seconds(600))
        round.wanted = ["google/com.example.reader/voided"]
        let began = try await stage.ledger.hintRound(round, by: worker).now
        try await stage.beside.script(
            "UPDATE renewald.schedule SET checked_at = now() - interval '1 day'")
        let backend = stage.session("backend")
        try await backend.script("BEGIN; UPDATE renewald.schedule SET checked_at = now()")
        let hint = Hint(id: "1", subject: .token("token of ann"), clue: .refund(of: "x"))
        async let report = stage.ledger.take(
            HintDelivery(
                HintPage(hints: [hint]), from: round.wanted[0],
                about: AppKey(store: .google, id: "com.example.reader"), by: worker,
                lease: .seconds(600), began: began - .hours(1)))
        try await stage.wait(until: "wait_event_type = 'Lock'")
        try await backend.script("COMMIT")
        #expect(try await report == HintReport(fresh: 1, woken: 1, unclaimed: 0))
        #expect(try await stage.due(lease).first?.purchase.clues == [.refund(of: "x")])
        #expect(try await stage.broken() == [])
        await backend.close()
    }

    // MARK: News

    private static let reader = WorkerID.random()

    private func hear(
        _ hints: [(id: NewsID, token: StoreToken, clue: Clue?)], _ ledger: PostgresLedger
    ) async throws -> HintReport? {
        var round = HintRound(lease: .seconds(600))
        round.wanted = ["source"]
        round.isEarly = true
        _ = try await ledger.hintRound(round, by: Self.reader)
        let page = HintPage(
            hints: hints.map { Hint(id: $0.id, subject: .token($0.token), clue: $0.clue) })
        return try await ledger.take(
            HintDelivery(
                page, from: "source", about: AppKey(store: .google, id: "com.example.reader"),
                by: Self.reader, lease: .seconds(600), began: .never))
    }

    /// A backend has submitted ann's purchase again, and has not committed yet.
    @Test func newsAboutWhatIsHeldHoldsUpNoOtherNews() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "bob"], lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        let backend = stage.session("backend")
        try await backend.script(
            """
            BEGIN; SELECT FROM renewald.schedule
            WHERE shard = \(claims[0].shard) AND id = \(claims[0].purchase.id) FOR UPDATE
            """)
        let ledger = stage.hastyLedger()
        let report = try await hear(
            [("1", "token of ann", .refund(of: "GPA.1")), ("2", "token of bob", nil)], ledger)
        #expect(report == HintReport(fresh: 2, woken: 1, unclaimed: 0))
        #expect(try await stage.due(lease).map(\.purchase.userID) == ["bob"])
        // It waits for as long as that takes.
        try await ledger.forgetOldHints()
        #expect(try await stage.due(lease).map(\.purchase.userID) == ["bob"])
        try await backend.script("ROLLBACK")
        try await ledger.forgetOldHints()
        let due = try await stage.due(lease)
        #expect(Set(due.map(\.purchase.userID)) == ["ann", "bob"])
        #expect(
            due.first { $0.purchase.userID == "ann" }?.purchase.clues == [.refund(of: "GPA.1")])
        #expect(try await stage.number("SELECT count(*) FROM renewald.waiting_hint") == 0)
        await backend.close()
        await ledger.close()
    }

    /// A backend takes what was heard before with its submission, and has not committed yet.
    @Test func newsAboutWhatIsBeingSubmittedHoldsUpNoOtherNews() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["bob"], lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        let ledger = stage.hastyLedger()
        _ = try await hear([("1", "early", .refund(of: "GPA.1"))], ledger)
        let backend = stage.session("backend")
        try await backend.script(
            "BEGIN; SELECT renewald.submit('eve', 'google', 'com.example.reader', 'pro', 'early')")
        let report = try await hear(
            [
                ("2", "early", .refund(of: "GPA.2")), ("3", "token of bob", nil),
                ("4", "early", .refund(of: "GPA.3")),
            ], ledger)
        #expect(report == HintReport(fresh: 3, woken: 1, unclaimed: 1))
        try await ledger.forgetOldHints()
        try await backend.script("COMMIT")
        try await ledger.forgetOldHints()
        let eve = try await stage.due(lease).first { $0.purchase.userID == "eve" }
        #expect(
            eve?.purchase.clues == [
                .refund(of: "GPA.1"), .refund(of: "GPA.2"), .refund(of: "GPA.3"),
            ])
        #expect(try await stage.number("SELECT count(*) FROM renewald.unclaimed_hint") == 0)
        await backend.close()
        await ledger.close()
    }
}
