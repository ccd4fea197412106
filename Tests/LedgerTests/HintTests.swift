import Postgres
import Renewal
import Testing

@testable import Ledger

/// Hints make a purchase due and do nothing else.
@Suite(.serialized) struct HintTests {
    private let app = AppKey(store: .google, id: "com.example.reader")
    private let source: SourceID = "google/com.example.reader/voided"
    private let worker = WorkerID.random()

    /// Takes the source, if it is free and due.
    private func begin(
        _ stage: Stage, by worker: WorkerID? = nil, isEarly: Bool = false
    ) async throws -> HintTurns {
        var round = HintRound(lease: .seconds(600))
        round.wanted = [source]
        round.isEarly = isEarly
        return try await stage.ledger.hintRound(round, by: worker ?? self.worker)
    }

    private func end(
        _ stage: Stage, _ outcome: HintReading.Outcome, position: String? = nil,
        rest: Duration = .zero
    ) async throws {
        var round = HintRound(lease: .seconds(600))
        round.ended = [HintReading(source, outcome, position: position, rest: rest)]
        _ = try await stage.ledger.hintRound(round, by: worker)
    }

    private func hear(
        _ stage: Stage, _ hints: [(id: NewsID, token: StoreToken)], at began: Timestamp? = nil,
        position: String? = nil
    ) async throws -> HintReport? {
        let page = HintPage(
            hints: hints.map { Hint(id: $0.id, subject: .token($0.token)) }, position: position)
        var start = began
        if start == nil {
            let now = try await stage.beside.query(PostgresStatement("SELECT now() AS now"))[0]
                .timestamp("now")
            start = Timestamp(microsecondsSinceEpoch: now)
        }
        return try await stage.ledger.take(
            HintDelivery(
                page, from: source, about: app, by: worker, lease: .seconds(600),
                began: try #require(start)))
    }

    /// After the database's clock was set back, checks seem to be of the future.
    @Test func makesDueWhatSeemsToHaveBeenCheckedLater() async throws {
        let stage = try await Stage()
        let lease = try await stage.settled(["ann"])
        try await stage.beside.script(
            "UPDATE renewald.schedule SET checked_at = now() + interval '1 hour'")
        _ = try await begin(stage)
        _ = try await hear(stage, [("news", "token of ann")])
        #expect(try await stage.due(lease).count == 1)
    }

    /// One message that no store would send stops a source no more than any other.
    @Test func storesThePageAroundNewsThatCannotBeStored() async throws {
        let stage = try await Stage()
        let lease = try await stage.settled(["ann"])
        _ = try await begin(stage)
        let report = try await hear(
            stage, [("1\0", "token of ann"), ("2", "a\0b"), ("3", "token of ann")])
        #expect(report == HintReport(fresh: 1, woken: 1, unclaimed: 0))
        #expect(try await stage.due(lease).count == 1)
    }

    @Test func makesDueWhatItIsAboutAndNothingElse() async throws {
        let stage = try await Stage()
        let lease = try await stage.settled(["ann", "bob"])
        _ = try await begin(stage)
        let report = try await hear(
            stage, [("1", "token of ann"), ("2", "forged")], position: "here")
        #expect(report == HintReport(fresh: 2, woken: 1, unclaimed: 1))
        #expect(try await stage.due(lease).map(\.purchase.userID) == ["ann"])
        #expect(try await stage.number("SELECT count(*) FROM renewald.event") == 2)
        #expect(try await stage.list("SELECT position FROM renewald.hint_source") == ["here"])
        #expect(try await stage.broken() == [])
    }

    /// A pull that fails is not a reading: since when nothing was heard is what an operator asks.
    @Test func showsWhenASourceWasReadAndWhatIsWrongWithIt() async throws {
        let stage = try await Stage()
        _ = try await begin(stage)
        #expect(try await stage.ledger.status().sources.map(\.readAt) == [nil])
        _ = try await hear(stage, [])
        let readAt = try #require(try await stage.ledger.status().sources.first?.readAt)
        try await end(stage, .left)
        _ = try await begin(stage)
        try await end(
            stage, .failed(Problem(.refused, "status 403"), failures: 3), rest: .seconds(60))
        #expect(
            try await stage.ledger.status().sources == [
                QueueStatus.Source(
                    name: source, readAt: readAt, failures: 3, problem: "refused: status 403")
            ])
    }

    /// Where something was submitted, and notifications of its app are read: a list of refunds may
    /// well be empty for a month.
    @Test func saysOfWhichNotificationsNothingCame() async throws {
        let stage = try await Stage()
        _ = try await stage.settled(["ann"])
        _ = try await stage.beside.query(
            PostgresStatement(
                """
                INSERT INTO renewald.hint_source (source, pulled_at)
                SELECT name, now() FROM unnest(ARRAY[
                    'google com.example.reader notifications', 'google com.example.reader voided',
                    'google com.example.unsold notifications']) AS name
                """))
        func silent() async throws -> [SourceID] {
            try await stage.ledger.status().sources.filter(\.isSilent).map(\.name)
        }
        #expect(try await silent() == [], "it has been looked at for a moment only")
        try await stage.beside.script(
            "UPDATE renewald.app SET counted_since = now() - interval '8 days'")
        #expect(try await silent() == ["google com.example.reader notifications"])
        _ = try await stage.beside.query(
            PostgresStatement(
                """
                INSERT INTO renewald.heard_hint (source, digest)
                VALUES ('google com.example.reader notifications', sha256('news'))
                """))
        #expect(try await silent() == [])
    }

    @Test func repeatedLateAndUnorderedOnesCostOneQuestionAtMost() async throws {
        let stage = try await Stage()
        let lease = try await stage.settled(["ann"])
        let began = try await begin(stage).now
        for _ in 0..<3 {
            _ = try await hear(
                stage, [("2", "token of ann"), ("1", "token of ann"), ("2", "token of ann")])
        }
        let claim = try #require(try await stage.due(lease).first)
        _ = try await stage.ledger.commit(
            [outcome(claim, inForce(claim))], under: lease, at: claim.claimedAt)
        #expect(try await hear(stage, [("1", "token of ann")])?.fresh == 0)
        // Given before it was checked, heard after it.
        #expect(try await hear(stage, [("3", "token of ann")], at: began)?.woken == 0)
        #expect(try await stage.due(lease).isEmpty)
    }

    @Test func leavesWhatIsDueAlreadyButNotWhatIsBeingAsked() async throws {
        let stage = try await Stage()
        let lease = try await stage.settled(["ann", "bob"])
        try await stage.makeAllDue()
        let claims = try await stage.due(lease)
        _ = try await stage.ledger.mark([claims[0].shard: [claims[0].purchase.id]], under: lease)
        _ = try await begin(stage)
        let report = try await hear(stage, [("1", "token of ann"), ("2", "token of bob")])
        #expect(report?.woken == 1)
        // The answer under way may be older than the news: it is dropped, and asked for again.
        let commit = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(commit.dropped.map(\.purchase.userID) == ["ann"])
        #expect(commit.committed.map(\.claim.purchase.userID) == ["bob"])
    }

    @Test func wakesNeitherWhatIsSetAsideNorWhatIsTakenOver() async throws {
        let stage = try await Stage()
        let lease = try await stage.settled(["ann", "bob"])
        try await stage.beside.script(
            """
            UPDATE renewald.schedule SET problem = 'set_aside: it ended the process'
            WHERE id = (SELECT id FROM renewald.purchase WHERE user_id = 'ann');
            UPDATE renewald.purchase SET state = 'superseded' WHERE user_id = 'bob';
            """)
        _ = try await begin(stage)
        #expect(
            try await hear(stage, [("1", "token of ann"), ("2", "token of bob")])?.woken == 0)
        #expect(try await stage.due(lease).isEmpty)
    }

