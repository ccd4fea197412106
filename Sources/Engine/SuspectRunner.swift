import Renewal

/// After a crash, what was in hand is suspect: it is checked before anything else of its shard, in
/// small groups, then alone, so that a purchase whose check ends the process is found while its
/// neighbours go on. The ledger sets it aside at its limit: once in the crowd and once in a small
/// group prove nothing, three times alone do.
struct SuspectRunner {
    let context: RunContext
    let committer: Committer

    private var ledger: any EngineLedger { context.ledger }
    private var inFlight: InFlight { context.inFlight }
    private var leases: Leases { context.leases }

    /// Suspects checked together after their first crash; after the second each is alone.
    static let groupLimit = 16
    /// Clears the suspects of the shards, then opens them.
    func clear(_ shards: [TakenShard], in lanes: [Lane]) async throws(LedgerError) {
        guard !shards.isEmpty else { return }
        var suspects = try await ledger.suspects(
            of: lanes, in: shards.map(\.shard))
        // Those that were in hand at one crash first: they are most likely innocent.
        suspects.sort { ($0.crashes, $0.purchase.id) < ($1.crashes, $1.purchase.id) }
        while let first = suspects.first {
            let size = first.crashes == 1 ? Self.groupLimit : 1
            let group = Array(suspects.prefix { $0.crashes == first.crashes }.prefix(size))
            suspects.removeFirst(group.count)
            try await check(inFlight.add(group))
        }
        leases.open(Set(shards.map(\.shard)))
    }

    /// Checks a group with nothing else of its shards in hand, and commits it.
    private func check(_ group: [Claim]) async throws(LedgerError) {
        let touched = Set(group.map(\.shard))
        let owned: Set<Int16>
        do throws(LedgerError) {
            owned = try await ledger.mark(
                inFlight.ids(ofShards: touched), under: leases.lease)
        } catch {
            inFlight.remove(group)
            throw error
        }
        inFlight.remove(group.filter { !owned.contains($0.shard) })
        let outcomes = await withTaskGroup(of: Outcome.self) { tasks in
            for claim in group where owned.contains(claim.shard) {
                tasks.addTask {
                    let pass = context.pass
                    return pass.decide(await pass.ask(claim))
                }
            }
            return await tasks.reduce(into: [Outcome]()) { $0.append($1) }
        }
        await committer.commit(outcomes, as: .suspects)
        let emptied = Dictionary(uniqueKeysWithValues: owned.map { ($0, [Int64]()) })
        _ = try await ledger.mark(emptied, under: leases.lease)
    }
}
