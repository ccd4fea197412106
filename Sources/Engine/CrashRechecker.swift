import Renewal
import ServiceLifecycle

/// After a crash, what was in hand is suspect: it is checked before anything else of its shard, in
/// small groups, then alone, so that a purchase whose check ends the process is found while its
/// neighbours go on. The ledger sets it aside at its limit: once in the crowd and once in a small
/// group prove nothing, three times alone do.
struct CrashRechecker {
    let context: RunContext
    let committer: Committer
    let turns: any CallTurns

    private var ledger: any EngineLedger { context.ledger }
    private var inFlight: InFlight { context.inFlight }
    private var leases: Leases { context.leases }

    /// Suspects checked together after their first crash; after the second each is alone.
    static let groupLimit = 16
    /// How long a group waits for its places in the row of calls. It is short: a crash meanwhile
    /// would count against it.
    private static let patience = Duration.seconds(5)

    /// Clears the suspects of the shards, then opens them.
    ///
    /// - Returns: how many are suspects still: their store lets nobody call just now, they are in
    ///   hand elsewhere, or their answer came to nothing. No queue claims them.
    func clear(_ shards: [TakenShard], in lanes: [Lane]) async throws(LedgerError) -> Int {
        guard !shards.isEmpty else { return 0 }
        let numbers = shards.map(\.shard)
        var suspects = try await ledger.suspects(of: lanes, in: numbers)
        let readAt = ContinuousClock.now
        let areAny = !suspects.isEmpty
        // Those that were in hand at one crash first: they are most likely innocent. Of one app
        // together: they share what is reserved of its row of calls.
        suspects.sort {
            ($0.crashes, $0.lane, $0.purchase.id) < ($1.crashes, $1.lane, $1.purchase.id)
        }
        while let first = suspects.first {
            // After a stop no further check is started, and the shards stay closed.
            if Task.isShuttingDownGracefully { return suspects.count }
            let size = first.crashes == 1 ? Self.groupLimit : 1
            let group = Array(suspects.prefix { $0.crashes == first.crashes }.prefix(size))
            suspects.removeFirst(group.count)
            let closed = try await check(inFlight.add(group), readAt: readAt)
            // A group of an app has waited for all.
            suspects.removeAll { closed.contains($0.purchase.app) }
        }
        leases.allowClaims(Set(numbers))
        return areAny ? try await ledger.suspects(of: lanes, in: numbers).count : 0
    }

    /// Checks a group with nothing else of its shards in hand, and commits it; gives the apps whose
    /// store lets nobody call. What waits since it was read is judged as of its call.
    private func check(
        _ group: [Claim], readAt: ContinuousClock.Instant
    ) async throws(LedgerError) -> Set<AppKey> {
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
        var outcomes: [Outcome] = []
        var closed: Set<AppKey> = []
        var open: Set<AppKey> = []
        await withTaskGroup(of: (AppKey, Turn).self) { tasks in
            for claim in group where owned.contains(claim.shard) {
                tasks.addTask {
                    let turn = await self.turn(of: claim, readAt: readAt)
                    return (claim.purchase.app, turn)
                }
            }
            for await (app, turn) in tasks {
                switch turn {
                case .refused: closed.insert(app)
                case .asked(let outcome):
                    open.insert(app)
                    if let outcome { outcomes.append(outcome) }
                }
            }
        }
        await committer.commit(outcomes, as: .suspects)
        let emptied = Dictionary(uniqueKeysWithValues: owned.map { ($0, [Int64]()) })
        _ = try await ledger.mark(emptied, under: leases.lease)
        return closed.subtracting(open)
    }

    private enum Turn: Sendable {
        case refused
        /// Nil for one that stays due as it is.
        case asked(Outcome?)
    }

    /// Waits for a place in the row of calls: a crash is no reason to exceed a quota. Those of a
    /// group wait together, so that some places are reserved at once.
    private func turn(of claim: Claim, readAt: ContinuousClock.Instant) async -> Turn {
        let turn = await context.turn(of: claim.purchase.app, within: Self.patience)
        guard case .granted(let place) = turn, leases.mayStart(claim.shard) else {
            inFlight.remove(CollectionOfOne(claim))
            return .refused
        }
        let started = claim.going(on: claim.claimedAt + (.now - readAt))
        return .asked(await check(started, at: place))
    }

    /// Nil for one that stays due as it is.
    private func check(_ claim: Claim, at place: CallPlace) async -> Outcome? {
        let pass = context.pass
        let permit = turns.permit(for: claim.purchase.app).beginning(at: place)
        let check = await pass.ask(claim, permit)
        await context.shareRetryAfter(check.call.answer, of: claim.purchase.app)
        guard !Task.isCancelled, check.isToBeDecided else {
            inFlight.remove(CollectionOfOne(claim))
            return nil
        }
        return pass.decide(check)
    }
}
