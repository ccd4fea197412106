import Foundation
import Postgres
import TestSupport
import Testing

/// What a lost connection means, by the moment at which it is lost.
@Suite struct LossTests {
    let conninfo: String
    let connection: PostgresConnection
    let killer: PostgresConnection

    init() async throws {
        conninfo = try await ScratchCluster.shared().newDatabase()
        connection = PostgresConnection(PostgresSettings(conninfo: conninfo))
        killer = PostgresConnection(PostgresSettings(conninfo: conninfo))
        try await connection.script(Self.schema)
    }

    /// A row in `slow` makes its commit take a minute.
    static let schema = """
        CREATE SCHEMA s;
        CREATE TABLE s.t (id int8 PRIMARY KEY);
        CREATE TABLE s.slow (id int8 PRIMARY KEY);
        CREATE FUNCTION s.wait() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_catalog.pg_sleep(60); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON s.slow
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION s.wait();
        """

    static func insert(_ id: Int64, into table: String = "t") -> PostgresStatement {
        PostgresStatement("INSERT INTO s.\(table) VALUES ($1)", [.int64(id)])
    }

    static func count(_ connection: PostgresConnection) async throws -> Int64 {
        try await connection.query(PostgresStatement("SELECT count(*) FROM s.t"))[0].int64(0)
    }

    static func terminate(_ pid: Int32) -> PostgresStatement {
        PostgresStatement("SELECT pg_terminate_backend($1)", [.int32(pid)])
    }

    /// Ends the session in the middle of `work`.
    func losing(
        _ work: @escaping @Sendable (PostgresConnection) async throws -> Void,
        when condition: String
    ) async throws -> PostgresError? {
        let connection = connection
        let running = Task { try await work(connection) }
        let pid = try await Waiting.until(killer, condition)
        try await killer.query(Self.terminate(pid))
        return await #expect(throws: PostgresError.self) { try await running.value }
    }

    @Test func isUnknownAtTheEndOfAWritingPipeline() async throws {
        let error = try await losing(
            { try await $0.pipeline([Self.insert(1), Self.insert(1, into: "slow")]) },
            when: "wait_event = 'PgSleep'")
        #expect(error == .commitUnknown)
        #expect(try await Self.count(connection) == 0)
    }

    @Test func isUnknownAtACommit() async throws {
        let error = try await losing(
            { connection in
                try await connection.transaction { connection in
                    _ = try await connection.query(Self.insert(1, into: "slow"))
                }
            }, when: "query = 'COMMIT' AND wait_event = 'PgSleep'")
        #expect(error == .commitUnknown)
    }

    @Test func isKnownInTheMiddleOfAPipeline() async throws {
        let error = try await losing(
            {
                try await $0.pipeline([
                    Self.insert(1), PostgresStatement("SELECT pg_sleep(60)"), Self.insert(2),
                ])
            }, when: "wait_event = 'PgSleep'")
        #expect(error == .unreachable(reason: "the server ended the connection, SQLSTATE 57P01"))
        #expect(try await Self.count(connection) == 0)
    }

    @Test func isKnownInTheMiddleOfATransaction() async throws {
        let error = try await losing(
            { connection in
                try await connection.transaction { connection in
                    try await connection.query(Self.insert(1))
                    try await connection.query(PostgresStatement("SELECT pg_sleep(60)"))
                }
            }, when: "wait_event = 'PgSleep'")
        #expect(error == .unreachable(reason: "the server ended the connection, SQLSTATE 57P01"))
        #expect(try await Self.count(connection) == 0)
    }

    @Test func theRestOfABodyDoesNotRunOutsideOfItsTransaction() async throws {
        let killer = killer
        let error = await #expect(throws: PostgresError.self) {
            try await connection.transaction { connection in
                try await connection.query(Self.insert(1))
                let pid = try await connection.currentBackendPID()
                try await killer.query(Self.terminate(pid))
                _ = try? await connection.query(PostgresStatement("SELECT pg_sleep(60)"))
                _ = try? await connection.query(Self.insert(2))
            }
        }
        guard case .unreachable? = error else {
            Issue.record("lost in the body is not \(String(describing: error))")
            return
        }
        #expect(try await Self.count(connection) == 0)
    }

    @Test func outlivesAStopOfTheServer() async throws {
        let cluster = try await ScratchCluster()
        let settings = PostgresSettings(conninfo: cluster.conninfo())
        let (connection, watcher) = (PostgresConnection(settings), PostgresConnection(settings))
        try await connection.script(Self.schema)
        let running = Task {
            try await connection.pipeline([Self.insert(1), Self.insert(1, into: "slow")])
        }
        try await Waiting.until(watcher, "wait_event = 'PgSleep'")
        try await cluster.stop(.immediate)
        await #expect(throws: PostgresError.commitUnknown) { try await running.value }
        for attempt in [connection, watcher] {
            let error = await #expect(throws: PostgresError.self) { try await attempt.connect() }
            #expect(error == .unreachable(reason: "no server listens on the socket"))
        }
        try await cluster.start()
        #expect(try await Self.count(connection) == 0)
        try await connection.query(PostgresStatement("INSERT INTO s.t VALUES (3)", name: "three"))
        #expect(try await Self.count(watcher) == 1)
    }

    @Test func givesUpOnASilentServer() async throws {
        let cluster = try await ScratchCluster()
        let settings = PostgresSettings(
            conninfo: cluster.conninfo(), statementTimeout: .milliseconds(300))
        let connection = PostgresConnection(settings)
        try await connection.script(Self.schema)
        for (statement, expected) in [
            (Self.insert(1), PostgresError.commitUnknown),
            (
                PostgresStatement("SELECT 1"),
                .unreachable(reason: "no answer within the time limit")
            ),
        ] {
            let pid = try await connection.currentBackendPID()
            kill(pid, SIGSTOP)
            await #expect(throws: expected) { try await connection.query(statement) }
            kill(pid, SIGCONT)
        }
        let version = try await connection.serverVersion()
        #expect(version >= 150_000)
    }
}
