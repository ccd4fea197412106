import ArgumentParser
import Configuration
import Daemon
import Explain
import Ledger
import Renewal
import Sockets

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports existing purchases from CSV with a header, or from JSON lines.",
        discussion: """
            The columns are user_id, store, app, product, token and store_user_id, in any order. \
            They are checked behind all that is due, as the quota allows. The same file again \
            changes nothing. A bad line is named on standard error, and the rest goes on. Exits \
            with 65 when no line could be taken in.

            Example: renewald import fleet.csv --baseline --rejects bad.csv
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The file; - is standard input.")
    var file: String
    @Flag(help: "Write no events for what is found at the first sight of each purchase.")
    var baseline = false
    @Flag(help: "Go on behind what was taken in of this file before.")
    var resume = false
    @Flag(help: "Say what would be taken in, and write nothing.")
    var dryRun = false
    @Option(help: ArgumentHelp("Write the bad lines to this file.", valueName: "file"))
    var rejects: String?
    @Option(help: "Columns of other names, such as user_id=customer,token=purchase_token.")
    var map: [String] = []
    @Option(
        name: .customLong("set"),
        help: "What is the same in all lines, such as store=google,app=com.example.reader.")
    var constants: [String] = []
    @Option(help: "Whose file it is: revenuecat or osmand.")
    var preset: ImportPreset?
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard file != "", rejects != "" else {
            throw ValidationError("FILE or --rejects names no file")
        }
        guard rejects != "-" else {
            throw ValidationError("--rejects takes a file: standard output is for the result")
        }
        _ = try pairs(of: map, "--map")
        _ = try pairs(of: constants, "--set")
        if file == "-", resume {
            throw ValidationError("--resume needs a file: what a pipe brings cannot be read again")
        }
        if dryRun, resume { throw ValidationError("--dry-run does not go with --resume") }
    }

    private func pairs(
        of words: [String], _ option: String
    ) throws -> [(field: ImportField, text: String)] {
        try words.flatMap { $0.split(separator: ",") }.map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw ValidationError("\(option) is NAME=\(option == "--map" ? "COLUMN" : "VALUE")")
            }
            guard let field = ImportField(rawValue: parts[0]) else {
                let nearest = Nearest.word(
                    to: parts[0], among: ImportField.allCases.map(\.rawValue))
                throw ValidationError(
                    "\(option): there is no \"\(parts[0])\""
                        + (nearest.map { "; the nearest is \($0)" } ?? ""))
            }
            return (field, parts[1])
        }
    }

    mutating func run() async throws {
        let command = self
        try await common.withServices(
            asksStores: false, writes: !dryRun, readsTokens: false
        ) { services in
            try await command.run(services)
        }
    }

    private func run(_ services: Services) async throws {
        var options = Import.Options(file, try columns(for: services.configuration.apps.map(\.key)))
        options.configuredApps = services.configuration.apps.map(\.key)
        options.isBaseline = baseline
        options.goesOn = resume
        options.isDryRun = dryRun
        options.rejects = rejects
        let progress = ImportProgress(isTerminal: Console.isErrorTerminal)
        let totals: Import.Totals
        do {
            totals = try await Import(services.ledger, options) { progress.hear($0) }.run()
            progress.end()
        } catch let stop as Import.Stop {
            progress.end()
            throw complain(of: stop)
        } catch let error as LedgerError {
            progress.end()
            if file != "-", !dryRun {
                Console.complain("nothing is lost: --resume goes on behind what was taken in")
            }
            throw error
        }
        try say(totals)
        if totals.isInVain { throw ExitReason.dataError }
    }

    private func columns(for apps: [AppKey]) throws -> ImportColumns {
        var columns = ImportColumns(preset)
        for (field, column) in try pairs(of: map, "--map") { columns.name(field, column) }
        for (field, value) in try pairs(of: constants, "--set") { columns.set(field, to: value) }
        for (store, apps) in Dictionary(grouping: apps, by: \.store.rawValue)
        where apps.count == 1 {
            columns.apps[store] = apps[0].id.text
        }
        if apps.count == 1 { columns.onlyStore = apps[0].store.rawValue }
        return columns
    }

    private func complain(of stop: Import.Stop) -> ExitReason {
        switch stop {
        case .usage(let reason):
            Console.complain(reason)
            return .usage
        case .unreadable(let reason):
            Console.complain("\(file): cannot be read: \(reason)")
            return .noInput
        case .useless(let reason):
            Console.complain("\(file): \(reason)")
            return .dataError
        case .rejects(.failed(let reason)):
            Console.complain("\(rejects ?? ""): cannot be written: \(reason)")
            return .cannotCreate
        case .rejects(.readerGone): return .cannotCreate
        case .overtaken:
            Console.complain(
                "\(file): another import of this file is under way, and has come further: this one "
                    + "has ended, and nothing is lost. Should that one end early, --resume goes on "
                    + "behind it")
            return .temporary
        }
    }

    private func say(_ totals: Import.Totals) throws {
        guard !json else { return try Console.say(json: totals.json.line()) }
        let would = dryRun ? "would be " : ""
        try Console.say(
            "\(count(totals.read, "line")) read: \(totals.submitted) \(would)submitted, "
                + "\(totals.known) known, \(totals.bad) bad")
        guard totals.bad > 0, let rejects else { return }
        try Console.say(
            dryRun
                ? "without --dry-run the bad lines are written to \(rejects)"
                : resume
                    ? "the bad lines since it was begun again are in \(rejects): mend them and "
                        + "import that file; those before are where that run has put them"
                    : "the bad lines are in \(rejects): mend them and import that file")
    }
}

extension ImportPreset: ExpressibleByArgument {}

extension Import.Totals {
    fileprivate var json: ImportJSON {
        ImportJSON(read: read, submitted: submitted, known: known, bad: bad)
    }
}
