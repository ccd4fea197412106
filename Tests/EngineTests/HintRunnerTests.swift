import Logging
import Renewal
import Synchronization
import Testing

@testable import Engine

/// The sources of hints, and where hints are stored, as closures.
private final class News: Sendable {
    struct State {
        /// What was done, in order: `begin`, `pull 3`, `take 2`, `acknowledge a`, `end 0`.
        var done: [String] = []
        var position: String?
        var pages: [Result<HintPage, StoreFailure>] = []
        var isHeldByAnother = false
        var isShut = false
        var rests: [Duration] = []
        var lines: [String] = []
        var topics: [String] = []
    }

    let state = Mutex(State())
    let ended = Doorbell()
    private let now = Timestamp(microsecondsSinceEpoch: 1_700_000_000_000_000)

    var done: [String] { state.withLock(\.done) }

    private func note(_ what: String) { state.withLock { $0.done.append(what) } }

    func source(_ name: SourceID = "voided", _ interval: Duration = .milliseconds(5)) -> HintSource
    {
        HintSource(
            name: name, app: AppKey(store: .google, id: "com.example.1"), interval: interval,
            pull: { position, _ throws(StoreFailure) in
                self.note("pull \(position ?? "-")")
                let page = self.state.withLock { state in
                    state.pages.isEmpty ? nil : state.pages.removeFirst()
                }
                return try (page ?? .success(HintPage(hints: []))).get()
            },
            acknowledge: { receipts, _ throws(StoreFailure) in
                self.note("acknowledge \(receipts.joined(separator: ","))")
            })
    }

    var doors: HintDoors {
        HintDoors(
            begin: { _, _, _, isEarly in
                self.note(isEarly ? "begin early" : "begin")
                return self.state.withLock { state in
                    state.isHeldByAnother
                        ? .wait(.milliseconds(5))
                        : .mayPull(position: state.position, failures: 0, now: self.now)
                }
            },
            take: { page, _, _, _, _ throws(LedgerError) in
                guard !self.state.withLock(\.isShut) else {
                    throw .unavailable(reason: "the door is shut")
                }
                self.note("take \(page.hints.count)")
                self.state.withLock { $0.position = page.position ?? $0.position }
                return HintReport(fresh: page.hints.count, woken: 0, unclaimed: 0)
            },
            end: { _, _, rest, failures, _ in
                self.note("end \(failures)")
                self.state.withLock { $0.rests.append(rest) }
                self.ended.ring()
            })
    }

    func ports(_ world: World) -> Ports {
        var ports = world.ports { inForce($0) }
        ports.hints = [source()]
        ports.hintDoors = doors
        return ports
    }

    var log: Logger { Logger(label: "hints") { _ in Lines(news: self) } }

    struct Lines: LogHandler {
        let news: News
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            news.state.withLock {
                $0.lines.append(event.message.description)
                $0.topics.append(event.metadata?[LogField.topic]?.description ?? "-")
            }
        }
    }
}

private func page(
    _ count: Int, _ position: String? = nil, receipts: [String] = [], hasMore: Bool = false
) -> Result<HintPage, StoreFailure> {
    let hints = (0..<count).map { Hint(id: "\($0)", subject: .token("token \($0)")) }
    return .success(
        HintPage(hints: hints, position: position, receipts: receipts, hasMore: hasMore))
}