    @Test func findsByTheOriginalIDAndWakesTheFirstOfTwoForms() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        for token in ["receipt", "2000"] { try await stage.submit("ann", token, store: "apple") }
        var claims = try await stage.due(lease)
        _ = try await stage.ledger.commit(
            claims.map { claim in
                var answer = inForce(claim)
                answer.originalID = "1000"
                return outcome(claim, answer)
            }, under: lease, at: claims.latest)
        let apple = AppKey(store: .apple, id: app.id)
        let subjects: [Hint.Subject] = [.originalID("1000"), .token("2000")]
        for (number, subject) in subjects.enumerated() {
            _ = try await begin(stage)
            let report = try await stage.ledger.take(
                HintDelivery(
                    HintPage(hints: [Hint(id: "\(number)", subject: subject)]), from: source,
                    about: apple, by: worker, lease: .seconds(60), began: .never))
            #expect(report?.woken == 1)
            claims = try await stage.due(lease)
            #expect(claims.map(\.purchase.token) == ["receipt"])
            try await stage.beside.script(
                "UPDATE renewald.schedule SET due_at = now() + interval '1 day'")
        }
    }

    @Test func keepsTheUnknownForALaterSubmission() async throws {
        let stage = try await Stage()
        let lease = try await stage.settled(["ann"])
        _ = try await begin(stage)
        #expect(try await hear(stage, [("1", "later"), ("2", "never")])?.unclaimed == 2)
        #expect(
            try await stage.number(
                "SELECT count(*) FROM renewald.unclaimed_hint WHERE octet_length(digest) = 32") == 2
        )
        try await stage.submit("bob", "later")
        #expect(try await stage.due(lease).map(\.purchase.userID) == ["bob"])
        #expect(try await stage.number("SELECT count(*) FROM renewald.unclaimed_hint") == 1)
        try await stage.beside.script(
            """
            UPDATE renewald.unclaimed_hint SET heard_at = now() - interval '31 days';
            UPDATE renewald.heard_hint SET heard_at = now() - interval '31 days'
            """)
        try await stage.ledger.forgetOldHints()
        #expect(try await stage.number("SELECT count(*) FROM renewald.unclaimed_hint") == 0)
        #expect(try await stage.number("SELECT count(*) FROM renewald.heard_hint") == 0)
    }

    @Test func oneWorkerAtATimeAndNotBeforeItIsDue() async throws {
        let stage = try await Stage()
        let first = try await begin(stage)
        #expect(first.granted == [source: HintCursor(position: nil, failures: 0)])
        let other = WorkerID.random()
        let early = try await begin(stage, by: other, isEarly: true)
        #expect(early.granted == [:], "two at once")
        #expect(try #require(early.waits[source]) > .seconds(300))
        try await end(
            stage, .failed(Problem(.unreachable, "the store gave no usable reply"), failures: 3),
            rest: .seconds(900))
        #expect(try await begin(stage, by: other).granted == [:], "before its time")
        #expect(
            try await begin(stage, by: other, isEarly: true).granted
                == [source: HintCursor(position: nil, failures: 3)])
        let rest = try #require(
            try await begin(stage, by: other, isEarly: true).early[source])
        #expect(rest > .seconds(800) && rest <= .seconds(900))
        // The first one's pages come too late.
        let before = try await stage.everything()
        #expect(try await hear(stage, [("1", "token")], position: "stale") == nil)
        #expect(try await stage.everything() == before)
    }
}
