import Engine
import Ledger
package import Logging
import Renewal
import ServiceLifecycle
import Synchronization
import UnixSignals

/// `renewald run`: the daemon, from its start to the end of its last step.
package struct DaemonRun: Sendable {
    private let configurationFile: String
    private let environment: [String: String]
    private let log: Logger
    private let telemetry = Telemetry()

    package init(configurationFile: String, environment: [String: String], log: Logger) {
        self.configurationFile = configurationFile
        self.environment = environment
        self.log = log
    }

    /// Runs until SIGTERM or SIGINT. SIGHUP reads the configuration again: a good one takes effect
    /// after the checks in hand are finished, a bad one is told and changes nothing.
    ///
    /// - Throws: `ConfigurationFaults` at the start, `ExitReason` where the database forbids it.
    package func run() async throws {
        var workshop = try Workshop(
            configurationFile: configurationFile, environment: environment, log: log,
            telemetry: telemetry)
        log.info(
            "renewald \(Version.text) starts: \(workshop.configuration)",
            metadata: LogField.topic(.started))
        for warning in workshop.configuration.apps.flatMap(\.secrets).compactMap({ $0.warning() }) {
            log.warning("\(warning.description)", metadata: LogField.topic(.secretReadable))
        }
        for setting in workshop.configuration.withoutEffect {
            log.warning(
                "\(setting) has no effect in this version",
                metadata: LogField.topic(.settingWithoutEffect))
        }
        while let next = try await run(workshop) {
            await workshop.close()
            workshop = next
            log.info(
                "the new configuration is in force: \(workshop.configuration)",
                metadata: LogField.topic(.reloaded))
        }
        await workshop.close()
        log.info("renewald has stopped", metadata: LogField.topic(.stopped))
    }

    /// - Returns: what to go on with after a reload; nil at the end.
    private func run(_ workshop: Workshop) async throws -> Workshop? {
        let service = RunService(workshop: workshop, log: log)
        let server = await listen(workshop.configuration.metrics)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: service, successTerminationBehavior: .gracefullyShutdownGroup)
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: Self.quiet))
        let successor = Successor()
        let reloads = await UnixSignalsSequence(trapping: .sighup)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                for await _ in reloads {
                    guard let next = reloaded() else { continue }
                    successor.workshop.withLock { $0 = next }
                    await group.triggerGracefulShutdown()
                    return
                }
            }
            defer { tasks.cancelAll() }
            try await group.run()
        }
        await server?.close()
        return successor.workshop.withLock { $0 }
    }

    /// The work does not depend on the figures: an address that cannot be had is told, no more.
    private func listen(_ settings: Configuration.Metrics) async -> MetricsServer? {
        guard let address = settings.listen else { return nil }
        do {
            let server = try await MetricsServer(address, telemetry.pages)
            log.info("figures are on port \(server.port) of \(address.host)")
            return server
        } catch {
            log.error(
                "metrics.listen: cannot listen on \(address): \(error)",
                metadata: LogField.topic(.metricsUnavailable))
            return nil
        }
    }

    /// What a reload has made.
    private final class Successor: Sendable {
        let workshop = Mutex<Workshop?>(nil)
    }

    private func reloaded() -> Workshop? {
        do throws(ConfigurationFaults) {
            return try Workshop(
                configurationFile: configurationFile, environment: environment, log: log,
                telemetry: telemetry)
        } catch {
            for fault in error.faults {
                log.error("\(fault.description)", metadata: LogField.topic(.configurationFault))
            }
            log.error(
                "the configuration is not reloaded; the old one stays in force",
                metadata: LogField.topic(.reloadRefused))
            return nil
        }
    }

    /// The group's own lines say nothing that ours do not.
    private static let quiet = Logger(label: "renewald.services") { _ in SwiftLogNoOpLogHandler() }
}

/// Waits for the database, then lets the engine run.
private struct RunService: Service {
    let workshop: Workshop
    let log: Logger

    func run() async throws {
        let telemetry = workshop.telemetry
        telemetry.health.enter(.starting)
        let watch = QueueWatch(ledger: workshop.ledger, telemetry: telemetry)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await watch.run() }
            defer { tasks.cancelAll() }
            let isReady = try await cancelWhenGracefulShutdown {
                try await waitForSchema()
            }
            guard isReady else { return }
            telemetry.health.enter(.working)
            try await withGracefulShutdownHandler {
                try await workshop.engine().run()
            } onGracefulShutdown: {
                telemetry.health.enter(.stopping)
            }
        }
    }

    /// - Returns: false when it was told to stop meanwhile.
    private func waitForSchema() async throws -> Bool {
        var attempts = 0
        while !Task.isCancelled {
            do throws(LedgerError) {
                try await workshop.ledger.requireCurrentSchema()
                if attempts > 0 {
                    log.notice("the database is there", metadata: LogField.topic(.databaseThere))
                }
                return true
            } catch {
                guard case .unavailable = error else {
                    log.critical("\(error.sentence)", metadata: LogField.topic(.databaseUnfit))
                    throw error.exitReason
                }
                if attempts == 0 {
                    log.warning(
                        "waiting: \(error.sentence)", metadata: LogField.topic(.databaseWaits))
                }
                attempts += 1
                let delay = retryDelay(attempts: 1, jitter: .random(in: 0..<1)) / 10
                try? await Task.sleep(for: min(delay * attempts, .seconds(5)))
            }
        }
        return false
    }
}
