import Synchronization

/// What is turned and read from outside while the engine runs: its settings and its heartbeat.
final class LiveSettings: Sendable {
    let heartbeat: Heartbeat
    private let live: Mutex<EngineSettings>

    init(_ settings: EngineSettings, _ heartbeat: Heartbeat) {
        live = Mutex(settings)
        self.heartbeat = heartbeat
    }

    var settings: EngineSettings { live.withLock { $0 } }

    func turn(to settings: EngineSettings) {
        live.withLock { $0 = settings }
    }
}
