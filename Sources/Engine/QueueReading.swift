import Renewal

// What is due.
extension QueueMachine {
    /// What is claimed is called within about so long, where it is paced: a claim that waits for
    /// hours is judged by facts that are hours old, and stands before what is more urgent. And a
    /// crash makes all that is claimed suspect.
    private static let claimedAhead = Duration.seconds(2)

    /// The look at what became due last costs a probe of the index for each shard.
    private static let latestPause = Duration.seconds(1)

    /// The buffer is filled up when it holds no more than this.
    @inline(__always)
    var lowWater: Int {
        guard let interval = limits.interval else { return limits.inFlight }
        return min(max(Int(Self.claimedAhead / interval), 1), limits.inFlight)
    }

    /// The shards in the order in which they are read: those first whose oldest claim that was not
    /// read yet has been due for longest. One of which nothing is known may have older ones.
    func order(_ shards: [Int16]) -> [Int16] {
        if places.isEmpty, fronts.isEmpty { return shards }
        let due = shards.map { max(place(of: $0).dueAt, fronts[$0] ?? Place.start(of: $0).dueAt) }
        return shards.indices.sorted { (due[$0], $0) < (due[$1], $1) }.map { shards[$0] }
    }

    /// Where each of these shards is read from, in that order.
    func places(of shards: [Int16]) -> ([Place], backfill: [Place]) {
        let shards = order(shards)
        return (
            places.isEmpty ? shards.map(Place.start) : shards.map(place),
            backfill: backfillPlaces.isEmpty
                ? shards.map(Place.startOfBackfill) : shards.map(backfillPlace)
        )
    }

    /// The next read begins with the oldest again.
    mutating func beginAgain() {
        places = [:]
        backfillPlaces = [:]
        fronts = [:]
    }

    /// Whether the circuit lets any call start, now or as a probe, and the answer can be kept.
    @inline(__always)
    func mayAsk(at now: Instant) -> Bool {
        guard commits != .givenUp else { return false }
        switch circuit.position {
        case .closed, .probing: return true
        case .open: return mode == .forever && circuit.wouldAdmit(at: time(now))
        }
    }

    mutating func read(at now: Instant) -> [Action] {
        guard !isReading, readAt <= now, buffer.count <= lowWater, mayAsk(at: now) else {
            return []
        }
        isReading = true
        let isClosed = circuit.position == .closed
        let least = limits.interval == nil ? 16 : 1
        readLimit = isClosed ? max(2 * lowWater - buffer.count, least) : 1
        return [.read(limit: readLimit, latest: latestLimit(at: now))]
    }

    /// Of five calls one goes to what became due last: whoever has just bought does not wait behind
    /// thousands that were due before. The oldest are worked off all the same. One pass reads no
    /// more than there is, in any order.
    private mutating func latestLimit(at now: Instant) -> Int {
        guard mode == .forever, circuit.position == .closed, latestAt <= now else { return 0 }
        latestAt = now + Self.latestPause
        return max(readLimit / 4, 1)
    }

    mutating func takeReading(_ event: Event, at now: Instant) -> [Action] {
        switch event {
        case .read(let claims, let resting, let latest):
            ahead = Set(latest.map(\.purchaseID)).subtracting(resting)
            let latest = latest.filter { ahead.contains($0.purchaseID) }
            return taken(claims, except: resting, and: latest, at: now)
        case .nothingToRead:
            found(.nothing, at: now)
        case .kept(let claims, let fresh): kept(claims, fresh, at: now)
        case .fronts(let fronts):
            isLookingAtFronts = false
            self.fronts = fronts
        case .readFailed(let isLasting):
            failingSince = failingSince ?? now
            let isTooLong = failingSince.map { now - $0 > limits.patience } ?? false
            if mode != .forever, isLasting || isTooLong { return stop() }
            isReading = false
            let pause = isLasting ? max(limits.poll, Self.faultPause) : limits.poll
            readAt = now + (mode == .forever ? pause : min(limits.poll, Self.passPause))
        default: break
        }
        return []
    }

    private enum Found { case more, nothingNew, nothing }

    private mutating func taken(
        _ claims: [Claim], except resting: Set<Int64>, and latest: [Claim], at now: Instant
    ) -> [Action] {
        failingSince = nil
        guard !claims.isEmpty else {
            let found: Found = hasFound ? .nothingNew : .nothing
            // What became due behind the places read so far is found from the start, at once.
            let isFromTheStart = places.isEmpty && backfillPlaces.isEmpty
            // From the start there would be nothing but what rests.
            let isWorthIt = mode == .forever && !isFromTheStart && (hasFound || !hasPassed)
            beginAgain()
            (hasFound, hasPassed) = (false, false)
            self.found(isWorthIt ? .more : found, at: now)
            return []
        }
        if let time = claims.first?.claimedAt { told = (time, now) }
        for claim in claims { advance(beyond: claim) }
        // What is due by now goes before the rest of the back-fill, wherever it became due.
        if claims.allSatisfy(\.isBackfill) {
            places = [:]
            fronts = [:]
        }
        let read = claims.count
        var claims = claims
        if !resting.isEmpty {
            claims = claims.filter { !resting.contains($0.purchaseID) }
            hasPassed = true
        }
        if mode != .forever {
            let end = cutoff ?? told?.time ?? .never
            cutoff = end
            claims = claims.filter { $0.dueAt <= end || $0.isBackfill }
        }
        claims += latest
        let look = lookAtFronts(after: read)
        guard !claims.isEmpty else {
            self.found(.more, at: now)
            return look
        }
        hasFound = true
        return [.keep(claims)] + look
    }

    /// Where more is due than one read gives, the oldest of all shards go first.
    private mutating func lookAtFronts(after count: Int) -> [Action] {
        guard count >= readLimit, fronts.isEmpty, !isLookingAtFronts else { return [] }
        isLookingAtFronts = true
        return [.lookAtFronts]
    }

    private mutating func kept(_ claims: [Claim], _ fresh: Int, at now: Instant) {
        // The buffer is emptied from its end: what became due last, then the oldest, at last what
        // is not due.
        let newest = claims.sorted(on: \.dueAt).reversed()
        let latest = newest.filter { ahead.contains($0.purchaseID) }
        let others = newest.filter { !ahead.contains($0.purchaseID) }
        let due = buffer.firstIndex { !$0.isBackfill } ?? buffer.endIndex
        buffer.insert(contentsOf: others.filter { !$0.isBackfill }, at: due)
        buffer.insert(contentsOf: others.filter(\.isBackfill), at: 0)
        buffer += latest
        if fresh > 0 || mode != .forever { return found(.more, at: now) }
        places = [:]
        fronts = [:]
        found(.nothingNew, at: now)
    }

    private mutating func found(_ found: Found, at now: Instant) {
        isReading = false
        hasNothing = found != .more
        switch (found, mode) {
        case (.more, _): readAt = now
        case (_, .forever): readAt = now + limits.poll
        case (_, .onePass): readAt = now + min(limits.poll, Self.passPause)
        }
        isPassDone = found == .nothing && unsettled == 0
    }

    private mutating func advance(beyond claim: Claim) {
        let place = claim.isBackfill ? backfillPlace(of: claim.shard) : place(of: claim.shard)
        let id = claim.purchaseID
        guard (claim.dueAt, id) > (place.dueAt, place.id) else { return }
        let next = Place(shard: claim.shard, dueAt: claim.dueAt, id: id)
        if claim.isBackfill {
            backfillPlaces[claim.shard] = next
        } else {
            places[claim.shard] = next
        }
    }
}
