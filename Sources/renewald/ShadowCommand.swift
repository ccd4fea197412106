import ArgumentParser
import Configuration
import Daemon
import Explain
import Ledger
import Renewal
import Sockets
import Synchronization

struct ShadowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shadow",
        abstract: "Compares with what another system believes, and says why both differ.",
        discussion: """
            The query gives user_id, entitlement, active and, if you like, expires_at, in any \
            order; it only reads. A user and an entitlement that it does not name are not granted \
            by it. Differences are kept between runs, so that the next one says what has healed. \
            Nothing else is written. With --strict it exits with 65 when any difference stays.

            Example: renewald shadow --theirs 'SELECT user_id, entitlement, active FROM access'
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: ArgumentHelp("What they believe: one query.", valueName: "sql"))
    var theirs: String?
    @Option(
        help: ArgumentHelp(
            "Where the query is run, if not in renewald's database; or env:NAME, file:/path.",
            valueName: "url"))
    var theirsDatabase: String?
    @Option(
        help: ArgumentHelp("What they believe, as CSV; - is standard input.", valueName: "file"))
    var theirsCsv: String?
    @Option(
        help: ArgumentHelp("How old a difference is that counts: PT1H.", valueName: "duration"))
    var settle: String = "PT0S"
    @Option(
        help: ArgumentHelp(
            "Compare this entitlement alone; may be given again.", valueName: "name"))
    var entitlement: [String] = []
    @Option(
        help: ArgumentHelp(
            "The other system's name: the differences of each are kept apart.", valueName: "name"))
    var name: String = "theirs"
    @Option(
        help: ArgumentHelp(
            "How long they may take for a part of the query.", valueName: "duration"))
    var timeout: String = "PT5M"
    @Option(help: ArgumentHelp("Write each difference to this file.", valueName: "file"))
    var csv: String?
    @Option(
        help: ArgumentHelp(
            "Write a page with a table and a plot over time to this file.", valueName: "file"))
    var html: String?
    @Option(
        help: ArgumentHelp(
            "Write the counts to this file, for Prometheus' node exporter.", valueName: "file"))
    var metrics: String?
    @Flag(help: "Exit with 65 when any difference stays.")
    var strict = false
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard (theirs == nil) != (theirsCsv == nil) else {
            throw ValidationError("--theirs SQL or --theirs-csv FILE says what they believe")
        }
        guard theirs?.allSatisfy(\.isWhitespace) != true else {
            throw ValidationError("--theirs is empty: it is one SELECT")
        }
        guard theirsDatabase == nil || theirs != nil else {
            throw ValidationError("--theirs-database needs --theirs, which is asked there")
        }
        guard csv != "", html != "", metrics != "", theirsCsv != "", theirsDatabase != "" else {
            throw ValidationError("an option that names a file or a database is empty")
        }
        let files = [theirsCsv, csv, html, metrics].compactMap(\.self).filter { $0 != "-" }
        guard Set(files.map(plain)).count == files.count else {
            throw ValidationError("two options name the same file")
        }
        guard metrics != "-" else { throw ValidationError("--metrics is a file") }
        guard !name.isEmpty, name.utf8.count <= 200, !entitlement.contains("") else {
            throw ValidationError("--name and --entitlement are not empty")
        }
        _ = try duration(settle, "--settle", orZero: true)
        _ = try duration(timeout, "--timeout", orZero: false)
        guard [json, csv == "-", html == "-"].count(where: { $0 }) < 2 else {
            throw ValidationError("only one of --json, --csv - and --html - can be printed")
        }
    }

    /// Without what a path may have besides its names.
    private func plain(_ path: String) -> String {
        let names = path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
        return path.hasPrefix("/") ? "/" + names : names
    }

    private func duration(_ text: String, _ option: String, orZero: Bool) throws -> Duration {
        guard let duration = try? ISODuration.parse(text), orZero || duration > .zero else {
            throw ValidationError("\(option) is a duration such as PT1H or P1D")
        }
        return duration
    }

    mutating func run() async throws {
        let command = self
        try await common.withServices(
            asksStores: false, writes: true, readsTokens: false
        ) { services in
            do {
                try await command.run(services)
            } catch let stop as ShadowStop {
                Console.complain(command.file(of: stop) + stop.reason)
                throw stop.exitReason
            }
        }
    }

    /// What a fault of a file is said of.
    private func file(of stop: ShadowStop) -> String {
        switch stop {
        case .unreadable: "\(theirsCsv ?? ""): cannot be read: "
        case .data: theirsCsv.map { "\($0): " } ?? "--theirs: "
        case .usage, .unavailable, .forbidden: ""
        }
    }

    private func options() throws -> Shadow.Options {
        let source: Shadow.Source =
            if let theirsCsv {
                .file(theirsCsv)
            } else {
                .query(
                    theirs ?? "", conninfo: try otherDatabase(),
                    within: try duration(timeout, "--timeout", orZero: false))
            }
        var options = Shadow.Options(source)
        options.settle = try duration(settle, "--settle", orZero: true)
        options.system = name
        options.only = entitlement.map(EntitlementID.init)
        return options
    }

    /// A password on a command line is seen by all: it may come from elsewhere.
    private func otherDatabase() throws -> String? {
        guard let given = theirsDatabase else { return nil }
        let address = try SecretSource(option: "--theirs-database", given).map(read) ?? given
        guard !address.allSatisfy(\.isWhitespace) else {
            Console.complain("--theirs-database: \(given) is empty")
            throw ExitReason.configuration
        }
        try common.requireAddress(address, of: "--theirs-database")
        return address
    }

    private func read(_ source: SecretSource) throws -> String {
        do throws(ConfigurationFault) {
            guard let text = try source.read(environment: common.environment).text else {
                throw source.place.fault("it is not UTF-8")
            }
            return text
        } catch {
            Console.complain("--theirs-database: \(error.sentence)")
            throw ExitReason.configuration
        }
    }

    private func run(_ services: Services) async throws {
        let options = try options()
        let list = try csv.map { path in try ShadowList(path) }
        let longest = Mutex(ShadowLongest())
        let report: ShadowReport
        do {
            report = try await Shadow(
                services.ledger, database: services.configuration.database.url,
                catalog: services.rules.catalog, options
            ) { line in
                try list?.add(line)
                longest.withLock { $0.add(line) }
            }.run()
            try list?.finish()
        } catch {
            list?.abandon()
            throw error
        }
        if report.doubled > 0 {
            Console.complain(
                "\(count(report.doubled, "duplicate")): their rows name a user and an "
                    + "entitlement more than once, and say the same; each is counted once")
        }
        if let html {
            let lines = longest.withLock { longest in
                longest.cut()
                return longest
            }
            let page = ShadowPage(report, lines, version: Version.text)
            try PageFile.write(page.html, to: html)
        }
        if let metrics { try write(ShadowMetrics(report).text, to: metrics) }
        if json {
            try Console.say(json: report.line())
        } else if csv != "-", html != "-" {
            try Console.say(lines: ShadowText(report).lines)
        }
        if strict, report.differs { throw ExitReason.dataError }
    }
}

extension ShadowCommand {
    /// Nothing is said of it, as a timer does it each day.
    private func write(_ metrics: String, to file: String) throws {
        do throws(WriteFailure) {
            try OutputFile(file, isForAll: true).write(metrics)
        } catch .failed(let reason) {
            Console.complain("\(file): cannot be written: \(reason)")
            throw ExitReason.cannotCreate
        }
    }
}

/// The file of differences.
private struct ShadowList: Sendable {
    private let path: String
    private let file: OutputFile.Writing?

    init(_ path: String) throws {
        self.path = path
        do throws(WriteFailure) {
            file = path == "-" ? nil : try OutputFile(path).open(isPrivate: true)
        } catch {
            throw Self.complain(path, error)
        }
        try write(ShadowLine.header)
    }

    func add(_ line: ShadowLine) throws { try write(line.csv) }

    private func write(_ text: String) throws {
        guard let file else { return try Console.write(text) }
        do throws(WriteFailure) {
            try file.add(text)
        } catch {
            throw Self.complain(path, error)
        }
    }

    func finish() throws {
        do throws(WriteFailure) {
            try file?.finish()
        } catch {
            throw Self.complain(path, error)
        }
        if file != nil { Console.complain("the differences are in \(path)") }
    }

    func abandon() { file?.abandon() }

    private static func complain(_ path: String, _ failure: WriteFailure) -> any Error {
        guard case .failed(let reason) = failure else { return failure }
        Console.complain("\(path): cannot be written: \(reason)")
        return ExitReason.cannotCreate
    }
}
