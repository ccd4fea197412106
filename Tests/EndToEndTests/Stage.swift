import Curl
import Foundation
import Postgres
import Synchronization
import TestSupport

/// A whole installation for one test: a database, the simulated stores and the real programs, on a
/// clock that the test moves.
///
/// The simulator keeps a file with the distance between its time and the machine's; the database's
/// server runs under libfaketime, which reads it, or a copy that is so much ahead. The daemon runs as it is: every decision goes by
/// the database's clock.
final class Stage: Sendable {
    let folder: String
    let conninfo: String
    let database: PostgresConnection
    private let cluster: ScratchCluster?
    private let simulator: ChildProcess
    let origin: String
    let client: CurlClient
    let environment: [String: String]
    /// How far the database's clock is ahead of the stores'.
    let databaseAhead: Duration
    let started = Mutex<[ChildProcess]>([])
    private let planted = Mutex<Set<String>>([])

    static let app = "com.example.reader"

    /// - Parameters:
    ///   - start: the simulated time at the beginning; nil is the machine's, not shared.
    ///   - arguments: more of them for the simulator.
    ///   - logsAnswers: whether the simulator logs every answer, for `answers(of:)`.
    ///   - given: an empty database on the machine's clock; nil makes one.
    ///   - databaseAhead: how far its clock is ahead of the stores', with a `start`.
    /// - Throws: when one of the programs does not start.
    init(
        from start: String? = nil, simulating arguments: [String] = [], logsAnswers: Bool = false,
        database given: String? = nil, databaseAhead: Duration = .zero
    ) async throws {
        var template = Array("/tmp/rw-stage-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template).map({ String(cString: $0) }) else {
            throw StageFailure("mkdtemp: \(errno)")
        }
        folder = made
        chmod(made, 0o755)
        var environment = ProcessInfo.processInfo.environment
        environment["JOURNAL_STREAM"] = nil
        var flags = ["serve", "--directory", "\(made)/stores"] + SimulatorKeys.flags + arguments
        if logsAnswers { flags += ["--answers", "\(made)/answers"] }
        if let start {
            flags += ["--clock", start, "--clock-file", "\(made)/clock"]
        }
        self.environment = environment
        self.databaseAhead = databaseAhead
        simulator = try ChildProcess(
            Self.program("storesim"), flags, logFile: "\(made)/storesim.log")
        let line = try await simulator.line { $0.hasPrefix("storesim: listening on ") }
        origin = String(line.dropFirst("storesim: listening on ".count))
        if start != nil { try Self.moveDatabase(in: made, ahead: databaseAhead) }
        if let given {
            (cluster, conninfo) = (nil, given)
        } else if start == nil {
            let shared = try await ScratchCluster.shared()
            (cluster, conninfo) = (shared, try await shared.newMigratedDatabase())
        } else {
            let own = try await ScratchCluster(
                .init(environment: try await Self.clock(in: made, ahead: databaseAhead)))
            (cluster, conninfo) = (own, try await own.newDatabase())
        }
        database = PostgresConnection(
            PostgresSettings(conninfo: conninfo, statementTimeout: .seconds(60)))
        client = try CurlClient(configuration: CurlConfiguration())
        try configure()
        guard given != nil || start != nil else { return }
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
    ///
    /// - Parameter notice: runs while it is away: who looks later finds it there.
    /// - Throws: what `notice` throws, or that the server does not stop or start.
    func restartDatabase(noticing notice: () async throws -> Void = {}) async throws {
        try await cluster?.stop(.immediate)
        try await notice()
        try await cluster?.start()
    }

    /// What the database's server has said, where it is this stage's own.
    var databaseLog: String { cluster?.log ?? "" }

    private func plantKeys() throws {
        for name in ["apple.p8", "amazon.secret", "amazon-sqs.key"] {
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
        let environment = ProcessInfo.processInfo.environment
        guard let file = environment["RENEWALD_PLANTED_FILE"] else { return }
        // Another test run may write beside this one.
        let descriptor = open(file, O_WRONLY | O_APPEND)
        guard descriptor >= 0 else { return }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        handle.write(Data((long.joined(separator: "\n") + "\n").utf8))
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
    database: String? = nil, databaseAhead: Duration = .zero,
    _ play: (Stage) async throws -> Void
) async throws {
    let stage = try await Stage(
        from: start, simulating: arguments, logsAnswers: logsAnswers, database: database,
        databaseAhead: databaseAhead)
    do {
        try await play(stage)
    } catch {
        try? await stage.close()
        throw error
    }
    try await stage.close()
}
