import Ledger
import Postgres
import Renewal
import Synchronization
import TestSupport
import Testing

@testable import Engine

/// Calls that nothing due needs are spent on what is not due.
@Suite(.serialized, .timeLimit(.minutes(3))) struct SweeperTests {
    private static let app = AppKey(store: .google, id: "com.example.reader")

    /// A house with purchases that were asked about six days ago, and are due tomorrow.
    private func house(_ count: Int) async throws -> House {
        let house = try await House()
        try await house.fill(count)
        let ledger = house.newLedger()
        _ = try await RenewalEngine(quickSettings(), house.services(ledger), log: quiet).run(
            .onePass(limit: nil))
        await ledger.close()
        try await house.beside.script(
            """
            UPDATE renewald.schedule
            SET due_at = now() + interval '1 day', checked_at = now() - interval '6 days'
            """)
        return house
    }

    private func run(
        _ house: House, share: Double, observer: any EngineObserver = SilentObserver(),
        heartbeat: Heartbeat = Heartbeat(),
        _ change: (inout EngineServices) -> Void = { _ in },
        while body: @escaping @Sendable () async throws -> Void
    ) async throws {
        var settings = quickSettings()
        settings.callsPerSecond[Self.app] = 400
        settings.sweepShare = share
        let ledger = house.newLedger()
        var services = house.services(ledger)
        services.sweepStore = ledger
        services.observer = observer
        change(&services)
        try await RenewalEngine(settings, services, log: quiet, heartbeat: heartbeat)
            .run(while: body)
        await ledger.close()
    }

    private final class Listener: EngineObserver {
        let swept = Mutex(0)
        func committed(_ report: CommitReport) {}
        func told(_ notices: [RefundNotice]) {}
        func circuitMoved(of app: AppKey, to circuit: StoreCircuit) {}
        func paceMoved(of app: AppKey, to share: Double) {}
        func swept(_ app: AppKey, _ count: Int, every interval: Duration) {
            swept.withLock { $0 += count }
        }
    }

    @Test func asksAboutWhatIsNotDue() async throws {
        let house = try await house(60)
        let listener = Listener()
        try await run(house, share: 1, observer: listener) {
            try await house.wait(
                untilThereAre: """
                    SELECT FROM renewald.schedule
                    HAVING min(checked_at) > now() - interval '1 hour'
                    """)
        }
        let asked = house.asked.withLock { $0 }
        #expect(asked.count == 60)
        // Once to begin with, and once by the sweep.
        #expect(asked.values.allSatisfy { $0 == 2 })
        #expect(listener.swept.withLock { $0 } == 60)
        #expect(
            try await house.number(
                "SELECT count(*) FROM renewald.schedule WHERE due_at > now() + interval '5 days'")
                == 60)
    }

    @Test func asksAboutNothingWithoutAShare() async throws {
        let house = try await house(20)
        try await run(house, share: 0) {
            // What is due is asked about all the same.
            for number in 21...25 {
                try await house.fill(1, from: number)
                try await house.wait(
                    untilThereAre: """
                        SELECT FROM renewald.schedule WHERE id = \(number) AND checked_at IS NOT NULL
                        """)
            }
        }
        #expect(house.asked.withLock { $0.values.reduce(0, +) } == 25)
    }

    /// One pass has no sweep, and where a sweep has no calls nothing else looks at what is not due.
    @Test(arguments: [RunMode.onePass(limit: nil), .forever])
    func asksAtOnceAboutWhatWasAskedInTheFuture(_ mode: RunMode) async throws {
        let house = try await house(5)
        try await house.beside.script(
            """
            UPDATE renewald.schedule
            SET checked_at = now() + interval '60 days', due_at = now() + interval '61 days'
            WHERE id <= 3
            """)
        if mode == .forever {
            try await run(house, share: 0) {
                try await house.wait(
                    untilThereAre: """
                        SELECT FROM renewald.schedule HAVING max(checked_at) <= now()
                        """)
            }
        } else {
            let ledger = house.newLedger()
            var services = house.services(ledger)
            services.sweepStore = ledger
            let report = try await RenewalEngine(quickSettings(), services, log: quiet).run(mode)
            #expect(report.checked == 3)
            await ledger.close()
        }
        #expect(house.asked.withLock { $0.values.reduce(0, +) } == 5 + 3)
    }

    /// It may rest for longer than a step may take.
    @Test func isNotStuckWhileItRests() async throws {
        let house = try await house(5)
        let heartbeat = Heartbeat()
        let (steps, teller) = AsyncStream.makeStream(of: SweepStep.self)
        try await run(house, share: 1, heartbeat: heartbeat) {
            guard let store = $0.sweepStore else { return }
            $0.sweepStore = SpySweepStore(base: store) { teller.yield($0) }
        } while: {
            for await _ in steps.prefix(1) {}
            while heartbeat.overdue(at: .now + .hours(1)).contains(.sweep) {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    /// Each shard is one worker's, the calls are everybody's.
    @Test func takesNothingWhileAnotherWorkerIsBehind() async throws {
        let house = try await house(40)
        try await house.beside.script(
            """
            UPDATE renewald.schedule SET due_at = now() - interval '1 minute' WHERE id = 1;
            UPDATE renewald.shard
            SET owner = gen_random_uuid(), lease_until = now() + interval '1 hour'
            WHERE shard = (SELECT shard FROM renewald.schedule WHERE id = 1)
            """)
        let (steps, teller) = AsyncStream.makeStream(of: SweepStep.self)
        try await run(house, share: 1) {
            guard let store = $0.sweepStore else { return }
            $0.sweepStore = SpySweepStore(base: store) { teller.yield($0) }
        } while: {
            for await step in steps.prefix(1) { #expect(step == .behind) }
        }
        #expect(
            try await house.number(
                "SELECT count(*) FROM renewald.schedule WHERE due_at <= now()") == 1)
    }
}

private struct SpySweepStore: SweepStore {
    let base: any SweepStore
    let tell: @Sendable (SweepStep) -> Void

    func sweep(_ request: SweepRequest) async throws(LedgerError) -> SweepStep {
        let step = try await base.sweep(request)
        tell(step)
        return step
    }

    func recall(_ lanes: [Lane]) async throws(LedgerError) -> Int {
        try await base.recall(lanes)
    }
}
