import Logging
import ServiceLifecycle
import Sockets
import Synchronization
import UnixSignals

/// Work of a command that SIGTERM, SIGINT and a closed terminal stop in steps, as they do the
/// daemon: no more is begun, what is in hand is finished and counted.
package struct InSteps<Value: Sendable>: Sendable {
    /// What it came to.
    package let value: Value
    /// Whether it was stopped: some of it may not have been done.
    package let isInterrupted: Bool

    /// Does the work, which looks at `Task.isShuttingDownGracefully`.
    ///
    /// - Throws: what it throws.
    package init(_ work: @escaping @Sendable () async throws -> Value) async throws {
        let service = StoppableWork(work)
        try await ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: service, successTerminationBehavior: .gracefullyShutdownGroup)
                ],
                gracefulShutdownSignals: [.sigterm, .sigint]
                    + (HangUp.isIgnored ? [] : [.sighup]),
                logger: Logger(label: "renewald.services") { _ in SwiftLogNoOpLogHandler() })
        ).run()
        guard let value = service.value.withLock({ $0 }) else { throw CancellationError() }
        self.value = value
        isInterrupted = service.isInterrupted.withLock { $0 }
    }
}

private final class StoppableWork<Value: Sendable>: Service {
    let value = Mutex<Value?>(nil)
    let isInterrupted = Mutex(false)
    private let work: @Sendable () async throws -> Value

    init(_ work: @escaping @Sendable () async throws -> Value) { self.work = work }

    func run() async throws {
        try await withGracefulShutdownHandler {
            let done = try await work()
            value.withLock { $0 = done }
        } onGracefulShutdown: {
            self.isInterrupted.withLock { $0 = true }
        }
    }
}
