import Logging
import Renewal

/// Keeps this worker's share of the shards: takes free ones, renews, gives back what others shall
/// have. After a crash it first clears the suspects of a shard, then opens it.
actor LeaseKeeper {
    private let context: RunContext
    private let supervisor: Supervisor
    private let paused: @Sendable (Set<AppKey>) -> Void
    private var hasEnded = false
    private var workers = 1
    private var renewedAt: ContinuousClock.Instant?
    /// Why the leases cannot be kept just now.
    private(set) var trouble: LedgerError?
    /// Closed because they were to be given back, and still in hand.
    private var leaving: Set<Int16> = []
    /// Apps that cannot be served yet, which has been told.
    private var waiting: Set<AppKey> = []
    private var turns = ShardTurns()

    /// All shards, always: the hash of a user id gives one byte.
    static let shardCount = 256
    private static let shards = 0..<Int16(shardCount)

    /// `paused` is told of which apps nobody may ask the store.
    init(
        _ context: RunContext, _ supervisor: Supervisor,
        paused: @escaping @Sendable (Set<AppKey>) -> Void = { _ in }
    ) {
        self.context = context
        self.supervisor = supervisor
        self.paused = paused
    }

    /// Joins: says that this worker is here and takes its share.
    ///
    /// - Returns: the shards that were taken, to be cleared of the suspects of a crash.
    func join() async throws(LedgerError) -> [TakenShard] {
        try await renew()
        return try await take()
    }

    /// Keeps the leases until `stop`, then gives them back.
    func run() async {
        while !hasEnded {
            context.heartbeat.expect(.leases, within: settings.poll + settings.stallLimit)
            do {
                if renewalIsDue {
                    try await renew()
                } else if supervisor.hasHeardOfNewApp() {
                    try await tellApps()
                }
                if mode == .forever {
                    try await passOn()
                    supervisor.clearLater(try await take())
                }
                faults.ended(.leases)
                faults.reads.areOfAll(false)
                if trouble != nil {
                    trouble = nil
                    log.notice(.leasesBack, metadata: LogField.topic(.leasesBack))
                }
            } catch {
                if !faults.met(error, by: .leases), trouble == nil {
                    log.warning(.leasesUncertain(error), metadata: LogField.topic(.leasesUncertain))
                }
                trouble = error
                faults.reads.areOfAll(true)
                if error.isOfSchema { await leaveToOthers() }
            }
            let pause = turns.areTaken ? min(settings.poll, ShardTurns.look) : settings.poll
            if await leases.doubt.wait(upTo: pause) { renewedAt = nil }
        }
        context.heartbeat.rest(.leases)
        await releaseLeases()
    }

    private var mode: RunMode { context.mode }
    private var worker: WorkerID { context.worker }
    private var ledger: any EngineLedger { context.ledger }
    private var leases: Leases { context.leases }
    private var inFlight: InFlight { context.inFlight }
    private var faults: StandingFaults { context.faults }
    private var log: Logger { context.log }
    private var settings: EngineSettings { context.settings }

    func stop() {
        hasEnded = true
        leases.doubt.signal()
    }

    private var renewalIsDue: Bool {
        guard let renewedAt else { return true }
        return ContinuousClock.now - renewedAt >= settings.lease / 3
    }

    private var share: Int {
        mode == .forever && !turns.areTaken
            ? (Self.shardCount + workers - 1) / workers : Self.shardCount
    }

    private func renew() async throws(LedgerError) {
        // Counted from before the request was sent: the database's lease ends later than ours.
        let sent = ContinuousClock.now
        workers = max(
            try await ledger.beat(
                worker, name: context.services.workerName, lease: settings.lease), 1)
        let lease = leases.lease
        let idle = lease.epochs.keys.filter { inFlight.count(ofShard: $0) == 0 }
        let owned = try await ledger.renew(lease, for: settings.lease, idle: Set(idle))
        let lost = leases.keep(owned, reliableUntil: sent + settings.lease * 2 / 3)
        renewedAt = sent
        if !lost.isEmpty {
            log.notice(.shardsLost(lost.count), metadata: LogField.topic(.shardsLost))
        }
        try await giveSurplusBack()
        try await tellApps()
    }

    /// Says which apps this worker has configured: no other one is served, and purchases of apps
    /// that no worker has configured say so.
    private func tellApps() async throws(LedgerError) {
        let lanes = try await ledger.configure(context.services.stores.apps, by: worker)
        paused(lanes.paused)
        for app in lanes.waiting where !waiting.contains(app) {
            log.warning(.appWaits(app), metadata: LogField.topic(.appWaits, of: app))
        }
        waiting = Set(lanes.waiting)
        let lacking = turns.learn(lanes, at: .now)
        if !lacking.isEmpty {
            log.warning(.appsDiffer(lacking), metadata: LogField.topic(.appsDiffer))
        }
        await supervisor.follow(lanes)
    }

    private func take() async throws(LedgerError) -> [TakenShard] {
        let held = leases.lease.epochs
        let own = mode == .forever ? turns.own(of: Self.shards, at: .now) : nil
        let missing = own.map { $0.count { held[$0] == nil } } ?? share - held.count
        guard missing > 0 else { return [] }
        let sent = ContinuousClock.now
        let taken = try await ledger.takeShards(
            worker, limit: missing, lease: settings.lease, among: own?.sorted())
        guard !taken.isEmpty else { return [] }
        if held.isEmpty { leases.relyUntil(sent + settings.lease * 2 / 3) }
        leases.add(taken)
        supervisor.wake()
        log.debug(.shardsLeased(taken.count))
        let crashed = taken.filter { !$0.suspects.isEmpty }
        let suspects = crashed.reduce(0) { $0 + $1.suspects.count }
        if suspects > 0 {
            log.warning(.crashLeftChecks(suspects), metadata: LogField.topic(.crashLeftChecks))
        }
        return taken
    }

    /// Gives surplus shards back, those first that have nothing in hand; the others stop claiming
    /// and follow when they are idle.
    private func giveSurplusBack() async throws(LedgerError) {
        // Those that could not go yet may stay, should the other worker have gone instead.
        leases.allowClaims(leaving)
        leaving = []
        let lease = leases.lease
        let surplus = lease.epochs.count - share
        guard mode == .forever, surplus > 0 else { return }
        let candidates = lease.epochs.keys.sorted { left, right in
            (inFlight.count(ofShard: left), left) < (inFlight.count(ofShard: right), right)
        }.prefix(surplus)
        leaving = leases.stopClaims(Set(candidates))
        let idle = Set(candidates.filter { inFlight.count(ofShard: $0) == 0 })
        leaving.subtract(idle)
        guard !idle.isEmpty else { return }
        try await ledger.release(leases.drop(idle))
        log.debug(.shardsGivenBack(idle.count))
    }

    /// Gives back what is another worker's turn, when it has nothing in hand.
    private func passOn() async throws(LedgerError) {
        guard let own = turns.own(of: Self.shards, at: .now) else { return }
        leases.allowClaims(leaving.intersection(own))
        leaving.subtract(own)
        leaving.formUnion(leases.stopClaims(Set(leases.lease.epochs.keys).subtracting(own)))
        let idle = leaving.filter { inFlight.count(ofShard: $0) == 0 }
        guard !idle.isEmpty else { return }
        leaving.subtract(idle)
        try await ledger.release(leases.drop(idle))
        log.debug(.shardsGivenBack(idle.count))
    }

    /// A migration has passed this program by: what is in hand is dropped, and workers that fit
    /// take over at once, where the schema still knows what it is to give a lease back.
    private func leaveToOthers() async {
        leaving = []
        let lease = leases.drop(Set(leases.lease.epochs.keys))
        guard !lease.epochs.isEmpty else { return }
        do throws(LedgerError) {
            try await ledger.release(lease)
            log.debug(.shardsGivenBack(lease.epochs.count))
        } catch {
            log.notice(.leasesNotGivenBack, metadata: LogField.topic(.leasesNotGivenBack))
        }
    }

    private func releaseLeases() async {
        let lease = leases.drop(Set(leases.lease.epochs.keys))
        do {
            if !lease.epochs.isEmpty { try await ledger.release(lease) }
            try await ledger.leave(worker)
        } catch {
            log.notice(.leasesNotGivenBack, metadata: LogField.topic(.leasesNotGivenBack))
        }
    }
}