@Suite(.timeLimit(.minutes(2))) struct HintRunnerTests {
    @Test func givesReceiptsBackOnlyWhenTheMarksAreStored() async throws {
        let (news, world) = (News(), World())
        news.state.withLock {
            $0.pages = [page(2, receipts: ["a"], hasMore: true), page(1, receipts: ["b", "c"])]
        }
        let engine = RenewalEngine(quickSettings(), news.ports(world), log: quiet)
        try await engine.run(.onePass(limit: nil))
        #expect(
            news.done == [
                "begin early", "pull -", "take 2", "acknowledge a", "pull -", "take 1",
                "acknowledge b,c", "end 0",
            ])
    }

    @Test func acknowledgesNothingThatCouldNotBeStored() async throws {
        let (news, world) = (News(), World())
        news.state.withLock {
            $0.pages = [page(2, receipts: ["a"])]
            $0.isShut = true
        }
        let engine = RenewalEngine(quickSettings(), news.ports(world), log: quiet)
        try await engine.run(.onePass(limit: nil))
        #expect(news.done == ["begin early", "pull -"])
    }

    @Test func onePassReadsHintsBeforeItClaims() async throws {
        let (news, world) = (News(), World())
        news.state.withLock { $0.pages = [page(1)] }
        var ports = news.ports(world)
        let store = ports.hintDoors
        ports.hintDoors?.take = { page, source, worker, lease, began throws(LedgerError) in
            // What a hint has made due is part of the same pass.
            #expect(world.state.count(.claim) == 0)
            world.add(3)
            return try await store?.take(page, source, worker, lease, began)
        }
        let engine = RenewalEngine(quickSettings(), ports, log: quiet)
        #expect(try await engine.run(.onePass(limit: nil)).checked == 3)
    }

    @Test func goesOnFromWhereThePageEnded() async throws {
        let (news, world) = (News(), World())
        news.state.withLock {
            $0.position = "1"
            $0.pages = [page(1, "2", hasMore: true), page(1, "3")]
        }
        let engine = RenewalEngine(quickSettings(), news.ports(world), log: quiet)
        try await engine.run(.onePass(limit: nil))
        #expect(news.done.filter { $0.hasPrefix("pull") } == ["pull 1", "pull 2"])
        #expect(news.state.withLock(\.position) == "3")
    }

    @Test func aFailureAndItsEndAreToldOnceEach() async throws {
        let (news, world) = (News(), World())
        news.state.withLock {
            $0.pages = Array(repeating: .failure(.unreachable(reason: "time-out")), count: 2)
        }
        let settings = quickSettings()
        let runner = try #require(
            HintRunner(
                Controls(settings, Heartbeat()), news.ports(world), worker: .random(),
                log: news.log))
        for _ in 0..<5 { await runner.runOnce() }
        let lines = news.state.withLock(\.lines)
        #expect(lines.count == 2, "\(lines)")
        #expect(lines.first?.contains("tried again ever more rarely") == true)
        #expect(lines.last?.contains("read again") == true)
        #expect(news.state.withLock(\.topics) == ["hints_wait", "hints_go_on"])
        let rests = news.state.withLock(\.rests)
        #expect(rests.prefix(2).allSatisfy { $0 >= .seconds(5) })
        #expect(rests.dropFirst(2).allSatisfy { $0 == .milliseconds(5) })
    }

    @Test func waitsAsLongAsTheSourceAsks() async throws {
        let (news, world) = (News(), World())
        news.state.withLock { $0.pages = [.failure(.throttled(retryAfter: .seconds(7200)))] }
        let runner = try #require(
            HintRunner(
                Controls(quickSettings(), Heartbeat()), news.ports(world), worker: .random(),
                log: quiet))
        await runner.runOnce()
        #expect(news.state.withLock(\.rests) == [.seconds(7200)])
    }

    @Test func leavesASourceThatAnotherWorkerReads() async throws {
        let (news, world) = (News(), World())
        news.state.withLock { $0.isHeldByAnother = true }
        let engine = RenewalEngine(quickSettings(), news.ports(world), log: quiet)
        try await engine.run(.onePass(limit: nil))
        #expect(news.done == ["begin early"])
    }

    @Test func readsAgainAndAgainAndStopsWithTheEngine() async throws {
        let (news, world) = (News(), World())
        try await running(
            world, quickSettings(), ports: news.ports(world), ask: { inForce($0) }
        ) {
            for _ in 0..<3 { await news.ended.wait(upTo: .seconds(60)) }
        }
        #expect(news.done.filter { $0 == "begin" }.count >= 3)
    }

    /// A source that waits for news holds up no stop, and is free for the next one at once.
    @Test func aStopCutsAPullShortAndLetsGo() async throws {
        let (news, world) = (News(), World())
        var ports = news.ports(world)
        let gate = Gate()
        let pulling = Doorbell()
        ports.hints = [
            HintSource(
                name: "news", app: AppKey(store: .google, id: "com.example.1"),
                interval: .seconds(1),
                pull: { _, _ throws(StoreFailure) in
                    pulling.ring()
                    await gate.pass()
                    throw .unreachable(reason: "cancelled")
                })
        ]
        try await running(world, quickSettings(), ports: ports, ask: { inForce($0) }) {
            await pulling.wait(upTo: .seconds(60))
        }
        #expect(!gate.isOpen)
        #expect(news.done == ["begin", "end 0"])
        #expect(news.state.withLock(\.rests) == [.zero])
    }

    @Test func readsOnlyTheStoresThatAreWanted() async throws {
        let (news, world) = (News(), World())
        var settings = quickSettings()
        settings.stores = [.apple]
        let engine = RenewalEngine(settings, news.ports(world), log: quiet)
        try await engine.run(.onePass(limit: nil))
        #expect(news.done == [])
    }

    /// The first waits for news, the second gives some: each is known by its pulls.
    @Test func readsTheSourcesThatAReloadHasLeft() async throws {
        let (news, world) = (News(), World())
        var ports = news.ports(world)
        let (pulling, gate) = (Doorbell(), Gate())
        ports.hints = [stuck("old", pulling, gate)]
        let engine = RenewalEngine(quickSettings(), ports, log: news.log)
        try await engine.run {
            await pulling.wait(upTo: .seconds(60))
            await engine.adapt(to: quickSettings(), hints: [news.source("new")])
            while !news.done.contains("take 0") || !news.done.contains("end 0") {
                try Task.checkCancellation()
                await news.ended.wait(upTo: .seconds(60))
            }
            // A reload that changes nothing is not told.
            await engine.adapt(to: quickSettings(), hints: [news.source("new")])
        }
        #expect(!gate.isOpen)
        #expect(
            news.state.withLock(\.lines) == ["hints have other sources now: + new, - old"])
        #expect(news.state.withLock(\.topics) == ["hint_sources_changed"])
    }

    @Test func tellsOnceWhatCannotBeRead() async throws {
        let (news, world) = (News(), World())
        let bad = Result<HintPage, StoreFailure>.success(HintPage(hints: [], skipped: 3))
        news.state.withLock { $0.pages = [bad, bad, page(1), bad] }
        let runner = try #require(
            HintRunner(
                Controls(quickSettings(), Heartbeat()), news.ports(world), worker: .random(),
                log: news.log))
        for _ in 0..<4 { await runner.runOnce() }
        #expect(news.state.withLock(\.topics) == ["hints_skipped", "hints_skipped"])
        #expect(news.state.withLock(\.lines).first?.contains("voided: 3 skipped") == true)
    }

    @Test func aPullThatDoesNotEndIsOverdue() async throws {
        let (news, world, heartbeat) = (News(), World(), Heartbeat())
        var ports = news.ports(world)
        let (pulling, gate) = (Doorbell(), Gate())
        ports.hints = [stuck("news", pulling, gate)]
        var settings = quickSettings()
        settings.stallLimit = .seconds(1000)
        let engine = RenewalEngine(settings, ports, log: quiet, heartbeat: heartbeat)
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
        await Heartbeat.$part.withValue(part) {
            heartbeat.expect(part, within: .seconds(60))
            #expect(isMissed())
            await heartbeat.pausing(within: .seconds(60)) { #expect(!isMissed()) }
            #expect(isMissed())
        }
    }

    private func stuck(_ name: SourceID, _ pulling: Doorbell, _ gate: Gate) -> HintSource {
        HintSource(
            name: name, app: AppKey(store: .google, id: "com.example.1"),
            interval: .milliseconds(5), patience: .zero,
            pull: { _, _ throws(StoreFailure) in
                pulling.ring()
                await gate.pass()
                return HintPage(hints: [])
            })
    }
}

