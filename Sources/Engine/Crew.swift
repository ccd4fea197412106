import Logging
import Renewal
import Synchronization

/// The lanes at work, and those who tell them that something is due.
final class Crew: Sendable {
    private let mode: RunMode
    private let controls: Controls
    private let ports: Ports
    private let leases: LeaseBook
    private let inHand: InHand
    private let committer: Committer
    private let log: Logger
    private let slots: Slots
    private let budget: Budget
    private let lanes = Mutex<[Int16: LaneRunner]>([:])
    private let (newcomers, announcer) = AsyncStream.makeStream(of: LaneRunner.self)
    private let (crashed, crashTeller) = AsyncStream.makeStream(of: [TakenShard].self)
    private let (stopped, stopTeller) = AsyncStream.makeStream(of: Void.self)

    init(
        mode: RunMode, controls: Controls, ports: Ports, leases: LeaseBook,
        inHand: InHand, committer: Committer, log: Logger
    ) {
        self.mode = mode
        self.controls = controls
        self.ports = ports
        self.leases = leases
        self.inHand = inHand
        self.committer = committer
        self.log = log
        slots = Slots(limit: controls.settings.inFlight)
        budget = Budget(mode)
    }

    private var settings: EngineSettings { controls.settings }

    /// Every lane follows the settings as they are now.
    func adapt() async {
        slots.allow(settings.inFlight)
        for runner in lanes.withLock({ Array($0.values) }) { await runner.adapt() }
    }

    /// Makes a runner for each lane that has none yet.
    func announce(_ all: [Lane]) {
        let wanted = settings.stores
        lanes.withLock { lanes in
            for lane in all where wanted.isEmpty || wanted.contains(lane.app.store) {
                guard lanes[lane.number] == nil else { continue }
                let runner = LaneRunner(
                    lane, mode: mode, controls: controls, ports: ports, slots: slots,
                    leases: leases, inHand: inHand, committer: committer, budget: budget,
                    log: log)
                lanes[lane.number] = runner
                announcer.yield(runner)
            }
        }
    }

    /// Has the suspects of shards that a crash left behind cleared, beside the other work.
    func clearLater(_ shards: [TakenShard]) { crashTeller.yield(shards) }

    /// Has them cleared now.
    func clear(_ shards: [TakenShard]) async {
        let runner = SuspectRunner(
            settings: settings, ports: ports, leases: leases, inHand: inHand,
            committer: committer)
        do {
            try await runner.clear(shards, in: lanes.withLock { $0.values.map(\.lane) })
        } catch {
            log.warning(
                "what was in hand at a crash cannot be cleared yet: \(error.sentence)",
                metadata: LogField.topic(.suspectsWait))
            leases.open(Set(shards.map(\.shard)))
            if mode == .forever {
                try? await Task.sleep(for: settings.poll)
                clearLater(shards)
            }
        }
        wake()
    }

    /// More shards are open: every lane looks at once.
    func wake() {
        for runner in lanes.withLock({ Array($0.values) }) { runner.wake() }
    }

    func runner(of app: AppKey) -> LaneRunner? {
        lanes.withLock { $0.values.first { $0.lane.app == app } }
    }

    /// Runs all lanes; ends when they have.
    func run() async {
        if mode != .forever { announcer.finish() }
        await withDiscardingTaskGroup { helpers in
            helpers.addTask { await self.listen() }
            helpers.addTask { for await shards in self.crashed { await self.clear(shards) } }
            await withTaskGroup(of: Void.self) { race in
                race.addTask { await self.runLanes() }
                race.addTask { await self.waitForStopLimit() }
                await race.next()
                race.cancelAll()
            }
            helpers.cancelAll()
        }
    }

    private func runLanes() async {
        await withDiscardingTaskGroup { group in
            for await runner in newcomers {
                group.addTask { await runner.run() }
            }
        }
    }

    /// Checks that a stop finds in hand have so long to end; then they are cut short.
    private func waitForStopLimit() async {
        for await _ in stopped { break }
        try? await Task.sleep(for: settings.stopLimit)
    }

    /// No further check is started; those in hand are finished.
    func stop() async {
        announcer.finish()
        stopTeller.yield()
        for runner in lanes.withLock({ Array($0.values) }) { await runner.stop() }
    }

    /// Wakes the lane that has news.
    private func listen() async {
        guard mode == .forever, let news = ports.news else { return }
        var attempts = 0
        while !Task.isCancelled {
            do {
                let lane = try await news()
                attempts = 0
                lanes.withLock { lanes in
                    for (number, runner) in lanes where lane == nil || lane == number {
                        runner.wake()
                    }
                }
            } catch {
                // Only a convenience: the poll finds what is due as well.
                attempts += 1
                if attempts == 1 { log.debug("no news for now: \(error.sentence)") }
                try? await Task.sleep(
                    for: retryDelay(attempts: 1, jitter: .random(in: 0..<1)) / 5)
            }
        }
    }
}
