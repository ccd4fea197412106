import Foundation
import Postgres
import TestSupport
import Testing

@Suite struct ConnectionTests {
    let cluster: ScratchCluster
    let conninfo: String

    init() async throws {
        cluster = try await ScratchCluster.shared()
        conninfo = try await cluster.newDatabase()
    }

    func connection(_ timeout: Duration = .seconds(5)) -> PostgresConnection {
        PostgresConnection(PostgresSettings(conninfo: conninfo, statementTimeout: timeout))
    }

    static let sleep = PostgresStatement("SELECT pg_sleep(60)")

    // MARK: Connecting

    @Test func saysNothingOfTheConnectionString() async throws {
        let secret = "password=planted-secret user=planted_user dbname=planted_db"
        let strings = [
            "host=\(cluster.socketDirectory) port=5432 \(secret)", "host=/planted \(secret)",
            "postgresql://planted_user:planted-secret@127.0.0.1:1/planted_db",
            "\(secret) nonsense", "host='planted",
        ]
        for string in strings {
            let connection = PostgresConnection(PostgresSettings(conninfo: string))
            let error = await #expect(throws: PostgresError.self) { try await connection.connect() }
            #expect(!String(reflecting: error).contains("planted"))
            guard case .unreachable? = error else {
                Issue.record("not connected is \(String(describing: error))")
                continue
            }
        }
    }

    @Test func namesTheCodeOfARefusal() async throws {
        let string = "host=\(cluster.socketDirectory) user=postgres dbname=absent"
        let refused = PostgresError.unreachable(
            reason: "the server refused the connection, SQLSTATE 3D000: there is no such database",
            obstacle: .databaseMissing)
        let connection = PostgresConnection(PostgresSettings(conninfo: string))
        await #expect(throws: refused) { try await connection.connect() }
    }

    @Test func takesTheNextOfSeveralHosts() async throws {
        let hosts = "/nonexistent,\(cluster.socketDirectory)"
        let string = "host=\(hosts) port=5432 user=postgres dbname=postgres"
        let connection = PostgresConnection(PostgresSettings(conninfo: string))
        #expect(try await connection.serverVersion() >= 150_000)
    }

    @Test func passesOverASilentHost() async throws {
        let silent = try SilentServer()
        let string =
            "host=127.0.0.1,\(cluster.socketDirectory) port=\(silent.port),5432 "
            + "user=postgres dbname=postgres"
        let connection = PostgresConnection(
            PostgresSettings(conninfo: string, connectTimeout: .milliseconds(500)))
        #expect(try await connection.serverVersion() >= 150_000)
    }

    @Test func wantsAServerThatTakesWrites() async throws {
        try await connection().script(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on',"
                + " current_database()); END $$")
        await #expect(throws: PostgresError.self) { try await connection().connect() }
        for settings in [
            PostgresSettings(conninfo: conninfo, requiresReadWrite: false),
            PostgresSettings(conninfo: conninfo + " target_session_attrs=any"),
        ] {
            try await PostgresConnection(settings).connect()
        }
    }

    @Test func readsAServiceFile() async throws {
        let path = "\(cluster.socketDirectory).service"
        let text = conninfo.replacingOccurrences(of: " ", with: "\n")
        try "[scratch]\n\(text)\napplication_name=mine\n".write(
            toFile: path, atomically: true, encoding: .utf8)
        defer { unlink(path) }
        setenv("PGSERVICEFILE", path, 1)
        let connection = PostgresConnection(PostgresSettings(conninfo: "service=scratch"))
        let name = PostgresStatement("SELECT current_setting('application_name') AS name")
        #expect(try await connection.query(name)[0].text("name") == "mine")
    }

    @Test func fixesItsSessionSettings() async throws {
        let expected = rows(
            """
            setting                              value
            search_path                          pg_catalog
            statement_timeout                    1234ms
            lock_timeout                         2s
            idle_in_transaction_session_timeout  10s
            max_parallel_workers_per_gather      0
            idle_session_timeout                 0
            jit                                  off
            plan_cache_mode                      force_generic_plan
            synchronous_commit                   on
            default_transaction_isolation        read committed
            TimeZone                             UTC
            client_encoding                      UTF8
            application_name                     renewald
            """)
        try await connection().script(
            "ALTER ROLE postgres SET jit = on; ALTER ROLE postgres RESET jit;"
                + "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation"
                + " = serializable', current_database()); END $$")
        let connection = connection(.milliseconds(1234))
        for row in expected {
            let shown = PostgresStatement("SELECT current_setting($1) AS value", [.text(row[0])])
            #expect(try await connection.query(shown)[0].text("value") == row[1], "\(row[0])")
        }
    }

    /// Citus, which this setting stands for, refuses plans that are made once.
    @Test func plansWithValuesWhereThereIsCitus() async throws {
        let conninfo = try await ScratchCluster.shared().newDatabase()
        let before = PostgresConnection(PostgresSettings(conninfo: conninfo))
        try await before.script(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET citus.shard_count = 32',"
                + " current_database()); END $$")
        let mode = PostgresStatement("SELECT current_setting('plan_cache_mode') AS mode")
        #expect(try await before.query(mode)[0].text("mode") == "force_generic_plan")
        let connection = PostgresConnection(PostgresSettings(conninfo: conninfo))
        #expect(try await connection.query(mode)[0].text("mode") == "auto")
    }

