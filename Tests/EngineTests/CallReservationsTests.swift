import Renewal
import Synchronization
import Testing

@testable import Engine

@Suite(.serialized, .timeLimit(.minutes(2))) struct CallReservationsTests {
    /// A desk, and the transactions that it has made.
    private final class Office: Sendable {
        let desk: CallReservations
        private let made = Mutex<[[BucketID]]>([])
        let began = AsyncEvent()

        /// - Parameters:
        ///   - mode: of the run.
        ///   - during: what happens within each transaction, by its number from 1 on.
        init(
            _ mode: RunMode = .forever,
            during: @escaping @Sendable (Int) async throws(LedgerError) -> Void = { _ in }
        ) {
            let hook = Mutex<(@Sendable ([CallRequest]) async throws(LedgerError) -> Void)?>(nil)
            var ledger = SpyLedger(World())
            ledger.atReservations = { requests throws(LedgerError) in
                try await hook.withLock { $0 }?(requests)
            }
            desk = CallReservations(ledger, patience: mode.callPatience)
            hook.withLock { hook in
                hook = { requests throws(LedgerError) in
                    let number = self.made.withLock { made in
                        made.append(requests.map(\.bucket))
                        return made.count
                    }
                    self.began.signal()
                    try await during(number)
                }
            }
        }

        var transactions: [[BucketID]] { made.withLock { $0 } }

        func ask(_ bucket: BucketID, hasTime: Bool = false) async throws(LedgerError) {
            let request = CallRequest(.milliseconds(10), of: bucket, within: .milliseconds(100))
            _ = try await desk.reserve(request, hasTime: hasTime)
        }

        func waits(for count: Int) async {
            while await desk.waiting < count { await Task.yield() }
        }
    }

    @Test func aThousandAppsWaitForTwoTransactionsAndNotForAThousand() async throws {
        let gate = Gate()
        let office = Office { number in if number == 1 { await gate.pass() } }
        try await withThrowingTaskGroup { group in
            group.addTask { try await office.ask("first") }
            await office.began.wait(upTo: .seconds(60))
            for number in 0..<1000 {
                group.addTask { try await office.ask(BucketID("app \(number)")) }
            }
            await office.waits(for: 1000)
            gate.open()
            try await group.waitForAll()
        }
        #expect(office.transactions.map(\.count) == [1, 500, 500])
        #expect(Set(office.transactions.joined()).count == 1001)
    }

    @Test func ofEachBucketATransactionTakesOneStretch() async throws {
        let gate = Gate()
        let office = Office { number in if number == 1 { await gate.pass() } }
        try await withThrowingTaskGroup { group in
            group.addTask { try await office.ask("first") }
            await office.began.wait(upTo: .seconds(60))
            for bucket in ["one", "two", "one", "one"] {
                let waiting = await office.desk.waiting
                group.addTask { try await office.ask(BucketID(bucket)) }
                await office.waits(for: waiting + 1)
            }
            gate.open()
            try await group.waitForAll()
        }
        #expect(office.transactions == [["first"], ["one", "two"], ["one"], ["one"]])
    }

    @Test func whoHasTimeGoesWithTheNextThatHasNone() async throws {
        let office = Office()
        try await withThrowingTaskGroup { group in
            group.addTask { try await office.ask("news", hasTime: true) }
            await office.waits(for: 1)
            group.addTask { try await office.ask("more news", hasTime: true) }
            await office.waits(for: 2)
            group.addTask { try await office.ask("queue") }
            try await group.waitForAll()
        }
        #expect(office.transactions == [["news", "more news", "queue"]])
    }

    @Test func whoHasTimeIsServedWhereNobodyElseComes() async throws {
        let office = Office()
        try await office.ask("news", hasTime: true)
        #expect(office.transactions == [["news"]])
    }

    /// Somebody waits for the end of a pass: its news waits for nobody.
    @Test func aPassWaitsForNobody() async throws {
        let office = Office(.onePass(limit: nil))
        let gate = Gate()
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await office.ask("news", hasTime: true)
                gate.open()
            }
            group.addTask {
                await gate.pass()
                try await office.ask("queue")
            }
            try await group.waitForAll()
        }
        #expect(office.transactions == [["news"], ["queue"]])
        #expect(RunMode.onePass(limit: nil).callPatience == .zero)
    }

    /// A backlog of news is read page by page: only its first call waits for others.
    @Test func aSeriesOfCallsIsNotHeldUp() async throws {
        let office = Office()
        try await office.ask("news")
        try await withThrowingTaskGroup { group in
            group.addTask { try await office.ask("other", hasTime: true) }
            await office.waits(for: 1)
            try await office.ask("news", hasTime: true)
            try await group.waitForAll()
        }
        #expect(office.transactions == [["news"], ["other", "news"]])
    }

    /// Whoever leads may be cut short: what the others asked for is asked again.
    @Test func aCancelledLeaderFailsNobodyElse() async throws {
        let office = Office { number throws(LedgerError) in
            guard number == 2 else { return }
            while !Task.isCancelled { await Task.yield() }
            throw .cancelled
        }
        let gate = Gate()
        let first = Task { try await office.ask("first") }
        await office.began.wait(upTo: .seconds(60))
        _ = try await first.value
        let leader = Task {
            await gate.pass()
            try await office.ask("leader", hasTime: true)
        }
        gate.open()
        await office.waits(for: 1)
        let other = Task { try await office.ask("other") }
        while office.transactions.count < 2 { await Task.yield() }
        leader.cancel()
        await #expect(throws: LedgerError.cancelled) { try await leader.value }
        try await other.value
        #expect(office.transactions == [["first"], ["leader", "other"], ["other"]])
    }

    @Test func whoIsCancelledBeforeTheirTurnIsLeftOut() async throws {
        let office = Office()
        let leader = Task { try await office.ask("leader", hasTime: true) }
        await office.waits(for: 1)
        let other = Task { try await office.ask("other", hasTime: true) }
        await office.waits(for: 2)
        leader.cancel()
        await #expect(throws: LedgerError.cancelled) { try await leader.value }
        try await other.value
        #expect(office.transactions == [["other"]])
    }

    @Test func aFaultOfTheDatabaseIsToldToAll() async throws {
        let away = LedgerError.unavailable(reason: "away")
        let office = Office { _ throws(LedgerError) in throw away }
        let one = Task { try await office.ask("one", hasTime: true) }
        await office.waits(for: 1)
        await #expect(throws: away) { try await office.ask("two") }
        await #expect(throws: away) { try await one.value }
        #expect(office.transactions == [["one", "two"]])
    }
}
