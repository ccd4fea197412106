import Engine
import Ledger
import Renewal

extension PostgresLedger: EngineLedger, HintStore, SweepStore, RefundStore {}

/// The ledger with a measure at each door.
struct MeasuredLedger: EngineLedger, HintStore, SweepStore, RefundStore {
    let ledger: PostgresLedger
    let telemetry: Telemetry
    /// Told of what cannot be read.
    let setAside: @Sendable ([UnreadablePurchase]) -> Void

    func configure(
        _ apps: [AppKey], by worker: WorkerID
    ) async throws(LedgerError) -> ConfiguredLanes {
        try await ledger.configure(apps, by: worker)
    }

    func heads(
        of lanes: [Lane], in shards: [Int16], after id: Int64
    ) async throws(LedgerError) -> QueueHeads {
        try await reading("look") { () throws(LedgerError) in
            try await ledger.heads(of: lanes, in: shards, after: id)
        }
    }

    func claim(_ request: ClaimRequest) async throws(LedgerError) -> [Claim] {
        let claims = try await reading("claim") { () throws(LedgerError) in
            try await ledger.claim(request, tell: setAside)
        }
        if let claim = claims.first { telemetry.clock.hears(claim.claimedAt) }
        return claims
    }

    func latest(_ request: ClaimRequest) async throws(LedgerError) -> [Claim] {
        try await reading("claim") { () throws(LedgerError) in
            try await ledger.latest(request, tell: setAside)
        }
    }

    func fronts(
        of lane: Lane, in shards: [Int16]
    ) async throws(LedgerError) -> [Int16: Timestamp] {
        try await counting("look") { () throws(LedgerError) in
            try await ledger.fronts(of: lane, in: shards)
        }
    }

    func suspects(of lanes: [Lane], in shards: [Int16]) async throws(LedgerError) -> [Claim] {
        try await counting("look") { () throws(LedgerError) in
            try await ledger.suspects(of: lanes, in: shards, tell: setAside)
        }
    }

    func mark(
        _ inFlight: [Int16: [Int64]], under lease: Lease
    ) async throws(LedgerError) -> Set<Int16> {
        try await counting("mark") { () throws(LedgerError) in
            try await ledger.mark(inFlight, under: lease)
        }
    }

    func commit(
        _ outcomes: [Outcome], under lease: Lease?, at now: Timestamp
    ) async throws(LedgerError) -> CommitReport {
        let report = try await counting("commit") { () throws(LedgerError) in
            try await telemetry.metrics.committing { () throws(LedgerError) in
                try await ledger.commit(outcomes, under: lease, at: now)
            }
        }
        if let left = report.unfinished { fails("commit", left.error) }
        return report
    }

    func beat(_ worker: WorkerID, name: String, lease: Duration) async throws(LedgerError) -> Int {
        let workers = try await counting("beat") { () throws(LedgerError) in
            try await ledger.beat(worker, name: name, lease: lease)
        }
        telemetry.health.schemaFits()
        return workers
    }

    func takeShards(
        _ worker: WorkerID, limit: Int, lease: Duration, among shards: [Int16]?
    ) async throws(LedgerError) -> [TakenShard] {
        let taken = try await counting("take") { () throws(LedgerError) in
            try await ledger.takeShards(
                worker, limit: limit, lease: lease, among: shards)
        }
        telemetry.metrics.leasesTaken(taken.count)
        return taken
    }

    func renew(
        _ lease: Lease, for duration: Duration, idle: Set<Int16>
    ) async throws(LedgerError) -> Set<Int16> {
        let owned = try await counting("renew") { () throws(LedgerError) in
            try await ledger.renew(lease, for: duration, idle: idle)
        }
        telemetry.metrics.leasesRenewed(
            held: owned.count, lost: lease.epochs.count - owned.count)
        return owned
    }

    func release(_ lease: Lease) async throws(LedgerError) {
        try await counting("release") { () throws(LedgerError) in
            try await ledger.release(lease)
        }
        telemetry.metrics.leasesTaken(-lease.epochs.count)
    }

