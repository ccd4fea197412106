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
        let workshop = try Workshop(
            configurationFile: configurationFile, environment: environment, log: log,
            telemetry: telemetry)
        log.info(
            "renewald \(Version.text) starts: \(workshop.configuration)",
            metadata: LogField.topic(.started))
        let manager = ServiceManager(
            environment: environment, processID: ProcessInfo.processInfo.processIdentifier)
        let attendant = Attendant(manager, log: log)
        let engine = workshop.engine(
            heartbeat: attendant.heartbeat, stallLimit: attendant.stallLimit)
        let reloader = Reloader(
            configurationFile: configurationFile, environment: environment, workshop: workshop,
            engine: engine, stallLimit: attendant.stallLimit)
        workshop.configuration.warn(in: log)
        attendant.attend(engine, apps: workshop.configuration.apps.count)
        do {
            try await run(
                RunService(
                    workshop: workshop, engine: engine, attendant: attendant, reloader: reloader))
        } catch {
            await workshop.close()
            throw error
        }
        await workshop.close()
        log.info("renewald has stopped", metadata: LogField.topic(.stopped))
    }

    private func run(_ service: RunService) async throws {
        let server = await listen(service.workshop.configuration.metrics)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: service, successTerminationBehavior: .gracefullyShutdownGroup)
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: Self.quiet))
        let reloads = await UnixSignalsSequence(trapping: .sighup)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await service.attendant.run() }
            tasks.addTask {
                for await _ in reloads {
                    await service.attendant.reload { await service.reloader.reload(&$0) }
                }
            }
            defer { tasks.cancelAll() }
            try await group.run()
        }
        await server?.close()
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
                "metrics.listen: cannot listen on \(address): \(MetricsServer.reason(of: error))",
                metadata: LogField.topic(.metricsUnavailable))
            return nil
        }
    }

    /// The group's own lines say nothing that ours do not.
    private static let quiet = Logger(label: "renewald.services") { _ in SwiftLogNoOpLogHandler() }
}

/// Waits for the database, then lets the engine run.
private struct RunService: Service {
    let workshop: Workshop
    let engine: RenewalEngine
    let attendant: Attendant
    let reloader: Reloader

    func run() async throws {
        let telemetry = workshop.telemetry
        telemetry.health.enter(.starting)
        let watch = QueueWatch(ledger: workshop.ledger, telemetry: telemetry)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await watch.run() }
            defer { tasks.cancelAll() }
            try await work()
        }
    }

    private func work() async throws {
        try await withGracefulShutdownHandler {
            let isReady = try await cancelWhenGracefulShutdown {
                try await waitForSchema()
            }
            attendant.heartbeat.rest(.start)
            guard isReady else { return }
            await tellOfPooler()
            workshop.telemetry.health.enter(.working)
            await attendant.ready(.working)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await EvidenceRotation(workshop).run() }
                defer { tasks.cancelAll() }
                try await engine.run()
            }
        } onGracefulShutdown: {
            workshop.telemetry.health.enter(.stopping)
            attendant.stopping(within: reloader.configuration.engine.stopLimit)
        }
    }

    private func tellOfPooler() async {
        guard (try? await workshop.ledger.isBehindPooler()) == true else { return }
        let news = workshop.configuration.engine.notify ? ", and LISTEN is not used" : ""
        workshop.log.notice(
            "a connection pooler is before the database: no statement is kept prepared\(news)")
    }

    /// The service counts as started when the database has been tried: one that is away is waited
    /// for, since neither a restart nor a person at this machine would bring it back.
    ///
    /// - Returns: false when it was told to stop meanwhile.
    private func waitForSchema() async throws -> Bool {
        let log = workshop.log
        var attempts = 0
        while !Task.isCancelled {
            attendant.heartbeat.expect(.start, within: attendant.stallLimit)
            do throws(LedgerError) {
                try await workshop.ledger.requireCurrentSchema()
                if attempts > 0 {
                    log.notice("the database is there", metadata: LogField.topic(.databaseThere))
                }
                return true
            } catch {
                guard !error.isLasting else {
                    log.critical("\(error.sentence)", metadata: LogField.topic(.databaseUnfit))
                    throw error.exitReason
                }
                if attempts == 0 {
                    log.warning(
                        "waiting: \(error.sentence)", metadata: LogField.topic(.databaseWaits))
                    await attendant.ready(.waiting(error.sentence))
                }
                attempts += 1
                let delay = retryDelay(attempts: 1, jitter: .random(in: 0..<1)) / 10
                try? await Task.sleep(for: min(delay * attempts, .seconds(5)))
            }
        }
        return false
    }
}
