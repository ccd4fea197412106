import Renewal
import Testing

@testable import Engine

@Suite(.serialized, .timeLimit(.minutes(2))) struct OutageTests {
    @Test func anOutageCostsAFewCallsAndEndsByItself() async throws {
        let world = World()
        world.add(500)
        let isBack = Gate()
        try await running(world, quickSettings(inFlight: 100)) { claim in
            isBack.isOpen ? inForce(claim) : outage
        } _: {
            await world.wait { $0.committed.count >= 5 && $0.totalInFlight == 0 }
            await world.letLook(60)
            // The first window, and a probe or two.
            #expect(world.state.asked.count <= 12)
            isBack.open()
            await world.wait { $0.committed.count == 500 }
        }
        let failed = world.state.committed.filter { !$0.isVerdict }
        #expect(failed.count <= 14)
        #expect(failed.allSatisfy { $0.schedule.nextCheckAt > $0.claim.claimedAt + .seconds(4) })
        #expect(failed.allSatisfy { $0.facts == $0.claim.purchase.facts })
    }

    @Test func anOutageOfOneAppDoesNotStopAnother() async throws {
        let world = World(lanes: 2)
        world.add(100, lane: 1)
        world.add(100, lane: 2)
        try await running(world, quickSettings(inFlight: 20)) { claim in
            claim.lane == 1 ? outage : inForce(claim)
        } _: {
            await world.wait { state in state.committed.count { $0.claim.lane == 2 } == 100 }
        }
        #expect(world.state.asked.count { $0.lane == 1 } <= 14)
    }

    @Test func aBadPurchaseIsNoOutage() async throws {
        let world = World()
        world.add(200)
        try await running(world, quickSettings()) { _ in
            .failure(.rejected(reason: "400"))
        } _: {
            await world.wait { $0.committed.count == 200 }
        }
    }

    @Test func aStoreThatAsksForFewerCallsIsObeyedByAllWorkers() async throws {
        let world = World()
        world.add(100)
        try await running(world, quickSettings(inFlight: 50)) { _ in
            .failure(.throttled(retryAfter: .seconds(3000)))
        } _: {
            await world.wait { $0.committed.count >= 1 && !$0.blocks.isEmpty }
            await world.letLook(60)
        }
        let state = world.state
        // Nobody is asked after the first answer has been heard.
        #expect(state.asked.count <= 8)
        #expect(Set(state.blocks) == [.seconds(3000)])
        #expect(
            state.committed.allSatisfy {
                $0.schedule.nextCheckAt >= $0.claim.claimedAt + .seconds(3000)
            })
    }

    @Test func onePassEndsThoughTheStoreIsDown() async throws {
        let world = World()
        world.add(300)
        let engine = RenewalEngine(quickSettings(), world.services { _ in outage }, log: quiet)
        let report = try await engine.run(.onePass(limit: nil))
        #expect(report.verdicts == 0)
        #expect(report.unjudged >= 5)
        #expect(world.state.asked.count <= 20)
        #expect(world.state.owned.isEmpty)
    }
}
