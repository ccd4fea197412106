import Renewal

/// After a crash, what was in hand is suspect: it is checked before anything else of its shard, in
/// small groups, then alone, so that a purchase whose check ends the process is found and set aside
/// after three tries while its neighbours go on.
struct SuspectRunner {
    let settings: EngineSettings
    let ports: Ports
    let leases: LeaseBook
    let inHand: InHand
    let committer: Committer

    /// Suspects checked together after their first crash; after the second each is alone.
    static let groupLimit = 16
    /// Most suspects read of one shard and lane at once.
    private static let readLimit = 1000

    /// Clears the suspects of the shards, then opens them.
    func clear(_ shards: [TakenShard], in lanes: [Lane]) async throws(PortError) {
        for shard in shards {
            var suspects: [Claim] = []
            for lane in lanes {
                suspects += try await ports.claim(
                    lane, [.start(of: shard.shard)], Self.readLimit, Self.readLimit
                ).filter { $0.crashes > 0 }
            }
            suspects.sort { ($0.crashes, $0.purchase.id) < ($1.crashes, $1.purchase.id) }
            while let first = suspects.first {
                let size = first.crashes == 1 ? Self.groupLimit : 1
                let group = Array(suspects.prefix { $0.crashes == first.crashes }.prefix(size))
                suspects.removeFirst(group.count)
                try await check(inHand.add(group), of: shard.shard)
            }
            leases.open([shard.shard])
        }
    }

    private func check(_ group: [Claim], of shard: Int16) async throws(PortError) {
        let ids = inHand.ids(ofShards: [shard])
        guard try await ports.mark(ids, leases.lease).contains(shard) else {
            return inHand.remove(group)
        }
        let outcomes = await withTaskGroup(of: Outcome.self) { tasks in
            for claim in group {
                tasks.addTask {
                    let began = ContinuousClock.now
                    let answer = await ports.ask(claim)
                    let moment = Moment(
                        now: claim.claimedAt + (ContinuousClock.now - began),
                        jitter: .random(in: 0..<1))
                    return Outcome(
                        claim: claim,
                        decision: decide(claim, hearing: answer, at: moment, under: settings.rules))
                }
            }
            return await tasks.reduce(into: [Outcome]()) { $0.append($1) }
        }
        await committer.commit(outcomes)
        _ = try await ports.mark([shard: []], leases.lease)
    }
}
