import Curl
import Foundation
import Postgres
import Synchronization
import TestSupport

/// A whole installation for one test: a database, the simulated stores and the real programs, on a
/// clock that the test moves.
///
/// The simulator keeps a file with the distance between its time and the machine's; the database's
/// server runs under libfaketime, which reads it. The daemon runs as it is: every decision goes by
/// the database's clock.
final class Stage: Sendable {
    let folder: String
    let conninfo: String
    let database: PostgresConnection
    private let cluster: ScratchCluster?
    private let simulator: ChildProcess
    private let origin: String
    private let client: CurlClient
    private let environment: [String: String]
    private let started = Mutex<[ChildProcess]>([])
    private let planted = Mutex<Set<String>>([])

    static let app = "com.example.reader"

    /// - Parameters:
    ///   - start: the simulated time at the beginning; nil is the machine's, not shared.
    ///   - arguments: more of them for the simulator.
    ///   - logsAnswers: whether the simulator logs every answer, for `answers(of:)`.
    ///   - given: an empty database on the machine's clock; nil makes one.
    /// - Throws: when one of the programs does not start.
    init(
        from start: String? = nil, simulating arguments: [String] = [], logsAnswers: Bool = false,
        database given: String? = nil
    ) async throws {
        var template = Array("/tmp/rw-stage-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template).map({ String(cString: $0) }) else {
            throw StageFailure("mkdtemp: \(errno)")
        }
        folder = made
        chmod(made, 0o755)
        var environment = ProcessInfo.processInfo.environment
        environment["JOURNAL_STREAM"] = nil
        var flags = ["serve", "--directory", "\(made)/stores"] + arguments
        if logsAnswers { flags += ["--answers", "\(made)/answers"] }
        if let start {
            flags += ["--clock", start, "--clock-file", "\(made)/clock"]
        }
        self.environment = environment
        simulator = try ChildProcess(
            Self.program("storesim"), flags, logFile: "\(made)/storesim.log")
        let line = try await simulator.line { $0.hasPrefix("storesim: listening on ") }
        origin = String(line.dropFirst("storesim: listening on ".count))
        if let given {
            (cluster, conninfo) = (nil, given)
        } else {
            let own =
                start == nil
                ? try await ScratchCluster.shared()
                : try await ScratchCluster(.init(environment: Self.clock(in: made)))
            (cluster, conninfo) = (own, try await own.newDatabase())
        }
        database = PostgresConnection(
            PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60)))
        client = try CurlClient(configuration: CurlConfiguration())
        try configure()
        let migrated = try await renewald("migrate")
        guard migrated.exit == .code(0) else { throw StageFailure(migrated.standardError) }
    }

    /// Ends the programs, then looks for secrets in all that they have said.
    func close() async throws {
        for child in started.withLock({ $0 }) { child.send(SIGKILL) }
        simulator.send(SIGTERM)
        await client.close()
        await database.close()
        let programs = started.withLock { $0 } + [simulator]
        // Thousands of tokens in megabytes of output: the C library looks in no time.
        let said = programs.map { $0.standardOutput + "\n" + $0.standardError }
            .joined(separator: "\n").replacingOccurrences(of: "\0", with: "\n").utf8CString
        let secrets = planted.withLock { $0 }
        let found = said.withUnsafeBufferPointer { text in
            secrets.first { secret in text.baseAddress.flatMap { strstr($0, secret) } != nil }
        }
        if let found { throw StageFailure("a secret was said: \(found.prefix(12))…") }
        try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: Configuration

    var configurationFile: String { "\(folder)/renewald.toml" }

    /// Writes the configuration: the simulator's part, and what a test adds.
    func configure(_ more: String = "", rate: Int = 5000) throws {
        var stores = try String(contentsOfFile: "\(folder)/stores/renewald.toml", encoding: .utf8)
        for store in ["apple", "google", "amazon"] {
            stores = stores.replacingOccurrences(
                of: "[store.\(store)]\n", with: "[store.\(store)]\nrequests_per_second = \(rate)\n")
        }
        let text = "[database]\nurl = \"\(conninfo)\"\n\n\(stores)\n\(more)\n"
        try text.write(toFile: configurationFile, atomically: true, encoding: .utf8)
        try plantKeys()
    }

    /// Points the configuration at another database.
    func useDatabase(_ conninfo: String) throws {
        try editConfiguration { $0.replacingOccurrences(of: self.conninfo, with: conninfo) }
    }

    func editConfiguration(_ edit: (String) -> String) throws {
        let text = try String(contentsOfFile: configurationFile, encoding: .utf8)
        try edit(text).write(toFile: configurationFile, atomically: true, encoding: .utf8)
    }

    /// Stops the database as a crash does, and starts it again.
    func restartDatabase() async throws {
        try await cluster?.stop(.immediate)
        try await cluster?.start()
    }

    private func plantKeys() throws {
        for name in ["apple.p8", "amazon.secret"] {
            let text = try String(contentsOfFile: "\(folder)/stores/\(name)", encoding: .utf8)
            plant(text.split(separator: "\n").filter { !$0.hasPrefix("-----") }.map(String.init))
        }
        let account = try String(contentsOfFile: "\(folder)/stores/google.json", encoding: .utf8)
        plant(account.components(separatedBy: "\\n").filter { $0.count == 64 })
    }

    /// Text that no program may ever say.
    func plant(_ secrets: [String]) {
        let long = secrets.filter { $0.count >= 12 }
        planted.withLock { $0.formUnion(long) }
        guard let file = ProcessInfo.processInfo.environment["RENEWALD_PLANTED_FILE"],
            let handle = FileHandle(forWritingAtPath: file)
        else { return }
        handle.seekToEndOfFile()
        handle.write(Data((long.joined(separator: "\n") + "\n").utf8))
        try? handle.close()
    }

    // MARK: Programs

    /// A command that has run to its end.
    struct Ended: Sendable {
        let exit: ChildProcess.Exit
        let standardOutput: String
        let standardError: String
    }

    /// Runs a command to its end.
    func renewald(
        _ arguments: String..., within limit: Duration = .seconds(120)
    ) async throws -> Ended {
        let child = try start(arguments)
        let exit = try await child.exit(within: limit)
        return Ended(
            exit: exit, standardOutput: child.standardOutput, standardError: child.standardError)
    }

    /// Starts `renewald run`.
    func daemon() throws -> ChildProcess { try start(["run"]) }

    /// Starts a command, by way of another that runs it, if any.
    func start(_ arguments: [String], under wrapper: [String] = []) throws -> ChildProcess {
        let command =
            wrapper + [Self.program("renewald")] + arguments + ["--config", configurationFile]
        let child = try ChildProcess(
            command[0], Array(command.dropFirst()), environment: environment)
        started.withLock { $0.append(child) }
        return child
    }

    /// The programs lie beside the tests.
    static func program(_ name: String) -> String {
        if let folder = ProcessInfo.processInfo.environment["RENEWALD_BIN"] {
            return "\(folder)/\(name)"
        }
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return tests.deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// What makes a program follow the simulator's clock.
    private static func clock(in folder: String) -> [String: String] {
        let roots = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        let library = roots.map { "/usr/lib/\($0)/faketime/libfaketime.so.1" }
            .first { FileManager.default.fileExists(atPath: $0) }
        return [
            "LD_PRELOAD": library ?? "", "FAKETIME_TIMESTAMP_FILE": "\(folder)/clock",
            "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        ]
    }

    // MARK: Stores

    /// A purchase that the simulator has made.
    struct Made: Decodable, Sendable {
        let id: Int
        let token: String
        let store_user_id: String?
        let product: String
    }

    private struct Reply: Decodable {
        let purchases: [Made]
    }

    /// Makes purchases in a store, for users named after `user`.
    func buy(
        _ store: String, product: String = "monthly", terms: String = "", count: Int = 1
    ) async throws -> [Made] {
        let body =
            #"{"store":"\#(store)","app":"\#(Self.app)","product":"\#(product)","#
            + #""period":"P1M","count":\#(count)\#(terms.isEmpty ? "" : ",")\#(terms)}"#
        let made = try JSONDecoder().decode(Reply.self, from: await control("purchases", body))
        plant(made.purchases.filter { _ in store != "apple" }.map(\.token))
        return made.purchases
    }

    private struct Receipt: Decodable {
        let receipt: String
    }

    /// A legacy receipt of Apple's, in base64, as it was made at that instant.
    func receipt(of purchase: Made, style: String, at instant: String? = nil) async throws -> String
    {
        let time = instant.map { "&at=\($0)" } ?? ""
        let reply = try await control("purchases/\(purchase.id)/receipt?style=\(style)\(time)", nil)
        let receipt = try JSONDecoder().decode(Receipt.self, from: reply).receipt
        plant([receipt])
        return receipt
    }

    /// Does something to a purchase, such as `fail_payment`.
    func act(_ purchase: Made, _ action: String, _ body: String = "{}") async throws {
        _ = try await control("purchases/\(purchase.id)/\(action)", body)
    }

    /// Moves the clock of everything.
    func pass(_ period: String) async throws {
        _ = try await control("clock", #"{"advance":"\#(period)"}"#)
    }

    func fault(_ body: String) async throws { _ = try await control("faults", body) }

    func clearFaults() async throws { _ = try await control("faults", nil, method: "DELETE") }

    private struct Calls: Decodable {
        struct Count: Decodable {
            let calls: Int
        }
        let apple: Count
        let google: Count
        let amazon: Count
        /// Purchases that were asked about, and how often again.
        let purchases: Int
        let duplicates: Int
    }

    /// How often stores have been asked about a purchase; reading their news is not counted.
    func questions() async throws -> Int {
        let calls = try JSONDecoder().decode(Calls.self, from: await control("calls", nil))
        return calls.purchases + calls.duplicates
    }

    /// How often a store has been called, for news as well.
    func calls(_ store: String) async throws -> Int {
        let calls = try JSONDecoder().decode(Calls.self, from: await control("calls", nil))
        return switch store {
        case "apple": calls.apple.calls
        case "google": calls.google.calls
        default: calls.amazon.calls
        }
    }

    /// How often an endpoint has answered, by its name in the log of answers.
    func answers(of endpoint: String) throws -> Int {
        try String(contentsOfFile: "\(folder)/answers", encoding: .utf8)
            .split(separator: "\n").count { $0.contains("\"endpoint\":\"\(endpoint)\"") }
    }

    /// A control call; the reply's JSON.
    @discardableResult
    func control(_ path: String, _ body: String?, method: String = "POST") async throws -> Data {
        if method == "DELETE" {
            // The client knows only what the daemon needs.
            let output = try await ChildProcess.run(
                "curl",
                ["-sf", "-X", "DELETE", "--cacert", trust, "\(origin)/control/\(path)"])
            return Data(output.standardOutput.utf8)
        }
        let response = try await client.send(
            HTTPRequest(
                method: body == nil ? .get : .post, url: "\(origin)/control/\(path)",
                body: body.map { Array($0.utf8) }, bodyLimitBytes: 64 << 20,
                certificateAuthorityFile: trust))
        guard response.status == 200 else {
            throw StageFailure(
                "\(path): \(response.status) \(String(decoding: response.body, as: UTF8.self))")
        }
        return Data(response.body)
    }

    private var trust: String { "\(folder)/stores/ca.pem" }

    // MARK: The database

    /// Submits a purchase as a backend does.
    @discardableResult
    func submit(
        _ purchase: Made, token: String? = nil, _ store: String, for user: String
    ) async throws -> Int64 {
        try await database.query(
            PostgresStatement(
                "SELECT renewald.submit($1, $2, $3, $4, $5, $6) AS id",
                [
                    .text(user), .text(store), .text(Self.app), .text(purchase.product),
                    .text(token ?? purchase.token),
                    purchase.store_user_id.map { .text($0) } ?? .null,
                ]))[0].int64("id")
    }

    /// Submits many, in one statement.
    func submit(_ purchases: [Made], _ store: String, users: (Int) -> String) async throws {
        _ = try await database.query(
            PostgresStatement(
                """
                SELECT count(renewald.submit(user_id, $2, $3, product, token, store_user_id))
                FROM unnest($1::text[], $4::text[], $5::text[], $6::text[])
                    AS made (user_id, product, token, store_user_id)
                """,
                [
                    .texts(purchases.indices.map(users)), .text(store), .text(Self.app),
                    .texts(purchases.map(\.product)), .texts(purchases.map(\.token)),
                    .optionalTexts(purchases.map(\.store_user_id)),
                ]))
    }

    /// Runs a text of statements.
    func script(_ sql: String) async throws { try await database.script(sql) }

    /// One value, as text.
    func value(_ sql: String, _ parameters: [PostgresValue] = []) async throws -> String {
        let result = try await database.query(
            PostgresStatement("SELECT (\(sql))::text AS value", parameters))
        return try result[0].optionalText("value") ?? ""
    }

    /// A user's story: `grant pro purchased`, `notice renewed`, … in the order of their commits.
    func story(of user: String) async throws -> [String] {
        let result = try await database.query(
            PostgresStatement(
                """
                SELECT concat_ws(' ', kind, entitlement, reason) AS line
                FROM renewald.events WHERE user_id = $1 ORDER BY id
                """, [.text(user)]))
        return try result.rows.map { try $0.text("line") }
    }

    /// Waits until the user's story is as told, and no longer.
    func expect(
        _ story: [String], of user: String, within limit: Duration = .seconds(30)
    ) async throws {
        try await wait(within: limit) { try await self.story(of: user).count >= story.count }
        let told = try await self.story(of: user)
        guard told == story else {
            throw StageFailure("told \(told), expected \(story)")
        }
    }

    /// Waits until something is true. Looks again whenever the database has news, and ten times a
    /// second.
    func wait(
        within limit: Duration = .seconds(30), for isTrue: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + limit
        try await database.listen(["renewald_events"])
        while try await !isTrue() {
            guard ContinuousClock.now < deadline else {
                throw StageFailure("waited in vain; the programs said:\n\(lastWords)")
            }
            _ = try await database.nextNotification(timeout: .milliseconds(100))
        }
    }

    private var lastWords: String {
        started.withLock { $0 }.map { $0.lines.suffix(12).joined(separator: "\n") }
            .joined(separator: "\n--\n")
    }

    /// A digest of every table of the schema.
    func fingerprint() async throws -> String {
        let tables = try await database.query(
            PostgresStatement(
                """
                SELECT tablename FROM pg_tables
                WHERE schemaname = 'renewald' AND tablename <> 'bucket' ORDER BY 1
                """))
        var digests: [String] = []
        for row in tables.rows {
            let table = try row.text("tablename")
            digests.append(
                try await value(
                    "SELECT md5(string_agg(row::text, '|' ORDER BY row::text)) "
                        + "FROM renewald.\(table) AS row"))
        }
        return digests.joined(separator: " ")
    }
}

struct StageFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Gives a test its stage, and closes it whatever happens.
func onStage(
    from start: String? = nil, simulating arguments: [String] = [], logsAnswers: Bool = false,
    database: String? = nil, _ play: (Stage) async throws -> Void
) async throws {
    let stage = try await Stage(
        from: start, simulating: arguments, logsAnswers: logsAnswers, database: database)
    do {
        try await play(stage)
    } catch {
        try? await stage.close()
        throw error
    }
    try await stage.close()
}
