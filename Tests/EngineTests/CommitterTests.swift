import Renewal
import Testing

@testable import Engine

@Suite(.serialized, .timeLimit(.minutes(2))) struct CommitterTests {
    /// Runs a committer for as long as `body` needs, over a world whose shards it owns.
    private func committing(
        _ world: World, _ settings: EngineSettings,
        reliableFor: Duration = .zero,
        commit: (@Sendable ([Outcome]) async -> Void)? = nil,
        _ body: (Committer, InFlight) async -> Void
    ) async {
        var services = world.services { inForce($0) }
        if let commit {
            services.spy {
                $0.atCommit = { outcomes, lease, now throws(LedgerError) in
                    await commit(outcomes)
                    return try await world.commit(outcomes, under: lease, at: now)
                }
            }
        }
        let context = RunContext(
            .forever, LiveSettings(settings, Heartbeat()), services, log: quiet)
        context.leases.add((0..<32).map { TakenShard(shard: $0, epoch: 1, suspects: []) })
        context.leases.relyUntil(.now + reliableFor)
        let (committer, inFlight) = (Committer(context, RunCounters()), context.inFlight)
        await withDiscardingTaskGroup { group in
            group.addTask { await committer.run() }
            await body(committer, inFlight)
            await committer.close()
        }
    }

    private func outcome(_ claim: Claim) -> Outcome {
        decide(
            claim, hearing: inForce(claim), at: Moment(now: claim.claimedAt, jitter: 0),
            under: Rules())
    }

    @Test func commitsFullBatchesAtOnceAndTheRestAtTheEnd() async {
        let world = World()
        var settings = quickSettings()
        settings.batchLimit = 10
        settings.batchAge = .seconds(3600)
        await committing(world, settings) { committer, _ in
            for claim in world.add(25) { await committer.submit(outcome(claim)) }
            await world.wait { $0.committed.count >= 20 }
            #expect(world.state.batches.map(\.count) == [10, 10])
        }
        #expect(world.state.batches.map(\.count) == [10, 10, 5])
    }

    @Test func commitsASmallBatchWhenItIsOldEnough() async {
        let world = World()
        var settings = quickSettings()
        settings.batchLimit = 500
        settings.batchAge = .milliseconds(20)
        await committing(world, settings) { committer, _ in
            for claim in world.add(3) { await committer.submit(outcome(claim)) }
            await world.wait { $0.committed.count == 3 }
        }
    }

    @Test func makesWhoeverHandsOverWaitWhenTheQueueIsFull() async {
        let world = World()
        var settings = quickSettings()
        settings.batchLimit = 5
        let gate = Gate()
        let claims = world.add(100)
        await committing(world, settings, commit: { _ in await gate.pass() }) { committer, _ in
            await withDiscardingTaskGroup { group in
                for claim in claims {
                    group.addTask {
                        await committer.submit(outcome(claim))
                        world.change { $0.handedOver += 1 }
                    }
                }
                await world.wait { $0.handedOver >= 20 }
                // One batch is at the door, four are in the queue.
                #expect(world.state.handedOver <= 25)
                gate.open()
            }
        }
        #expect(world.state.committed.count == 100)
        #expect(world.state.batches.allSatisfy { $0.count <= 5 })
    }

    /// A batch makes room for as many as it takes.
    @Test func letsNoMoreGoOnThanThereIsRoomFor() async {
        let world = World()
        var settings = quickSettings()
        settings.batchLimit = 5
        let (first, others) = (Gate(), Gate())
        let claims = world.add(100)
        await committing(
            world, settings,
            commit: { batch in
                await first.pass()
                if batch.contains(where: { $0.claim != claims[0] }) { await others.pass() }
            }
        ) { committer, _ in
            await withDiscardingTaskGroup { group in
                // The first batch is one outcome alone, and at the door before the others come.
                await committer.submit(outcome(claims[0]))
                await yield(while: !first.isWaitedFor)
                for claim in claims.dropFirst() {
                    group.addTask {
                        await committer.submit(outcome(claim))
                        world.change { $0.handedOver += 1 }
                    }
                }
                await world.wait { $0.handedOver >= 20 }
                await letOthersGoOn()
                first.open()
                await yield(while: !others.isWaitedFor)
                await letOthersGoOn()
                #expect(world.state.handedOver <= 25)
                others.open()
            }
        }
        #expect(world.state.committed.count == 100)
    }

    @Test func aDoorThatIsShutForAWhileLosesNothing() async {
        let world = World()
        world.change { $0.shut[.commit] = 3 }
        let claims = world.add(12)
        await committing(world, quickSettings()) { committer, inFlight in
            _ = inFlight.add(claims)
            for claim in claims { await committer.submit(outcome(claim)) }
            await world.wait { $0.committed.count == 12 }
        }
        #expect(Set(world.state.committed.map(\.claim)) == Set(claims))
    }

    @Test func givesUpWhenTheLeaseCannotHoldAnyMore() async {
        let world = World()
        var settings = quickSettings()
        settings.lease = .zero
        world.change { $0.shut[.commit] = .max }
        let claims = world.add(3)
        await committing(world, settings) { committer, inFlight in
            _ = inFlight.add(claims)
            for claim in claims { await committer.submit(outcome(claim)) }
            await committer.close()
            #expect(inFlight.isEmpty)
        }
        #expect(world.state.committed.isEmpty)
    }

    @Test func keepsAnswersAsLongAsTheLeasesAreKept() async {
        let world = World()
        var settings = quickSettings()
        settings.lease = .milliseconds(500)
        world.change { $0.shut[.commit] = 3 }
        let claims = world.add(3)
        await committing(world, settings, reliableFor: .seconds(3600)) { committer, _ in
            for claim in claims { await committer.submit(outcome(claim)) }
            await world.wait { $0.committed.count == 3 || $0.count(.commit) > 4 }
            await committer.close()
            #expect(committer.trouble == nil)
        }
        #expect(Set(world.state.committed.map(\.claim)) == Set(claims))
    }

    @Test func aStopDoesNotWaitForEachBatch() async {
        let world = World()
        var settings = quickSettings()
        settings.lease = .milliseconds(500)
        settings.batchLimit = 1
        world.change { $0.shut[.commit] = .max }
        let claims = world.add(4)
        await committing(world, settings, reliableFor: .seconds(3600)) { committer, inFlight in
            _ = inFlight.add(claims)
            for claim in claims { await committer.submit(outcome(claim)) }
            await committer.close()
            #expect(inFlight.isEmpty)
            #expect(committer.hasGivenUp)
        }
    }

    @Test func noCheckStartsWhileNothingCanBeCommitted() async throws {
        let world = World()
        world.change { $0.shut[.commit] = .max }
        world.add(300)
        try await running(world, quickSettings()) { claim in
            // One is answered at once, the others when its commit has failed.
            if world.state.asked.first != claim { await world.wait { $0.count(.commit) >= 2 } }
            return inForce(claim)
        } _: {
            await world.wait { $0.count(.commit) >= 2 && $0.totalInFlight == 0 }
            await world.letLook(60)
            #expect(world.state.asked.count <= 100)
            world.change { $0.shut[.commit] = 0 }
            await world.wait { $0.committed.count == 300 }
        }
        #expect(world.state.asked.count == 300)
    }

    @Test func aDatabaseThatIsAwayMakesNobodyAskTwice() async throws {
        let world = World()
        world.change { $0.shut[.commit] = 4 }
        world.add(60)
        try await running(world, quickSettings()) {
            inForce($0)
        } _: {
            await world.wait { $0.committed.count == 60 }
        }
        #expect(world.state.asked.count == 60)
    }

    /// Those whose outcomes the database refuses wait by themselves, and nobody is asked about them.
    @Test func whatIsRefusedAloneHoldsUpNobody() async {
        let world = World()
        var settings = quickSettings()
        settings.batchLimit = 40
        settings.lease = .seconds(1)
        let claims = world.add(60)
        let bad = Set([3, 4, 17, 31].map { claims[$0].purchase.id })
        world.change { $0.refused = bad }
        let rest = claims.filter { !bad.contains($0.purchase.id) }
        await committing(world, settings, reliableFor: .seconds(3600)) { committer, inFlight in
            _ = inFlight.add(claims)
            for claim in claims.prefix(40) { await committer.submit(outcome(claim)) }
            await world.wait { $0.committed.count == 36 }
            for claim in claims.suffix(20) { await committer.submit(outcome(claim)) }
            await world.wait { $0.committed.count == 56 }
            await yield(while: inFlight.count != 4)
            #expect(Set(world.state.committed.map(\.claim)) == Set(rest))
            #expect(committer.commits == .flow)
            world.change { $0.refused = [] }
            await world.wait { $0.committed.count == 60 }
            await yield(while: !inFlight.isEmpty)
        }
        #expect(Set(world.state.committed.map(\.claim)) == Set(claims))
    }

    /// Also what is committed beside the loop, while that is at rest.
    @Test func whatSuspectsCameToIsTriedAgain() async {
        let world = World()
        var settings = quickSettings()
        settings.lease = .seconds(1)
        // Any one of them shows whether the database takes anything: of many it is hardly ever the
        // one that is refused, three times in a row.
        let claims = world.add(65)
        world.change { $0.refused = [claims[1].purchase.id] }
        await committing(world, settings, reliableFor: .seconds(3600)) { committer, inFlight in
            _ = inFlight.add(claims)
            await committer.submit(outcome(claims[0]))
            await world.wait { $0.committed.count == 1 }
            await letOthersGoOn()
            await committer.commit(claims.dropFirst().map(outcome), as: .suspects)
            #expect(world.state.committed.count == 64)
            #expect(inFlight.count == 1)
            world.change { $0.refused = [] }
            await world.wait { $0.committed.count == 65 }
            await yield(while: !inFlight.isEmpty)
        }
    }

    /// At a stop they are left to be checked again.
    @Test func aStopDoesNotWaitForWhatIsRefused() async {
        let world = World()
        let claims = world.add(5)
        world.change { $0.refused = [claims[0].purchase.id, claims[2].purchase.id] }
        await committing(world, quickSettings(), reliableFor: .seconds(3600)) {
            committer, inFlight in
            _ = inFlight.add(claims)
            for claim in claims { await committer.submit(outcome(claim)) }
            await world.wait { $0.committed.count == 3 }
            await committer.close()
            #expect(inFlight.isEmpty)
        }
        #expect(world.state.committed.count == 3)
    }

    /// Nothing is set aside where nothing is taken: checks stop until somebody has mended it.
    @Test func aDatabaseThatTakesNothingStopsTheChecks() async {
        let world = World()
        let claims = world.add(20)
        var settings = quickSettings()
        settings.batchLimit = 20
        settings.batchAge = .seconds(3600)
        world.change { $0.refused = Set(claims.map(\.purchase.id)) }
        await committing(world, settings, reliableFor: .seconds(3600)) { committer, inFlight in
            _ = inFlight.add(claims)
            for claim in claims { await committer.submit(outcome(claim)) }
            await world.wait { $0.refusals >= 6 }
            #expect(committer.commits == .wait)
            #expect(inFlight.count == 20)
            world.change { $0.refused = [] }
            await world.wait { $0.committed.count == 20 }
            await yield(while: committer.commits != .flow)
        }
    }
}
