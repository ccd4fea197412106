import Configuration
import ArgumentParser
import Daemon
import FoundationEssentials
import Ledger
import Renewal
import Logging
import Sockets

/// What every command takes.
struct CommonOptions: ParsableArguments {
    @Option(
        name: [.customShort("c"), .customLong("config")],
        help: ArgumentHelp(
            "The configuration file; default is $RENEWALD_CONFIG, else \(Self.usualConfig).",
            valueName: "file"))
    var namedConfig: String?

    func validate() throws {
        guard namedConfig != "" else { throw ValidationError("--config names no file") }
    }

    @Flag(help: "Log more on standard error.")
    var verbose = false

    func logger(_ quietLevel: Logger.Level) -> Logger {
        let level: Logger.Level = verbose ? .debug : quietLevel
        return Logger(label: "renewald") { _ in
            LogOutput(level: level, environment: environment)
        }
    }

    var environment: [String: String] { ProcessInfo.processInfo.environment }

    static let usualConfig = "/etc/renewald/renewald.toml"

    /// The path of the configuration.
    var config: String {
        let named = [namedConfig, environment["RENEWALD_CONFIG"]].compactMap { $0 }
        return named.first { !$0.isEmpty } ?? Self.usualConfig
    }

    /// Opens the services, requires a schema that fits, does the work, closes.
    ///
    /// - Parameters:
    ///   - asksStores: whether the credentials are needed. Without, nothing is written either, so
    ///     that a standby will do.
    ///   - writes: whether something is written all the same.
    ///   - readsTokens: whether keys of the configuration must be there for what is encrypted.
    ///   - work: what to do.
    /// - Throws: the exit code.
    func withServices(
        asksStores: Bool, writes: Bool = false, readsTokens: Bool = true,
        _ work: (Services) async throws -> Void
    ) async throws {
        try runAsServiceUser()
        try await reporting {
            let services = try Services(
                configurationFile: config, environment: environment, asksStores: asksStores,
                onlyReads: !asksStores && !writes,
                log: logger(.warning))
            do {
                try await services.ledger.requireFittingSchema()
                if readsTokens { try await services.requireKeys() }
                try await work(services)
            } catch {
                await services.close()
                throw error
            }
            await services.close()
        }
    }

    /// Looks at the address of a database, which an option gives.
    ///
    /// - Throws: that it can never be right, however long one waits for it.
    func requireAddress(_ conninfo: String, of option: String) throws {
        guard let sentence = Services.fault(ofAddress: conninfo) else { return }
        Console.complain("\(option): \(sentence)")
        throw ExitReason.configuration
    }

    /// Says what went wrong on standard error and ends with the exit code that fits.
    func reporting(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let faults as ConfigurationFaults {
            for fault in faults.faults { Console.complain(fault.description) }
            throw ExitReason.configuration.code
        } catch let error as LedgerError {
            Console.complain(error.sentence)
            throw error.exitReason.code
        } catch WriteFailure.readerGone {
            throw ExitCode.success
        } catch WriteFailure.failed(let reason) {
            Console.complain("standard output cannot be written: \(reason)")
            throw ExitReason.outputFailed.code
        } catch let slip as ValidationError {
            // The parser knows no more which command it was, and would show how all are used.
            Console.complain(slip.message)
            throw ExitReason.usage.code
        } catch let reason as ExitReason {
            throw reason.code
        } catch let code as ExitCode {
            throw code
        }
    }
}

extension ExitReason {
    var code: ExitCode { ExitCode(rawValue) }
}
