import Renewal
import Synchronization
import Testing

@testable import Engine

/// Google's list of refunds is limited by the day: each of its calls counts, whatever becomes of
/// the reading.
@Suite(.timeLimit(.minutes(2))) struct HintBudgetTests {
    /// Twenty seconds a call.
    private let budget = CallBudget(apart: .zero, callsPerDay: 4320)

    private enum End: String, CaseIterable {
        case inACall, whileStoring, afterAPage
    }

    /// A long list. Its third call, or what is done with its page, is cut short.
    private func source(_ end: End, _ pulled: @escaping @Sendable () async -> Void) -> HintSource {
        let calls = Mutex(0)
        return HintSource(
            name: "voided", app: AppKey(store: .google, id: "com.example.1"), endpoint: "google",
            interval: .minutes(1), budget: budget,
            pull: { _, _, _ throws(StoreFailure) in
                let isThird = calls.withLock { calls in
                    calls += 1
                    return calls == 3
                }
                if isThird {
                    await pulled()
                    if end == .inACall { throw .unreachable(reason: "cancelled") }
                }
                return HintPage(hints: [Hint(id: "1", subject: .token("token"))], hasMore: true)
            })
    }

    private func read(
        _ source: HintSource, _ store: any HintStore, early: Duration = .zero
    ) async -> HintReading {
        let news = News()
        let context = RunContext(
            .forever, LiveSettings(quickSettings(), Heartbeat()),
            World().services { inForce($0) }, log: quiet)
        let reader = HintReader(
            context: context, store: store, telling: HintTelling(news.log),
            permit: { _ in .free }, woken: { _ in })
        var start = HintWatch.Start(
            source: source.name, place: HintCursor(position: nil, failures: 0), now: .never,
            toldAt: .now)
        start.early = early
        return await Task { [start] in await reader.read(source, start) }.value
    }

    @Test(arguments: [Duration.zero, .seconds(100)])
    func countsTheCallsOfAReadingThatIsCutShort(early: Duration) async throws {
        for end in End.allCases {
            let source = source(end) { withUnsafeCurrentTask { $0?.cancel() } }
            let store = SpyHintStore(base: News()) { delivery throws(LedgerError) in
                if Task.isCancelled, end == .whileStoring { throw .unavailable(reason: "cut") }
                return HintReport(fresh: 1, woken: 0, unclaimed: 0)
            }
            let reading = await read(source, store, early: early)
            #expect(reading.outcome == .left, "\(end)")
            #expect(reading.rest == early + .seconds(60), "\(end)")
        }
    }

    /// Whoever dies tells nothing of its reading.
    @Test func storesWithEachPageWhatTheCallsHaveUsedUp() async throws {
        let rests = Mutex<[Duration?]>([])
        let store = SpyHintStore(base: News()) { delivery throws(LedgerError) in
            rests.withLock { $0.append(delivery.rest) }
            return HintReport(fresh: 1, woken: 0, unclaimed: 0)
        }
        let list = source(.inACall) {}
        let reading = await read(list, store, early: .seconds(100))
        #expect(reading.outcome.word == "failed 1")
        #expect(rests.withLock { $0 } == [.seconds(120), .seconds(140)])
        let news = News()
        news.state.withLock {
            $0.pages = [
                .success(HintPage(hints: [Hint(id: "1", subject: .token("token"))]))
            ]
        }
        let free = SpyHintStore(base: news) { delivery throws(LedgerError) in
            rests.withLock { $0.append(delivery.rest) }
            return HintReport(fresh: 1, woken: 0, unclaimed: 0)
        }
        _ = await read(news.source(), free, early: .seconds(100))
        #expect(rests.withLock { $0.last } == .some(nil))
    }

    /// A pass that is to end, and a daemon, tell it in their last round.
    @Test func aStopTellsTheCallsThatWereMade() async throws {
        let (news, world, pulling) = (News(), World(), AsyncEvent())
        var services = news.services(world)
        let gate = Gate()
        services.changeStores { stores in
            stores.hintSources = [
                source(.inACall) {
                    pulling.signal()
                    await gate.pass()
                }
            ]
        }
        try await running(world, quickSettings(), services: services, ask: { inForce($0) }) {
            await pulling.wait(upTo: .seconds(60))
        }
        #expect(news.done == ["begin", "take 1", "take 1", "end left"])
        let rest = try #require(news.state.withLock { $0.rests.first })
        #expect(rest > .seconds(50) && rest <= .seconds(60))
    }
}
