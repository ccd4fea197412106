package import Engine
package import Logging
import Synchronization

/// Speaks to the service manager for the daemon: ready, how it goes, and that the work advances.
package final class ServiceNotifier: Sendable {
    /// What the work shows its steps to.
    package let heartbeat = Heartbeat()
    private let manager: ServiceManager
    private let log: Logger
    private let state = Mutex(DaemonState())
    private let engine = Mutex<RenewalEngine?>(nil)
    private let stopsBy = Mutex<ContinuousClock.Instant?>(nil)

    /// How often the manager hears something.
    private static let period = Duration.seconds(1)
    /// What a stop needs beyond the checks in hand: the last commit, the leases, the connections.
    private static let stopMargin = Duration.seconds(30)
    /// Each extension of a stop: some periods, so that a stop that does not advance ends soon.
    private static let extensionStep = Duration.seconds(15)
    /// No step of the work takes longer: the deadline of a call, and some statements.
    private static let leastStallLimit = Duration.seconds(30)

    package init(_ manager: ServiceManager, log: Logger) {
        self.manager = manager
        self.log = log
    }

    /// How long a step of the work may take before it counts as stuck.
    package var stallLimit: Duration {
        max(manager.watchdog ?? .seconds(60), Self.leastStallLimit)
    }

    /// Tells how it goes, until it is cancelled. A turn runs where the work runs, so a manager that
    /// watches hears nothing when the threads are blocked, nor when a part of the work is overdue.
    package func run() async {
        guard manager.isThere else { return }
        let period = min(Self.period, (manager.watchdog ?? Self.period) / 3)
        var told: String?
        while !Task.isCancelled {
            let stuck = heartbeat.overdue().map(\.title).sorted()
            if stuck.isEmpty { manager.mention(.watchdog) }
            complain(about: stuck)
            let sentence = present.sentence
            if sentence != told { manager.mention(.status(sentence)) }
            told = sentence
            if stuck.isEmpty { extendStop() }
            try? await Task.sleep(for: period)
        }
    }

    /// The daemon works, or waits for a database: the start is done.
    package func ready(_ phase: DaemonState.Phase) async {
        enter(phase)
        await manager.tell(.ready, .status(present.sentence))
    }

    private func enter(_ phase: DaemonState.Phase) {
        // A stop is not taken back.
        state.withLock { if $0.phase != .stopping { $0.phase = phase } }
    }

    /// What is to be told of the work from now on.
    package func attend(_ engine: RenewalEngine, apps: Int) {
        self.engine.withLock { $0 = engine }
        state.withLock { $0.apps = apps }
    }

    /// The stop has begun. Checks in hand get so long.
    package func stopping(within limit: Duration) {
        enter(.stopping)
        stopsBy.withLock { $0 = .now + limit + Self.stopMargin }
        manager.mention(
            .stopping, .status(present.sentence), .extendTimeout(Self.extensionStep))
    }

    /// A reload, from its beginning to its end.
    ///
    /// - Parameter work: gives the state that follows from it.
    package func reload(_ work: (inout DaemonState) async -> Void) async {
        await manager.tell(
            ServiceManager.reloadingNow(), .status("Reloading the configuration."))
        var state = present
        await work(&state)
        let (apps, refused) = (state.apps, state.refusedFaults)
        let waiting = state.waitingForRestart
        self.state.withLock { state in
            (state.apps, state.refusedFaults) = (apps, refused)
            state.waitingForRestart = waiting
        }
        await manager.tell(.ready, .status(present.sentence))
    }

    private var present: DaemonState {
        var state = self.state.withLock { $0 }
        if let engine = engine.withLock({ $0 }) {
            state.report = engine.progress
            state.inFlight = engine.claimsInHand
        }
        return state
    }

    private func complain(about stuck: [String]) {
        let isNew = state.withLock { state in
            defer { state.stuck = stuck }
            return state.stuck != stuck
        }
        guard isNew else { return }
        if stuck.isEmpty {
            log.warning(.workAdvances, metadata: LogField.topic(.workAdvances))
        } else {
            log.critical(.workStuck(in: stuck), metadata: LogField.topic(.workStuck))
        }
    }

    private func extendStop() {
        guard let end = stopsBy.withLock({ $0 }), ContinuousClock.now < end else { return }
        manager.mention(.extendTimeout(Self.extensionStep))
    }
}
