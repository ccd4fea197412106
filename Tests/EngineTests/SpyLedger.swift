import Engine
import Renewal

/// A ledger with somebody at some of its doors. Who is there does what the ledger would do, or lets
/// through.
struct SpyLedger: EngineLedger {
    typealias Commit =
        @Sendable ([Outcome], Lease?, Timestamp) async throws(LedgerError) -> CommitReport

    let base: any EngineLedger
    var atHeads: (@Sendable () -> Void)?
    /// One transaction, before each of its requests.
    var atReservations: (@Sendable ([CallRequest]) async throws(LedgerError) -> Void)?
    var atReserve: (@Sendable (BucketID, Duration) async throws(LedgerError) -> Reservation)?
    var atReturn: (@Sendable (UnusedCalls) async throws(LedgerError) -> Void)?
    var atCommit: Commit?

    init(_ base: any EngineLedger) { self.base = base }

    func configure(
        _ apps: [AppKey], by worker: WorkerID
    ) async throws(LedgerError) -> ConfiguredLanes {
        try await base.configure(apps, by: worker)
    }

    func heads(
        of lanes: [Lane], in shards: [Int16], after id: Int64
    ) async throws(LedgerError) -> QueueHeads {
        atHeads?()
        return try await base.heads(of: lanes, in: shards, after: id)
    }

    func claim(_ request: ClaimRequest) async throws(LedgerError) -> [Claim] {
        try await base.claim(request)
    }

    func latest(_ request: ClaimRequest) async throws(LedgerError) -> [Claim] {
        try await base.latest(request)
    }

    func fronts(
        of lane: Lane, in shards: [Int16]
    ) async throws(LedgerError) -> [Int16: Timestamp] {
        try await base.fronts(of: lane, in: shards)
    }

    func suspects(of lanes: [Lane], in shards: [Int16]) async throws(LedgerError) -> [Claim] {
        try await base.suspects(of: lanes, in: shards)
    }

    func mark(
        _ inFlight: [Int16: [Int64]], under lease: Lease
    ) async throws(LedgerError) -> Set<Int16> {
        try await base.mark(inFlight, under: lease)
    }

    func commit(
        _ outcomes: [Outcome], under lease: Lease?, at now: Timestamp
    ) async throws(LedgerError) -> CommitReport {
        if let atCommit { return try await atCommit(outcomes, lease, now) }
        return try await base.commit(outcomes, under: lease, at: now)
    }

    func beat(_ worker: WorkerID, name: String, lease: Duration) async throws(LedgerError) -> Int {
        try await base.beat(worker, name: name, lease: lease)
    }

    func takeShards(
        _ worker: WorkerID, limit: Int, lease: Duration, among shards: [Int16]?
    ) async throws(LedgerError) -> [TakenShard] {
        try await base.takeShards(
            worker, limit: limit, lease: lease, among: shards)
    }

    func renew(
        _ lease: Lease, for duration: Duration, idle: Set<Int16>
    ) async throws(LedgerError) -> Set<Int16> {
        try await base.renew(lease, for: duration, idle: idle)
    }

    func release(_ lease: Lease) async throws(LedgerError) { try await base.release(lease) }
    func leave(_ worker: WorkerID) async throws(LedgerError) { try await base.leave(worker) }

    func reserveCalls(_ requests: [CallRequest]) async throws(LedgerError) -> [Reservation] {
        try await atReservations?(requests)
        guard let atReserve else { return try await base.reserveCalls(requests) }
        var reservations: [Reservation] = []
        for one in requests { reservations.append(try await atReserve(one.bucket, one.stretch)) }
        return reservations
    }

    func giveBackCalls(_ unused: UnusedCalls) async throws(LedgerError) {
        try await atReturn?(unused)
        try await base.giveBackCalls(unused)
    }

    func block(_ bucket: BucketID, for duration: Duration) async throws(LedgerError) {
        try await base.block(bucket, for: duration)
    }
}

extension EngineServices {
    /// Puts somebody at the ledger's doors.
    mutating func spy(_ change: (inout SpyLedger) -> Void) {
        var spy = SpyLedger(ledger)
        change(&spy)
        ledger = spy
    }
}

/// A place for hints with somebody at its door.
struct SpyHintStore: HintStore {
    let base: any HintStore
    let atTake: @Sendable (HintDelivery) async throws(LedgerError) -> HintReport?

    func hintRound(
        _ round: HintRound, by worker: WorkerID
    ) async throws(LedgerError) -> HintTurns {
        try await base.hintRound(round, by: worker)
    }

    func take(_ delivery: HintDelivery) async throws(LedgerError) -> HintReport? {
        try await atTake(delivery)
    }

    func forgetOldHints() async throws(LedgerError) { try await base.forgetOldHints() }
}
