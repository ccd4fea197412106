import Postgres
import TestSupport
import Testing

@Suite struct TransactionTests {
    struct Regret: Error {}

    let conninfo: String
    let connection: PostgresConnection
    let other: PostgresConnection

    init() async throws {
        conninfo = try await ScratchCluster.shared().newDatabase()
        connection = PostgresConnection(PostgresSettings(conninfo: conninfo))
        other = PostgresConnection(PostgresSettings(conninfo: conninfo))
        try await connection.script("CREATE SCHEMA s; CREATE TABLE s.t (id int8 PRIMARY KEY)")
    }

    func ids() async throws -> [Int64] {
        try await other.query(PostgresStatement("SELECT id FROM s.t ORDER BY id")).rows
            .map { row throws(PostgresError) in try row.int64("id") }
    }

    static func insert(_ id: Int64) -> PostgresStatement {
        PostgresStatement("INSERT INTO s.t VALUES ($1)", [.int64(id)], name: "insert")
    }

    @Test func commitsWhenTheBodyReturns() async throws {
        let rows = try await connection.transaction { connection in
            try await connection.query(Self.insert(1))
            return try await connection.pipeline([Self.insert(2), Self.insert(3)]).count
        }
        #expect(rows == 2)
        #expect(try await ids() == [1, 2, 3])
    }

    @Test func rollsBackWhenTheBodyThrows() async throws {
        await #expect(throws: Regret.self) {
            try await connection.transaction { connection in
                try await connection.query(Self.insert(1))
                throw Regret()
            }
        }
        #expect(try await ids() == [])
        try await connection.query(Self.insert(2))
        #expect(try await ids() == [2])
    }

    @Test func doesNotTakeASwallowedErrorForACommit() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await connection.transaction { connection in
                try await connection.query(Self.insert(1))
                _ = try? await connection.query(PostgresStatement("SELECT 1/0"))
            }
        }
        #expect(error?.sqlState == "25P02")
        #expect(try await ids() == [])
    }

    @Test func othersWaitUntilItHasEnded() async throws {
        let (inside, entered) = AsyncStream.makeStream(of: Void.self)
        let (gate, opened) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(throws: Regret.self) {
                    try await connection.transaction { connection in
                        try await connection.query(Self.insert(1))
                        entered.finish()
                        for await _ in gate {}
                        throw Regret()
                    }
                }
            }
            for await _ in inside {}
            group.addTask { try await connection.query(Self.insert(2)) }
            // The other call is refused its turn for as long as the body waits.
            #expect(try await ids() == [])
            opened.finish()
            try await group.waitForAll()
        }
        #expect(try await ids() == [2])
    }

    @Test func aCancelledCallLeavesTheQueue() async throws {
        let (inside, entered) = AsyncStream.makeStream(of: Void.self)
        let (gate, opened) = AsyncStream.makeStream(of: Void.self)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(throws: Never.self) {
                    try await connection.transaction { _ in
                        entered.finish()
                        for await _ in gate {}
                    }
                }
            }
            for await _ in inside {}
            let waiting = Task { try await connection.query(Self.insert(2)) }
            waiting.cancel()
            await #expect(throws: PostgresError.cancelled) { try await waiting.value }
            opened.finish()
        }
        #expect(try await ids() == [])
    }

    @Test func aTransactionInsideIsPartOfIt() async throws {
        await #expect(throws: Regret.self) {
            try await connection.transaction { connection in
                try await connection.transaction { try await $0.query(Self.insert(1)) }
                throw Regret()
            }
        }
        #expect(try await ids() == [])
    }

    @Test func waitsForALockOnlySoLong() async throws {
        try await connection.query(Self.insert(1))
        try await connection.transaction { connection in
            try await connection.script("LOCK TABLE s.t IN ACCESS EXCLUSIVE MODE")
            await #expect(throws: PostgresError.conflict(sqlState: "55P03")) { try await ids() }
        }
        #expect(try await ids() == [1])
    }

    @Test func aCancelledTaskRollsBack() async throws {
        let task = Task {
            try await connection.transaction { connection in
                try await connection.query(Self.insert(1))
                try await connection.query(PostgresStatement("SELECT pg_sleep(60)"))
            }
        }
        try await Waiting.until(other, "query LIKE '%pg_sleep(60)%' AND state = 'active'")
        task.cancel()
        await #expect(throws: PostgresError.cancelled) { try await task.value }
        #expect(try await ids() == [])
        try await connection.query(Self.insert(2))
    }
}
