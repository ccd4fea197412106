import Renewal
import Testing

@testable import Engine

/// What a thousand apps cost that have nothing to do: counted in questions and in parts at work, never in
/// time.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ManyAppsTests {
    /// The queues that are at work: each has two tasks, and one for each check.
    private func queuesAtWork(_ heartbeat: Heartbeat) -> Int {
        heartbeat.overdue(at: .now + .seconds(86_400)).count {
            if case .queue = $0 { true } else { false }
        }
    }

    @Test func aThousandIdleAppsCostOneQuestionAPoll() async throws {
        let world = World(lanes: 1000)
        let heartbeat = Heartbeat()
        let engine = RenewalEngine(
            quickSettings(), world.services { inForce($0) }, log: quiet, heartbeat: heartbeat)
        try await engine.run {
            // All are looked at once.
            await world.wait { $0.count(.heads) >= 32 }
            let before = world.state
            await world.letLook(50)
            let after = world.state
            // Two loops of the same pace, which a busy machine lets drift apart.
            let polls = after.count(.take) - before.count(.take)
            #expect(after.count(.heads) - before.count(.heads) <= polls * 4)
            #expect(after.count(.claim) == 0)
            #expect(after.count(.lanes) == 1)
            #expect(queuesAtWork(heartbeat) == 0)
        }
    }

    @Test func onlyTheAppThatHasSomethingToDoIsAtWork() async throws {
        let world = World(lanes: 1000)
        let (gate, heartbeat) = (Gate(), Heartbeat())
        let services = world.services { claim in
            await gate.pass()
            return inForce(claim)
        }
        world.add(3, lane: 777)
        let engine = RenewalEngine(quickSettings(), services, log: quiet, heartbeat: heartbeat)
        try await engine.run {
            await world.wait { $0.totalInFlight == 3 }
            #expect(queuesAtWork(heartbeat) == 1)
            gate.open()
            await world.wait { $0.committed.count == 3 }
            // It rests when it is done, and is served again.
            while queuesAtWork(heartbeat) > 0 { await world.letLook(1) }
            // A look that was under way may have seen what was due before.
            await world.letLook(3)
            let claims = world.state.count(.claim)
            await world.letLook(20)
            #expect(world.state.count(.claim) == claims)
            world.add(1, lane: 777)
            await world.wait { $0.committed.count == 4 }
        }
    }

    /// Idle shards are no reason to look, and an empty list of crashes is no news.
    @Test func nothingIsClaimedWhileNothingIsDue() async throws {
        let world = World(lanes: 3)
        let engine = RenewalEngine(quickSettings(), world.services { inForce($0) }, log: quiet)
        try await engine.run {
            await world.letLook(60)
            #expect(world.state.count(.claim) == 0)
            #expect(world.state.count(.heads) <= world.state.count(.take) * 3 / 2 + 2)
        }
    }

    @Test func anAppThatHasGoneIsNotServedAnyMore() async throws {
        let world = World(lanes: 2)
        let engine = RenewalEngine(quickSettings(), world.services { inForce($0) }, log: quiet)
        try await engine.run {
            world.add(1, lane: 2)
            await world.wait { $0.committed.count == 1 }
            world.change { $0.lanes.removeLast() }
            let told = world.state.count(.lanes)
            await engine.adapt(to: quickSettings())
            await world.wait { $0.count(.lanes) > told }
            world.add(1, lane: 2)
            world.add(1, lane: 1)
            await world.wait { $0.committed.count == 2 }
            await world.letLook(20)
            #expect(world.state.asked.count { $0.lane == 2 } == 1)
        }
    }

    /// A person lets nobody ask the store: others are told by their news, and are asked about.
    @Test func aPausedAppIsNotAskedAboutUntilItIsResumed() async throws {
        let world = World(lanes: 2)
        let app = world.state.lanes[1].app
        world.change { $0.paused = [app] }
        world.add(2, lane: 2)
        world.add(1, lane: 1)
        var services = world.services { inForce($0) }
        services.news = WorldNews(world: world)
        let engine = RenewalEngine(quickSettings(), services, log: quiet)
        try await engine.run {
            await world.wait { $0.committed.count == 1 }
            await world.letLook(20)
            #expect(world.state.asked.allSatisfy { $0.lane == 1 })
            world.change {
                $0.paused = []
                $0.news = [nil]
            }
            await world.wait { $0.committed.count == 3 }
            world.change { $0.paused = [app] }
            for _ in 0..<3 {
                world.change { $0.news = [nil] }
                await world.letLook(3)
            }
            world.add(1, lane: 2)
            await world.letLook(20)
        }
        #expect(world.state.asked.count == 3)
    }

    /// Ten thousand names that nobody has configured, each told by a notification.
    @Test func newsOfUnknownAppsCostsOneLookAtTheApps() async throws {
        let world = World()
        var settings = quickSettings()
        settings.poll = .milliseconds(50)
        var services = world.services { inForce($0) }
        services.news = WorldNews(world: world)
        let engine = RenewalEngine(settings, services, log: quiet)
        try await engine.run {
            await world.wait { $0.count(.heads) >= 1 }
            let before = world.state
            world.change { $0.news = Array(2...10_001) }
            await world.wait { $0.news.isEmpty }
            await world.letLook(3)
            let after = world.state
            let polls = after.count(.take) - before.count(.take)
            #expect(after.count(.lanes) - before.count(.lanes) <= polls + 1)
            #expect(after.count(.lanes) > before.count(.lanes))
            #expect(after.count(.claim) == 0)
            #expect(after.count(.heads) - before.count(.heads) <= polls * 3 / 2 + 2)
        }
    }
}
