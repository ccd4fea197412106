import Foundation
import Postgres
import TestSupport

/// A machine with renewald installed, beside a database and the simulated stores.
final class Site: Sendable {
    let machine: Machine
    let database: PostgresConnection
    let cluster: ScratchCluster
    private let folder: String
    private let simulator: ChildProcess
    private let origin: String

    static let app = "com.example.reader"

    /// Installs, boots, configures and migrates. The tree of installed files may be changed before.
    init(
        installed: Bool, _ prepare: (_ tree: String) throws -> Void = { _ in }
    ) async throws {
        var template = Array("/tmp/rw-site-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template).map({ String(cString: $0) }) else {
            throw SiteFailure("mkdtemp: \(errno)")
        }
        folder = made
        chmod(made, 0o755)
        for name in ["share", "tree"] {
            try FileManager.default.createDirectory(
                atPath: "\(made)/\(name)", withIntermediateDirectories: true)
        }
        simulator = try ChildProcess(
            Self.program("storesim"),
            ["serve", "--directory", "\(made)/share/stores"] + SimulatorKeys.flags,
            logFile: "\(made)/storesim.log")
        let line = try await simulator.line { $0.hasPrefix("storesim: listening on ") }
        origin = String(line.dropFirst("storesim: listening on ".count))
        cluster = try await ScratchCluster()
        // The service's user has to reach the socket.
        chmod(cluster.socketDirectory, 0o755)
        let address = try await cluster.newDatabase()
        database = PostgresConnection(
            PostgresSettings(conninfo: address, statementTimeout: .seconds(60)))
        if installed {
            try await Self.install("\(made)/tree")
            try Self.putCredentials(
                from: "\(made)/share/stores", into: "\(made)/tree/etc/renewald/credentials")
        }
        try prepare("\(made)/tree")
        machine = try await Machine(
            tree: "\(made)/tree", share: "\(made)/share",
            folders: ["database": cluster.socketDirectory])
        guard installed else { return }
        try await machine.succeed("systemd-sysusers")
        try await configure()
        try await machine.succeed("systemd-tmpfiles", "--create", "renewald.conf")
        try await machine.succeed("renewald", "migrate")
    }

