import Logging
import Renewal
import Synchronization

/// What the parts of one run share.
struct RunContext: Sendable {
    let mode: RunMode
    let worker: WorkerID
    let controls: LiveSettings
    let services: EngineServices
    let leases: Leases
    let inFlight: InFlight
    let faults: StandingFaults
    let reservations: CallReservations
    let log: Logger
    private let waiting = Waiting()

    init(
        _ mode: RunMode, _ controls: LiveSettings, _ services: EngineServices, log: Logger
    ) {
        self.mode = mode
        worker = .random()
        self.controls = controls
        self.services = services
        leases = Leases(worker: worker)
        inFlight = InFlight()
        faults = StandingFaults(mode: mode, log: log)
        reservations = CallReservations(services.ledger, patience: mode.callPatience)
        self.log = log
    }

    var settings: EngineSettings { controls.settings }
    var ledger: any EngineLedger { services.ledger }
    var heartbeat: Heartbeat { controls.heartbeat }
    /// A check by the rules as they are now.
    var pass: Pass { Pass(services.stores, under: settings.rules) }
}

extension RunContext {
    /// What an app's queue keeps to.
    func limits(of app: AppKey) -> QueueMachine.Limits {
        QueueMachine.Limits(
            inFlight: settings.inFlight, poll: settings.poll, patience: settings.lease,
            interval: settings.callsPerSecond[app].map { .seconds(1) / $0 })
    }
}

// Calls that no queue paces.
extension RunContext {
    /// Waits for the next place in the row of an app's calls, behind whoever waits for one already.
    ///
    /// - Parameters:
    ///   - app: whose store is called.
    ///   - patience: the longest to wait for it.
    /// - Returns: whether the call may start; `.missed` without a database.
    func turn(of app: AppKey, within patience: Duration) async -> CallRow.Turn {
        let end = ContinuousClock.now + patience
        let turnstile = waiting.turnstile(of: app)
        let interval = limits(of: app).interval
        let kept = await turnstile.enter()
        var row = CallRow(of: app, through: reservations, interval: interval)
        if let kept, kept.interval == interval { row = kept }
        let turn: CallRow.Turn
        do throws(LedgerError) {
            turn = try await row.wait(
                within: max(end - .now, .zero), before: turnstile.followers)
            faults.ended(.quota(app))
        } catch {
            log.debug(.cannotReserveCall(app, error))
            faults.met(error, by: .quota(app))
            turn = .missed
        }
        await turnstile.leave(row)
        return turn
    }

    /// Waits for it as long as the run lasts; in one pass a while.
    ///
    /// - Parameters:
    ///   - app: whose store is called.
    ///   - whenRefused: told when there is no place at once.
    /// - Returns: nil without a place.
    func turn(of app: AppKey, whenRefused: () -> Void = {}) async -> CallPlace? {
        let end = mode == .forever ? nil : ContinuousClock.now + Self.passPatience
        repeat {
            switch await turn(of: app, within: Self.patience) {
            case .granted(let place): return place
            case .paused: return nil
            case .refused, .missed:
                whenRefused()
                try? await Task.sleep(for: settings.poll)
            }
        } while !Task.isCancelled && !waiting.isClosed && end.map { $0 > .now } ?? true
        return nil
    }

    /// Nobody waits for a place any more.
    func endTurns() { waiting.close() }

    private static let patience = Duration.seconds(5)
    private static let passPatience = Duration.seconds(30)
}

/// Who waits for a place: one after the other of each app.
private final class Waiting: Sendable {
    private struct State {
        var turnstiles: [AppKey: Turnstile] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock { $0.isClosed } }

    func close() { state.withLock { $0.isClosed = true } }

    func turnstile(of app: AppKey) -> Turnstile {
        state.withLock { state in
            if let turnstile = state.turnstiles[app] { return turnstile }
            let turnstile = Turnstile()
            state.turnstiles[app] = turnstile
            return turnstile
        }
    }
}
