import Logging
import Renewal

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
