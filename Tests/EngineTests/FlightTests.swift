import Renewal
import Testing

@testable import Engine

@Suite(.serialized, .timeLimit(.minutes(2))) struct FlightTests {
    @Test func reachesTheLimitInFlightAndNeverExceedsIt() async throws {
        let world = World()
        world.add(300)
        let gate = Gate()
        try await running(world, quickSettings(inFlight: 20)) { claim in
            // The store answers for a while, then all that are asked wait for one another.
            if world.state.committed.count > 60 { await gate.pass() }
            return inForce(claim)
        } _: {
            await world.wait { $0.totalInFlight == 20 }
            await world.letLook(5)
            gate.open()
            await world.wait { $0.committed.count == 300 }
        }
        #expect(world.state.mostInFlight == 20)
        #expect(world.state.asked.count == 300)
    }

    /// What a user has bought since is settled before what is over, whichever store answers first.
    @Test(arguments: [1, 2])
    func whatIsOverWaitsForTheFirstCheckOfWhatWasBoughtSince(lane: Int32) async throws {
        let world = World(lanes: 2)
        let (old, new) = (
            world.makeClaim(of: "ann", state: .active), world.makeClaim(lane: lane, of: "ann")
        )
        let other = world.makeClaim(of: "bob", state: .active)
        world.change { state in
            for claim in [old, other, new] { state.due[claim.lane, default: []].append(claim) }
        }
        let gate = Gate()
        try await running(world, quickSettings()) { claim in
            if claim.purchaseID == new.purchaseID {
                await gate.pass()
                return inForce(claim)
            }
            // Only what is in hand is waited for, and two lanes claim when they like.
            await world.wait { $0.asked.contains { $0.purchase.id == new.purchaseID } }
            return over(claim)
        } _: {
            await world.wait { $0.committed.contains { $0.claim.purchaseID == other.purchaseID } }
            #expect(world.state.committed.count == 1)
            gate.open()
            await world.wait { $0.committed.count == 3 }
        }
        let order = world.state.committed.map(\.claim.purchaseID)
        #expect(order.last == old.purchaseID)
    }

    @Test func claimsNoMoreWhileTheStoreHangs() async throws {
        let world = World()
        world.add(3000)
        let gate = Gate()
        try await running(world, quickSettings(inFlight: 8)) { claim in
            await gate.pass()
            return inForce(claim)
        } _: {
            await world.wait { $0.totalInFlight == 8 }
            await world.letLook(5)
            let claims = world.state.count(.claim)
            await world.letLook(50)
            #expect(world.state.count(.claim) == claims)
            #expect(claims < 10)
            #expect(world.state.asked.count == 8)
            gate.open()
        }
    }

    @Test func aHangingLaneDoesNotStopAnother() async throws {
        let world = World(lanes: 2)
        world.add(500, lane: 1)
        world.add(500, lane: 2)
        let gate = Gate()
        try await running(world, quickSettings(inFlight: 20)) { claim in
            if claim.lane == 1 { await gate.pass() }
            return inForce(claim)
        } _: {
            await world.wait { state in
                state.committed.count { $0.claim.lane == 2 } == 500
            }
            #expect(world.state.committed.count { $0.claim.lane == 1 } == 0)
            gate.open()
        }
    }

    /// But for the few that became due last: nobody who has just bought waits behind all others.
    @Test func asksTheOldestFirst() async throws {
        let world = World()
        let claims = world.add(30, shard: 3)
        try await running(world, quickSettings(inFlight: 1)) {
            inForce($0)
        } _: {
            await world.wait { $0.committed.count == 30 }
        }
        #expect(
            world.state.asked.map(\.purchase.id)
                == (claims.suffix(4) + claims.dropLast(4)).map(\.purchase.id))
    }

    @Test func newsWakesItLongBeforeTheNextLook() async throws {
        let world = World()
        var settings = quickSettings()
        settings.poll = .seconds(3600)
        settings.lease = .seconds(36_000)
        var services = world.services { inForce($0) }
        services.news = WorldNews(world: world)
        try await running(world, settings, services: services, ask: { inForce($0) }) {
            await world.wait { $0.count(.heads) >= 1 }
            for number in 1...5 {
                world.add(1)
                world.change { $0.news.append(number.isMultiple(of: 2) ? nil : 1) }
                await world.wait { $0.committed.count == number }
            }
        }
    }

    @Test func findsWhatIsDueWithoutNews() async throws {
        let world = World()
        try await running(world, quickSettings()) {
            inForce($0)
        } _: {
            await world.wait { $0.count(.heads) >= 3 }
            world.add(5)
            await world.wait { $0.committed.count == 5 }
        }
    }

    @Test func aClaimThatCouldNotBeMarkedIsClaimedAgain() async throws {
        let world = World()
        world.change { $0.shut[.mark] = 3 }
        world.add(40)
        try await running(world, quickSettings()) {
            inForce($0)
        } _: {
            await world.wait { $0.committed.count == 40 }
        }
        #expect(world.state.asked.count == 40)
    }

    @Test(arguments: [World.Door.claim, .beat, .take, .renew])
    func aDoorThatIsShutForAWhileOnlyDelays(_ door: World.Door) async throws {
        let world = World()
        world.change { $0.shut[door] = 5 }
        world.add(40)
        try await running(world, quickSettings()) {
            inForce($0)
        } _: {
            await world.wait { $0.committed.count == 40 }
        }
        #expect(world.state.asked.count == 40)
    }

    @Test func aNewLaneIsServed() async throws {
        let world = World()
        var settings = quickSettings()
        settings.lease = .seconds(3)
        try await running(world, settings) {
            inForce($0)
        } _: {
            await world.wait { $0.count(.heads) >= 1 }
            world.change {
                $0.lanes.append(Lane(number: 9, app: AppKey(store: .apple, id: "com.example.9")))
            }
            world.add(3, lane: 9)
            await world.wait { $0.committed.count == 3 }
        }
    }

    @Test func onlyTheWantedStoresAreAsked() async throws {
        let world = World(lanes: 1)
        world.change {
            $0.lanes.append(Lane(number: 9, app: AppKey(store: .apple, id: "com.example.9")))
        }
        world.add(5, lane: 1)
        world.add(5, lane: 9)
        var settings = quickSettings()
        settings.stores = [.apple]
        let engine = RenewalEngine(settings, world.services { inForce($0) }, log: quiet)
        let report = try await engine.run(.onePass(limit: nil))
        #expect(report.checked == 5)
        #expect(world.state.asked.allSatisfy { $0.lane == 9 })
    }
}
