import Renewal
import Testing

@testable import Engine

@Suite(.serialized, .timeLimit(.minutes(2))) struct PassTests {
    private func pass(
        _ world: World, limit: Int? = nil, ask: @escaping @Sendable (Claim) async -> Answer
    ) async throws -> RunReport {
        let engine = RenewalEngine(quickSettings(), world.services(ask: ask), log: quiet)
        return try await engine.run(.onePass(limit: limit))
    }

    @Test func checksAllThatIsDueOnceAndEnds() async throws {
        let world = World(lanes: 3)
        for lane in 1...3 { world.add(150, lane: Int32(lane)) }
        let report = try await pass(world) { inForce($0) }
        #expect(report.checked == 450)
        #expect(report.verdicts == 450)
        #expect(report.shardsLeftToOthers == 1)
        #expect(world.state.asked.count == 450)
        #expect(world.state.owned.isEmpty)
        #expect(world.state.hasLeft)
    }

    @Test func checksNoMoreThanItsLimit() async throws {
        let world = World(lanes: 2)
        for lane in 1...2 { world.add(50, lane: Int32(lane)) }
        #expect(try await pass(world, limit: 30) { inForce($0) }.checked == 30)
        #expect(world.state.asked.count == 30)
    }

    /// A backend leaves the transaction open in which it has submitted them.
    @Test func leavesWhatAnotherSessionHolds() async throws {
        let world = World()
        let claims = world.add(60)
        let held = Set(claims.prefix(20).map(\.purchase.id))
        world.change { $0.held = held }
        let report = try await pass(world) { inForce($0) }
        #expect(report.checked == 40 && report.held == 20)
        #expect(world.state.asked.count == 60, "each is asked about once")
        #expect(Set(world.state.due[1]?.map(\.purchase.id) ?? []) == held)
    }

    @Test func endsWithNothingDue() async throws {
        #expect(try await pass(World()) { inForce($0) }.checked == 0)
    }

    @Test func leavesToTheNextWhatBecomesDueMeanwhile() async throws {
        let world = World()
        world.add(40)
        let report = try await pass(world) { claim in
            let new = world.makeClaim(dueIn: .hours(2))
            world.change { $0.due[1, default: []].append(new) }
            return inForce(claim)
        }
        #expect(report.checked == 40)
        #expect(world.state.due[1]?.count == 40)
    }

    @Test func saysWhenTheDatabaseIsAway() async throws {
        let world = World()
        world.change { $0.shut[.beat] = 1 }
        await #expect(throws: LedgerError.self) { try await pass(world) { inForce($0) } }
    }
}
