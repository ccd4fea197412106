import Configuration
import Engine
import FoundationEssentials
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
    /// without interrupting a check, a bad one is told and changes nothing.
    ///
    /// - Throws: `ConfigurationFaults` at the start, `ExitReason` where the database forbids it.
    package func run() async throws {
        let services = try Services(
            configurationFile: configurationFile, environment: environment, log: log,
            telemetry: telemetry)
        log.info(.started(with: services.configuration), metadata: LogField.topic(.started))
        let manager = ServiceManager(
            environment: environment, processID: ProcessInfo.processInfo.processIdentifier)
        let notifier = ServiceNotifier(manager, log: log)
        let engine = services.engine(
            heartbeat: notifier.heartbeat, stallLimit: notifier.stallLimit)
        let outlook = RulesOutlook(services)
        let reloader = Reloader(
            configurationFile: configurationFile, environment: environment, services: services,
            engine: engine, stallLimit: notifier.stallLimit, outlook: outlook)
        services.configuration.warn(in: log)
        notifier.attend(engine, apps: services.configuration.apps.count)
        do {
            try await run(
                RunService(
                    services: services, engine: engine, notifier: notifier, reloader: reloader,
                    outlook: outlook))
        } catch {
            await services.close()
            throw error
        }
        await services.close()
        log.info(.stopped, metadata: LogField.topic(.stopped))
    }

    private func run(_ service: RunService) async throws {
        let server = await listen(service.services.configuration.metrics)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: service, successTerminationBehavior: .gracefullyShutdownGroup)
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: Self.quiet))
        let reloads = await UnixSignalsSequence(trapping: .sighup)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await service.notifier.run() }
            tasks.addTask { await service.outlook.run() }
            tasks.addTask {
                for await _ in reloads {
                    await service.notifier.reload { await service.reloader.reload(&$0) }
                }
            }
            defer { tasks.cancelAll() }
            try await group.run()
        }
        await server?.close()
    }

    /// The work does not depend on the figures: an address that cannot be had is told, no more.
    private func listen(_ settings: TableValues<MetricsKeys>) async -> MetricsServer? {
        guard let address = settings.listen else { return nil }
        do {
            let server = try await MetricsServer(address, telemetry.pages)
            log.info(.metricsServed(on: address.host, port: server.port))
            return server
        } catch {
            log.error(
                .metricsUnavailable(address, MetricsServer.reason(of: error)),
                metadata: LogField.topic(.metricsUnavailable))
            return nil
        }
    }

    /// The group's own lines say nothing that ours do not.
    private static let quiet = Logger(label: "renewald.services") { _ in SwiftLogNoOpLogHandler() }
}

/// Waits for the database, then lets the engine run.
private struct RunService: Service {
    let services: Services
    let engine: RenewalEngine
    let notifier: ServiceNotifier
    let reloader: Reloader
    let outlook: RulesOutlook

    func run() async throws {
        let telemetry = services.telemetry
        telemetry.health.enter(.starting)
        let watch = QueueWatch(
            ledger: services.ledger, telemetry: telemetry,
            safety: { [reloader] in reloader.configuration.rules.policy.breaker })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await watch.run() }
            tasks.addTask { await MemoryReturn.run() }
            defer { tasks.cancelAll() }
            try await work()
        }
    }

    private func work() async throws {
        try await withGracefulShutdownHandler {
            let isReady = try await cancelWhenGracefulShutdown {
                try await waitForSchema()
            }
            notifier.heartbeat.rest(.start)
            guard isReady else { return }
            await tellOfPooler()
            services.telemetry.health.enter(.working)
            await notifier.ready(.working)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await EvidenceRotation(services).run() }
                defer { tasks.cancelAll() }
                try await engine.run()
            }
        } onGracefulShutdown: {
            services.telemetry.health.enter(.stopping)
            notifier.stopping(within: reloader.configuration.engine.stopLimit)
        }
    }

    private func tellOfPooler() async {
        guard (try? await services.ledger.isBehindPooler()) == true else { return }
        services.log.notice(.poolerDetected(disablesListen: services.configuration.engine.notify))
    }

    /// The service counts as started when the database has been tried: one that is away is waited
    /// for, since neither a restart nor a person at this machine would bring it back.
    ///
    /// - Returns: false when it was told to stop meanwhile.
    private func waitForSchema() async throws -> Bool {
        let log = services.log
        var attempts = 0
        while !Task.isCancelled {
            notifier.heartbeat.expect(.start, within: notifier.stallLimit)
            do throws(LedgerError) {
                let schema = try await services.ledger.requireFittingSchema()
                // What cannot be read could only be judged wrongly.
                try await services.ledger.requireKeys()
                if attempts > 0 {
                    log.notice(.databaseThere, metadata: LogField.topic(.databaseThere))
                }
                if schema.number != Migrator.version {
                    log.notice(.schemaDiffers(schema.number, from: Migrator.version))
                }
                return true
            } catch {
                guard !error.isLasting else {
                    log.critical("\(error.sentence)", metadata: LogField.topic(.databaseUnfit))
                    throw error.exitReason
                }
                if attempts == 0 {
                    log.warning(.databaseWaits(error), metadata: LogField.topic(.databaseWaits))
                    await notifier.ready(.waiting(error.sentence))
                }
                attempts += 1
                let delay = retryDelay(attempts: 1, jitter: .random(in: 0..<1)) / 10
                try? await Task.sleep(for: min(delay * attempts, .seconds(5)))
            }
        }
        return false
    }
}
