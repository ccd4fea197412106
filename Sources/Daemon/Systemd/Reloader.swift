package import Configuration
import Engine
import Ledger
package import Logging
import Renewal
import Synchronization

/// Reads the configuration and every credential again, and lets the engine go on with them.
final class Reloader: Sendable {
    private let configurationFile: String
    private let environment: [String: String]
    private let services: Services
    private let engine: RenewalEngine
    private let stallLimit: Duration
    private let outlook: RulesOutlook
    private let current: Mutex<Settings>

    init(
        configurationFile: String, environment: [String: String], services: Services,
        engine: RenewalEngine, stallLimit: Duration, outlook: RulesOutlook
    ) {
        self.configurationFile = configurationFile
        self.environment = environment
        self.services = services
        self.engine = engine
        self.stallLimit = stallLimit
        self.outlook = outlook
        current = Mutex(services.configuration)
    }

    /// The one that holds, after any number of reloads.
    var configuration: Settings { current.withLock { $0 } }

    /// Reloads. What holds from now on, or why the old one stays, is told in the log and in the
    /// state.
    func reload(_ state: inout DaemonState) async {
        do throws(ConfigurationFaults) {
            let next = try Settings.loadWhole(file: configurationFile, environment: environment)
            let cipher = try AtRestKeys.cipher(next.encryption, environment: environment)
            try await requireKeys(cipher)
            try services.clients.reload(
                next.apps, next.stores, next.catalog, environment: environment)
            services.ledger.use(cipher)
            await follow(next, &state)
        } catch {
            for fault in error.faults {
                log.error("\(fault.description)", metadata: LogField.topic(.configurationFault))
            }
            log.error(.reloadRefused, metadata: LogField.topic(.reloadRefused))
            state.refusedFaults = error.faults.count
        }
    }

    /// Refuses to forget a key that is needed. Without a database nobody knows, and the next start
    /// looks again.
    private func requireKeys(_ cipher: Cipher?) async throws(ConfigurationFaults) {
        guard let inUse = try? await services.ledger.keysInUse() else { return }
        let missing = inUse.filter { id in !(cipher?.keys.contains { $0.id == id } ?? false) }
        guard missing.isEmpty else {
            throw ConfigurationFaults(
                missing.map { id in
                    ConfigurationFault(
                        file: configurationFile, line: nil, key: "encryption.keys",
                        sentence:
                            "tokens in the database are encrypted with key \(id), which is not "
                            + "here: run `renewald rekey` before it goes")
                })
        }
    }

    private func follow(_ next: Settings, _ state: inout DaemonState) async {
        var settings = services.settings(following: next)
        settings.stallLimit = stallLimit
        await engine.adapt(to: settings, hints: services.clients.hintSources)
        for app in next.apps.map(\.key) {
            services.telemetry.metrics.begin(
                app, rate: next.stores.requestsPerSecond(app.store))
        }
        for source in services.clients.hintSources {
            services.telemetry.metrics.begin(source: source.name)
        }
        services.telemetry.metrics.keep(
            apps: Set(next.apps.map(\.key)),
            sources: Set(services.clients.hintSources.map(\.name)))
        let changes = Reload.changes(from: configuration, to: next)
        if next.rules.decidesOtherwise(than: configuration.rules) { outlook.look(at: next.rules) }
        current.withLock { $0 = next }
        log.info(.reloaded(changes), metadata: LogField.topic(.reloaded))
        next.warn(in: log)
        var waiting = Reload.waitingForRestart(from: services.configuration, to: next)
        if next.engine.inFlight > services.clients.capacity {
            waiting.append("engine.in_flight above \(services.clients.capacity)")
        }
        for name in waiting {
            log.notice(.restartNeeded(for: name), metadata: LogField.topic(.restartNeeded))
        }
        state.apps = next.apps.count
        state.refusedFaults = 0
        state.waitingForRestart = waiting
    }

    private var log: Logger { services.log }
}

extension Settings {
    /// Says what works but is unwise or useless.
    package func warn(in log: Logger) {
        let secrets = apps.flatMap(\.secrets) + (encryption.keys ?? [])
        for warning in secrets.compactMap({ $0.warning() }) {
            log.warning("\(warning.description)", metadata: LogField.topic(.secretReadable))
        }
    }
}