    /// Else a server whose client was cut off in a pipeline keeps its locks for hours.
    @Test func theServerSoonNoticesThatItsClientIsGone() async throws {
        let server = try await ScratchCluster(
            .init(settings: [
                "listen_addresses": "127.0.0.1", "port": String(try FreePort.next()),
            ]))
        let conninfo = server.conninfo().replacingOccurrences(
            of: server.socketDirectory, with: "127.0.0.1")
        let connection = PostgresConnection(PostgresSettings(conninfo: conninfo))
        for (setting, value) in [
            ("tcp_keepalives_idle", "5"), ("tcp_keepalives_interval", "2"),
            ("tcp_keepalives_count", "3"), ("tcp_user_timeout", "10000"),
        ] {
            let shown = PostgresStatement("SELECT current_setting($1) AS value", [.text(setting)])
            #expect(try await connection.query(shown)[0].text("value") == value, "\(setting)")
        }
    }

    // MARK: Limits and cancelling

    @Test func aSlowStatementIsOverload() async throws {
        await #expect(throws: PostgresError.overloaded(sqlState: "57014")) {
            try await connection(.milliseconds(100)).query(Self.sleep)
        }
    }

    /// Runs a statement that takes a minute until `stop` stops it.
    func stopping(_ stop: (PostgresConnection, Task<Void, any Error>) async -> Void) async throws
        -> PostgresConnection
    {
        let connection = connection()
        let running = Task { () async throws -> Void in try await connection.query(Self.sleep) }
        try await Waiting.until(self.connection(), "wait_event = 'PgSleep'")
        await stop(connection, running)
        await #expect(throws: PostgresError.cancelled) { try await running.value }
        return connection
    }

    @Test func cancelEndsWhatRuns() async throws {
        let connection = try await stopping { connection, _ in connection.cancel() }
        #expect(try await connection.query(PostgresStatement("SELECT 1")).rowCount == 1)
    }

    @Test func cancellingTheTaskEndsItsStatement() async throws {
        let connection = try await stopping { _, running in running.cancel() }
        #expect(try await connection.query(PostgresStatement("SELECT 1")).rowCount == 1)
    }

    @Test func closingEndsWhatRunsForGood() async throws {
        let connection = try await stopping { connection, _ in await connection.close() }
        await #expect(throws: PostgresError.cancelled) { try await connection.connect() }
    }

    @Test func aCancelThatComesTooEarlyHitsNothing() async throws {
        let connection = connection()
        connection.cancel()
        #expect(try await connection.query(PostgresStatement("SELECT 1")).rowCount == 1)
    }

    // MARK: Notifications

    @Test func hearsOtherConnections() async throws {
        let (listener, speaker) = (connection(), connection())
        try await listener.listen(["first", "Second \"channel\""])
        #expect(try await listener.nextNotification(timeout: .milliseconds(1)) == nil)
        let heard = Task { try await listener.nextNotification(timeout: .seconds(60)) }
        let pid = try await speaker.currentBackendPID()
        try await speaker.query(PostgresStatement("SELECT pg_notify('first', 'payload')"))
        let expected = PostgresNotification(channel: "first", payload: "payload", backendPID: pid)
        #expect(try await heard.value == expected)
        try await speaker.script("NOTIFY \"Second \"\"channel\"\"\"")
        let second = try await listener.nextNotification(timeout: .seconds(60))
        #expect(second?.channel == "Second \"channel\"")
    }

    @Test func keepsWhatIsNotifiedDuringAQuery() async throws {
        let (listener, speaker) = (connection(), connection())
        try await listener.listen(["news"])
        try await speaker.script("NOTIFY news, '1'; NOTIFY news, '2'")
        try await listener.query(PostgresStatement("SELECT 1"))
        for payload in ["1", "2"] {
            let heard = try await listener.nextNotification(timeout: .seconds(60))
            #expect(heard?.payload == payload)
        }
    }

    @Test func listensAgainAfterALoss() async throws {
        let (listener, speaker) = (connection(), connection())
        try await listener.listen(["news"])
        let pid = try await listener.currentBackendPID()
        let waiting = Task { try await listener.nextNotification(timeout: .seconds(60)) }
        try await speaker.query(LossTests.terminate(pid))
        await #expect(throws: PostgresError.unreachable(reason: "the connection was lost")) {
            try await waiting.value
        }
        try await listener.connect()
        try await speaker.script("NOTIFY news")
        let heard = try await listener.nextNotification(timeout: .seconds(60))
        #expect(heard?.channel == "news")
    }

    @Test func closingWakesAListener() async throws {
        let listener = connection()
        try await listener.listen(["news"])
        let waiting = Task { try await listener.nextNotification(timeout: .seconds(600)) }
        await listener.close()
        await #expect(throws: PostgresError.cancelled) { try await waiting.value }
    }
}

/// A port that takes connections and never says a word.
private struct SilentServer: ~Copyable {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        try #require(bound)
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        close(descriptor)
    }
}
