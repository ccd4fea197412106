import Renewal
import Synchronization
import Testing

@testable import Engine

private func page(
    _ count: Int, _ position: String? = nil, receipts: [String] = [], hasMore: Bool = false
) -> Result<HintPage, StoreFailure> {
    let hints = (0..<count).map { Hint(id: "\($0)", subject: .token("token \($0)")) }
    return .success(
        HintPage(hints: hints, position: position, receipts: receipts, hasMore: hasMore))
}

@Suite(.timeLimit(.minutes(2))) struct HintSupervisorTests {
    @Test func givesReceiptsBackOnlyWhenTheMarksAreStored() async throws {
        let (news, world) = (News(), World())
        news.state.withLock {
            $0.pages = [page(2, receipts: ["a"], hasMore: true), page(1, receipts: ["b", "c"])]
        }
        let engine = RenewalEngine(quickSettings(), news.services(world), log: quiet)
        try await engine.run(.onePass(limit: nil))
        #expect(
            news.done == [
                "begin early", "pull -", "take 2", "acknowledge a", "pull -", "take 1",
                "acknowledge b,c", "end read",
            ])
    }

    @Test func acknowledgesNothingThatCouldNotBeStored() async throws {
        let (news, world) = (News(), World())
        news.state.withLock {
            $0.pages = [page(2, receipts: ["a"])]
            $0.isShut = true
        }
        let engine = RenewalEngine(quickSettings(), news.services(world), log: quiet)
        try await engine.run(.onePass(limit: nil))
        #expect(news.done == ["begin early", "pull -", "end left"])
    }

    /// Stored before it is given back, also where a page has nothing else; and each type is told
    /// once, those that are known to be of no use never.
    @Test func recordsWhatNobodyHandlesBeforeItAcknowledges() async throws {
        let (news, world) = (News(), World())
        func page(_ type: String, isExpected: Bool, receipt: String) -> HintPage {
            var page = HintPage(hints: [], receipts: [receipt], hasMore: true)
            page.unhandled = [
                UnhandledNews(id: NewsID(receipt), type: type, isExpected: isExpected)
            ]
            return page
        }
        news.state.withLock {
            $0.pages = [
                .success(page("DREAM", isExpected: false, receipt: "a")),
                .success(page("TEST", isExpected: true, receipt: "b")),
                .success(page("DREAM", isExpected: false, receipt: "c")),
                .success(page("unreadable", isExpected: false, receipt: "d")),
            ]
        }
        let engine = RenewalEngine(quickSettings(), news.services(world), log: news.log)
        try await engine.run(.onePass(limit: nil))
        #expect(
            news.done.filter { $0.hasPrefix("take") || $0.hasPrefix("ack") } == [
                "take 0", "acknowledge a", "take 0", "acknowledge b", "take 0", "acknowledge c",
                "take 0", "acknowledge d",
            ])
        let told = news.state.withLock { state in
            zip(state.topics, state.lines).filter { $0.0 == "news_unhandled" }.map(\.1)
        }
        #expect(told.count == 1 && told[0].contains("DREAM"))
    }

    @Test func onePassReadsHintsBeforeItClaims() async throws {
        let (news, world) = (News(), World())
        news.state.withLock { $0.pages = [page(1)] }
        var services = news.services(world)
        services.hintStore = SpyHintStore(base: news) { delivery throws(LedgerError) in
            // What a hint has made due is part of the same pass.
            #expect(world.state.count(.claim) == 0)
            world.add(3)
            return try await news.take(delivery)
        }
        let engine = RenewalEngine(quickSettings(), services, log: quiet)
        #expect(try await engine.run(.onePass(limit: nil)).checked == 3)
    }

    @Test func goesOnFromWhereThePageEnded() async throws {
        let (news, world) = (News(), World())
        news.state.withLock {
            $0.position = "1"
            $0.pages = [page(1, "2", hasMore: true), page(1, "3")]
        }
        let engine = RenewalEngine(quickSettings(), news.services(world), log: quiet)
        try await engine.run(.onePass(limit: nil))
        #expect(news.done.filter { $0.hasPrefix("pull") } == ["pull 1", "pull 2"])
        #expect(news.state.withLock(\.position) == "3")
    }

    /// Reads the source so often, one reading after the other.
    private func read(
        _ news: News, times: Int, budget: CallBudget? = nil, early: Duration = .zero
    ) async -> [HintReading] {
        let context = RunContext(
            .forever, LiveSettings(quickSettings(), Heartbeat()),
            World().services { inForce($0) }, log: quiet)
        let reader = HintReader(
            context: context, store: news, telling: HintTelling(news.log),
            permit: { _ in .free }, woken: { _ in })
        var readings: [HintReading] = []
        for _ in 0..<times {
            var failures = 0
            if case .failed(_, let count) = readings.last?.outcome { failures = count }
            var start = HintWatch.Start(
                source: news.source().name,
                place: HintCursor(position: nil, failures: failures), now: .never,
                toldAt: .now)
            start.early = early
            readings.append(await reader.read(news.source(budget: budget), start))
        }
        return readings
    }

    @Test func aFailureAndItsEndAreToldOnceEach() async throws {
        let news = News()
        news.state.withLock {
            $0.pages = Array(repeating: .failure(.unreachable(reason: "time-out")), count: 2)
        }
        let readings = await read(news, times: 5)
        let lines = news.state.withLock(\.lines)
        #expect(lines.count == 2, "\(lines)")
        #expect(lines.first?.contains("retrying with backoff") == true)
        #expect(lines.last?.contains("read again") == true)
        #expect(news.state.withLock(\.topics) == ["hints_wait", "hints_go_on"])
        #expect(readings.map(\.outcome.word) == ["failed 1", "failed 2", "read", "read", "read"])
        #expect(readings.prefix(2).allSatisfy { $0.rest >= .seconds(5) })
        #expect(readings.dropFirst(2).allSatisfy { $0.rest == .milliseconds(5) })
    }

    @Test func waitsAsLongAsTheSourceAsks() async throws {
        let news = News()
        news.state.withLock { $0.pages = [.failure(.throttled(retryAfter: .seconds(7200)))] }
        #expect(await read(news, times: 1).map(\.rest) == [.seconds(7200)])
    }

    /// Google's list of refunds is limited beside the app's calls: by the second, and by the day.
    @Test func keepsWithinTheBudgetOfASource() async throws {
        let news = News()
        news.state.withLock {
            $0.pages = [page(1, hasMore: true), page(1, hasMore: true), page(1), page(0)]
        }
        let budget = CallBudget(apart: .milliseconds(40), callsPerDay: 4800)
        let began = ContinuousClock.now
        let readings = await read(news, times: 2, budget: budget)
        #expect(ContinuousClock.now - began >= budget.apart * 2)
        #expect(readings.map(\.rest) == [.seconds(54), .seconds(18)])
        #expect(readings.map(\.outcome) == [.read, .read])
    }

    /// Passes one after the other have one budget: what an earlier one has used up still counts.
    @Test func addsItsCallsToThoseOfAnEarlierPass() async throws {
        let news = News()
        news.state.withLock { $0.pages = [page(1, hasMore: true), page(1)] }
        let budget = CallBudget(apart: .zero, callsPerDay: 4800)
        let readings = await read(news, times: 1, budget: budget, early: .seconds(100))
        #expect(readings.map(\.rest) == [.seconds(136)])
        let free = News()
        free.state.withLock { $0.pages = [page(1)] }
        let others = await read(free, times: 1, early: .seconds(100))
        #expect(others.map(\.rest) == [.milliseconds(5)])
    }

    /// Calls that fail, or whose page the database does not take, are calls as well.
    @Test func countsCallsThatBringNothing() async throws {
        let budget = CallBudget(apart: .zero, callsPerDay: 48)
        let failing = News()
        failing.state.withLock {
            $0.pages = [page(1, hasMore: true), .failure(.unreachable(reason: "time-out"))]
        }
        let failed = await read(failing, times: 1, budget: budget)
        #expect(failed.map(\.outcome.word) == ["failed 1"])
        #expect(failed.map(\.rest) == [.minutes(60)])

        let refused = News()
        refused.state.withLock {
            $0.pages = [page(1)]
            $0.isShut = true
        }
        let left = await read(refused, times: 1, budget: budget)
        #expect(left.map(\.outcome) == [.left])
        #expect(left.map(\.rest) == [.minutes(30)])
    }

    /// A page that brought nothing costs no transaction of its own.
    @Test func tellsThePlaceOfAQuietPageWithOthers() async throws {
        let news = News()
        news.state.withLock { $0.pages = [page(0, "7"), page(1, "8"), page(0, hasMore: true)] }
        let readings = await read(news, times: 3)
        #expect(readings.map(\.position) == ["7", nil, nil])
        #expect(readings.map(\.outcome) == [.read, .read, .read])
        #expect(news.done == ["pull -", "pull -", "take 1", "pull -", "take 0", "pull -"])
    }

    /// A source may be read in a part: that part is stored, and the reading has failed.
    @Test(arguments: [(0, ["7"]), (1, [nil])])
    func failsWithAPageOfWhichAPartCouldNotBeRead(_ count: Int, told: [String?]) async throws {
        let news = News()
        guard case .success(var partly) = page(count, "7", hasMore: count > 0) else { return }
        partly.failure = .unreachable(reason: "time-out")
        news.state.withLock { $0.pages = [.success(partly), page(1)] }
        let readings = await read(news, times: 1)
        #expect(readings.map(\.outcome.word) == ["failed 1"])
        #expect(readings.map(\.position) == told)
        #expect(news.done == (count == 0 ? ["pull -"] : ["pull -", "take 1"]))
    }

    @Test func leavesASourceThatAnotherWorkerReads() async throws {
        let (news, world) = (News(), World())
        news.state.withLock { $0.isHeldByAnother = true }
        let engine = RenewalEngine(quickSettings(), news.services(world), log: quiet)
        try await engine.run(.onePass(limit: nil))
        #expect(news.done == ["begin early"])
    }

    @Test func readsAgainAndAgainAndStopsWithTheEngine() async throws {
        let (news, world) = (News(), World())
        try await running(
            world, quickSettings(), services: news.services(world), ask: { inForce($0) }
        ) {
            for _ in 0..<3 { await news.ended.wait(upTo: .seconds(60)) }
        }
        #expect(news.done.filter { $0 == "begin" }.count >= 3)
    }

    /// A source that waits for news holds up no stop, and is free for the next one at once.
    @Test func aStopCutsAPullShortAndLetsGo() async throws {
        let (news, world) = (News(), World())
        var services = news.services(world)
        let gate = Gate()
        let pulling = AsyncEvent()
        services.changeStores {
            $0.hintSources = [
                HintSource(
                    name: "news", app: AppKey(store: .google, id: "com.example.1"),
                    endpoint: "google", interval: .seconds(1),
                    pull: { _, _, _ throws(StoreFailure) in
                        pulling.signal()
                        await gate.pass()
                        throw .unreachable(reason: "cancelled")
                    })
            ]
        }
        try await running(world, quickSettings(), services: services, ask: { inForce($0) }) {
            await pulling.wait(upTo: .seconds(60))
        }
        #expect(!gate.isOpen)
        #expect(news.done == ["begin", "end left"])
        #expect(news.state.withLock(\.rests) == [.zero])
    }

    @Test func readsOnlyTheStoresThatAreWanted() async throws {
        let (news, world) = (News(), World())
        var settings = quickSettings()
        settings.stores = [.apple]
        let engine = RenewalEngine(settings, news.services(world), log: quiet)
        try await engine.run(.onePass(limit: nil))
        #expect(news.done == [])
    }

    /// The first waits for news, the second gives some: each is known by its pulls.
    @Test func readsTheSourcesThatAReloadHasLeft() async throws {
        let (news, world) = (News(), World())
        var services = news.services(world)
        let (pulling, gate) = (AsyncEvent(), Gate())
        services.changeStores { $0.hintSources = [stuck("old", pulling, gate)] }
        let engine = RenewalEngine(quickSettings(), services, log: news.log)
        try await engine.run {
            await pulling.wait(upTo: .seconds(60))
            await engine.adapt(to: quickSettings(), hints: [news.source("new")])
            while !news.done.contains("end read") {
                try Task.checkCancellation()
                await news.ended.wait(upTo: .seconds(60))
            }
            // A reload that changes nothing is not told.
            await engine.adapt(to: quickSettings(), hints: [news.source("new")])
        }
        #expect(!gate.isOpen)
        #expect(
            news.state.withLock(\.lines) == ["sources of news changed: + new, - old"])
        #expect(news.state.withLock(\.topics) == ["hint_sources_changed"])
    }

    @Test func tellsOnceWhatCannotBeRead() async throws {
        let news = News()
        let bad = Result<HintPage, StoreFailure>.success(HintPage(hints: [], skipped: 3))
        news.state.withLock { $0.pages = [bad, bad, page(1), bad] }
        _ = await read(news, times: 4)
        #expect(news.state.withLock(\.topics) == ["hints_skipped", "hints_skipped"])
        #expect(news.state.withLock(\.lines).first?.contains("voided: skipped 3") == true)
    }

    @Test func aPullThatDoesNotEndIsOverdue() async throws {
        let (news, world, heartbeat) = (News(), World(), Heartbeat())
        var services = news.services(world)
        let (pulling, gate) = (AsyncEvent(), Gate())
        services.changeStores { $0.hintSources = [stuck("news", pulling, gate)] }
        var settings = quickSettings()
        settings.stallLimit = .seconds(1000)
        let engine = RenewalEngine(settings, services, log: quiet, heartbeat: heartbeat)
        try await engine.run {
            await pulling.wait(upTo: .seconds(60))
            let part = Heartbeat.Part.hints("news")
            #expect(!heartbeat.overdue(at: .now + .seconds(900)).contains(part))
            #expect(heartbeat.overdue(at: .now + .seconds(1100)).contains(part))
            // The limit of a reload holds from the next step on.
            var patient = quickSettings()
            patient.stallLimit = .seconds(5000)
            await engine.adapt(to: patient)
            gate.open()
            while heartbeat.overdue(at: .now + .seconds(4000)).contains(part) {
                try Task.checkCancellation()
                await news.ended.wait(upTo: .seconds(60))
            }
        }
        #expect(heartbeat.overdue(at: .now + .seconds(86_400)).isEmpty)
    }

    /// Where the store has asked for no calls, a pull may wait for hours.
    @Test func aPullThatWaitsForItsTurnToCallIsNotStuck() async {
        let heartbeat = Heartbeat()
        let part = Heartbeat.Part.hints("news")
        func isMissed() -> Bool { heartbeat.overdue(at: .now + .seconds(86_400)).contains(part) }
        heartbeat.expect(part, within: .seconds(60))
        #expect(isMissed())
        await heartbeat.pausing(part, within: .seconds(60)) { #expect(!isMissed()) }
        #expect(isMissed())
    }

    /// One that never answers, and one that does.
    @Test func aSourceThatHangsHoldsUpNoOther() async throws {
        let (news, world) = (News(), World())
        var services = news.services(world)
        let (pulling, gate) = (AsyncEvent(), Gate())
        services.changeStores {
            $0.hintSources = [stuck("stuck", pulling, gate), news.source("well")]
        }
        try await running(world, quickSettings(), services: services, ask: { inForce($0) }) {
            await pulling.wait(upTo: .seconds(60))
            while news.done.count(where: { $0 == "end read" }) < 3 {
                try Task.checkCancellation()
                await news.ended.wait(upTo: .seconds(60))
            }
        }
        #expect(!gate.isOpen)
    }

    /// Also without `NOTIFY`, and long before the next poll.
    @Test func whatNewsHasMadeDueIsAskedAboutAtOnce() async throws {
        let (news, world) = (News(), World())
        news.state.withLock { $0.pages = [page(1)] }
        var settings = quickSettings()
        settings.poll = .seconds(3600)
        var services = news.services(world)
        let looked = AsyncEvent()
        services.spy { $0.atHeads = { looked.signal() } }
        services.hintStore = SpyHintStore(base: news) { delivery throws(LedgerError) in
            await looked.wait(upTo: .seconds(60))
            world.add(1)
            _ = try await news.take(delivery)
            return HintReport(fresh: 1, woken: 1, unclaimed: 0)
        }
        try await running(world, settings, services: services, ask: { inForce($0) }) {
            await world.wait { $0.committed.count == 1 }
        }
    }

    private func stuck(_ name: SourceID, _ pulling: AsyncEvent, _ gate: Gate) -> HintSource {
        HintSource(
            name: name, app: AppKey(store: .google, id: "com.example.1"),
            endpoint: "google", interval: .milliseconds(5), patience: .zero,
            pull: { _, _, _ throws(StoreFailure) in
                pulling.signal()
                await gate.pass()
                return HintPage(hints: [])
            })
    }
}
