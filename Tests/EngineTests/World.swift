import Engine
import Logging
import Renewal
import Synchronization

/// The two sides of the world: what is due, who is asked, what is committed.
final class World: Sendable {
    struct State {
        var lanes: [Lane] = []
        var paused: Set<AppKey> = []
        var due: [Int32: [Claim]] = [:]
        /// What a crash has left in hand: not due to the crowd.
        var suspects: [Claim] = []
        var owned: [Int16: Int64] = [:]
        var workers = 1
        /// Shards that renewals tell to be lost.
        var lost: Set<Int16> = []
        /// So many times a door stays shut before it opens.
        var shut: [Door: Int] = [:]
        /// Purchases whose outcomes are refused for good, with all that is committed together with them.
        var refused: Set<Int64> = []
        var refusals = 0
        /// Purchases whose rows another session holds.
        var held: Set<Int64> = []
        var calls: [Door: Int] = [:]
        var asked: [Claim] = []
        var inFlight: [Int32: Int] = [:]
        var mostInFlight = 0
        var batches: [[Outcome]] = []
        /// How much of the row of calls was reserved.
        var reserved = Duration.zero
        var reservations = 0
        var blocks: [Duration] = []
        var hasLeft = false
        var news: [Int32?] = []
        var handedOver = 0
        var startedAt: [ContinuousClock.Instant] = []
        var reservedFrom: [ContinuousClock.Instant] = []

        var committed: [Outcome] { batches.flatMap { $0 } }
        var totalInFlight: Int { inFlight.values.reduce(0, +) }
        func count(_ door: Door) -> Int { calls[door] ?? 0 }
    }

    enum Door: Hashable {
        case lanes, heads, claim, fronts, mark, commit, beat, take, renew, reserve, release
    }

    private struct Wait {
        let isOver: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct Guarded {
        var state = State()
        var waits: [Int: Wait] = [:]
        var lastNumber = 0
    }

    private let guarded = Mutex(Guarded())
    /// The database's time: it stands still.
    let now = Timestamp(microsecondsSinceEpoch: 1_700_000_000_000_000)

    init(lanes: Int = 1) {
        for number in 1...lanes {
            let app = AppKey(store: .google, id: "com.example.\(number)")
            change { $0.lanes.append(Lane(number: Int32(number), app: app)) }
        }
    }

    var state: State { guarded.withLock { $0.state } }

    @discardableResult
    func change<Value>(_ body: (inout State) -> Value) -> Value {
        let (value, over) = guarded.withLock { guarded in
            let value = body(&guarded.state)
            let over = guarded.waits.filter { $0.value.isOver(guarded.state) }
            for number in over.keys { guarded.waits[number] = nil }
            return (value, over.values)
        }
        for wait in over { wait.continuation.resume() }
        return value
    }

    /// Waits for the thing itself, or for the end of the task; the suite's time limit ends a wait
    /// for what never comes.
    func wait(until isOver: @escaping @Sendable (State) -> Bool) async {
        let number = guarded.withLock { guarded in
            guarded.lastNumber += 1
            return guarded.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOverNow = guarded.withLock { guarded in
                    if Task.isCancelled || isOver(guarded.state) { return true }
                    guarded.waits[number] = Wait(isOver: isOver, continuation: continuation)
                    return false
                }
                if isOverNow { continuation.resume() }
            }
        } onCancel: {
            guarded.withLock { $0.waits.removeValue(forKey: number) }?.continuation.resume()
        }
    }

    func nextNews() async -> Int32? {
        await wait { !$0.news.isEmpty }
        return change { $0.news.isEmpty ? nil : $0.news.removeFirst() }
    }

    /// Lets the engine look so many more times.
    func letLook(_ times: Int) async {
        let looks = state.count(.take) + times
        await wait { $0.count(.take) >= looks }
    }

    // MARK: What is due

    private static let lastID = Atomic<Int64>(0)

    func makeClaim(
        lane: Int32 = 1, shard: Int16? = nil, dueIn: Duration = .zero, crashes: Int = 0,
        of user: UserID? = nil, state: PurchaseState? = nil
    ) -> Claim {
        let id = Self.lastID.add(1, ordering: .relaxed).newValue
        let shard = shard ?? Int16(id % 32)
        return Claim(
            purchase: Purchase(
                id: id, userID: user ?? "user \(id)",
                app: AppKey(store: .google, id: "com.example.\(lane)"), token: "token \(id)",
                createdAt: now - .days(1), facts: facts(state)),
            shard: shard, lane: lane, dueAt: now - .hours(1) + dueIn + .microseconds(id),
            version: 0,
            attempts: 0, crashes: crashes, checkedAt: nil, claimedAt: now)
    }

