import ArgumentParser
import Configuration
import Daemon
import Explain
import Ledger
import Renewal

struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Forecasts calls, quota and lag, of the fleet or before there is one.",
        discussion: """
            Shows for each app how many calls a day the schedule wants and for what, which share \
            of the quota that is, how long it takes to ask about everything once, how late changes \
            at the store are known, and what would help. With --config another policy, another \
            rate or other sources of news are tried. Asks no store and writes nothing. With \
            --purchases it needs no database either: every purchase is taken for a monthly \
            subscription in force.

            Example: renewald plan --purchases apple=1000000,google=400000
            """)

    @OptionGroup var common: CommonOptions
    @Option(
        help: ArgumentHelp(
            """
            Purchases before there is a fleet, as STORE=N or STORE/APP=N, with commas between them.
            """,
            valueName: "sizes"))
    var purchases: [String] = []
    @Option(
        help: ArgumentHelp(
            """
            What so many purchases more would do: N, shared out as they are now, or STORE=N or \
            STORE/APP=N.
            """,
            valueName: "sizes"))
    var more: [String] = []
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        _ = try FleetSizes(purchases, "--purchases")
        if altogether == nil { _ = try FleetSizes(more, "--more") }
    }

    mutating func run() async throws {
        let command = self
        guard !purchases.isEmpty else {
            return try await common.withServices(asksStores: false, readsTokens: false) {
                services in
                let plan = Plan(services.configuration)
                let growth = try command.growth(services.configuration.apps.map(\.key))
                try command.say(plan.report(on: try await services.fleetOutlines(), with: growth))
            }
        }
        try common.runAsServiceUser()
        try await common.reporting {
            let configuration = try Settings.loadWhole(
                file: command.common.config, environment: command.common.environment)
            let keys = configuration.apps.map(\.key)
            let sizes = try FleetSizes(command.purchases, "--purchases").counts(keys)
            let growth = try command.growth(keys)
            let fleet = sizes.mapValues { FleetOutline(subscriptions: $0) }
            try command.say(Plan(configuration).report(on: fleet, with: growth))
        }
    }

    /// So many more, of all apps together.
    private var altogether: Int? { more.count == 1 ? FleetSizes.count(more[0]) : nil }

    private func growth(_ apps: [AppKey]) throws -> Plan.Growth? {
        guard !more.isEmpty else { return nil }
        if let altogether { return .altogether(altogether) }
        let sizes = try FleetSizes(more, "--more").counts(apps)
        if let unknown = sizes.keys.first(where: { !apps.contains($0) }) {
            throw ValidationError("--more: \(unknown.name) is not configured")
        }
        return .ofApps(sizes)
    }

    private func say(_ report: PlanReport) throws {
        for app in report.unknownApps.prefix(UnknownApp.namedLimit) {
            Console.complain(
                app.key.id == FleetSizes.anyApp
                    ? "no app of \(app.key.store.rawValue) is configured: its "
                        + "\(app.purchases) purchases are not in this plan" : app.sentence)
        }
        let further = report.unknownApps.count - UnknownApp.namedLimit
        if further > 0 { Console.complain("\(further) more apps are not configured") }
        if json { return try Console.say(json: report.line()) }
        try Console.say(lines: PlanText(report).lines)
    }
}

/// `apple=1000,google/com.example.reader=20`.
struct FleetSizes {
    private let sizes: [(name: String, count: Int)]
    private let option: String

    /// Of a store of which no app is configured.
    static let anyApp = AppID("*")
    /// Nobody has more.
    private static let countLimit = 1_000_000_000_000

    init(_ words: [String], _ option: String) throws {
        self.option = option
        sizes = try words.flatMap { word in
            word.split(separator: ",", omittingEmptySubsequences: false)
        }.map { pair in
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                throw ValidationError("\(option) is STORE=N or STORE/APP=N, not \"\(pair)\"")
            }
            let name = String(parts[0])
            if Store(rawValue: name) == nil, AppKey(named: name) == nil {
                let stores = Store.allCases.map(\.rawValue)
                let nearest = Nearest.word(to: name, among: stores)
                throw ValidationError(
                    "\(option): there is no store \"\(name)\""
                        + (nearest.map { "; the nearest is \($0)" } ?? ""))
            }
            guard let count = Self.count(String(parts[1])) else {
                throw ValidationError(
                    "\(option): \"\(parts[1])\" is no number from 0 to \(Self.countLimit)")
            }
            return (name, count)
        }
        let names = sizes.map(\.name)
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw ValidationError("\(option): \(twice) is there twice")
        }
    }

    static func count(_ text: String) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = Int(text), count <= countLimit
        else { return nil }
        return count
    }

    /// By app. A store stands for its only app; where it has several, one has to be named.
    func counts(_ apps: [AppKey]) throws -> [AppKey: Int] {
        var counts: [AppKey: Int] = [:]
        for (name, count) in sizes {
            let key = try AppKey(named: name) ?? only(name, among: apps)
            guard counts.updateValue(count, forKey: key) == nil else {
                throw ValidationError("\(option): \(key.name) is there twice")
            }
        }
        return counts
    }

    private func only(_ name: String, among apps: [AppKey]) throws -> AppKey {
        let own = apps.filter { $0.store.rawValue == name }
        guard own.count < 2, let store = Store(rawValue: name) else {
            let named = own.prefix(5).map { "\($0.name)=N" }.joined(separator: ",")
            throw ValidationError(
                "\(option): \(own.count) apps of \(name) are configured: say which, as \(named)")
        }
        return own.first ?? AppKey(store: store, id: Self.anyApp)
    }
}
