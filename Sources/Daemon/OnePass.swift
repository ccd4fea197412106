package import Engine
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals

/// `renewald once`: one pass, which SIGTERM and SIGINT stop in steps as they do the daemon. A pass
/// that was ended by them at once would look like a crash, and count against what it had in hand.
package struct OnePass: Sendable {
    /// What it came to.
    package let report: RunReport
    /// Whether it was stopped: some of what was due may not have been checked, and is due still.
    package let isInterrupted: Bool

    /// Makes the pass, at most so many checks.
    ///
    /// - Throws: as the engine's run.
    package init(of engine: RenewalEngine, limit: Int?) async throws {
        let service = PassService(engine, limit)
        try await ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: service, successTerminationBehavior: .gracefullyShutdownGroup)
                ],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: Logger(label: "renewald.services") { _ in SwiftLogNoOpLogHandler() })
        ).run()
        report = service.report.withLock { $0 }
        isInterrupted = service.isInterrupted.withLock { $0 }
    }
}

private final class PassService: Service {
    let report = Mutex(RunReport())
    let isInterrupted = Mutex(false)
    private let engine: RenewalEngine
    private let limit: Int?

    init(_ engine: RenewalEngine, _ limit: Int?) {
        self.engine = engine
        self.limit = limit
    }

    func run() async throws {
        try await withGracefulShutdownHandler {
            let done = try await engine.run(.onePass(limit: limit))
            report.withLock { $0 = done }
        } onGracefulShutdown: {
            self.isInterrupted.withLock { $0 = true }
        }
    }
}
