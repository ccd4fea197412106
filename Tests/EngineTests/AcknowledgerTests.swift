import Renewal
import Synchronization
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(2))) struct AcknowledgerTests {
    @Test func tellsTheStoreOnceItIsCommittedAndOnlyWhatWaitsForIt() async throws {
        let world = World()
        let claims = world.add(6)
        let waiting = Set(claims.prefix(3).map(\.purchase.id))
        var services = world.services { claim in
            guard case .verdict(var heard) = inForce(claim) else { return outage }
            heard.awaitsAcknowledgement = waiting.contains(claim.purchase.id)
            return .verdict(heard)
        }
        let told = Mutex<[Int64]>([])
        services.changeStores {
            $0.acknowledges = { claim in
                let isCommitted = world.state.committed.contains { $0.claim == claim }
                #expect(isCommitted)
                told.withLock { $0.append(claim.purchase.id) }
                return true
            }
        }
        let engine = RenewalEngine(quickSettings(), services, log: quiet)
        try await engine.run(.onePass(limit: nil))
        #expect(told.withLock { $0.sorted() } == waiting.sorted())
    }

    @Test func oneThatDoesNotEndIsOverdue() async throws {
        let (world, heartbeat, news) = (World(), Heartbeat(), News())
        let (telling, gate) = (AsyncEvent(), Gate())
        let purchase = world.add(1)[0].purchase.id
        var services = world.services { claim in
            guard case .verdict(var heard) = inForce(claim) else { return outage }
            heard.awaitsAcknowledgement = true
            return .verdict(heard)
        }
        services.changeStores {
            $0.acknowledges = { _ in
                telling.signal()
                await gate.pass()
                return false
            }
        }
        let engine = RenewalEngine(
            quickSettings(), services, log: news.log, heartbeat: heartbeat)
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
