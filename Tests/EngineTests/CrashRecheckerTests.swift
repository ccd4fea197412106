import Renewal
import Synchronization
import Testing

@testable import Engine

/// What a crash has left in hand is asked about within the quota, like all else.
@Suite(.serialized, .timeLimit(.minutes(2))) struct CrashRecheckerTests {
    private func world(suspects: Int, due: Int = 0) -> World {
        let world = World(lanes: 2)
        let suspects = (0..<suspects).map { _ in world.makeClaim(crashes: 1) }
        world.change { $0.suspects = suspects }
        world.add(due, lane: 2)
        return world
    }

    private func paced(_ world: World, perSecond: Double) -> EngineSettings {
        var settings = quickSettings(inFlight: 50)
        for lane in world.state.lanes { settings.callsPerSecond[lane.app] = perSecond }
        return settings
    }

    @Test func noneIsAskedAboutWithoutAPlaceInTheRow() async throws {
        let world = world(suspects: 20)
        try await running(world, paced(world, perSecond: 1000)) { claim in
            #expect(.milliseconds(world.state.asked.count) <= world.state.reserved)
            return inForce(claim)
        } _: {
            await world.wait { $0.committed.count == 20 }
        }
        #expect(world.state.reserved >= .milliseconds(20))
        // Those of a group wait together.
        #expect(world.state.reservations < 20)
    }

    /// A store has asked for an hour's rest. Its suspects stay suspects, and hold nobody up; when the
    /// hour is over they are asked about.
    @Test func oneThatMayNotBeAskedAboutHoldsNobodyUp() async throws {
        let world = world(suspects: 20, due: 5)
        let resting = world.state.lanes[0].app
        let isOver = Atomic(false)
        var services = world.services { inForce($0) }
        services.spy {
            $0.atReserve = { bucket, _ in
                bucket == BucketID(of: resting) && !isOver.load(ordering: .relaxed)
                    ? .askAgain(in: .hours(1)) : .granted(in: .zero, until: .someTime)
            }
        }
        try await running(
            world, paced(world, perSecond: 1000), services: services, ask: { inForce($0) }
        ) {
            await world.wait { $0.committed.count == 5 }
            await world.letLook(10)
            #expect(world.state.asked.allSatisfy { $0.lane == 2 })
            isOver.store(true, ordering: .relaxed)
            await world.wait { $0.committed.count == 25 }
        }
    }

    /// No queue claims a suspect: whatever became of its answer, it is looked after until it is none.
    @Test func oneWhoseAnswerWasDroppedIsAskedAboutAgain() async throws {
        let world = world(suspects: 3)
        var services = world.services { inForce($0) }
        services.spy {
            $0.atCommit = { outcomes, lease, now throws(LedgerError) in
                guard world.state.asked.count > 3 else { throw .unavailable(reason: "away") }
                return try await world.commit(outcomes, under: lease, at: now)
            }
        }
        var settings = quickSettings()
        // So long is a commit tried again, ten times at most.
        settings.lease = .milliseconds(20)
        try await running(world, settings, services: services, ask: { inForce($0) }) {
            await world.wait { $0.committed.count == 3 }
        }
        #expect(world.state.suspects.isEmpty)
    }

    @Test func oneWhoseAppWasPausedMeanwhileIsAskedAboutAgain() async throws {
        let world = world(suspects: 1)
        try await running(world, quickSettings()) { claim in
            world.state.asked.count < 3 ? .failure(.paused) : inForce(claim)
        } _: {
            await world.wait { $0.committed.count == 1 }
        }
    }

    /// To clear what a crash has left may take longer than a lease.
    @Test func onePassKeepsItsLeasesMeanwhile() async throws {
        let world = world(suspects: 1)
        var settings = quickSettings()
        settings.lease = .seconds(3)
        let services = world.services { claim in
            await world.wait { $0.count(.renew) > 2 }
            return inForce(claim)
        }
        let engine = RenewalEngine(settings, services, log: quiet)
        #expect(try await engine.run(.onePass(limit: nil)).unjudged == 0)
        #expect(world.state.committed.count == 1)
    }

    /// What was not asked about is told: `once` ends with 75.
    @Test func onePassTellsWhatItMayNotAskAbout() async throws {
        let world = world(suspects: 20, due: 5)
        let resting = world.state.lanes[0].app
        var services = world.services { inForce($0) }
        services.spy {
            $0.atReserve = { bucket, _ in
                bucket == BucketID(of: resting)
                    ? .askAgain(in: .hours(1)) : .granted(in: .zero, until: .someTime)
            }
        }
        let engine = RenewalEngine(paced(world, perSecond: 1000), services, log: quiet)
        let report = try await engine.run(.onePass(limit: nil))
        #expect(report.checked == 5)
        #expect(report.unjudged == 20)
        #expect(world.state.suspects.count == 20)
    }

    /// A store that asks for fewer calls speaks to all workers.
    @Test func oneThatIsThrottledTellsAllWorkers() async throws {
        let world = world(suspects: 1)
        try await running(world, paced(world, perSecond: 1000)) { _ in
            .failure(.throttled(retryAfter: .seconds(77)))
        } _: {
            await world.wait { $0.committed.count == 1 }
        }
        #expect(world.state.blocks == [.seconds(77)])
    }
}
