import Engine
package import Renewal
import Synchronization

extension ModelState {
    func claim(_ row: ModelRow) -> Claim {
        var purchase = Purchase(
            id: row.purchase.id, userID: row.purchase.userID, app: row.purchase.app,
            token: row.purchase.token, createdAt: row.purchase.createdAt,
            isClaimedByOthers: !row.claimants.isEmpty, claimant: row.claimedBy,
            facts: row.purchase.facts)
        purchase.claimedAt = row.claimants.last { $0.user == row.claimedBy }?.at
        purchase.claimants = row.claimants.reversed().map(\.user)
        purchase.clues = row.purchase.clues
        purchase.cluesHeardAt = row.purchase.cluesHeardAt
        purchase.knownRefunds = row.purchase.knownRefunds
        var claim = Claim(
            purchase: purchase, shard: row.shard, lane: row.lane, dueAt: row.dueAt,
            version: row.version, attempts: row.attempts, crashes: row.crashes,
            checkedAt: row.checkedAt, problem: row.problem, claimedAt: now)
        claim.statedAt = row.statedAt
        claim.inVain = row.inVain
        return claim
    }

    /// The due rows that are, or are not, suspects of a crash.
    private func due(suspects: Bool) -> some Sequence<ModelRow> {
        let end = suspects ? now + .days(1) : now
        return queue.lazy.prefix { $0.dueAt <= end }
            .filter { !breakage.hidden($0.id) }
            .compactMap { rows[$0.id] }
            .filter { ($0.crashes > 0) == suspects }
    }

    func claims(_ request: ClaimRequest) -> [Claim] {
        let due = due(suspects: false).filter { $0.lane == request.lane.number }
        guard !due.isEmpty else { return [] }
        var places = [Place?](repeating: nil, count: shards.count)
        for place in request.places { places[Int(place.shard)] = place }
        var ofShard: [Int16: [Claim]] = [:]
        for row in due {
            guard let place = places[Int(row.shard)],
                (row.dueAt, row.purchase.id) > (place.dueAt, place.id),
                ofShard[row.shard]?.count ?? 0 < request.perShard
            else { continue }
            ofShard[row.shard, default: []].append(claim(row))
        }
        return Array(request.places.flatMap { ofShard[$0.shard] ?? [] }.prefix(request.limit))
    }

    func latest(_ request: ClaimRequest) -> [Claim] {
        let shards = Set(request.places.map(\.shard))
        var counts: [Int16: Int] = [:]
        var found: [Claim] = []
        for row in due(suspects: false).reversed()
        where row.lane == request.lane.number && shards.contains(row.shard)
            && counts[row.shard, default: 0] < request.perShard && found.count < request.limit
        {
            counts[row.shard, default: 0] += 1
            found.append(claim(row))
        }
        return found
    }

    func suspects(_ lanes: [Lane], _ shards: [Int16]) -> [Claim] {
        let (numbers, shards) = (Set(lanes.map(\.number)), Set(shards))
        return due(suspects: true).filter {
            numbers.contains($0.lane) && shards.contains($0.shard)
        }.map(claim)
    }

    func fronts(_ lane: Lane, _ shards: [Int16]) -> [Int16: Timestamp] {
        Dictionary(
            due(suspects: false).filter { $0.lane == lane.number && shards.contains($0.shard) }
                .map { ($0.shard, $0.dueAt) }, uniquingKeysWith: min)
    }

    func heads(_ lanes: [Lane], _ shards: [Int16], after id: Int64) -> QueueHeads {
        let shards = isEach(of: shards)
        var wanted = Set(lanes.map(\.number))
        var dueAt: [Int32: Timestamp] = [:]
        for place in queue where !wanted.isEmpty {
            guard let row = rows[place.id], row.crashes == 0, shards[Int(row.shard)],
                !breakage.hidden(place.id), wanted.remove(row.lane) != nil
            else { continue }
            dueAt[row.lane] = place.dueAt
        }
        var arrivals: [Arrival] = []
        var number = Int64(rows.count)
        while number > id, arrivals.count < 100 {
            if let row = rows[number], shards[Int(row.shard)] {
                arrivals.append(Arrival(id: number, lane: row.lane))
            }
            number -= 1
        }
        return QueueHeads(now: now, dueAt: dueAt, arrivals: arrivals)
    }

    private func isEach(of shards: [Int16]) -> [Bool] {
        var isOne = Array(repeating: false, count: self.shards.count)
        for shard in shards { isOne[Int(shard)] = true }
        return isOne
    }

    // MARK: Leases

    mutating func beat(_ worker: WorkerID, _ lease: Duration) -> Int {
        let now = self.now
        workers[worker] = now + lease
        return workers.values.count { $0 > now }
    }

    mutating func take(_ worker: WorkerID, _ limit: Int, _ lease: Duration) -> [TakenShard] {
        let now = self.now
        let free = shards.indices.filter { shards[$0].leaseUntil < now }
            .sorted { (shards[$0].leaseUntil, $0) < (shards[$1].leaseUntil, $1) }.prefix(limit)
        return free.map { number in
            var shard = shards[number]
            let suspects = shard.isClean ? [] : shard.inHand
            for id in suspects { count(crashOf: id, in: Int16(number), at: now) }
            if !shard.isClean { takeovers += 1 }
            shard.owner = worker
            shard.epoch += 1
            shard.leaseUntil = now + lease
            shard.isClean = false
            shard.inHand = []
            shards[number] = shard
            return TakenShard(shard: Int16(number), epoch: shard.epoch, suspects: suspects)
        }
    }

