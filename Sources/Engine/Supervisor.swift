import Logging
import Renewal
import ServiceLifecycle
import Synchronization

/// The lanes of the configured apps, and those who tell them that something is due. A lane that has
/// nothing to do costs nothing but its line here: one look a poll serves them all.
final class Supervisor: Sendable {
    private struct State {
        var lanes: [Int32: Lane] = [:]
        var numbers: [AppKey: Int32] = [:]
        /// Of the lanes that have ever had something to do.
        var runners: [Int32: AppQueue] = [:]
        var watch = IdleQueues()
        /// The highest number that any app had when the apps were last told.
        var highest = Int32.max
        /// News of an app that was not there then.
        var hasHeardOfNewApp = false
    }

    private let context: RunContext
    private let committer: Committer
    private let slots: ConcurrencyLimit
    private let budget: PassLimit
    private let state = Mutex(State())
    private let lookEvent = AsyncEvent()
    private let (sessions, starter) = AsyncStream.makeStream(of: AppQueue.self)
    private let (crashed, crashTeller) = AsyncStream.makeStream(of: [TakenShard].self)
    private let (stopped, stopTeller) = AsyncStream.makeStream(of: Void.self)

    init(_ context: RunContext, _ committer: Committer) {
        self.context = context
        self.committer = committer
        slots = ConcurrencyLimit(limit: context.settings.inFlight)
        budget = PassLimit(context.mode)
    }

    private var mode: RunMode { context.mode }
    private var settings: EngineSettings { context.settings }
    private var leases: Leases { context.leases }
    private var faults: StandingFaults { context.faults }
    private var log: Logger { context.log }

    /// Every lane follows the settings as they are now; the apps are told again at once.
    func adapt() async {
        slots.allow(settings.inFlight)
        for runner in runners { await runner.adapt() }
        leases.doubt.signal()
    }