    /// Of what is not new something is held.
    private func facts(_ state: PurchaseState?) -> Facts {
        guard let state else { return Facts(product: "pro") }
        var facts = Facts(
            storedProduct: "pro", state: state, access: .granted,
            holdings: [
                Holding(entitlement: "pro", product: "pro", expiresAt: now - .hours(1))
            ])
        facts.kind = .autoRenewable
        facts.paidThrough = now - .hours(1)
        facts.expiresAt = now - .hours(1)
        return facts
    }

    @discardableResult
    func add(_ count: Int, lane: Int32 = 1, shard: Int16? = nil) -> [Claim] {
        let claims = (0..<count).map { _ in makeClaim(lane: lane, shard: shard) }
        change { $0.due[lane, default: []] += claims }
        return claims
    }

    // MARK: Doors

    private func open(_ door: Door) throws(LedgerError) {
        let isOpen = change { state in
            state.calls[door, default: 0] += 1
            guard let shut = state.shut[door], shut > 0 else { return true }
            state.shut[door] = shut - 1
            return false
        }
        if !isOpen { throw .unavailable(reason: "the door is shut") }
    }

    /// What an engine works with in this world.
    func services(ask: @escaping @Sendable (Claim) async -> Answer) -> EngineServices {
        services { claim, _ in await ask(claim) }
    }

    /// The same, for checks of several calls.
    func services(
        asking: @escaping @Sendable (Claim, CallPermit) async -> Answer
    ) -> EngineServices {
        let stores = FakeStores(
            configured: { self.state.lanes.map(\.app) },
            answer: { claim, permit in
                self.change { state in
                    state.asked.append(claim)
                    state.inFlight[claim.lane, default: 0] += 1
                    state.mostInFlight = max(state.mostInFlight, state.totalInFlight)
                }
                let answer = await asking(claim, permit)
                self.change { $0.inFlight[claim.lane, default: 0] -= 1 }
                return AnsweredCall(answer)
            })
        return EngineServices(ledger: self, stores: stores, workerName: "test")
    }

    private func heads(_ lanes: [Int32], _ shards: Set<Int16>) -> QueueHeads {
        let state = self.state
        var dueAt: [Int32: Timestamp] = [:]
        for lane in lanes {
            dueAt[lane] = state.due[lane]?.filter { shards.contains($0.shard) }.map(\.dueAt).min()
        }
        return QueueHeads(now: now, dueAt: dueAt)
    }

    private func claims(_ lane: Int32, _ places: [Place], _ perShard: Int, _ limit: Int) -> [Claim]
    {
        let due = state.due[lane] ?? []
        return Array(
            places.flatMap { place in
                due.filter {
                    $0.shard == place.shard
                        && ($0.dueAt, $0.purchase.id) > (place.dueAt, place.id)
                }.sorted { ($0.dueAt, $0.purchase.id) < ($1.dueAt, $1.purchase.id) }
                    .prefix(perShard)
            }.prefix(limit))
    }

    private func commit(_ outcomes: [Outcome], _ lease: Lease) -> CommitReport {
        var report = CommitReport()
        let held = state.held
        let taken = outcomes.filter { lease.epochs[$0.claim.shard] != nil }
        report.held = taken.map(\.claim).filter { held.contains($0.purchase.id) }
        report.committed = taken.filter { !held.contains($0.claim.purchase.id) }
        report.dropped =
            outcomes.map(\.claim).filter { lease.epochs[$0.shard] == nil } + report.held
        let ids = Set(report.committed.map(\.claim.purchase.id))
        change { state in
            state.batches.append(report.committed)
            for lane in state.due.keys {
                state.due[lane]?.removeAll { ids.contains($0.purchase.id) }
            }
            state.suspects.removeAll { ids.contains($0.purchase.id) }
        }
        return report
    }

    /// One shard is never free, so that the keeper goes on looking for it.
    private func take(_ limit: Int) -> [TakenShard] {
        change { state in
            let free = (0..<Int16(255)).filter {
                state.owned[$0] == nil && !state.lost.contains($0)
            }.prefix(limit)
            for shard in free { state.owned[shard] = 1 }
            return free.map { shard in
                let suspects = state.suspects.filter { $0.shard == shard }.map(\.purchase.id)
                return TakenShard(shard: shard, epoch: 1, suspects: suspects)
            }
        }
    }
}

