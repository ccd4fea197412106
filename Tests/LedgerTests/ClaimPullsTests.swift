import Postgres
import Renewal
import Testing

@testable import Ledger

/// Who may read a source of hints, and when: each case is one row of `hint_source`.
@Suite(.serialized) struct ClaimPullsTests {
    private let lease = Duration.seconds(600)
    private let source: SourceID = "google com.example.reader voided"

    private func claim(
        _ stage: Stage, _ worker: WorkerID, _ wanted: [SourceID], early: Bool = false,
        limited: [SourceID] = [], from ledger: PostgresLedger? = nil
    ) async throws -> HintTurns {
        var round = HintRound(lease: lease)
        (round.wanted, round.isEarly, round.limited) = (wanted, early, limited)
        return try await (ledger ?? stage.ledger).hintRound(round, by: worker)
    }

    /// What the row says, in minutes from now: until it is due, since it was read, and until
    /// another's lease ends.
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var due = 0
        var read = -1
        var leased: Int?
        var isEarly = false
        var isLimited = false
        /// How long before its time it is given; nil where it is not given.
        var given: Int? = 0
        /// How long to wait where it is not.
        var wait = 0
    }

    static let cases: [Case] = [
        Case(testDescription: "due"),
        Case(testDescription: "due since long", due: -100_000, read: -100_000),
        Case(testDescription: "not due", due: 5, given: nil, wait: 5),
        Case(testDescription: "not due, by a pass", due: 5, isEarly: true, given: 5),
        Case(testDescription: "limited and due", due: 0, isLimited: true),
        Case(testDescription: "limited, not due", due: 5, isLimited: true, given: nil, wait: 5),
        Case(
            testDescription: "limited, by a pass within ten minutes", due: 9, isEarly: true,
            isLimited: true, given: 9),
        Case(
            testDescription: "limited, by a pass before that", due: 11, isEarly: true,
            isLimited: true, given: nil, wait: 11),
        Case(testDescription: "another's", leased: 3, given: nil, wait: 3),
        Case(
            testDescription: "another's, by a pass", leased: 3, isEarly: true, given: nil, wait: 3),
        Case(testDescription: "another's and not due", due: 5, leased: 3, given: nil, wait: 5),
        Case(testDescription: "another's, due before", due: 3, leased: 5, given: nil, wait: 5),
        Case(testDescription: "another's for long", leased: 64, given: nil, wait: 64),
        Case(testDescription: "another's for longer than any, the clock was set back", leased: 66),
        Case(testDescription: "another's that is dead", leased: -1),
        Case(testDescription: "a dead one's, not due", due: 5, leased: -1, given: nil, wait: 5),
        Case(testDescription: "rests long", due: 64, given: nil, wait: 64),
        Case(testDescription: "rests longer than any, the clock was set back", due: 66),
        Case(
            testDescription: "limited, rests for a day", due: 1440, isLimited: true, given: nil,
            wait: 1440),
        Case(
            testDescription: "limited, the clock was set back by days", due: 1501, isLimited: true),
        Case(testDescription: "read in the future", due: 30, read: 25),
        Case(testDescription: "limited, read in the future", due: 30, read: 25, isLimited: true),
        Case(
            testDescription: "read in the future, another's", due: 30, read: 25, leased: 3,
            given: nil, wait: 3),
    ]

    @Test(arguments: cases)
    func givesIt(_ row: Case) async throws {
        let stage = try await Stage()
        let (worker, other) = (WorkerID.random(), WorkerID.random())
        try await stage.beside.query(
            PostgresStatement(
                """
                INSERT INTO renewald.hint_source (
                    source, position, owner, lease_until, pull_at, pulled_at, failures)
                SELECT $1, 'here', $2, coalesce(now() + $3 * interval '1 minute', 'epoch'),
                    now() + $4 * interval '1 minute', now() + $5 * interval '1 minute', 2
                """,
                [
                    .text(source.text), row.leased == nil ? .null : .uuid(other.uuid),
                    row.leased.map { .int64(Int64($0)) } ?? .null, .int64(Int64(row.due)),
                    .int64(Int64(row.read)),
                ], isReadOnly: false))
        let before = try await stage.list("SELECT s::text FROM renewald.hint_source AS s")
        let turns = try await claim(
            stage, worker, [source, source], early: row.isEarly,
            limited: row.isLimited ? [source] : [])
        func isSoonBefore(_ wait: Duration, _ minutes: Int) -> Bool {
            wait <= .minutes(minutes) && wait > .minutes(minutes) - .seconds(50)
        }
        if let given = row.given {
            #expect(turns.granted == [source: HintCursor(position: "here", failures: 2)])
            #expect(turns.waits == [:])
            if given == 0 {
                #expect(turns.early == [:])
            } else {
                #expect(isSoonBefore(try #require(turns.early[source]), given))
            }
            // It is this worker's from now on, and nobody else's, also before it is due.
            #expect(try await claim(stage, .random(), [source], early: true).granted == [:])
            #expect(
                try await claim(stage, worker, [source], early: true).granted.count == 1)
        } else {
            #expect(turns.granted == [:] && turns.early == [:])
            #expect(isSoonBefore(try #require(turns.waits[source]), row.wait))
            #expect(
                try await stage.list("SELECT s::text FROM renewald.hint_source AS s") == before)
        }
        await stage.close()
    }

    /// Nobody has read it yet: it begins where the source begins.
    @Test func givesWhatIsNewAtOnce() async throws {
        let stage = try await Stage()
        let turns = try await claim(stage, .random(), [source], limited: [source])
        #expect(turns.granted == [source: HintCursor(position: nil, failures: 0)])
        #expect(turns.early == [:] && turns.waits == [:])
        #expect(try await claim(stage, .random(), []).granted == [:])
    }

    /// The rows of an app that is gone, and is configured no more, are nobody's: not touched, and
    /// in nobody's way. Comes the app back, it goes on from its place.
    @Test func leavesTheSourcesOfAnAppThatIsGone() async throws {
        let stage = try await Stage()
        let gone: SourceID = "google com.example.gone voided"
        let worker = WorkerID.random()
        #expect(try await claim(stage, worker, [gone, source]).granted.count == 2)
        var round = HintRound(lease: lease)
        round.ended = [gone, source].map {
            HintReading($0, .read, position: "here", rest: .zero)
        }
        _ = try await stage.ledger.hintRound(round, by: worker)
        let row = "SELECT s::text FROM renewald.hint_source AS s WHERE source LIKE '%gone%'"
        let before = try await stage.list(row)
        #expect(try await claim(stage, .random(), [source]).granted.keys.sorted() == [source])
        #expect(try await stage.list(row) == before)
        #expect(
            try await claim(stage, worker, [gone]).granted
                == [gone: HintCursor(position: "here", failures: 0)])
    }

    /// Who has waited for the other's transaction sees that the source was free, and does not get
    /// what the other has got.
    @Test(arguments: [false, true]) func ofTwoAtOnceOneGetsIt(isNew: Bool) async throws {
        let stage = try await Stage()
        if !isNew {
            try await stage.beside.script(
                "INSERT INTO renewald.hint_source (source) VALUES ('\(source.text)')")
        }
        let (first, second) = (stage.session("first"), stage.furtherLedger())
        try await first.script(
            """
            BEGIN;
            INSERT INTO renewald.hint_source AS source (source, owner, lease_until)
            VALUES ('\(source.text)', gen_random_uuid(), now() + interval '10 minutes')
            ON CONFLICT (source) DO UPDATE
            SET owner = excluded.owner, lease_until = excluded.lease_until
            """)
        async let late = claim(stage, .random(), [source], from: second)
        try await stage.wait(until: "wait_event_type = 'Lock'")
        try await first.script("COMMIT")
        let turns = try await late
        #expect(turns.granted == [:] && turns.early == [:])
        // It asks again, and knows for how long then.
        #expect(turns.waits.keys.sorted() == [source])
        let again = try await claim(stage, .random(), [source], from: second)
        #expect(try #require(again.waits[source]) > .minutes(9))
        await first.close()
        await second.close()
    }
}
