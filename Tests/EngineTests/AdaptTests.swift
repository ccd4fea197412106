import Renewal
import Synchronization
import Testing

@testable import Engine

/// Other settings while the engine runs, and what its heartbeat shows.
@Suite(.serialized, .timeLimit(.minutes(2))) struct AdaptTests {
    @Test func aRaisedLimitHoldsAtOnceAndInterruptsNothing() async throws {
        let world = World()
        let gate = Gate()
        world.add(6)
        let services = world.services { claim in
            await gate.pass()
            return inForce(claim)
        }
        let engine = RenewalEngine(quickSettings(inFlight: 2), services, log: quiet)
        try await engine.run {
            await world.wait { $0.totalInFlight == 2 }
            await engine.adapt(to: quickSettings(inFlight: 6))
            await world.wait { $0.totalInFlight == 6 }
            #expect(engine.claimsInHand == 6)
            gate.open()
            await world.wait { $0.committed.count == 6 }
        }
        #expect(world.state.asked.count == 6, "no check was made twice")
    }

    @Test func aLoweredLimitLetsEndWhatRuns() async throws {
        let world = World()
        let gate = Gate()
        world.add(30)
        let services = world.services { claim in
            await gate.pass()
            return inForce(claim)
        }
        let engine = RenewalEngine(quickSettings(inFlight: 8), services, log: quiet)
        try await engine.run {
            await world.wait { $0.totalInFlight == 8 }
            await engine.adapt(to: quickSettings(inFlight: 1))
            world.change { $0.mostInFlight = 0 }
            gate.open()
            await world.wait { $0.committed.count == 30 }
        }
        #expect(world.state.asked.count == 30)
        // Those that ran may be among them; nothing beyond.
        #expect(world.state.mostInFlight <= 8)
    }

    @Test func anotherRateHoldsForTheNextReservation() async throws {
        let world = World()
        let stretches = Mutex<[Duration]>([])
        var services = world.services { inForce($0) }
        services.spy {
            $0.atReserve = { _, stretch in
                stretches.withLock { $0.append(stretch) }
                world.change { $0.reservations += 1 }
                return .granted(in: .zero, until: .someTime)
            }
        }
        let app = world.state.lanes[0].app
        let settings = { @Sendable (rate: Double) in
            var settings = quickSettings()
            settings.callsPerSecond[app] = rate
            settings.stopLimit = .milliseconds(10)
            return settings
        }
        let engine = RenewalEngine(settings(10_000), services, log: quiet)
        world.add(5)
        try await engine.run {
            await world.wait { $0.committed.count == 5 }
            // One call in a hundred seconds.
            await engine.adapt(to: settings(0.01))
            stretches.withLock { $0 = [] }
            world.change { $0.reservations = 0 }
            world.add(5)
            await world.wait { $0.reservations > 0 }
            #expect(stretches.withLock { $0 }.allSatisfy { $0 >= .seconds(100) })
        }
    }

    @Test func otherRulesHoldForTheNextCheck() async throws {
        let world = World()
        let sandboxed = { @Sendable (claim: Claim) in
            let end = claim.claimedAt + .days(30)
            return Answer.verdict(
                Observation(
                    environment: .sandbox, status: .active,
                    items: [Item(names: [claim.purchase.facts.product], expiresAt: end)],
                    period: "1", paidThrough: end, expiresAt: end, willRenew: true))
        }
        let engine = RenewalEngine(quickSettings(), world.services { sandboxed($0) }, log: quiet)
        world.add(1)
        try await engine.run {
            await world.wait { $0.committed.count == 1 }
            var settings = quickSettings()
            settings.rules.policy.sandbox = .ignore
            await engine.adapt(to: settings)
            world.add(1)
            await world.wait { $0.committed.count == 2 }
        }
        #expect(world.state.committed.map(\.facts.access) == [.granted, .none])
    }

    // MARK: The heartbeat

    private func later(_ heartbeat: Heartbeat) -> Set<Heartbeat.Part> {
        heartbeat.overdue(at: .now + .seconds(86_400))
    }

    @Test func aCallThatDoesNotEndIsOverdue() async throws {
        let world = World()
        let (gate, heartbeat) = (Gate(), Heartbeat())
        world.add(1)
        let services = world.services { claim in
            await gate.pass()
            return inForce(claim)
        }
        let engine = RenewalEngine(quickSettings(), services, log: quiet, heartbeat: heartbeat)
        let part = Heartbeat.Part.checks(world.state.lanes[0].app)
        try await engine.run {
            await world.wait { $0.totalInFlight == 1 }
            #expect(later(heartbeat).contains(part))
            #expect(!heartbeat.overdue(at: .now).contains(part))
            gate.open()
            await world.wait { $0.committed.count == 1 }
            #expect(!later(heartbeat).contains(part))
        }
    }

    @Test func aCheckThatWaitsForItsTurnToCallIsNotStuck() async throws {
        let world = World()
        let heartbeat = Heartbeat()
        let app = world.state.lanes[0].app
        world.add(1)
        var services = world.services { claim, permit in
            await permit.wait()
            return inForce(claim)
        }
        services.spy {
            $0.atReserve = { _, _ in
                let reservations = world.change { state in
                    state.reservations += 1
                    return state.reservations
                }
                return .granted(in: reservations == 1 ? .zero : .seconds(3600), until: .someTime)
            }
        }
        var settings = quickSettings()
        settings.callsPerSecond[app] = 1
        settings.stopLimit = .milliseconds(10)
        let engine = RenewalEngine(settings, services, log: quiet, heartbeat: heartbeat)
        try await engine.run {
            await world.wait { $0.reservations == 2 }
            #expect(!later(heartbeat).contains(.checks(app)))
        }
    }

    @Test func theLoopsAreWatchedAsLongAsTheyRun() async throws {
        let world = World()
        let (gate, heartbeat) = (Gate(), Heartbeat())
        let services = world.services { claim in
            await gate.pass()
            return inForce(claim)
        }
        let engine = RenewalEngine(quickSettings(), services, log: quiet, heartbeat: heartbeat)
        let app = world.state.lanes[0].app
        try await engine.run {
            await world.letLook(2)
            #expect(later(heartbeat).isSuperset(of: [.leases, .queues]))
            #expect(!later(heartbeat).contains(.queue(app)), "nothing is due")
            world.add(1)
            await world.wait { $0.totalInFlight == 1 }
            #expect(later(heartbeat).contains(.queue(app)))
            gate.open()
            await world.wait { $0.committed.count == 1 }
        }
        #expect(later(heartbeat).isEmpty, "what has ended is not missed")
    }

    /// That the queue is looked at again and again is no sign that its checks advance.
    @Test func aCheckThatHangsIsOverdueThoughTheQueueIsLookedAt() async throws {
        let (world, gate, heartbeat) = (World(), Gate(), Heartbeat())
        world.add(1)
        var settings = quickSettings()
        settings.stallLimit = .milliseconds(50)
        let services = world.services { claim in
            await gate.pass()
            return inForce(claim)
        }
        let engine = RenewalEngine(settings, services, log: quiet, heartbeat: heartbeat)
        try await engine.run {
            await world.wait { $0.totalInFlight == 1 }
            let part = Heartbeat.Part.checks(world.state.lanes[0].app)
            while !heartbeat.overdue().contains(part) { await world.letLook(1) }
            gate.open()
            await world.wait { $0.committed.count == 1 }
        }
    }
}