extension World: EngineLedger {
    func configure(
        _ apps: [AppKey], by worker: WorkerID
    ) async throws(LedgerError) -> ConfiguredLanes {
        try open(.lanes)
        let state = state
        return ConfiguredLanes(
            lanes: state.lanes, paused: state.paused,
            highest: state.lanes.map(\.number).max() ?? 0)
    }

    func heads(
        of lanes: [Lane], in shards: [Int16], after id: Int64
    ) async throws(LedgerError) -> QueueHeads {
        try open(.heads)
        return heads(lanes.map(\.number), Set(shards))
    }

    func claim(_ request: ClaimRequest) async throws(LedgerError) -> [Claim] {
        try open(.claim)
        return claims(request.lane.number, request.places, request.perShard, request.limit)
    }

    func latest(_ request: ClaimRequest) async throws(LedgerError) -> [Claim] {
        try open(.claim)
        let due = state.due[request.lane.number] ?? []
        return Array(due.sorted { $0.dueAt > $1.dueAt }.prefix(request.limit))
    }

    func fronts(
        of lane: Lane, in shards: [Int16]
    ) async throws(LedgerError) -> [Int16: Timestamp] {
        try open(.fronts)
        let due = state.due[lane.number] ?? []
        return Dictionary(
            due.filter { shards.contains($0.shard) }.map { ($0.shard, $0.dueAt) },
            uniquingKeysWith: min)
    }

    func suspects(of lanes: [Lane], in shards: [Int16]) async throws(LedgerError) -> [Claim] {
        state.suspects.filter { shards.contains($0.shard) }
    }

    func mark(
        _ inFlight: [Int16: [Int64]], under lease: Lease
    ) async throws(LedgerError) -> Set<Int16> {
        try open(.mark)
        return Set(inFlight.keys.filter { lease.epochs[$0] != nil })
    }

    func commit(
        _ outcomes: [Outcome], under lease: Lease?, at now: Timestamp
    ) async throws(LedgerError) -> CommitReport {
        try open(.commit)
        guard let lease else { throw .unavailable(reason: "no lease") }
        let isRefused = change { state in
            let isRefused = outcomes.contains { state.refused.contains($0.claim.purchase.id) }
            if isRefused { state.refusals += 1 }
            return isRefused
        }
        if isRefused { throw .refused(sqlState: "P0001", message: "not this one") }
        return commit(outcomes, lease)
    }

    func beat(_ worker: WorkerID, name: String, lease: Duration) async throws(LedgerError) -> Int {
        try open(.beat)
        return state.workers
    }

    func takeShards(
        _ worker: WorkerID, limit: Int, lease: Duration, among shards: [Int16]?
    ) async throws(LedgerError) -> [TakenShard] {
        try open(.take)
        return take(limit)
    }

    func renew(
        _ lease: Lease, for duration: Duration, idle: Set<Int16>
    ) async throws(LedgerError) -> Set<Int16> {
        try open(.renew)
        return Set(lease.epochs.keys).subtracting(state.lost)
    }

    func release(_ lease: Lease) async throws(LedgerError) {
        try open(.release)
        change { state in for shard in lease.epochs.keys { state.owned[shard] = nil } }
    }

    func leave(_ worker: WorkerID) async throws(LedgerError) { change { $0.hasLeft = true } }

    func reserveCalls(_ requests: [CallRequest]) async throws(LedgerError) -> [Reservation] {
        try open(.reserve)
        change { state in
            for request in requests { state.reserved += request.stretch }
            state.reservations += requests.count
        }
        return requests.map { _ in .granted(in: .zero, until: .someTime) }
    }

    func giveBackCalls(_ unused: UnusedCalls) async throws(LedgerError) {}

    func block(_ bucket: BucketID, for duration: Duration) async throws(LedgerError) {
        change { $0.blocks.append(duration) }
    }
}

/// News of a world, as they come.
struct WorldNews: DueNews {
    let world: World
    func next() async throws(LedgerError) -> Int32? { await world.nextNews() }
}

/// Holds whoever comes until it is opened, or until their task is cancelled.
final class Gate: Sendable {
    private let state = Mutex(
        (isOpen: false, waits: [Int: CheckedContinuation<Void, Never>](), last: 0))

    func open() {
        let waits = state.withLock { state in
            state.isOpen = true
            defer { state.waits = [:] }
            return state.waits.values
        }
        for wait in waits { wait.resume() }
    }

    var isOpen: Bool { state.withLock { $0.isOpen } }

    var isWaitedFor: Bool { state.withLock { !$0.waits.isEmpty } }

    func pass() async {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.isOpen || Task.isCancelled { return true }
                    state.waits[number] = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waits.removeValue(forKey: number) }?.resume()
        }
    }
}