    private mutating func count(crashOf id: Int64, in shard: Int16, at now: Timestamp) {
        guard let row = rows[id], row.shard == shard, row.dueAt <= now else { return }
        rows[id]?.crashes += 1
        guard row.crashes + 1 >= Self.crashLimit else { return }
        let problem = Problem(
            .setAside, "the process crashed again and again while checking this purchase alone")
        rows[id]?.problem = problem.description
        move(id, to: .never)
    }

    private static let crashLimit = 5

    func owns(_ lease: Lease, _ shard: Int16) -> Bool {
        if breakage.hasNoFence { return true }
        guard let epoch = lease.epochs[shard] else { return false }
        let known = shards[Int(shard)]
        return known.owner == lease.worker && known.epoch == epoch
    }

    func holds(_ lease: Lease, _ shard: Int16) -> Bool {
        owns(lease, shard) && (breakage.hasNoFence || shards[Int(shard)].leaseUntil > now)
    }

    mutating func renew(_ lease: Lease, _ duration: Duration, _ idle: Set<Int16>) -> Set<Int16> {
        let until = now + duration
        let owned = Set(lease.epochs.keys.filter { owns(lease, $0) })
        for shard in owned {
            shards[Int(shard)].leaseUntil = until
            if idle.contains(shard) { shards[Int(shard)].inHand = [] }
        }
        return owned
    }

    mutating func mark(_ inHand: [Int16: [Int64]], _ lease: Lease) -> Set<Int16> {
        let held = Set(
            inHand.keys.filter { lease.epochs[$0] != nil && holds(lease, $0) })
        for shard in held { shards[Int(shard)].inHand = inHand[shard] ?? [] }
        return held
    }

    mutating func release(_ lease: Lease) {
        for shard in lease.epochs.keys where owns(lease, shard) {
            shards[Int(shard)] = ModelShard(epoch: shards[Int(shard)].epoch)
        }
    }
}

extension ModelLedger: EngineLedger {
    package func configure(
        _ apps: [AppKey], by worker: WorkerID
    ) async throws(LedgerError) -> ConfiguredLanes {
        state.withLock { state in
            for app in apps { _ = state.lane(of: app) }
            return ConfiguredLanes(
                lanes: state.lanes.filter { apps.contains($0.app) },
                highest: Int32(state.lanes.count))
        }
    }

    package func heads(
        of lanes: [Lane], in shards: [Int16], after id: Int64
    ) async throws(LedgerError) -> QueueHeads {
        state.withLock { $0.heads(lanes, shards, after: id) }
    }

    package func claim(_ request: ClaimRequest) async throws(LedgerError) -> [Claim] {
        state.withLock { $0.claims(request) }
    }

    package func latest(_ request: ClaimRequest) async throws(LedgerError) -> [Claim] {
        state.withLock { $0.latest(request) }
    }

    package func fronts(
        of lane: Lane, in shards: [Int16]
    ) async throws(LedgerError) -> [Int16: Timestamp] {
        state.withLock { $0.fronts(lane, shards) }
    }

    package func suspects(
        of lanes: [Lane], in shards: [Int16]
    ) async throws(LedgerError) -> [Claim] {
        state.withLock { $0.suspects(lanes, shards) }
    }

    package func mark(
        _ inFlight: [Int16: [Int64]], under lease: Lease
    ) async throws(LedgerError) -> Set<Int16> {
        state.withLock { $0.mark(inFlight, lease) }
    }

    package func commit(
        _ outcomes: [Outcome], under lease: Lease?, at now: Timestamp
    ) async throws(LedgerError) -> CommitReport {
        state.withLock { $0.commit(outcomes, lease, now) }
    }

    package func beat(
        _ worker: WorkerID, name: String, lease: Duration
    ) async throws(LedgerError) -> Int {
        state.withLock { $0.beat(worker, lease) }
    }

    package func takeShards(
        _ worker: WorkerID, limit: Int, lease: Duration, among shards: [Int16]? = nil
    ) async throws(LedgerError) -> [TakenShard] {
        state.withLock { $0.take(worker, limit, lease) }
    }

    package func renew(
        _ lease: Lease, for duration: Duration, idle: Set<Int16>
    ) async throws(LedgerError) -> Set<Int16> {
        state.withLock { $0.renew(lease, duration, idle) }
    }

    package func release(_ lease: Lease) async throws(LedgerError) {
        state.withLock { $0.release(lease) }
    }

    package func leave(_ worker: WorkerID) async throws(LedgerError) {
        state.withLock { $0.workers[worker] = nil }
    }

    package func reserveCalls(
        _ requests: [CallRequest]
    ) async throws(LedgerError) -> [Reservation] {
        state.withLock { state in
            requests.map { state.reserve($0.bucket, $0.stretch, $0.horizon) }
        }
    }

    package func giveBackCalls(_ unused: UnusedCalls) async throws(LedgerError) {
        state.withLock { $0.giveBack(unused) }
    }

    package func block(_ bucket: BucketID, for duration: Duration) async throws(LedgerError) {
        state.withLock { $0.block(bucket, duration) }
    }
}
