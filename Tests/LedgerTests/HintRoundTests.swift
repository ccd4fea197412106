import Postgres
import Renewal
import Testing

@testable import Ledger

/// Many sources of hints in one transaction: each is one worker's at a time.
@Suite(.serialized) struct HintRoundTests {
    private let lease = Duration.seconds(600)

    private func names(_ count: Int) -> [SourceID] {
        (0..<count).map { SourceID("apple com.example.\(1000 + $0) notifications") }
    }

    private func round(
        _ stage: Stage, _ worker: WorkerID, wanted: [SourceID] = [], kept: [SourceID] = [],
        ended: [HintReading] = [], lease: Duration? = nil
    ) async throws -> HintTurns {
        var round = HintRound(lease: lease ?? self.lease)
        (round.wanted, round.kept, round.ended) = (wanted, kept, ended)
        return try await stage.ledger.hintRound(round, by: worker)
    }

    @Test func oneTransactionGivesEachItsPlace() async throws {
        let stage = try await Stage()
        let (worker, all) = (WorkerID.random(), names(1000))
        let first = try await round(stage, worker, wanted: all)
        #expect(first.granted.count == 1000 && first.waits == [:])
        let ended = all.enumerated().map { number, name in
            let rest = Duration.seconds(60 + number)
            return number % 2 == 0
                ? HintReading(name, .read, position: "\(number)", rest: rest)
                : HintReading(
                    name, .failed(Problem(.unreachable, "time-out"), failures: number),
                    position: nil, rest: rest)
        }
        let second = try await round(stage, worker, wanted: all, ended: ended)
        #expect(second.granted == [:])
        #expect(try #require(second.waits[all[999]]) > .seconds(1000))
        try await stage.beside.script("UPDATE renewald.hint_source SET pull_at = now()")
        let third = try await round(stage, worker, wanted: all)
        #expect(third.granted[all[10]] == HintCursor(position: "10", failures: 0))
        #expect(third.granted[all[11]] == HintCursor(position: nil, failures: 11))
        #expect(
            try await stage.list(
                """
                SELECT count(pulled_at) || ' ' || count(problem) FROM renewald.hint_source
                """) == ["500 500"])
    }

    /// What its calls of a day were used up for is waited for, also by a pass: others it reads early.
    @Test func whatIsLimitedIsReadALittleBeforeItIsDueAtMost() async throws {
        let stage = try await Stage()
        let (worker, all) = (WorkerID.random(), names(3))
        _ = try await round(stage, worker, wanted: all)
        var pass = HintRound(lease: lease)
        pass.ended = zip(all, [900, 900, 300]).map { name, rest in
            HintReading(name, .read, rest: .seconds(rest))
        }
        (pass.wanted, pass.isEarly, pass.limited) = (all, true, [all[1], all[2]])
        let turns = try await stage.ledger.hintRound(pass, by: worker)
        #expect(turns.granted.keys.sorted() == [all[0], all[2]])
        #expect(try #require(turns.early[all[0]]) > .seconds(800))
        #expect(try #require(turns.early[all[2]]) > .seconds(200))
        #expect(try #require(turns.waits[all[1]]) > .seconds(800))
        #expect(try await round(stage, .random(), wanted: [all[1]]).granted == [:])
    }

    /// The calls of a reading whose process has died were stored with its pages: the next pass, and
    /// a daemon, wait for what they have used up.
    @Test func whatADeadReaderHasUsedUpStillCounts() async throws {
        let stage = try await Stage()
        let (dead, heir, all) = (WorkerID.random(), WorkerID.random(), names(3))
        let granted = try await round(stage, dead, wanted: all)
        for (name, rest) in zip(all, [Duration.seconds(900), .seconds(300), nil]) {
            let hints = [Hint(id: "1", subject: .token("token"))]
            var delivery = HintDelivery(
                HintPage(hints: hints, position: "here", hasMore: true), from: name,
                about: AppKey(store: .google, id: "com.example.1"), by: dead, lease: lease,
                began: granted.now)
            delivery.rest = rest
            #expect(try await stage.ledger.take(delivery) != nil)
        }
        // It reads on meanwhile.
        #expect(try await round(stage, dead, kept: all).lost == [])
        try await stage.beside.script("UPDATE renewald.hint_source SET lease_until = now()")
        #expect(try await round(stage, heir, wanted: all).granted.keys.sorted() == [all[2]])
        var pass = HintRound(lease: lease)
        (pass.wanted, pass.isEarly, pass.limited) = (all, true, [all[0], all[1]])
        let turns = try await stage.ledger.hintRound(pass, by: heir)
        #expect(turns.granted[all[1]] == HintCursor(position: "here", failures: 0))
        #expect(try #require(turns.early[all[1]]) > .seconds(200))
        #expect(turns.granted[all[0]] == nil)
        #expect(try #require(turns.waits[all[0]]) > .seconds(800))
    }

    /// What was cut short keeps what is known of it, and is free at once.
    @Test func whatWasLeftStaysAsItWas() async throws {
        let stage = try await Stage()
        let (worker, all) = (WorkerID.random(), names(1))
        _ = try await round(stage, worker, wanted: all)
        _ = try await round(
            stage, worker,
            ended: [
                HintReading(
                    all[0], .failed(Problem(.refused, "status 403"), failures: 4),
                    position: "here", rest: .zero)
            ])
        _ = try await round(stage, worker, wanted: all)
        _ = try await round(stage, worker, ended: [HintReading(all[0], .left, rest: .zero)])
        let next = try await round(stage, .random(), wanted: all)
        #expect(next.granted == [all[0]: HintCursor(position: "here", failures: 4)])
        #expect(
            try await stage.list("SELECT problem FROM renewald.hint_source")
                == ["refused: status 403"])
    }

    /// Dead, or too slow: its sources are another's when the lease is over, and what it says then
    /// is not heard.
    @Test func aLeaseThatIsOverIsTakenOver() async throws {
        let stage = try await Stage()
        let (dead, heir, all) = (WorkerID.random(), WorkerID.random(), names(3))
        _ = try await round(stage, dead, wanted: all, lease: .seconds(3))
        let early = try await round(stage, heir, wanted: all)
        #expect(early.granted == [:])
        #expect(early.waits.values.allSatisfy { $0 > .seconds(1) && $0 <= .seconds(3) })
        try await stage.beside.script(
            "UPDATE renewald.hint_source SET lease_until = lease_until - interval '3 s'")
        // One is kept in time.
        #expect(try await round(stage, dead, kept: [all[0]]).lost == [])
        let taken = try await round(stage, heir, wanted: all)
        #expect(taken.granted.keys.sorted() == Array(all[1...]))
        let before = try await stage.list("SELECT hint_source::text FROM renewald.hint_source")
        let late = try await round(
            stage, dead, kept: [all[1]],
            ended: [HintReading(all[2], .read, position: "stale", rest: .zero)])
        #expect(late.lost == [all[1]])
        #expect(
            try await stage.list("SELECT hint_source::text FROM renewald.hint_source") == before)
    }

    /// They rest until a time that has become far, and seem to have been read in the future.
    @Test func aRestEndsWhenTheClockIsSetBack() async throws {
        let stage = try await Stage()
        let (worker, all) = (WorkerID.random(), names(3))
        _ = try await round(stage, worker, wanted: all)
        let failed = HintReading(
            all[1], .failed(Problem(.unreachable, "time-out"), failures: 9), position: nil,
            rest: .minutes(15))
        let read = HintReading(all[0], .read, position: "here", rest: .minutes(5))
        _ = try await round(stage, worker, ended: [read, failed])
        #expect(try await round(stage, worker, wanted: all).granted.keys.sorted() == [all[2]])
        try await stage.beside.script(
            """
            UPDATE renewald.hint_source SET pull_at = pull_at + interval '2 hours',
                pulled_at = pulled_at + interval '2 hours'
            """)
        let granted = try await round(stage, worker, wanted: all).granted
        #expect(granted.keys.sorted() == all)
        #expect(granted[all[0]]?.position == "here")
        // A failure now is none of the future: it rests.
        let again = HintReading(
            all[0], .failed(Problem(.unreachable, "time-out"), failures: 1), position: nil,
            rest: .minutes(1))
        let rested = try await round(stage, worker, wanted: [all[0]], ended: [again, failed])
        #expect(rested.granted == [:])
        #expect(try #require(rested.waits[all[0]]) <= .minutes(1))
        // By an hour: what was read is due, what has failed rests an hour longer at most.
        _ = try await round(stage, worker, ended: [HintReading(all[2], .read, rest: .minutes(5))])
        try await stage.beside.script(
            """
            UPDATE renewald.hint_source SET pull_at = pull_at + interval '40 minutes',
                pulled_at = pulled_at + interval '40 minutes'
            """)
        let set = try await round(stage, worker, wanted: all)
        #expect(set.granted.keys.sorted().contains(all[2]))
    }

    /// Also who has not heard the answer, as the connection was lost: the sources are its own.
    @Test func whoAsksAgainGetsWhatItWasGiven() async throws {
        let stage = try await Stage()
        let (worker, all) = (WorkerID.random(), names(2))
        for _ in 0..<2 {
            #expect(try await round(stage, worker, wanted: all).granted.count == 2)
        }
        #expect(try await round(stage, .random(), wanted: all).granted == [:])
    }

    /// Two that want the same, in opposite order, over and over.
    @Test func workersThatRaceGetEachSourceOnce() async throws {
        let stage = try await Stage()
        let all = names(300)
        let ledgers = (0..<3).map { _ in stage.furtherLedger() }
        for _ in 0..<10 {
            let granted = try await withThrowingTaskGroup(of: [SourceID].self) { group in
                for (number, ledger) in ledgers.enumerated() {
                    group.addTask {
                        let worker = WorkerID.random()
                        var wish = HintRound(lease: .seconds(600))
                        wish.wanted = number == 0 ? all : all.reversed()
                        let turns = try await ledger.hintRound(wish, by: worker)
                        return Array(turns.granted.keys)
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(granted.sorted() == all)
            try await stage.beside.script(
                "UPDATE renewald.hint_source SET lease_until = 'epoch', owner = NULL")
        }
        for ledger in ledgers { await ledger.close() }
    }

    /// What another has costs a look, and no row is written or locked for it.
    @Test func askingForWhatAnotherHasWritesNothing() async throws {
        let stage = try await Stage()
        let all = names(20)
        _ = try await round(stage, .random(), wanted: all)
        let rows = "SELECT xmin || ' ' || xmax || ' ' || ctid FROM renewald.hint_source ORDER BY 1"
        let before = try await stage.list(rows)
        #expect(try await round(stage, .random(), wanted: all).waits.count == 20)
        #expect(try await stage.list(rows) == before)
    }
}