    func leave(_ worker: WorkerID) async throws(LedgerError) {
        try await ledger.leave(worker)
    }

    func reserveCalls(_ requests: [CallRequest]) async throws(LedgerError) -> [Reservation] {
        try await counting("reserve") { () throws(LedgerError) in
            try await ledger.reserveCalls(requests)
        }
    }

    func giveBackCalls(_ unused: UnusedCalls) async throws(LedgerError) {
        try await ledger.giveBackCalls(unused)
    }

    func block(_ bucket: BucketID, for duration: Duration) async throws(LedgerError) {
        try await ledger.block(bucket, for: duration)
    }

    func hintRound(
        _ round: HintRound, by worker: WorkerID
    ) async throws(LedgerError) -> HintTurns {
        let turns = try await counting("hints") { () throws(LedgerError) in
            try await ledger.hintRound(round, by: worker)
        }
        for reading in round.ended where reading.outcome == .read {
            telemetry.metrics.read(reading.source, at: WallClock.now())
        }
        return turns
    }

    func take(_ delivery: HintDelivery) async throws(LedgerError) -> HintReport? {
        let report = try await counting("hints") { () throws(LedgerError) in
            try await ledger.take(delivery)
        }
        if let report {
            telemetry.metrics.heard(
                delivery.source, fresh: report.fresh, skipped: delivery.page.skipped)
            telemetry.metrics.unhandled(delivery.source, report.unhandled)
            telemetry.metrics.read(delivery.source, at: WallClock.now())
        }
        return report
    }

    func forgetOldHints() async throws(LedgerError) {
        try await ledger.forgetOldHints()
    }

    func sweep(_ request: SweepRequest) async throws(LedgerError) -> SweepStep {
        try await counting("sweep") { () throws(LedgerError) in try await ledger.sweep(request) }
    }

    func recall(_ lanes: [Lane]) async throws(LedgerError) -> Int {
        try await counting("recall") { () throws(LedgerError) in try await ledger.recall(lanes) }
    }

    func follow(_ rule: RefundRule) async throws(LedgerError) {
        try await counting("refunds") { () throws(LedgerError) in try await ledger.follow(rule) }
    }

    func refundRound(
        of apps: [AppKey], under rule: RefundRule
    ) async throws(LedgerError) -> RefundRound {
        try await counting("refunds") { () throws(LedgerError) in
            try await ledger.refundRound(of: apps, under: rule)
        }
    }

    func begin(_ attempt: RefundAttempt) async throws(LedgerError) -> Bool {
        try await counting("refunds") { () throws(LedgerError) in try await ledger.begin(attempt) }
    }

    func end(_ attempt: RefundAttempt, _ ending: RefundEnding) async throws(LedgerError) {
        try await counting("refunds") { () throws(LedgerError) in
            try await ledger.end(attempt, ending)
        }
    }

    /// Counts a failure of the database, and notes whether it answers.
    private func fails(_ operation: String, _ error: LedgerError) {
        // A stop cancels what is under way: that says nothing of the database.
        guard !Task.isCancelled else { return }
        telemetry.metrics.databaseFailed(operation)
        telemetry.health.databaseFailed(error)
    }

    /// Of what is due.
    private func reading<Value>(
        _ operation: String, _ work: () async throws(LedgerError) -> Value
    ) async throws(LedgerError) -> Value {
        do throws(LedgerError) {
            let value = try await counting(operation, work)
            telemetry.health.readsWhatIsDue()
            return value
        } catch {
            if !Task.isCancelled { telemetry.health.readsWhatIsDue(failing: error) }
            throw error
        }
    }

    private func counting<Value>(
        _ operation: String, _ work: () async throws(LedgerError) -> Value
    ) async throws(LedgerError) -> Value {
        do throws(LedgerError) {
            let value = try await work()
            telemetry.health.databaseAnswers()
            return value
        } catch {
            fails(operation, error)
            throw error
        }
    }
}
