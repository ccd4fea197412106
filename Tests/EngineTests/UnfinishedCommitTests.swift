import Renewal
import Synchronization
import Testing

@testable import Engine

/// A batch of which the database has stored a part before it went away.
@Suite(.serialized, .timeLimit(.minutes(2))) struct UnfinishedCommitTests {
    /// What the attempts were about, and what was told of them.
    private struct Seen {
        var attempts: [[Claim]] = []
        var told: [Claim] = []
    }

    /// Runs a committer whose first commit stores so many of ten outcomes, with this at its end.
    private func seen(
        storing count: Int, then error: LedgerError, mode: RunMode = .forever
    ) async -> (seen: Seen, checked: Int, all: [Claim]) {
        let world = World()
        let seen = Mutex(Seen())
        var services = world.services { inForce($0) }
        services.spy {
            $0.atCommit = { outcomes, lease, now throws(LedgerError) in
                let isFirst = seen.withLock { seen in
                    seen.attempts.append(outcomes.map(\.claim))
                    return seen.attempts.count == 1
                }
                guard isFirst else {
                    guard mode == .forever else { throw error }
                    return try await world.commit(outcomes, under: lease, at: now)
                }
                var report = try await world.commit(
                    Array(outcomes[..<count]), under: lease, at: now)
                report.unfinished = UnfinishedCommit(left: Array(outcomes[count...]), error: error)
                return report
            }
        }
        var settings = quickSettings()
        settings.batchLimit = 10
        settings.batchAge = .seconds(3600)
        let context = RunContext(
            mode, LiveSettings(settings, Heartbeat()), services, log: quiet)
        context.leases.add((0..<32).map { TakenShard(shard: $0, epoch: 1, suspects: []) })
        context.leases.relyUntil(.now + .seconds(3600))
        let counters = RunCounters()
        let committer = Committer(context, counters) { report in
            seen.withLock { $0.told += report.committed.map(\.claim) }
        }
        let all = world.add(10)
        await withDiscardingTaskGroup { group in
            group.addTask { await committer.run() }
            for claim in all {
                await committer.submit(
                    decide(
                        claim, hearing: inForce(claim),
                        at: Moment(now: claim.claimedAt, jitter: 0), under: Rules()))
            }
            await committer.close()
        }
        return (seen.withLock { $0 }, counters.current.checked, all)
    }

    @Test func goesOnWithWhatIsLeftAndTellsEachOnce() async {
        let run = await seen(storing: 4, then: .unavailable(reason: "gone"))
        #expect(run.seen.attempts == [run.all, Array(run.all[4...])])
        #expect(run.seen.told == run.all)
        #expect(run.checked == 10)
    }

    /// One is enough to see that the database takes something.
    @Test func goesOnWhereNothingIsLeft() async {
        let run = await seen(storing: 10, then: .unavailable(reason: "gone"))
        #expect(run.seen.attempts.count == 1 && run.checked == 10)
    }

    /// Nobody tries again: what was stored is told all the same.
    @Test func aPassThatGivesUpTellsWhatWasStored() async {
        let run = await seen(
            storing: 4, then: .refused(sqlState: "25006", message: "read only"),
            mode: .onePass(limit: nil))
        #expect(run.seen.told == Array(run.all[..<4]))
        #expect(run.checked == 4)
    }
}