@Suite(.timeLimit(.minutes(2))) struct AcknowledgerTests {
    @Test func tellsTheStoreOnceItIsCommittedAndOnlyWhatWaitsForIt() async throws {
        let world = World()
        let claims = world.add(6)
        let waiting = Set(claims.prefix(3).map(\.purchase.id))
        var ports = world.ports { claim in
            guard case .verdict(var heard) = inForce(claim) else { return outage }
            heard.awaitsAcknowledgement = waiting.contains(claim.purchase.id)
            return .verdict(heard)
        }
        let told = Mutex<[Int64]>([])
        ports.acknowledge = { claim in
            let isCommitted = world.state.committed.contains { $0.claim == claim }
            #expect(isCommitted)
            told.withLock { $0.append(claim.purchase.id) }
            return true
        }
        let engine = RenewalEngine(quickSettings(), ports, log: quiet)
        try await engine.run(.onePass(limit: nil))
        #expect(told.withLock { $0.sorted() } == waiting.sorted())
    }

    @Test func oneThatDoesNotEndIsOverdue() async throws {
        let (world, heartbeat, news) = (World(), Heartbeat(), News())
        let (telling, gate) = (Doorbell(), Gate())
        let purchase = world.add(1)[0].purchase.id
        var ports = world.ports { claim in
            guard case .verdict(var heard) = inForce(claim) else { return outage }
            heard.awaitsAcknowledgement = true
            return .verdict(heard)
        }
        ports.acknowledge = { _ in
            telling.ring()
            await gate.pass()
            return false
        }
        let engine = RenewalEngine(
            quickSettings(), ports, log: news.log, heartbeat: heartbeat)
        try await engine.run {
            await telling.wait(upTo: .seconds(60))
            let part = Heartbeat.Part.acknowledgement(purchase)
            #expect(heartbeat.overdue(at: .now + .seconds(86_400)).contains(part))
            gate.open()
        }
        #expect(heartbeat.overdue(at: .now + .seconds(86_400)).isEmpty)
        #expect(news.state.withLock(\.topics) == ["acknowledgement_waits"])
    }
}
