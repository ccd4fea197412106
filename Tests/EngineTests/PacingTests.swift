import Renewal
import Synchronization
import Testing

@testable import Engine

@Suite(.serialized, .timeLimit(.minutes(2))) struct PacingTests {
    private func paced(_ world: World, perSecond: Double) -> EngineSettings {
        var settings = quickSettings(inFlight: 50)
        for lane in world.state.lanes { settings.callsPerSecond[lane.app] = perSecond }
        return settings
    }

    @Test func noCallStartsWithoutAPlaceInTheRow() async throws {
        let world = World()
        world.add(300)
        try await running(world, paced(world, perSecond: 1000)) { claim in
            #expect(world.state.asked.count <= Int(world.state.reserved / .milliseconds(1)))
            return inForce(claim)
        } _: {
            await world.wait { $0.committed.count == 300 }
        }
        #expect(world.state.reserved >= .milliseconds(300))
    }

    enum AtReturn: CaseIterable { case taken, refused, hangs }

    @Test(arguments: AtReturn.allCases)
    func aStopLeavesItsCallsToOthers(_ atReturn: AtReturn) async throws {
        let world = World()
        world.add(300)
        let asked = Mutex<[UnusedCalls]>([])
        var services = world.services { inForce($0) }
        services.spy {
            $0.atReserve = { _, stretch in
                world.change { $0.reservations += 1 }
                return .granted(in: .seconds(3600), until: .someTime)
            }
            $0.atReturn = { unused throws(LedgerError) in
                asked.withLock { $0.append(unused) }
                switch atReturn {
                case .taken: break
                case .refused: throw .unavailable(reason: "away")
                // Until the stop has waited long enough.
                case .hangs: await AsyncEvent().wait(upTo: .seconds(86_400))
                }
            }
        }
        var settings = paced(world, perSecond: 10)
        settings.stopLimit = .milliseconds(atReturn == .hangs ? 10 : 60_000)
        try await running(world, settings, services: services, ask: { inForce($0) }) {
            await world.wait { $0.reservations > 0 }
        }
        // The first call of a session goes alone.
        let whole = UnusedCalls(
            .milliseconds(103), of: BucketID(of: world.state.lanes[0].app),
            reservedUntil: .someTime)
        #expect(asked.withLock(\.self) == [whole])
        #expect(world.state.hasLeft)
    }

    @Test func allThatWaitForACallReserveTogether() async throws {
        let world = World()
        world.add(40)
        let row = Mutex((underWay: 0, most: 0))
        var services = world.services { claim, permit in
            await permit.wait()
            return inForce(claim)
        }
        services.spy {
            $0.atReserve = { _, stretch in
                row.withLock { row in
                    row.underWay += 1
                    row.most = max(row.most, row.underWay)
                }
                // The database is slow: others come to wait for the call beyond their first.
                await AsyncEvent().wait(upTo: .milliseconds(40))
                world.change { $0.reserved += stretch }
                row.withLock { $0.underWay -= 1 }
                return .granted(in: .zero, until: .someTime)
            }
        }
        let engine = RenewalEngine(paced(world, perSecond: 100), services, log: quiet)
        try await engine.run {
            await world.wait { $0.committed.count == 40 }
        }
        #expect(row.withLock { $0.most } == 1)
    }

    /// News is read at any time, and nobody serves the row of an app that has nothing to do: each
    /// call takes its own place there.
    @Test func aCallOfAnIdleAppTakesItsOwnPlace() async throws {
        let world = World()
        world.add(1)
        let (app, heartbeat) = (world.state.lanes[0].app, Heartbeat())
        let kept = Mutex(CallPermit.free)
        let services = world.services { claim, permit in
            kept.withLock { $0 = permit }
            return inForce(claim)
        }
        let engine = RenewalEngine(
            paced(world, perSecond: 1000), services, log: quiet, heartbeat: heartbeat)
        try await engine.run {
            await world.wait { $0.committed.count == 1 }
            // A look that was under way may have seen what was due before, and serves it once more.
            var looksAtRest = 0
            while looksAtRest < 3 {
                await world.letLook(1)
                let parts = heartbeat.overdue(at: .now + .seconds(86_400))
                looksAtRest = parts.contains(.queue(app)) ? 0 : looksAtRest + 1
            }
            let before = world.state.reservations
            let permit = kept.withLock(\.self)
            for _ in 0..<3 { await permit.wait() }
            // A place that came too late is asked for again.
            #expect(world.state.reservations >= before + 3)
        }
        #expect(world.state.committed.count == 1)
    }

    /// All wait for their places together, and come to them together: still no more call at once
    /// than may read one endpoint's news.
    @Test func ofManyAppsWithNewsAFewCallAtATime() async throws {
        let world = World(lanes: 300)
        let gate = Gate()
        let calls = Atomic(0)
        let sources = world.state.lanes.map { lane in
            HintSource(
                name: SourceID("\(lane.number)"), app: lane.app, endpoint: "google",
                interval: .seconds(600),
                pull: { _, _, permit throws(StoreFailure) in
                    await permit.wait()
                    calls.add(1, ordering: .relaxed)
                    await gate.pass()
                    return HintPage(hints: [])
                })
        }
        let stores = FakeStores(
            configured: { world.state.lanes.map(\.app) },
            answer: { claim, _ in AnsweredCall(inForce(claim)) },
            hintSources: sources)
        let services = EngineServices(
            ledger: world, stores: stores, hintStore: News(), workerName: "test")
        let engine = RenewalEngine(paced(world, perSecond: 1000), services, log: quiet)
        try await engine.run {
            while calls.load(ordering: .relaxed) < HintWatch.readLimit { await world.letLook(1) }
            await world.letLook(200)
            #expect(calls.load(ordering: .relaxed) == HintWatch.readLimit)
            gate.open()
            while calls.load(ordering: .relaxed) < 300 { await world.letLook(1) }
        }
    }

    @Test func noCallStartsBeforeItsPlace() async throws {
        let world = World()
        world.add(20)
        var services = world.services { claim in
            world.change { $0.startedAt.append(.now) }
            return inForce(claim)
        }
        services.spy {
            $0.atReserve = { _, stretch in
                // The database is slow: the row's time is that of its answer.
                await AsyncEvent().wait(upTo: .milliseconds(40))
                world.change {
                    $0.reserved += stretch
                    $0.reservedFrom.append(.now + .milliseconds(150))
                }
                return .granted(in: .milliseconds(150), until: .someTime)
            }
        }
        try await running(
            world, paced(world, perSecond: 200), services: services, ask: { inForce($0) }
        ) {
            await world.wait { $0.committed.count == 20 }
        }
        let (started, from) = (world.state.startedAt, world.state.reservedFrom)
        let first = try #require(from.first)
        #expect(started.allSatisfy { $0 >= first })
    }

    @Test func aRowThatIsFullLetsNobodyStart() async throws {
        let world = World()
        world.add(20)
        var services = world.services { inForce($0) }
        services.spy {
            $0.atReserve = { _, stretch in
                world.change { $0.reserved += stretch }
                return .granted(in: .seconds(3600), until: .someTime)
            }
        }
        var settings = paced(world, perSecond: 50)
        settings.stopLimit = .milliseconds(10)
        try await running(world, settings, services: services, ask: { inForce($0) }) {
            await world.wait { $0.reserved > .zero }
            await world.letLook(40)
        }
        #expect(world.state.asked.isEmpty)
    }

    @Test func aRowThatCannotBeReachedLetsNobodyStart() async throws {
        let world = World()
        world.add(20)
        world.change { $0.shut[.reserve] = 5 }
        try await running(world, paced(world, perSecond: 1000)) { claim in
            #expect(world.state.count(.reserve) > 5)
            return inForce(claim)
        } _: {
            await world.wait { $0.committed.count == 20 }
        }
    }
}
