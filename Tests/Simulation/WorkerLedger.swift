import Engine
import LedgerModel
import Renewal
import Synchronization
import TestSupport

/// The ledger as one worker reaches it: away at times, slow, and with answers that get lost.
struct WorkerLedger: EngineLedger, HintStore, SweepStore {
    let base: ModelLedger
    let worker: Worker
    let weather: Weather
    let plan: Plan
    let tally: Tally
    let chance: Mutexed<SeededGenerator>

    private func draw(_ probability: Double) -> Bool { chance.with { $0.chance(probability) } }

    private func enter() async throws(LedgerError) {
        guard await worker.pass() else { throw .cancelled }
        if draw(0.3) {
            await World.wait(
                for: chance.with { $0.between(.milliseconds(1), plan.databaseLatency) })
        }
        if weather.active(.database, at: World.now) != nil {
            throw .unavailable(reason: "the server is away")
        }
    }

    private func leave() async throws(LedgerError) {
        guard await worker.pass() else { throw .cancelled }
    }

    func configure(
        _ apps: [AppKey], by worker: WorkerID
    ) async throws(LedgerError) -> ConfiguredLanes {
        try await enter()
        let lanes = try await base.configure(apps, by: worker)
        try await leave()
        return lanes
    }

    func heads(
        of lanes: [Lane], in shards: [Int16], after id: Int64
    ) async throws(LedgerError) -> QueueHeads {
        try await enter()
        let heads = try await base.heads(of: lanes, in: shards, after: id)
        try await leave()
        return heads
    }

    func claim(_ request: ClaimRequest) async throws(LedgerError) -> [Claim] {
        try await enter()
        let claims = try await base.claim(request)
        try await leave()
        return claims
    }

    func latest(_ request: ClaimRequest) async throws(LedgerError) -> [Claim] {
        try await enter()
        let claims = try await base.latest(request)
        try await leave()
        return claims
    }

    func fronts(
        of lane: Lane, in shards: [Int16]
    ) async throws(LedgerError) -> [Int16: Timestamp] {
        try await enter()
        let fronts = try await base.fronts(of: lane, in: shards)
        try await leave()
        return fronts
    }

    func suspects(of lanes: [Lane], in shards: [Int16]) async throws(LedgerError) -> [Claim] {
        try await enter()
        let claims = try await base.suspects(of: lanes, in: shards)
        tally.count(.suspect, claims.count)
        try await leave()
        return claims
    }

    func mark(
        _ inFlight: [Int16: [Int64]], under lease: Lease
    ) async throws(LedgerError) -> Set<Int16> {
        try await enter()
        let held = try await base.mark(inFlight, under: lease)
        try await leave()
        return held
    }

    func commit(
        _ outcomes: [Outcome], under lease: Lease?, at now: Timestamp
    ) async throws(LedgerError) -> CommitReport {
        try await enter()
        let report = try await base.commit(outcomes, under: lease, at: now)
        tally.count(.dropped, report.dropped.count)
        if plan.features.has(.lostCommits), draw(0.03) {
            tally.count(.lostCommit)
            if plan.sabotage == .twice {
                _ = try await base.commit(
                    report.committed.filter(\.isChange), under: lease, at: now)
            }
            try await leave()
            throw .unavailable(reason: "the connection was lost")
        }
        try await leave()
        return report
    }

    func beat(_ worker: WorkerID, name: String, lease: Duration) async throws(LedgerError) -> Int {
        try await enter()
        let workers = try await base.beat(worker, name: name, lease: lease)
        try await leave()
        return workers
    }

    func takeShards(
        _ worker: WorkerID, limit: Int, lease: Duration, among shards: [Int16]?
    ) async throws(LedgerError) -> [TakenShard] {
        try await enter()
        let before = base.takeovers
        let taken = try await base.takeShards(
            worker, limit: limit, lease: lease, among: shards)
        tally.count(.takeover, base.takeovers - before)
        try await leave()
        return taken
    }

