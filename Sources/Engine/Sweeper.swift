import Logging
import Renewal

/// Spends the calls that nothing due needs: makes due what is not, a few purchases at a time, for
/// the queue of the app to ask about. What to take is decided by `SweepWalk` and `SweepChoice`.
///
/// A purchase that it has made due is like any other from then on: paced, fenced, and found again
/// after a crash. While something has been due for some seconds it takes nothing.
struct Sweeper: Sendable {
    private let context: RunContext
    private let store: any SweepStore
    private let supervisor: Supervisor
    private let stopped = AsyncEvent()

    /// The steps of all apps take no more of the time than one in so many.
    private static let dutyCycle = 4
    private static let patience = Duration.seconds(5)

    /// Nil where nothing is made due before its time.
    init?(_ context: RunContext, _ supervisor: Supervisor) {
        guard context.mode == .forever, let store = context.services.sweepStore else { return nil }
        self.context = context
        self.store = store
        self.supervisor = supervisor
    }

    func stop() { stopped.signal() }

    /// Sweeps until `stop`.
    func run() async {
        var walks: [Int32: SweepWalk] = [:]
        var took = Duration.zero
        var hasRecalled = false
        while !Task.isCancelled {
            let rest = max(context.settings.poll * 2, took * (Self.dutyCycle - 1))
            if await stopped.wait(upTo: rest) { return }
            let began = ContinuousClock.now
            if context.settings.sweepShare > 0 {
                await step(&walks)
            } else if !hasRecalled {
                hasRecalled = await supervisor.recall()
            }
            context.heartbeat.rest(.sweep)
            took = .now - began
        }
    }

    /// One step of each app that has calls to spend.
    private func step(_ walks: inout [Int32: SweepWalk]) async {
        let share = context.settings.sweepShare
        let lanes = supervisor.served
        let numbers = Set(lanes.map(\.number))
        walks = walks.filter { numbers.contains($0.key) }
        let shards = context.leases.openShards.fromAnywhere()
        let ours = share * Double(shards.count) / Double(LeaseKeeper.shardCount)
        for lane in lanes where !Task.isCancelled {
            guard let calls = context.settings.callsPerSecond[lane.app] else { continue }
            var walk = walks[lane.number] ?? SweepWalk(at: .now)
            let step = walk.next(
                spending: RateReservation.usable(of: calls) * ours, in: shards, at: .now)
            if let step, let outcome = await take(step, of: lane) {
                walk.learn(outcome, at: .now)
                tell(outcome, of: lane, walk)
            }
            walks[lane.number] = walk
        }
    }

    /// Nil without a database.
    private func take(_ step: SweepWalk.Step, of lane: Lane) async -> SweepStep? {
        let sources = context.services.stores.hintSources.filter { $0.app == lane.app }
        let request = SweepRequest(
            lane, step,
            sources: Dictionary(sources.map { ($0.name, $0.tells) }, uniquingKeysWith: max),
            patience: max(Self.patience, context.settings.poll * 5))
        do {
            context.heartbeat.expect(.sweep, within: context.settings.stallLimit)
            let outcome = try await store.sweep(request)
            context.faults.ended(.sweep)
            return outcome
        } catch {
            context.faults.met(error, by: .sweep)
            context.log.debug(.cannotSweep(lane, error))
            return nil
        }
    }

    private func tell(_ outcome: SweepStep, of lane: Lane, _ walk: SweepWalk) {
        guard case .swept(let count, _, _) = outcome, count > 0 else { return }
        context.log.trace(.swept(lane, count))
        context.services.observer.swept(lane.app, count, every: walk.turnOfFirst)
        supervisor.hear(of: lane.app)
    }
}
