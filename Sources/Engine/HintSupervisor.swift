import Logging
import Renewal
import Synchronization

/// Looks after all sources of hints: acts for `HintWatch`, which decides. One round with the
/// database serves them all; each reading is a task of its own.
final class HintSupervisor: Sendable {
    private struct State {
        /// Those that are configured, and the apps that nobody may ask about.
        var configured: [HintSource] = []
        var paused: Set<AppKey> = []
        var sources: [SourceID: HintSource] = [:]
        var watch: HintWatch
        /// Cuts a reading short.
        var signs: [SourceID: StopSignal] = [:]
        /// What has come and gone since the sources were last told.
        var changes: [String] = []
    }

    private let context: RunContext
    private let store: any HintStore
    private let telling: HintTelling
    private let turns: any CallTurns
    private let woken: @Sendable (AppKey) -> Void
    private let state: Mutex<State>
    private let wakeUp = AsyncEvent()

    /// The longest that one pass reads news.
    private static let passLimit = Duration.seconds(15)
    /// One pass begins a round as soon as there is something to tell.
    private static let passPace = Duration.milliseconds(5)
    private static let forgetInterval = Duration.minutes(10)

    /// Nil where hints cannot be stored. `woken` is told when something of an app was made due.
    init?(
        _ context: RunContext, _ turns: any CallTurns,
        woken: @escaping @Sendable (AppKey) -> Void = { _ in }
    ) {
        guard let store = context.services.hintStore else { return nil }
        self.context = context
        self.store = store
        telling = HintTelling(context.log)
        self.turns = turns
        self.woken = woken
        state = Mutex(State(watch: HintWatch(isOnePass: context.mode != .forever)))
        adapt(to: context.services.stores.hintSources)
        state.withLock { $0.changes = [] }
    }

    private var mode: RunMode { context.mode }
    private var faults: StandingFaults { context.faults }
    private var log: Logger { context.log }

    /// Reads other sources from now on: those that have come are begun with, those that have gone
    /// are let go of.
    func adapt(to sources: [HintSource]) {
        let stores = context.settings.stores
        follow { state in
            state.configured = sources.filter { stores.isEmpty || stores.contains($0.app.store) }
        }
    }

    /// Reads nothing of these apps until it is told of others.
    func pause(_ apps: Set<AppKey>) {
        guard state.withLock({ $0.paused != apps }) else { return }
        follow { $0.paused = apps }
    }

    private func follow(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            let wanted = state.configured.filter { !state.paused.contains($0.app) }
            for source in wanted { state.sources[source.name] = source }
            let (come, gone) = state.watch.follow(
                wanted.map { ($0.name, $0.endpoint) },
                limited: Set(wanted.filter { $0.budget != nil }.map(\.name)), at: .now)
            state.changes += come.map { "+ \($0)" } + gone.map { "- \($0)" }
        }
        wakeUp.signal()
    }

    /// Cuts short what is under way: it is read again later.
    func stop() {
        state.withLock { $0.watch.stop(at: .now) }
        wakeUp.signal()
    }

    /// The reading waits for its turn to call, or goes on.
    private func waits(_ name: SourceID, _ waits: Bool) {
        state.withLock { $0.watch.waits(name, waits) }
        wakeUp.signal()
    }

    /// Reads until `stop`; in one pass every source once, also before it is due. What another
    /// worker reads is left to it. A long backlog of news must not hold up a pass: what is left is
    /// read by the next one.
    func run() async {
        let end = mode == .forever ? nil : ContinuousClock.now + Self.passLimit
        var forgetsAt = ContinuousClock.now
        defer { context.heartbeat.rest(.news) }
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                if let end, end <= .now { stop() }
                for (source, start, sign) in starts() {
                    group.addTask { await sign.cutting { await self.read(source, start) } }
                }
                await makeRound()
                if state.withLock({ $0.watch.isOver }) { break }
                if forgetsAt <= .now {
                    forgetsAt = .now + Self.forgetInterval
                    await forget()
                }
                await rest(until: min(forgetsAt, end ?? forgetsAt))
            }
        }
    }

    // MARK: Reading

    /// What may begin now; what shall not go on is cut short.
    private func starts() -> [(HintSource, HintWatch.Start, StopSignal)] {
        let (starts, cut, changes) = state.withLock { state in
            let starts = state.watch.starts(at: .now).compactMap { start in
                state.sources[start.source].map { ($0, start, StopSignal()) }
            }
            for (source, _, sign) in starts { state.signs[source.name] = sign }
            defer { state.changes = [] }
            return (starts, state.watch.toCut.compactMap { state.signs[$0] }, state.changes)
        }
        for sign in cut { sign.raise() }
        if !changes.isEmpty {
            log.notice(.hintSourcesChanged(changes), metadata: LogField.topic(.hintSourcesChanged))
        }
        return starts
    }

    private var reader: HintReader {
        HintReader(
            context: context, store: store, telling: telling,
            permit: { [self] in permit(for: $0) }, woken: woken)
    }

    private func permit(for source: HintSource) -> CallPermit {
        let part = Heartbeat.Part.hints(source.name)
        return CallPermit { [self] in
            defer { waits(source.name, false) }
            return await context.heartbeat.pausing(part, within: context.settings.stallLimit) {
                await turns.turn(of: source.app) { waits(source.name, $0) } ?? .anyTime
            }
        }
    }

    private func read(_ source: HintSource, _ start: HintWatch.Start) async {
        let reading = await reader.read(source, start)
        context.heartbeat.rest(.hints(source.name))
        state.withLock { state in
            state.signs[source.name] = nil
            state.watch.ended(reading, at: .now)
        }
        wakeUp.signal()
    }

    // MARK: The database

    private var pace: Duration {
        mode == .forever ? context.settings.poll : Self.passPace
    }

    private func makeRound() async {
        let (pace, settings) = (pace, context.settings)
        let sent = ContinuousClock.now
        let round = state.withLock { $0.watch.round(at: sent, pace: pace, lease: settings.lease) }
        guard let round else { return }
        context.heartbeat.expect(.news, within: settings.stallLimit)
        do throws(LedgerError) {
            let turns = try await store.hintRound(round, by: context.worker)
            faults.ended(.hints)
            let lost = state.withLock { state in
                let lost = state.watch.learn(turns, of: round, sent: sent, at: .now)
                for name in lost { state.signs[name]?.raise() }
                return lost.compactMap { state.sources[$0] }
            }
            for source in lost { reader.telling.elsewhere(source) }
        } catch {
            faults.met(error, by: .hints)
            log.debug(.hintRoundWaits(error))
            state.withLock { $0.watch.failed(round, at: .now) }
        }
        wakeUp.signal()
    }

    private func forget() async {
        do throws(LedgerError) {
            try await store.forgetOldHints()
        } catch {
            faults.met(error, by: .hints)
            log.debug(.oldHintsNotDeleted(error))
        }
    }

    /// Until there is something to do, or to that time.
    private func rest(until end: ContinuousClock.Instant) async {
        let now = ContinuousClock.now
        let next = state.withLock { $0.watch.wakesAt(pace: pace, after: now) }
        let rest = max(min(next ?? end, end) - now, .zero)
        context.heartbeat.expect(.news, within: rest + context.settings.stallLimit)
        await wakeUp.wait(upTo: rest)
    }
}
