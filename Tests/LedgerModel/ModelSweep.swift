import Engine
package import Renewal
import Synchronization

extension ModelState {
    /// As `sweep_state.sql`, `sweep_page.sql` and `sweep_wake.sql`.
    mutating func sweep(_ request: SweepRequest) -> SweepStep {
        let (now, lane) = (self.now, request.lane.number)
        let late = queue.lazy.prefix { $0.dueAt <= now - request.patience }
        if late.contains(where: { rows[$0.id].map { $0.lane == lane && $0.crashes == 0 } ?? false })
        {
            return .behind
        }
        let places = Dictionary(
            request.places.map { ($0.shard, $0) }, uniquingKeysWith: { $1 })
        var ofShard: [Int16: [SweepRow]] = [:]
        for place in queue[(queue.firstIndex { $0.dueAt > now } ?? queue.endIndex)...] {
            guard place.dueAt < .backfill, let row = rows[place.id], row.lane == lane,
                row.crashes == 0, let from = places[row.shard],
                (place.dueAt, place.id) > (from.dueAt, from.id),
                ofShard[row.shard]?.count ?? 0 < request.perShard
            else { continue }
            ofShard[row.shard, default: []].append(row.sweepRow)
        }
        let heard = request.sources.keys.filter { sources[$0]?.failures == 0 }
        let choice = SweepChoice(
            of: ofShard.values.flatMap(\.self), for: request, heard: heard, at: now)
        for place in choice.chosen { move(place.id, to: now) }
        return .swept(choice.chosen.count, reached: choice.reached, ended: choice.ended)
    }

    /// As `recall_page.sql`.
    mutating func recall(_ lanes: Set<Int32>) -> Int {
        let now = now
        let recalled = queue.filter { place in
            guard place.dueAt > now + .minutes(1), place.dueAt < .backfill,
                let row = rows[place.id], lanes.contains(row.lane), row.crashes == 0
            else { return false }
            return row.sweepRow.wasAskedInTheFuture(of: now)
        }
        for place in recalled { move(place.id, to: now) }
        return recalled.count
    }
}

extension ModelLedger: SweepStore {
    package func sweep(_ request: SweepRequest) async throws(LedgerError) -> SweepStep {
        state.withLock { $0.sweep(request) }
    }

    package func recall(_ lanes: [Lane]) async throws(LedgerError) -> Int {
        state.withLock { $0.recall(Set(lanes.map(\.number))) }
    }
}

extension ModelRow {
    fileprivate var sweepRow: SweepRow {
        let facts = purchase.facts
        return SweepRow(
            Place(shard: shard, dueAt: dueAt, id: purchase.id), checkedAt: checkedAt,
            inVainAt: inVain?.lastAskedAt, state: facts.state, access: facts.access,
            kind: facts.kind, autoRenew: facts.autoRenew, isFree: facts.phase == .trial,
            createdAt: purchase.createdAt,
            end: facts.expiresAt ?? facts.paidThrough,
            isTroubled: attempts > 0 || inVain != nil || facts.doubt != nil)
    }
}
