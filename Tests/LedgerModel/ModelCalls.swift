import Engine
package import Renewal
import Synchronization

struct ModelBucket {
    var freeAt: Timestamp?
    var blockedUntil: Timestamp?
}

/// A source of hints: who reads it, and where it goes on.
struct ModelSource {
    var reader: WorkerID?
    var readUntil = Timestamp(microsecondsSinceEpoch: 0)
    var dueAt = Timestamp(microsecondsSinceEpoch: 0)
    var position: String?
    var failures = 0
}

extension ModelState {
    /// As `reserve_calls.sql`; nobody waits at a terminal here.
    mutating func reserve(
        _ bucket: BucketID, _ stretch: Duration, _ horizon: Duration
    ) -> Reservation {
        let now = self.now
        if breakage.hasNoRow { return .granted(in: .zero, until: now) }
        let known = buckets[bucket, default: ModelBucket()]
        let furthest = max(known.blockedUntil ?? now, now) + max(.minutes(2), stretch * 100)
        let freeAt = known.freeAt.flatMap { $0 <= furthest ? $0 : nil } ?? now
        let blocked = known.blockedUntil.flatMap { $0 <= now + .minutes(65) ? $0 : nil } ?? now
        let begins = max(freeAt, blocked, now)
        guard begins - horizon <= now else { return .askAgain(in: begins - horizon - now) }
        buckets[bucket, default: ModelBucket()].freeAt = begins + stretch
        return .granted(in: begins - now, until: begins + stretch)
    }

    /// As `give_back_calls.sql`.
    mutating func giveBack(_ unused: UnusedCalls) {
        guard buckets[unused.bucket]?.freeAt == unused.reservedUntil else { return }
        buckets[unused.bucket]?.freeAt = unused.reservedUntil - unused.stretch
    }

    mutating func block(_ bucket: BucketID, _ duration: Duration) {
        let now = self.now
        let known = buckets[bucket]?.blockedUntil.flatMap { $0 <= now + .minutes(65) ? $0 : nil }
        buckets[bucket, default: ModelBucket()].blockedUntil = max(
            known ?? now, now + duration)
    }

    mutating func round(_ round: HintRound, _ worker: WorkerID) -> HintTurns {
        let now = self.now
        var turns = HintTurns(now: now)
        for reading in round.ended where sources[reading.source]?.reader == worker {
            end(reading, at: now)
        }
        for name in round.kept {
            if sources[name]?.reader == worker {
                sources[name]?.readUntil = now + round.lease
            } else {
                turns.lost.insert(name)
            }
        }
        for name in round.wanted {
            let source = sources[name, default: ModelSource()]
            let isFree = source.reader == nil || source.readUntil <= now
            let opensAt = isFree ? source.dueAt : source.readUntil
            let isInBudget =
                !round.limited.contains(name) || opensAt <= now + HintRound.longestEarly
            guard isFree, opensAt <= now || round.isEarly && isInBudget else {
                turns.waits[name] = max(opensAt - now, .zero)
                continue
            }
            if opensAt > now { turns.early[name] = opensAt - now }
            sources[name] = source
            sources[name]?.reader = worker
            sources[name]?.readUntil = now + round.lease
            turns.granted[name] = HintCursor(
                position: source.position, failures: source.failures)
        }
        return turns
    }

    private mutating func end(_ reading: HintReading, at now: Timestamp) {
        var source = sources[reading.source, default: ModelSource()]
        source.reader = nil
        source.dueAt = now + reading.rest
        source.position = reading.position ?? source.position
        switch reading.outcome {
        case .read: source.failures = 0
        case .failed(_, let failures): source.failures = failures
        case .left: break
        }
        sources[reading.source] = source
    }

    /// As `take_hints.sql`, of hints that name a token. Nil when another has the source.
    mutating func take(_ delivery: HintDelivery) -> HintReport? {
        guard sources[delivery.source]?.reader == delivery.worker else { return nil }
        let (now, lane) = (self.now, lane(of: delivery.app))
        if let position = delivery.page.position { sources[delivery.source]?.position = position }
        sources[delivery.source]?.readUntil = now + delivery.lease
        if let rest = delivery.rest { sources[delivery.source]?.dueAt = now + rest }
        let fresh = delivery.page.hints.filter { heard.insert($0.id).inserted }
        var (woken, unclaimed) = (0, 0)
        for hint in fresh {
            guard case .token(let token) = hint.subject,
                let id = tokens[TokenKey(lane: lane, token: token)], let row = rows[id]
            else {
                unclaimed += 1
                continue
            }
            let isInHand = shards[Int(row.shard)].inHand.contains(id)
            guard row.purchase.facts.state != .superseded, row.dueAt > now || isInHand,
                row.checkedAt.map({ $0 <= delivery.began }) ?? true,
                row.problem?.hasPrefix("set_aside:") != true
            else { continue }
            woken += 1
            rows[id]?.attempts = 0
            move(id, to: now)
        }
        return HintReport(fresh: fresh.count, woken: woken, unclaimed: unclaimed)
    }
}

extension ModelLedger: HintStore {
    package func hintRound(
        _ round: HintRound, by worker: WorkerID
    ) async throws(LedgerError) -> HintTurns {
        state.withLock { $0.round(round, worker) }
    }

    package func take(_ delivery: HintDelivery) async throws(LedgerError) -> HintReport? {
        state.withLock { $0.take(delivery) }
    }

    package func forgetOldHints() async throws(LedgerError) {}
}
