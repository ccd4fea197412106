import Configuration
import Curl
import Explain
import Ledger
import Postgres
import Renewal

/// Looks whether a site is well: configuration, credentials, database, clocks, stores and units. No
/// fault stops it, and it changes nothing but the quota of the calls that it makes.
package struct Doctor: Sendable {
    private let configurationFile: String
    private let environment: [String: String]
    private let root: String

    /// - Parameters:
    ///   - configurationFile: its path.
    ///   - environment: of the process.
    ///   - root: the folder of an image in which unit files are looked for; empty is the machine.
    package init(
        configurationFile: String, environment: [String: String], root: String = ""
    ) {
        self.configurationFile = configurationFile
        self.environment = environment
        self.root = root
    }

    /// - Parameter tell: hears each finding when it is made.
    /// - Returns: all of them.
    package func run(_ tell: (Finding) -> Void) async -> DoctorReport {
        var findings: [Finding] = []
        await look { finding in
            findings.append(finding)
            tell(finding)
        }
        return DoctorReport(findings)
    }

    private func look(_ tell: (Finding) -> Void) async {
        do throws(ConfigurationFaults) {
            let configuration = try Settings.loadWhole(
                file: configurationFile, environment: environment)
            tell(Self.found(configuration))
            if !configuration.policy.breaker.isOn {
                tell(
                    .note(
                        "safety",
                        "[safety] breaker = \"off\": an avalanche of revocations goes through",
                        do: "set it to \"on\", unless you are here to let one through"))
            }
            await look(configuration, tell)
        } catch {
            for fault in error.faults {
                tell(
                    .wrong(
                        "configuration", fault.description,
                        do: "fix it; renewald.toml(5) describes every key"))
            }
            for subject in ["credentials", "database", "clock", "stores"] {
                tell(.skipped(subject, because: "the configuration cannot be used"))
            }
        }
        UnitCheck(root: root).run().forEach(tell)
    }

    private static func found(_ configuration: Settings) -> Finding {
        guard !configuration.apps.isEmpty else {
            return .note(
                "configuration", "no app is configured, so nothing can be checked",
                do: "add an [[app]] for each app in each store")
        }
        return .ok("configuration", configuration.apps.map(\.key).summary)
    }

    private func lookForProblems(_ ledger: PostgresLedger, _ tell: (Finding) -> Void) async {
        do throws(LedgerError) {
            let problems = try await ledger.problems()
            tell(ClockCheck.finding(problems))
            SetAsideCheck.findings(problems).forEach(tell)
        } catch {
            tell(DatabaseFindings.failed("clock", error))
        }
    }

    private func lookForDurations(_ ledger: PostgresLedger, _ tell: (Finding) -> Void) async {
        do throws(LedgerError) {
            DurationCheck.findings(try await ledger.endlessProducts()).forEach(tell)
        } catch {
            tell(DatabaseFindings.failed("products", error))
        }
    }

    private func lookForClashes(_ ledger: PostgresLedger, _ tell: (Finding) -> Void) async {
        do throws(LedgerError) {
            RulesCheck.findings(try await ledger.clashingRules()).forEach(tell)
            RulesCheck.findings(uneven: try await ledger.unevenApps()).forEach(tell)
        } catch {
            tell(DatabaseFindings.failed("policy", error))
        }
    }

    private func lookAtBreakers(
        _ ledger: PostgresLedger, _ policy: BreakerPolicy, _ tell: (Finding) -> Void
    ) async {
        do throws(LedgerError) {
            let breakers = try await ledger.breakers(window: policy.window)
            BreakerCheck.findings(breakers, under: policy).forEach(tell)
        } catch {
            tell(DatabaseFindings.failed(BreakerCheck.subject, error))
        }
    }

    private func lookAtKeys(
        _ configuration: Settings, _ ledger: PostgresLedger, _ tell: (Finding) -> Void
    ) async {
        do throws(ConfigurationFaults) {
            let cipher = try AtRestKeys.cipher(
                configuration.encryption, environment: environment)
            ledger.use(cipher)
            await EncryptionCheck(cipher, ledger).run().forEach(tell)
        } catch {
            for fault in error.faults {
                tell(
                    .wrong(
                        EncryptionCheck.subject, fault.description,
                        do: "bring the key back: without it nothing that it encrypted can be read"))
            }
        }
    }

    private func lookAtNews(
        of apps: [App], _ ledger: PostgresLedger, _ tell: (Finding) -> Void
    ) async {
        do throws(LedgerError) {
            let (sources, unhandled, now) = try await ledger.newsSources()
            NewsCheck.findings(sources, of: apps, at: now).forEach(tell)
            NewsCheck.findings(unhandled).forEach(tell)
        } catch {
            tell(DatabaseFindings.failed("news", error))
        }
    }

    private func lookAtRefunds(
        _ ledger: PostgresLedger, _ rule: RefundRule, _ tell: (Finding) -> Void
    ) async {
        do throws(LedgerError) {
            RefundCheck.findings(try await ledger.refundStatus(), under: rule).forEach(tell)
        } catch {
            tell(DatabaseFindings.failed("refunds", error))
        }
    }

    /// Since when each is paused.
    private func pausedApps(_ ledger: PostgresLedger) async -> [BucketID: Timestamp] {
        let buckets = (try? await ledger.buckets()) ?? []
        return Dictionary(
            buckets.compactMap { bucket in bucket.pausedAt.map { (bucket.name, $0) } },
            uniquingKeysWith: { first, _ in first })
    }

    private func look(_ configuration: Settings, _ tell: (Finding) -> Void) async {
        let client: CurlClient
        do throws(CurlError) {
            client = try CurlClient(
                configuration: CurlConfiguration(userAgent: "renewald/\(Version.text)"))
        } catch {
            return tell(
                .wrong("stores", "libcurl cannot be used: \(error)", do: "reinstall libcurl4"))
        }
        let factory = StoreClientFactory(
            configuration.stores, configuration.catalog, client, environment,
            DaemonMetrics(startedAt: WallClock.now()))
        var credentials = CredentialCheck(configuration, factory)
        credentials.run(at: WallClock.now())
        credentials.findings.forEach(tell)
        let isFit = await DatabaseCheck(configuration).run(tell)
        // What a standby can tell is told, and its one fault only once.
        var database = PostgresSettings(conninfo: configuration.database.url)
        database.makesDoWithReadOnly = true
        database.statementTimeout = PostgresLedger.longestRead
        let ledger = PostgresLedger(database)
        if isFit {
            await lookAtKeys(configuration, ledger, tell)
            await lookForProblems(ledger, tell)
            await lookForDurations(ledger, tell)
            await lookForClashes(ledger, tell)
            await lookAtBreakers(ledger, configuration.policy.breaker, tell)
            await lookAtNews(of: configuration.apps, ledger, tell)
            await lookAtRefunds(ledger, configuration.refunds.rule, tell)
        }
        if let address = configuration.metrics.listen {
            tell(await MetricsCheck(address: address, client: client).run())
        }
        if isFit { await lookForUnknownApps(configuration, ledger, tell) }
        let stores = StoreCheck(factory) { app in
            // Without a database there is no quota to draw from, and no daemon that uses it.
            isFit ? UrgentCalls(configuration.stores, ledger).permit(for: app) : .free
        }
        let paused = isFit ? await pausedApps(ledger) : [:]
        for app in configuration.apps {
            if let since = paused[BucketID(of: app.key)] {
                tell(
                    .skipped(
                        app.key.store.rawValue,
                        because: "\(app.key.id) is paused since \(since.text); "
                            + "renewald resume \(app.key.name) lets it be asked again"))
            } else if credentials.usable.contains(app) {
                await stores.run(app, tell)
            } else {
                let reason = "\(app.key.id): its credentials cannot be used"
                tell(.skipped(app.key.store.rawValue, because: reason))
            }
        }
        await ledger.close()
        await client.close()
    }

    /// A typing error in a backend is the first thing to suspect when purchases are not asked
    /// about.
    private func lookForUnknownApps(
        _ configuration: Settings, _ ledger: PostgresLedger, _ tell: (Finding) -> Void
    ) async {
        let configured = configuration.apps.map(\.key)
        do throws(LedgerError) {
            let apps = try await ledger.appsBeside(configured)
            guard !apps.isEmpty else {
                return tell(.ok("apps", "every app with purchases is configured"))
            }
            for (app, purchases) in apps.prefix(UnknownApp.namedLimit) {
                let unknown = UnknownApp(
                    app, purchases: purchases, nearest: Nearest.app(app, among: configured))
                tell(
                    .note(
                        "apps", unknown.sentence,
                        do: "add an [[app]] for it, or fix the name that your backend submits"))
            }
            if apps.count > UnknownApp.namedLimit {
                let others = apps.count - UnknownApp.namedLimit
                tell(.note("apps", "at least \(others) more apps are not configured"))
            }
        } catch {
            tell(DatabaseFindings.failed("apps", error))
        }
    }
}