    func close() async {
        await machine.close()
        simulator.send(SIGTERM)
        await database.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The programs lie beside the tests.
    static func program(_ name: String) -> String {
        if let folder = ProcessInfo.processInfo.environment["RENEWALD_BIN"] {
            return "\(folder)/\(name)"
        }
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return tests.deletingLastPathComponent().appendingPathComponent(name).path
    }

    private static func install(_ tree: String) async throws {
        let output = try await ChildProcess.run(
            "\(Machine.root)/scripts/install-files", [program("renewald"), tree])
        guard output.exit == .code(0) else { throw SiteFailure(output.standardError) }
    }

    /// Secrets that only root may read.
    private static func putCredentials(from stores: String, into folder: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let names = [
            "apple.p8": "apple.p8", "apple.secret": "apple-shared-secret",
            "google.json": "google.json", "amazon.secret": "amazon-secret",
        ]
        for (from, to) in names {
            try FileManager.default.copyItem(atPath: "\(stores)/\(from)", toPath: "\(folder)/\(to)")
            chmod("\(folder)/\(to)", 0o600)
        }
    }

    /// Puts them where the machine sees them, as `/run/share/credentials`.
    func putCredentials() throws {
        try Self.putCredentials(
            from: "\(folder)/share/stores", into: "\(folder)/share/credentials")
    }

    // MARK: Configuration

    /// Writes the configuration: the simulator's part with secrets as credentials, and more.
    func configure(_ more: String = "", rate: Double = 1000) async throws {
        try await machine.write(configuration(more, rate: rate), to: "/etc/renewald/renewald.toml")
        _ = try await machine.run("chown", "root:renewald", "/etc/renewald/renewald.toml")
    }

    /// The sections of the stores alone, as they are seen inside.
    func simulatedStores() throws -> String {
        let text = try configuration("", rate: 1000)
        guard let start = text.range(of: "[store.apple]") else {
            throw SiteFailure("the simulator names no stores")
        }
        return String(text[start.lowerBound...])
    }

    private func configuration(_ more: String, rate: Double) throws -> String {
        let stores = "\(folder)/share/stores"
        var text = try String(contentsOfFile: "\(stores)/renewald.toml", encoding: .utf8)
        let replacements = [
            ("file:\(stores)/apple.p8", "credential:apple.p8"),
            ("file:\(stores)/apple.secret", "credential:apple-shared-secret"),
            ("file:\(stores)/google.json", "credential:google.json"),
            ("file:\(stores)/amazon.secret", "credential:amazon-secret"),
            ("file:\(stores)/", "file:/run/share/stores/"),
            ("[store.apple]\n", "[store.apple]\nrequests_per_second = \(rate)\n"),
            ("[store.google]\n", "[store.google]\nrequests_per_second = \(rate)\n"),
            ("[store.amazon]\n", "[store.amazon]\nrequests_per_second = \(rate)\n"),
        ]
        for (old, new) in replacements {
            text = text.replacingOccurrences(of: old, with: new)
        }
        let address = "host=/run/database port=5432 user=postgres dbname=test1"
        return "[database]\nurl = \"\(address)\"\n\n\(text)\n\(more)\n"
    }

    // MARK: Stores

    struct Made: Decodable, Sendable {
        let id: Int
        let token: String
        let store_user_id: String?
        let product: String
    }

    private struct Reply: Decodable {
        let purchases: [Made]
    }

    /// Makes purchases in a store.
    func make(_ store: String, count: Int) async throws -> [Made] {
        let body =
            #"{"store":"\#(store)","app":"\#(Self.app)","product":"monthly","period":"P1M","#
            + #""count":\#(count)}"#
        return try JSONDecoder().decode(
            Reply.self, from: Data(try await control("purchases", body).utf8)
        ).purchases
    }

    /// Makes purchases in a store and submits them for `u-0`, `u-1`, ….
    func buy(_ store: String, count: Int, user: (Int) -> String = { "u-\($0)" }) async throws {
        let made = try await make(store, count: count)
        _ = try await database.query(
            PostgresStatement(
                """
                SELECT count(renewald.submit(user_id, $2, $3, product, token, store_user_id))
                FROM unnest($1::text[], $4::text[], $5::text[], $6::text[])
                    AS made (user_id, product, token, store_user_id)
                """,
                [
                    .texts(made.indices.map(user)), .text(store), .text(Self.app),
                    .texts(made.map(\.product)), .texts(made.map(\.token)),
                    .optionalTexts(made.map(\.store_user_id)),
                ]))
    }

    /// A control call, with a body or to read; gives the reply.
    @discardableResult
    func control(_ path: String, _ body: String?) async throws -> String {
        let data = body.map { ["--data-raw", $0] } ?? []
        let output = try await ChildProcess.run(
            "curl",
            ["-sf", "--cacert", "\(folder)/share/stores/ca.pem"] + data
                + ["\(origin)/control/\(path)"])
        guard output.exit == .code(0) else { throw SiteFailure("\(path): \(output.exit)") }
        return output.standardOutput
    }

    // MARK: The database

    /// One value, as text.
    func value(_ sql: String) async throws -> String {
        let result = try await database.query(
            PostgresStatement("SELECT (\(sql))::text AS value"))
        return try result[0].optionalText("value") ?? ""
    }

    func events() async throws -> Int {
        Int(try await value("SELECT count(*) FROM renewald.events")) ?? 0
    }

    /// Waits until something is true: looks again whenever the database has news, and ten times a
    /// second.
    func wait(
        within limit: Duration = .seconds(60), for isTrue: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + limit
        try await database.listen(["renewald_events"])
        while try await !isTrue() {
            guard ContinuousClock.now < deadline else {
                let log = try await machine.journal("--unit=renewald.service", "--lines=30")
                throw SiteFailure("waited in vain; the journal:\n\(log)")
            }
            _ = try await database.nextNotification(timeout: .milliseconds(100))
        }
    }
}

/// Runs a test on a site of its own.
func onSite(
    installed: Bool = true, prepare: (_ tree: String) throws -> Void = { _ in },
    _ test: (Site) async throws -> Void
) async throws {
    let site = try await Site(installed: installed, prepare)
    do {
        try await test(site)
    } catch {
        await site.close()
        throw error
    }
    await site.close()
}

extension Site {
    private struct Calls: Decodable {
        struct Count: Decodable {
            let calls: Int
        }
        let google: Count
        let apple: Count
        let amazon: Count
    }

    /// How often a store has been asked.
    func calls(_ store: String) async throws -> Int {
        let calls = try JSONDecoder().decode(
            Calls.self, from: Data(try await control("calls", nil).utf8))
        return switch store {
        case "apple": calls.apple.calls
        case "google": calls.google.calls
        default: calls.amazon.calls
        }
    }
}
