import Logging
import Renewal

/// How a lane finds what is due.
extension LaneRunner {
    /// The buffer is filled up when it holds no more than this.
    var lowWater: Int { settings.inFlight }

    func refillLoop() async {
        // Also a cancelled task must let go of who waits.
        defer {
            endSession()
            controls.heartbeat.rest(.queue(lane.app))
        }
        while isInSession {
            controls.heartbeat.expect(
                .queue(lane.app), within: settings.poll + settings.stallLimit)
            guard buffer.count <= lowWater, mayAsk else {
                if mode != .forever, passIsDone(.nothingNew) { return stop() }
                await refillBell.wait(upTo: settings.poll)
                continue
            }
            let found = await refill()
            supply()
            switch (found, mode) {
            case (.more, _):
                continue
            case (.fault(let isLasting), .onePass):
                if isLasting || faultIsTooLong || passIsDone(found) { return stop() }
            case (.fault(true), .forever):
                // Whoever mends it does not ring: it is tried again from time to time.
                await refillBell.wait(upTo: max(settings.poll, Self.faultPause))
                continue
            case (_, .onePass):
                if passIsDone(found) { return stop() }
            case (.nothing, .forever), (.nothingNew, .forever):
                if !isIdle { await refillBell.wait(upTo: settings.poll) }
                if isIdle { return }
                continue
            case (.fault(false), .forever):
                break
            }
            let pause = mode == .forever ? settings.poll : min(settings.poll, .milliseconds(50))
            await refillBell.wait(upTo: pause)
        }
    }

    /// Nothing is in hand. What has become due since the last claim is found by the next look.
    private var isIdle: Bool { unsettled == 0 && buffer.isEmpty && callers.isEmpty }

    private static let faultPause = Duration.seconds(5)

    private enum Found: Equatable { case more, nothingNew, nothing, fault(isLasting: Bool) }

    /// One pass waits for a database that is away no longer than its leases may hold.
    private var faultIsTooLong: Bool {
        failingSince.map { ContinuousClock.now - $0 > settings.lease } ?? false
    }

    /// Whether the pass is over: nothing is left, or the store is down, or the budget is spent.
    private func passIsDone(_ found: Found) -> Bool {
        guard unsettled == 0, buffer.isEmpty || !mayAsk else { return false }
        return found == .nothing || !mayAsk || budget.isSpent || leases.lease.epochs.isEmpty
    }

    /// Whether the circuit lets any call start, now or as a probe, and the answer can be kept.
    private var mayAsk: Bool {
        switch circuit.position {
        case _ where committer.hasGivenUp: false
        case .closed, .probing: true
        case .open: mode == .forever && circuit.wouldAdmit(at: engineTime)
        }
    }

    private func refill() async -> Found {
        let shards = leases.openShards
        guard !shards.isEmpty, !budget.isSpent else { return .nothing }
        let wanted = circuit.position == .closed ? max(2 * lowWater - buffer.count, 16) : 1
        let from = shards.shuffled().map { places[$0] ?? .start(of: $0) }
        do {
            // A batch from few shards locks few rows of the leases' table.
            let perShard = max(wanted / 8, 16)
            inHand.beginReading(lane.number)
            var claims = try await ports.claim(lane, from, perShard, wanted)
            faults.ended(.queue(lane.number))
            failingSince = nil
            log.trace("\(lane.title): \(claims.count) claims from \(shards.count) shards")
            guard !claims.isEmpty else {
                defer {
                    places = [:]
                    hasFound = false
                }
                // What became due behind the places read so far is found from the start, at once.
                if mode == .forever, !places.isEmpty { return .more }
                return hasFound ? .nothingNew : .nothing
            }
            for claim in claims { advance(beyond: claim) }
            if mode != .forever {
                let end = cutoff ?? claims[0].claimedAt
                cutoff = end
                claims = claims.filter { $0.dueAt <= end }
            }
            hasFound = hasFound || !claims.isEmpty
            let found = inHand.add(claims)
            let fresh = budget.take(found)
            inHand.remove(found.dropFirst(fresh.count))
            // One pass goes on to the end of what is due before it says that nothing is left.
            guard !fresh.isEmpty else {
                guard mode == .forever else { return .more }
                places = [:]
                return .nothingNew
            }
            try await mark(fresh)
            return .more
        } catch {
            log.debug("\(lane.title): cannot claim: \(error.sentence)")
            failingSince = failingSince ?? .now
            return .fault(isLasting: faults.met(error, by: .queue(lane.number)))
        }
    }

    /// Notes the claims as in hand; those of a shard that is not ours any more are let go.
    private func mark(_ claims: [Claim]) async throws(LedgerError) {
        let touched = Set(claims.map(\.shard))
        let owned: Set<Int16>
        do throws(LedgerError) {
            owned = try await ports.mark(inHand.ids(ofShards: touched), leases.lease)
        } catch {
            inHand.remove(claims)
            throw error
        }
        inHand.remove(claims.filter { !owned.contains($0.shard) })
        if owned.count < touched.count { leases.doubt.ring() }
        // The buffer is emptied from its end: the oldest last.
        let kept = claims.filter { owned.contains($0.shard) }.sorted { $0.dueAt > $1.dueAt }
        buffer.insert(contentsOf: kept, at: 0)
    }

    private func advance(beyond claim: Claim) {
        let place = places[claim.shard] ?? .start(of: claim.shard)
        let id = claim.purchase.id
        if (claim.dueAt, id) > (place.dueAt, place.id) {
            places[claim.shard] = Place(shard: claim.shard, dueAt: claim.dueAt, id: id)
        }
    }
}
