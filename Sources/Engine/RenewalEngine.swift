package import Logging
package import Renewal
import ServiceLifecycle
import Synchronization

/// Carries each claim through the stages: claim, ask, decide, commit. Paces, retries, leases,
/// stops.
package final class RenewalEngine: Service {
    private let controls: LiveSettings
    private let services: EngineServices
    private let log: Logger
    private let counters = RunCounters()
    private let supervisor = Mutex<Supervisor?>(nil)
    private let context = Mutex<RunContext?>(nil)
    private let hints = Mutex<HintSupervisor?>(nil)

    /// - Parameters:
    ///   - settings: may be changed later by `adapt`.
    ///   - services: what it works with.
    ///   - log: where to say what happens.
    ///   - heartbeat: shows whether the work advances.
    package init(
        _ settings: EngineSettings, _ services: EngineServices, log: Logger,
        heartbeat: Heartbeat = Heartbeat()
    ) {
        controls = LiveSettings(settings, heartbeat)
        self.services = services
        self.log = log
    }

    /// Runs until a graceful shutdown, then stops in steps: claims no more, finishes what is in
    /// hand, commits it, gives the leases back. Waits for a database that is not there.
    package func run() async throws {
        try await run(.forever)
    }

    /// Runs in the given mode.
    ///
    /// - Throws: `LedgerError` when the database is not there at the start of one pass, or at its
    ///   end, or does not let a part of it be done: what has not been checked then is still due.
    @discardableResult
    package func run(_ mode: RunMode) async throws(LedgerError) -> RunReport {
        let context = RunContext(mode, controls, services, log: log)
        let acknowledger = Acknowledger(controls, services.stores, log: log)
        let committer = Committer(context, counters) { acknowledger.add($0) }
        let supervisor = Supervisor(context, committer)
        let hints = HintSupervisor(context, supervisor, woken: { supervisor.hear(of: $0) })
        self.supervisor.withLock { $0 = supervisor }
        self.context.withLock { $0 = context }
        self.hints.withLock { $0 = hints }
        let beside = SideWork(
            hints: hints, refunds: RefundResponder(context, supervisor),
            sweeper: Sweeper(context, supervisor))
        let told = AsyncEvent()
        let keeper = LeaseKeeper(context, supervisor) { apps in
            beside.pause(apps)
            told.signal()
        }
        let taken = mode == .forever ? [] : try await keeper.join()
        if mode != .forever {
            counters.leftToOthers(LeaseKeeper.shardCount - context.leases.lease.epochs.count)
        }
        let (stops, stopper) = AsyncStream.makeStream(of: Void.self)
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await keeper.run() }
                group.addTask { await committer.run() }
                group.addTask {
                    for await _ in stops {
                        beside.stop()
                        told.signal()
                        await supervisor.stop()
                    }
                }
                group.addTask { await acknowledger.run(supervisor) }
                if mode == .forever {
                    group.addTask {
                        // Which apps are paused is known by then.
                        while await !told.wait(upTo: .hours(1)), !Task.isCancelled {}
                        await beside.run()
                    }
                } else {
                    // It may take longer than a lease, which the keeper renews meanwhile.
                    await supervisor.recall()
                    counters.leftUnasked(await supervisor.clear(taken))
                    await beside.hints?.run()
                    group.addTask { await beside.refunds?.run() }
                }
                await supervisor.run()
                context.endTurns()
                if mode == .forever { beside.stop() } else { beside.hints?.stop() }
                await committer.close()
                acknowledger.close(
                    leavingTheRest: mode == .forever || Task.isShuttingDownGracefully)
                await keeper.stop()
                stopper.finish()
            }
        } onGracefulShutdown: {
            self.log.info(.stopping, metadata: LogField.topic(.stopping))
            stopper.yield()
        }
        self.supervisor.withLock { $0 = nil }
        self.hints.withLock { $0 = nil }
        if mode != .forever {
            let trouble = await keeper.trouble
            if let trouble = context.faults.any ?? trouble ?? committer.trouble { throw trouble }
        }
        return counters.current
    }

    /// Takes other settings while it runs, without interrupting a check: rates, limits and rules
    /// hold for what starts from now on. The sizes of batches and the choice of stores stay as they
    /// were.
    ///
    /// - Parameters:
    ///   - settings: to work by.
    ///   - sources: where news comes from now; nil where that has not changed.
    package func adapt(to settings: EngineSettings, hints sources: [HintSource]? = nil) async {
        controls.turn(to: settings)
        if let sources { hints.withLock { $0 }?.adapt(to: sources) }
        await supervisor.withLock { $0 }?.adapt()
    }

    /// Claims that are in hand: waiting, asked about, or about to be committed.
    package var claimsInHand: Int { context.withLock { $0?.inFlight.count ?? 0 } }

    /// What the run has come to so far.
    package var progress: RunReport { counters.current }
}