    func renew(
        _ lease: Lease, for duration: Duration, idle: Set<Int16>
    ) async throws(LedgerError) -> Set<Int16> {
        try await enter()
        let owned = try await base.renew(lease, for: duration, idle: idle)
        try await leave()
        return owned
    }

    func release(_ lease: Lease) async throws(LedgerError) {
        try await enter()
        try await base.release(lease)
        try await leave()
    }

    func leave(_ worker: WorkerID) async throws(LedgerError) {
        try await enter()
        try await base.leave(worker)
        try await leave()
    }

    func reserveCalls(_ requests: [CallRequest]) async throws(LedgerError) -> [Reservation] {
        try await enter()
        let reservations = try await base.reserveCalls(requests)
        try await leave()
        return reservations
    }

    func giveBackCalls(_ unused: UnusedCalls) async throws(LedgerError) {
        try await enter()
        tally.count(.quotaReturned)
        try await base.giveBackCalls(unused)
        try await leave()
    }

    func block(_ bucket: BucketID, for duration: Duration) async throws(LedgerError) {
        try await enter()
        tally.count(.throttled)
        try await base.block(bucket, for: duration)
        try await leave()
    }

    func hintRound(_ round: HintRound, by worker: WorkerID) async throws(LedgerError) -> HintTurns {
        try await enter()
        let turns = try await base.hintRound(round, by: worker)
        try await leave()
        return turns
    }

    func take(_ delivery: HintDelivery) async throws(LedgerError) -> HintReport? {
        try await enter()
        let report = try await base.take(delivery)
        tally.count(.woken, report?.woken ?? 0)
        try await leave()
        return report
    }

    func forgetOldHints() async throws(LedgerError) {}

    func sweep(_ request: SweepRequest) async throws(LedgerError) -> SweepStep {
        try await enter()
        let step = try await base.sweep(request)
        if case .swept(let count, _, _) = step { tally.count(.swept, count) }
        try await leave()
        return step
    }

    func recall(_ lanes: [Lane]) async throws(LedgerError) -> Int {
        try await enter()
        let count = try await base.recall(lanes)
        try await leave()
        return count
    }
}

/// A value that several parts of a worker draw from.
final class Mutexed<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    func with<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        value.withLock { value in body(&value) }
    }
}

/// The stores as one worker reaches them.
struct WorkerStores: EngineStores {
    let store: SimulatedStore
    let worker: Worker
    let judge: Judge
    let plan: Plan

    var apps: [AppKey] { [SimulatedStore.app] }

    var hintSources: [HintSource] {
        guard plan.features.has(.hints) else { return [] }
        return [
            HintSource(
                name: "news", app: SimulatedStore.app, endpoint: "news", interval: plan.poll,
                pull: { [worker, store] position, _, _ throws(StoreFailure) in
                    guard await worker.pass() else { throw .unreachable(reason: "killed") }
                    let page = store.news.page(after: position)
                    guard await worker.pass() else { throw .unreachable(reason: "killed") }
                    return page
                })
        ]
    }

    func ask(_ claim: Claim, _ permit: CallPermit) async -> AnsweredCall {
        guard await worker.pass() else {
            return AnsweredCall(.failure(.unreachable(reason: "killed")))
        }
        var (call, shown) = await store.ask(claim, permit)
        if plan.sabotage == .outage, case .failure(.unreachable) = call.answer {
            call = AnsweredCall(.doubt(.gone))
        }
        judge.heard(claim, call.answer, shows: shown)
        guard await worker.pass() else {
            return AnsweredCall(.failure(.unreachable(reason: "killed")))
        }
        return call
    }

    func acknowledge(_ claim: Claim, _ permit: CallPermit) async -> Bool { true }

    func answer(
        _ reply: RefundReply, at now: Timestamp, _ permit: CallPermit
    ) async -> RefundSending { .taken }

    func evidence(of answered: AnsweredCall) -> Evidence? { nil }
}
