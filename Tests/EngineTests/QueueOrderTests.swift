import Renewal
import Testing

@testable import Engine

/// Which claims a queue reads, how far ahead, and what time they are judged by.
@Suite(.timeLimit(.minutes(2))) struct QueueOrderTests {
    private static let start = ContinuousClock.now
    private let world = World()

    private func at(_ time: Duration) -> ContinuousClock.Instant { Self.start + time }

    private func machine(inFlight: Int, interval: Duration?) -> QueueMachine {
        var machine = QueueMachine(
            .forever,
            QueueMachine.Limits(
                inFlight: inFlight, poll: .seconds(1), patience: .seconds(30), interval: interval),
            at: at(.zero))
        machine.begin(at: at(.zero))
        return machine
    }

    private func read(_ actions: [QueueMachine.Action]) -> Int? {
        actions.lazy.compactMap { if case .read(let limit, _) = $0 { limit } else { nil } }.first
    }

    // MARK: What waits for its call

    /// One call in two hours: the claim that waits for it is judged as of then.
    @Test func aClaimThatWaitedIsOfTheTimeOfItsCall() throws {
        var machine = machine(inFlight: 50, interval: .hours(2))
        _ = machine.on(.tick, at: at(.zero))
        let claims = [world.makeClaim(), world.makeClaim()]
        _ = machine.on(.read(claims), at: at(.zero))
        _ = machine.on(.kept(claims, fresh: 2), at: at(.zero))
        var started: [Claim] = []
        for hours in [0, 2] {
            let now = at(.hours(hours) + .minutes(1))
            _ = machine.on(
                .reserved(
                    .granted(in: .zero, until: .someTime), calls: 1, sent: now, answered: now),
                at: now)
            for case .start(let claim, _) in machine.on(.slots(1), at: now) {
                started.append(claim)
            }
        }
        #expect(started.map(\.purchase.id) == claims.map(\.purchase.id))
        #expect(
            started.map(\.claimedAt)
                == [world.now + .minutes(1), world.now + .hours(2) + .minutes(1)])
    }

    /// The database's clock is the one that was read last.
    @Test func aLaterReadTellsTheTimeAnew() throws {
        var machine = machine(inFlight: 50, interval: nil)
        _ = machine.on(.tick, at: at(.zero))
        let early = world.makeClaim()
        _ = machine.on(.read([early]), at: at(.zero))
        _ = machine.on(.kept([early], fresh: 1), at: at(.zero))
        // It was set an hour ahead meanwhile.
        let late = world.makeClaim().going(on: world.now + .hours(1))
        _ = machine.on(.read([late]), at: at(.seconds(5)))
        let actions = machine.on(.slots(1), at: at(.seconds(6)))
        let started = actions.compactMap { action -> Claim? in
            if case .start(let claim, _) = action { claim } else { nil }
        }
        #expect(started.map(\.claimedAt) == [world.now + .hours(1) + .seconds(1)])
    }

    @Test(arguments: [
        (Duration.milliseconds(20), 200), (.milliseconds(100), 40), (.seconds(1), 4),
        (.seconds(10), 2), (.hours(2), 2),
    ])
    func claimsNoMoreThanIsCalledSoon(_ interval: Duration, _ limit: Int) {
        var machine = machine(inFlight: 200, interval: interval)
        #expect(read(machine.on(.tick, at: at(.zero))) == limit)
        var unpaced = self.machine(inFlight: 200, interval: nil)
        #expect(read(unpaced.on(.tick, at: at(.zero))) == 400)
        unpaced = self.machine(inFlight: 1, interval: nil)
        #expect(read(unpaced.on(.tick, at: at(.zero))) == 16)
    }

    // MARK: The oldest first

    @Test func looksAtAllShardsWhereMoreIsDueThanOneReadGives() {
        var machine = machine(inFlight: 2, interval: nil)
        let limit = read(machine.on(.tick, at: at(.zero))) ?? 0
        let few = (1..<limit).map { _ in world.makeClaim(shard: 7) }
        #expect(!machine.on(.read(few), at: at(.zero)).contains(.lookAtFronts))
        _ = machine.on(.kept([], fresh: 1), at: at(.zero))
        let many = few + [world.makeClaim(shard: 7)]
        #expect(machine.on(.read(many), at: at(.zero)).contains(.lookAtFronts))
        #expect(!machine.on(.read(many), at: at(.zero)).contains(.lookAtFronts), "once")
    }

    // MARK: The latest ahead

    private func latest(_ actions: [QueueMachine.Action]) -> Int? {
        actions.lazy.compactMap { if case .read(_, let latest) = $0 { latest } else { nil } }.first
    }

    private func started(_ actions: [QueueMachine.Action]) -> [Int64] {
        actions.compactMap { action in
            if case .start(let claim, _) = action { claim.purchaseID } else { nil }
        }
    }

    /// Whoever has just bought goes before all who wait, and the oldest are read on from where they
    /// were: what became due last moves no place.
    @Test func whatBecameDueLastGoesFirst() throws {
        var machine = machine(inFlight: 8, interval: nil)
        let actions = machine.on(.tick, at: at(.zero))
        let limit = try #require(read(actions))
        #expect(latest(actions) == limit / 4)
        let old = (0..<limit).map { world.makeClaim(shard: 7, dueIn: .seconds(-900 + $0)) }
        let (held, buyer) = (world.makeClaim(shard: 7), world.makeClaim(shard: 7))
        let kept = machine.on(
            .read(old, resting: [held.purchaseID], latest: [held, buyer]), at: at(.zero))
        #expect(kept.contains(.keep(old + [buyer])), "what rests is not asked about")
        #expect(machine.place(of: 7).dueAt == old.last?.dueAt)
        _ = machine.on(.kept(old + [buyer], fresh: old.count + 1), at: at(.zero))
        #expect(
            started(machine.on(.slots(3), at: at(.zero)))
                == [buyer.purchaseID, old[0].purchaseID, old[1].purchaseID])
    }

    /// Each look costs a probe of the index for each shard.
    @Test func looksForWhatBecameDueLastOnceASecond() throws {
        var machine = machine(inFlight: 1, interval: nil)
        #expect(latest(machine.on(.tick, at: at(.zero))) == 4)
        let claims = [world.makeClaim()]
        _ = machine.on(.read(claims), at: at(.zero))
        #expect(latest(machine.on(.kept(claims, fresh: 1), at: at(.milliseconds(900)))) == 0)
        _ = machine.on(.read(claims), at: at(.milliseconds(900)))
        #expect(latest(machine.on(.kept([], fresh: 1), at: at(.seconds(1)))) == 4)
    }

    @Test func onePassReadsInAnyOrder() {
        var machine = QueueMachine(
            .onePass(limit: nil),
            QueueMachine.Limits(
                inFlight: 8, poll: .seconds(1), patience: .seconds(30), interval: nil),
            at: at(.zero))
        machine.begin(at: at(.zero))
        #expect(latest(machine.on(.tick, at: at(.zero))) == 0)
    }

    /// Thousands were submitted before, and somebody buys.
    @Test func aBuyerDoesNotWaitBehindThousands() async throws {
        let world = World()
        for shard in Int16(0)..<32 { world.add(60, shard: shard) }
        let buyer = world.makeClaim(shard: 31, dueIn: .minutes(30))
        world.change { $0.due[1, default: []].append(buyer) }
        try await running(world, quickSettings(inFlight: 4)) {
            inForce($0)
        } _: {
            await world.wait { $0.committed.count == 32 * 60 + 1 }
        }
        let place = try #require(
            world.state.asked.firstIndex { $0.purchase.id == buyer.purchase.id })
        #expect(place < 32)
    }

    @Test func readsTheShardFirstThatHasWaitedLongest() throws {
        var machine = machine(inFlight: 2, interval: nil)
        let limit = read(machine.on(.tick, at: at(.zero))) ?? 0
        let many = (0..<limit).map { _ in world.makeClaim(shard: 1) }
        let last = try #require(many.map(\.dueAt).max())
        _ = machine.on(.read(many), at: at(.zero))
        let fronts: [Int16: Timestamp] = [
            1: last - .days(1), 2: last - .hours(1), 3: last + .hours(1), 4: last - .hours(2),
        ]
        _ = machine.on(.fronts(fronts), at: at(.zero))
        // Of the fifth nothing is known; of the first has been read beyond its front.
        #expect(machine.order([1, 2, 3, 4, 5]) == [5, 4, 2, 1, 3])
        #expect(machine.order([3, 1]) == [1, 3])
    }

    /// Hundreds of purchases are due, and a shard that was nobody's has waited for days: it goes
    /// before all others, as soon as a batch was read.
    @Test func theOldestOfAllShardsGoFirst() async throws {
        let world = World()
        for shard in Int16(0)..<32 { world.add(20, shard: shard) }
        let old = (0..<20).map { _ in world.makeClaim(shard: 99, dueIn: .days(-3)) }
        world.change { $0.due[1, default: []] += old }
        try await running(world, quickSettings(inFlight: 4)) {
            inForce($0)
        } _: {
            await world.wait { $0.committed.count == 660 }
        }
        let ids = Set(old.map(\.purchase.id))
        let places = world.state.asked.indices.filter {
            ids.contains(world.state.asked[$0].purchase.id)
        }
        // What was read before the look, and the rest of what is read at once.
        #expect(try #require(places.last) < 100)
    }
}
