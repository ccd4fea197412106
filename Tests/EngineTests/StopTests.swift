import Renewal
import ServiceLifecycleTestKit
import Testing

@testable import Engine

@Suite(.serialized, .timeLimit(.minutes(2))) struct StopTests {
    @Test func finishesWhatIsInHandAndGivesTheLeasesBack() async throws {
        let world = World()
        world.add(100)
        let gate = Gate()
        let engine = RenewalEngine(
            quickSettings(inFlight: 4),
            world.services { claim in
                await gate.pass()
                return inForce(claim)
            }, log: quiet)
        try await testGracefulShutdown { trigger in
            async let run: Void = engine.run()
            await world.wait { $0.totalInFlight == 4 }
            trigger.triggerGracefulShutdown()
            await world.letLook(20)
            gate.open()
            try await run
        }
        let state = world.state
        #expect(state.asked.count == 4)
        #expect(Set(state.committed.map(\.claim)) == Set(state.asked))
        #expect(state.committed.allSatisfy { $0.isVerdict })
        #expect(state.owned.isEmpty)
        #expect(state.hasLeft)
    }

    @Test func cutsShortWhatTakesTooLongAndDoesNotCountItAsFailed() async throws {
        let world = World()
        world.add(20)
        var settings = quickSettings(inFlight: 4)
        settings.stopLimit = .milliseconds(5)
        let gate = Gate()
        try await running(world, settings) { claim in
            // A store's client ends a call when its task is cancelled, and calls it a failure.
            await gate.pass()
            return outage
        } _: {
            await world.wait { $0.totalInFlight == 4 }
        }
        #expect(world.state.asked.count == 4)
        #expect(world.state.committed.isEmpty)
        #expect(world.state.owned.isEmpty)
        #expect(world.state.hasLeft)
    }

    @Test func endsWhenItsTaskIsCancelled() async throws {
        let world = World(lanes: 3)
        for lane in 1...3 { world.add(20, lane: Int32(lane)) }
        let gate = Gate()
        let engine = RenewalEngine(
            quickSettings(inFlight: 12),
            world.services { claim in
                await gate.pass()
                return outage
            }, log: quiet)
        let run = Task { try await engine.run() }
        await world.wait { $0.totalInFlight >= 4 }
        run.cancel()
        try await run.value
        #expect(world.state.committed.isEmpty)
        #expect(world.state.owned.isEmpty)
    }

    @Test func stopsWhileTheDatabaseIsAway() async throws {
        let world = World()
        world.change { state in
            for door in [World.Door.claim, .commit, .beat, .take, .renew, .release] {
                state.shut[door] = .max
            }
        }
        try await running(world, quickSettings()) {
            inForce($0)
        } _: {
            await world.wait { $0.count(.beat) > 3 }
        }
        #expect(world.state.asked.isEmpty)
    }

    @Test func aLostLeaseDropsItsWork() async throws {
        let world = World()
        world.add(40, shard: 3)
        world.add(40, shard: 4)
        var settings = quickSettings(inFlight: 4)
        settings.lease = .seconds(3)
        let gate = Gate()
        try await running(world, settings) { claim in
            await gate.pass()
            return inForce(claim)
        } _: {
            await world.wait { $0.totalInFlight == 4 }
            let renewals = world.state.count(.renew)
            world.change { $0.lost = [3] }
            await world.wait { $0.count(.renew) > renewals }
            await world.letLook(3)
            gate.open()
            await world.wait { $0.committed.count == 40 }
        }
        #expect(world.state.committed.allSatisfy { $0.claim.shard == 4 })
        // Only those that were under way at the loss.
        #expect(world.state.asked.count { $0.shard == 3 } <= 4)
    }

    /// Shards that were to be given back while something of them was in hand, and then were not.
    @Test func aShardThatIsKeptAfterAllIsServedAgain() async throws {
        let world = World()
        for shard in 0..<200 { world.add(1, shard: Int16(shard)) }
        var settings = quickSettings(inFlight: 200)
        settings.lease = .seconds(3)
        let gate = Gate()
        try await running(world, settings) { claim in
            await gate.pass()
            return inForce(claim)
        } _: {
            await world.wait { $0.count(.mark) > 0 }
            // Another worker comes, and goes before what is in hand has ended.
            world.change { $0.workers = 2 }
            await world.wait { $0.count(.release) > 0 }
            world.change { $0.workers = 1 }
            await world.wait { $0.owned.count == 255 }
            gate.open()
            await world.wait { $0.committed.count == 200 }
            for shard in 0..<200 { world.add(1, shard: Int16(shard)) }
            await world.wait { $0.committed.count == 400 }
        }
    }
}
