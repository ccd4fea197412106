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
    let log: Logger
    private let turnstiles = Turnstiles()

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
        let turnstile = turnstiles.turnstile(of: app)
        await turnstile.enter()
        let turn: CallRow.Turn
        do throws(LedgerError) {
            let row = CallRow(of: app, in: ledger, interval: limits(of: app).interval)
            turn = try await row.wait(within: max(end - .now, .zero))
            faults.ended(.quota(app))
        } catch {
            log.debug("\(app.title): cannot reserve a call: \(error.sentence)")
            faults.met(error, by: .quota(app))
            turn = .missed
        }
        await turnstile.leave()
        return turn
    }

    /// Waits for it as long as the run lasts; in one pass a while.
    ///
    /// - Returns: whether there is a place.
    func turn(of app: AppKey) async -> Bool {
        repeat {
            switch await turn(of: app, within: Self.patience) {
            case .granted: return true
            case .refused, .missed:
                guard mode == .forever else { return false }
                try? await Task.sleep(for: settings.poll)
            }
        } while !Task.isCancelled
        return false
    }

    private static let patience = Duration.seconds(30)

    /// A store that asks for fewer calls speaks to all workers, not to this one alone.
    func blockIfThrottled(_ answer: Answer, of app: AppKey) async {
        guard case .failure(.throttled(let retryAfter?)) = answer else { return }
        do {
            try await ledger.block(BucketID(of: app), for: retryAfter)
        } catch {
            faults.met(error, by: .quota(app))
            log.debug("\(app.title): other workers cannot be told to wait: \(error.sentence)")
        }
    }
}

/// One for each app.
private final class Turnstiles: Sendable {
    private let turnstiles = Mutex<[AppKey: Turnstile]>([:])

    func turnstile(of app: AppKey) -> Turnstile {
        turnstiles.withLock { turnstiles in
            if let turnstile = turnstiles[app] { return turnstile }
            let turnstile = Turnstile()
            turnstiles[app] = turnstile
            return turnstile
        }
    }
}
