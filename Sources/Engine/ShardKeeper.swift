import Logging
import Renewal

/// Keeps this worker's share of the shards: takes free ones, renews, gives back what others shall
/// have. After a crash it first clears the suspects of a shard, then opens it.
actor ShardKeeper {
    private let controls: Controls
    private let mode: RunMode
    private let ports: Ports
    private let leases: LeaseBook
    private let inHand: InHand
    private let log: Logger
    private let worker: WorkerID
    private let crew: Crew
    private let faults: StandingFaults
    private var hasEnded = false
    private var workers = 1
    private var renewedAt: ContinuousClock.Instant?
    /// Why the leases cannot be kept just now.
    private(set) var trouble: LedgerError?
    /// Closed because they were to be given back, and still in hand.
    private var leaving: Set<Int16> = []

    /// All shards, always: the hash of a user id gives one byte.
    static let shardCount = 256

    init(
        _ worker: WorkerID, mode: RunMode, controls: Controls, ports: Ports,
        leases: LeaseBook, inHand: InHand, faults: StandingFaults, log: Logger, crew: Crew
    ) {
        self.worker = worker
        self.mode = mode
        self.controls = controls
        self.ports = ports
        self.leases = leases
        self.inHand = inHand
        self.log = log
        self.crew = crew
        self.faults = faults
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
            controls.heartbeat.expect(.leases, within: settings.poll + settings.stallLimit)
            do {
                if renewalIsDue {
                    try await renew()
                } else if crew.hasHeardOfNewApp() {
                    try await tellApps()
                }
                if mode == .forever { crew.clearLater(try await take()) }
                faults.ended(.leases)
                if trouble != nil {
                    trouble = nil
                    log.notice(
                        "the database is back; shards are taken again",
                        metadata: LogField.topic(.leasesBack))
                }
            } catch {
                if !faults.met(error, by: .leases), trouble == nil {
                    log.warning(
                        "leases cannot be kept: \(error.sentence)",
                        metadata: LogField.topic(.leasesUncertain))
                }
                trouble = error
            }
            if await leases.doubt.wait(upTo: settings.poll) { renewedAt = nil }
        }
        controls.heartbeat.rest(.leases)
        await giveBack()
    }

    private var settings: EngineSettings { controls.settings }

    func stop() {
        hasEnded = true
        leases.doubt.ring()
    }

    private var renewalIsDue: Bool {
        guard let renewedAt else { return true }
        return ContinuousClock.now - renewedAt >= settings.lease / 3
    }

    private var share: Int {
        mode == .forever
            ? (Self.shardCount + workers - 1) / workers : Self.shardCount
    }

    private func renew() async throws(LedgerError) {
        // Counted from before the request was sent: the database's lease ends later than ours.
        let sent = ContinuousClock.now
        workers = max(try await ports.beat(worker, settings.lease), 1)
        let lease = leases.lease
        let idle = lease.epochs.keys.filter { inHand.count(ofShard: $0) == 0 }
        let owned = try await ports.renew(lease, settings.lease, Set(idle))
        let lost = leases.keep(owned, reliableUntil: sent + settings.lease * 2 / 3)
        renewedAt = sent
        if !lost.isEmpty {
            log.notice(
                "\(lost.count) shards were taken over by another worker",
                metadata: LogField.topic(.shardsLost))
        }
        try await shed()
        try await tellApps()
    }

    /// Says which apps this worker has configured: no other one is served, and purchases of apps
    /// that no worker has configured say so.
    private func tellApps() async throws(LedgerError) {
        await crew.follow(try await ports.lanes(worker))
    }

    private func take() async throws(LedgerError) -> [TakenShard] {
        let missing = share - leases.lease.epochs.count
        guard missing > 0 else { return [] }
        let sent = ContinuousClock.now
        let taken = try await ports.take(worker, missing, settings.lease)
        guard !taken.isEmpty else { return [] }
        if leases.lease.epochs.isEmpty { leases.relyUntil(sent + settings.lease * 2 / 3) }
        leases.add(taken)
        crew.wake()
        log.debug("\(taken.count) shards leased")
        let crashed = taken.filter { !$0.suspects.isEmpty }
        let suspects = crashed.reduce(0) { $0 + $1.suspects.count }
        if suspects > 0 {
            log.warning(
                "a crash left \(suspects) checks in hand: they are made first, in small groups",
                metadata: LogField.topic(.crashLeftChecks))
        }
        return taken
    }

    /// Gives surplus shards back, those first that have nothing in hand; the others stop claiming
    /// and follow when they are idle.
    private func shed() async throws(LedgerError) {
        // Those that could not go yet may stay, should the other worker have gone instead.
        leases.open(leaving)
        leaving = []
        let lease = leases.lease
        let surplus = lease.epochs.count - share
        guard mode == .forever, surplus > 0 else { return }
        let candidates = lease.epochs.keys.sorted { left, right in
            (inHand.count(ofShard: left), left) < (inHand.count(ofShard: right), right)
        }.prefix(surplus)
        leaving = leases.close(Set(candidates))
        let idle = Set(candidates.filter { inHand.count(ofShard: $0) == 0 })
        leaving.subtract(idle)
        guard !idle.isEmpty else { return }
        try await ports.release(leases.drop(idle))
        log.debug("\(idle.count) shards given to other workers")
    }

    private func giveBack() async {
        let lease = leases.drop(Set(leases.lease.epochs.keys))
        do {
            if !lease.epochs.isEmpty { try await ports.release(lease) }
            try await ports.leave(worker)
        } catch {
            log.notice(
                "leases could not be given back; they run out by themselves",
                metadata: LogField.topic(.leasesNotGivenBack))
        }
    }
}