    /// Serves these lanes from now on and no others. Checks of a lane that has gone are finished.
    func follow(_ configured: ConfiguredLanes) async {
        let wanted = settings.stores
        let lanes = configured.lanes.filter { lane in
            (wanted.isEmpty || wanted.contains(lane.app.store))
                && !configured.paused.contains(lane.app)
        }
        let gone = state.withLock { state in
            state.lanes = Dictionary(lanes.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
            state.numbers = Dictionary(lanes.map { ($0.app, $0.number) }, uniquingKeysWith: { $1 })
            state.highest = configured.highest
            state.watch.follow(state.lanes.keys)
            let gone = state.runners.filter { state.lanes[$0.key] == nil }
            for number in gone.keys { state.runners[number] = nil }
            return gone
        }
        for (number, runner) in gone {
            await runner.stop()
            faults.forget(.queue(number))
            faults.forget(.quota(runner.lane.app))
        }
        if mode == .forever {
            if state.withLock({ $0.watch.hasUnknown }) { lookEvent.signal() }
        } else {
            for lane in lanes { start(lane.number) }
        }
    }

    /// Whether an app was submitted for that nobody had heard of when the apps were last told.
    func hasHeardOfNewApp() -> Bool {
        state.withLock { state in
            defer { state.hasHeardOfNewApp = false }
            return state.hasHeardOfNewApp
        }
    }

    /// Has the suspects of shards that a crash left behind cleared, beside the other work.
    func clearLater(_ shards: [TakenShard]) {
        if !shards.isEmpty { crashTeller.yield(shards) }
    }

    /// Has them cleared now; what is a suspect still is looked at again.
    ///
    /// - Returns: how many are suspects still.
    func clear(_ shards: [TakenShard]) async -> Int {
        let runner = CrashRechecker(context: context, committer: committer, turns: self)
        var unasked = 0
        var isLater = false
        do {
            unasked = try await runner.clear(shards, in: state.withLock { Array($0.lanes.values) })
            faults.ended(.suspects)
            isLater = unasked > 0
        } catch {
            if !faults.met(error, by: .suspects) {
                log.warning(.suspectsWait(error), metadata: LogField.topic(.suspectsWait))
            }
            leases.allowClaims(Set(shards.map(\.shard)))
            isLater = true
        }
        wake()
        if isLater, mode == .forever {
            try? await Task.sleep(for: settings.poll)
            clearLater(shards)
        }
        return unasked
    }

    /// What was asked about in the future, before the clock was set back, becomes due: where there
    /// is no sweep, which finds it on its way.
    ///
    /// - Returns: whether it was looked for.
    @discardableResult
    func recall() async -> Bool {
        let lanes = served
        guard let store = context.services.sweepStore, !lanes.isEmpty else { return false }
        do {
            while !Task.isShuttingDownGracefully, !Task.isCancelled {
                if try await store.recall(lanes) == 0 { return true }
            }
            return false
        } catch {
            log.debug(.cannotRecall(error))
            return false
        }
    }

    /// More shards are open: every lane is looked at.
    func wake() {
        for runner in runners { runner.wake() }
        state.withLock { $0.watch.forget() }
        lookEvent.signal()
    }

    /// The lanes that are served, in order.
    var served: [Lane] {
        state.withLock { state in state.lanes.values.sorted { $0.number < $1.number } }
    }

    private var runners: [AppQueue] { state.withLock { Array($0.runners.values) } }

    private func runner(of app: AppKey) -> AppQueue? {
        state.withLock { state in state.numbers[app].flatMap { state.runners[$0] } }
    }

    /// Runs all lanes; ends when they have.
    func run() async {
        if mode != .forever { starter.finish() }
        await withDiscardingTaskGroup { helpers in
            helpers.addTask { await self.listen() }
            helpers.addTask { await self.watchLanes() }
            helpers.addTask { for await shards in self.crashed { _ = await self.clear(shards) } }
            await withTaskGroup(of: Void.self) { race in
                race.addTask { await self.runSessions() }
                race.addTask { await self.waitForStopLimit() }
                await race.next()
                race.cancelAll()
            }
            helpers.cancelAll()
        }
    }

    private func runSessions() async {
        await withDiscardingTaskGroup { group in
            for await runner in sessions {
                group.addTask {
                    await runner.run(self.permit(for: runner.lane.app))
                    self.finish(runner)
                }
            }
        }
    }

    /// Something of the lane is due: it begins to work, or looks again.
    private func start(_ number: Int32) {
        let (runner, isNew) = state.withLock { state -> (AppQueue?, Bool) in
            guard let lane = state.lanes[number] else { return (nil, false) }
            let runner = state.runners[number] ?? self.runner(for: lane)
            state.runners[number] = runner
            return (runner, state.watch.start(number))
        }
        guard let runner else { return }
        if isNew { starter.yield(runner) } else { runner.wake() }
    }

    private func runner(for lane: Lane) -> AppQueue {
        AppQueue(lane, context, committer, slots: slots, budget: budget)
    }

    private func finish(_ runner: AppQueue) {
        guard mode == .forever else { return }
        state.withLock { state in
            guard state.runners[runner.lane.number] === runner else { return }
            state.watch.finish(runner.lane.number)
        }
        lookEvent.signal()
    }

    /// Checks that a stop finds in hand have so long to end; then they are cut short.
    private func waitForStopLimit() async {
        for await _ in stopped { break }
        try? await Task.sleep(for: settings.stopLimit)
    }

    /// No further check is started; those in hand are finished.
    func stop() async {
        starter.finish()
        stopTeller.yield()
        for runner in runners { await runner.stop() }
    }

    // MARK: What is due

    private func watchLanes() async {
        guard mode == .forever else { return }
        defer { context.heartbeat.rest(.queues) }
        while !Task.isCancelled {
            context.heartbeat.expect(.queues, within: settings.poll + settings.stallLimit)
            if await look(), state.withLock({ $0.watch.hasUnknown }) { continue }
            await lookEvent.wait(upTo: settings.poll)
        }
    }

    /// One question for many lanes.
    ///
    /// - Returns: whether there was an answer.
    private func look() async -> Bool {
        let shards = leases.openShards
        let (lanes, mark) = state.withLock { state in
            (
                shards.isEmpty ? [] : state.watch.nextLook().compactMap { state.lanes[$0] },
                state.watch.arrivals.mark
            )
        }
        guard !lanes.isEmpty else { return false }
        do {
            let heads = try await context.ledger.heads(of: lanes, in: shards, after: mark)
            faults.ended(.look)
            let due = state.withLock { state in
                state.watch.learn(heads, of: lanes.map(\.number))
                return state.watch.due(at: heads.now)
            }
            for lane in due { start(lane) }
            return true
        } catch {
            faults.met(error, by: .look)
            log.debug(.cannotLook(error))
            return false
        }
    }

    /// Wakes the lane that has news.
    private func listen() async {
        guard mode == .forever, let news = context.services.news else { return }
        var attempts = 0
        while !Task.isCancelled {
            do {
                let number = try await news.next()
                attempts = 0
                hear(of: number)
            } catch {
                // Only a convenience: the poll finds what is due as well.
                attempts += 1
                if attempts == 1 { log.debug(.cannotListen(error)) }
                try? await Task.sleep(
                    for: retryDelay(attempts: 1, jitter: .random(in: 0..<1)) / 5)
            }
        }
    }

    /// Something of the app was made due by news of its store.
    func hear(of app: AppKey) {
        guard mode == .forever else { return }
        if let number = state.withLock({ $0.numbers[app] }) { start(number) }
    }

    /// An app that nobody has configured costs one look at the apps when it is first heard of, and
    /// nothing from then on.
    private func hear(of number: Int32?) {
        guard let number else {
            // Any may be due, and any may have been paused.
            state.withLock { $0.hasHeardOfNewApp = true }
            return wake()
        }
        let isServed = state.withLock { state in
            if number > state.highest { state.hasHeardOfNewApp = true }
            return state.lanes[number] != nil
        }
        if isServed { start(number) }
    }
}

/// Who gives places in the rows of calls of apps.
protocol CallTurns: Sendable {
    /// Waits for a place, for a call beyond the first of a check.
    ///
    /// - Parameters:
    ///   - app: whose store is called.
    ///   - waits: told whether it has to be waited for.
    /// - Returns: nil without one. What was begun gets done: it goes on without.
    func turn(of app: AppKey, waits: (Bool) -> Void) async -> CallPlace?
}

extension CallTurns {
    func turn(of app: AppKey) async -> CallPlace? { await turn(of: app, waits: { _ in }) }

    /// For the calls of one piece of work.
    func permit(for app: AppKey) -> CallPermit {
        CallPermit { await turn(of: app) ?? .anyTime }
    }
}

extension Supervisor: CallTurns {
    /// An app's queue that is at work has places for all. Who is given a place at once has not
    /// waited: so of a thousand apps with news a few call at a time.
    func turn(of app: AppKey, waits: (Bool) -> Void) async -> CallPlace? {
        if let queue = runner(of: app) {
            waits(true)
            if let place = await queue.extraCall() { return place }
            waits(false)
        }
        return await context.turn(of: app) { waits(true) }
    }
}
