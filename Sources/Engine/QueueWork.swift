import Logging
import Renewal

/// What a queue asks of the database, and what it reports of it to its machine.
struct QueueWork: Sendable {
    let lane: Lane
    let context: RunContext
    let budget: PassLimit

    /// - Parameters:
    ///   - limit: most claims.
    ///   - places: where to go on in each shard.
    ///   - backfill: likewise in what waits behind all that is due.
    ///   - latest: most of those that became due last, where more is due than the limit.
    /// - Returns: what the machine is told of it.
    func read(
        _ limit: Int, from places: [Place], behind backfill: [Place], latest: Int
    ) async -> QueueMachine.Event {
        guard !places.isEmpty, !budget.isSpent else { return .nothingToRead }
        // A batch from few shards locks few rows of the leases' table.
        let request = ClaimRequest(
            lane, from: places, behind: backfill, perShard: max(limit / 8, 16), limit: limit)
        do {
            context.inFlight.beginReading(lane.number)
            let claims = try await context.ledger.claim(request)
            var last: [Claim] = []
            if latest > 0, claims.count >= limit, claims.last?.isBackfill == false {
                last = try await context.ledger.latest(
                    ClaimRequest(lane, from: places, perShard: 2, limit: latest))
            }
            context.faults.ended(.queue(lane.number))
            context.log.trace(.claimed(lane, claims.count, fromShards: places.count))
            return .read(
                claims, resting: context.inFlight.resting(claims + last), latest: last)
        } catch {
            return failed(error)
        }
    }

    /// - Returns: when the oldest claim of each shard is due, for the machine; nothing where that
    ///   cannot be told: the shards are read in any order then.
    func fronts(of shards: [Int16]) async -> QueueMachine.Event {
        do {
            return .fronts(try await context.ledger.fronts(of: lane, in: shards))
        } catch {
            context.log.debug(.cannotLookAtShards(lane, error))
            return .fronts([:])
        }
    }

    /// Notes the claims as in hand; those of a shard that is not ours any more are let go.
    func keep(_ claims: [Claim]) async -> QueueMachine.Event {
        let inFlight = context.inFlight
        let found = inFlight.add(claims)
        let fresh = budget.take(found)
        inFlight.remove(found.dropFirst(fresh.count))
        guard !fresh.isEmpty else { return .kept([], fresh: 0) }
        let touched = Set(fresh.map(\.shard))
        do {
            let owned = try await context.ledger.mark(
                inFlight.ids(ofShards: touched), under: context.leases.lease)
            inFlight.remove(fresh.filter { !owned.contains($0.shard) })
            if owned.count < touched.count { context.leases.doubt.signal() }
            return .kept(fresh.filter { owned.contains($0.shard) }, fresh: fresh.count)
        } catch {
            inFlight.remove(fresh)
            return failed(error)
        }
    }

    private func failed(_ error: LedgerError) -> QueueMachine.Event {
        context.log.debug(.cannotClaim(lane, error))
        return .readFailed(isLasting: context.faults.met(error, by: .queue(lane.number)))
    }

    func reserve(_ calls: Int, _ stretch: Duration) async -> QueueMachine.Event {
        do {
            let reply = try await context.reservations.reserve(
                CallRequest(
                    stretch, of: BucketID(of: lane.app), within: RateReservation.horizon))
            context.faults.ended(.quota(lane.app))
            return .reserved(
                reply.reservation, calls: calls, sent: reply.sent, answered: reply.answered)
        } catch {
            context.log.debug(.cannotReserveCalls(lane, error))
            return .reservationFailed(
                isLasting: context.faults.met(error, by: .quota(lane.app)))
        }
    }
}
