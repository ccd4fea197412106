import Postgres
import TestSupport
import Testing

@Suite struct PipelineTests {
    let connection: PostgresConnection
    let conninfo: String

    init() async throws {
        conninfo = try await ScratchCluster.shared().newDatabase()
        connection = PostgresConnection(PostgresSettings(conninfo: conninfo))
        try await connection.script(
            "CREATE SCHEMA s; CREATE TABLE s.t (id int8 PRIMARY KEY, note text)")
    }

    func count() async throws -> Int64 {
        try await connection.query(PostgresStatement("SELECT count(*) FROM s.t"))[0].int64(0)
    }

    func insert(_ id: Int64, name: String? = nil) -> PostgresStatement {
        PostgresStatement("INSERT INTO s.t VALUES ($1)", [.int64(id)], name: name)
    }

    @Test func keepsAllOfAGoodPipeline() async throws {
        let results = try await connection.pipeline([
            insert(1, name: "insert"), insert(2, name: "insert"),
            PostgresStatement("SELECT id FROM s.t ORDER BY id"),
        ])
        #expect(results.map(\.affectedRows) == [1, 1, 2])
        #expect(
            try results[2].rows.map { row throws(PostgresError) in try row.int64("id") } == [1, 2])
        #expect(try await connection.pipeline([]).isEmpty)
    }

    @Test func takesAllBackAfterAnErrorInTheThird() async throws {
        let failure = PostgresError.rejected(
            sqlState: "22012", message: "division by zero", statement: 2)
        await #expect(throws: failure) {
            try await connection.pipeline([
                insert(1), insert(2), PostgresStatement("SELECT 1/0"), insert(3),
            ])
        }
        #expect(try await count() == 0)
    }

    @Test func takesAllBackWhenACountIsWrong() async throws {
        let check = "SELECT count(*) / (count(*) = $1)::int AS rows FROM s.t"
        let results = try await connection.pipeline([
            insert(1), PostgresStatement(check, [.int64(1)]),
        ])
        #expect(try results[1][0].int64("rows") == 1)
        await #expect(throws: PostgresError.self) {
            try await connection.pipeline([insert(2), PostgresStatement(check, [.int64(1)])])
        }
        #expect(try await count() == 1)
    }

    @Test func reportsAnErrorThatComesOnlyAtTheCommit() async throws {
        try await connection.script(
            """
            CREATE TABLE s.child (id int8 REFERENCES s.t DEFERRABLE INITIALLY DEFERRED)
            """)
        let error = await #expect(throws: PostgresError.self) {
            try await connection.pipeline([
                insert(1), PostgresStatement("INSERT INTO s.child VALUES (9)"),
            ])
        }
        #expect(error?.sqlState == "23503")
        #expect(try await count() == 0)
    }

    @Test func carriesFiveThousandStatements() async throws {
        let results = try await connection.pipeline((1...5000).map { insert($0, name: "insert") })
        #expect(results.count == 5000)
        #expect(try await count() == 5000)
    }

    @Test func doesNotBlockOnBigAnswersToBigQuestions() async throws {
        let ids = (1...20_000).map(Int64.init)
        let texts = ids.map { "text number \($0) 😀" }
        let echo = PostgresStatement(
            "SELECT * FROM unnest($1::int8[], $2::text[]) AS u(id, t)",
            [.int64s(ids), .texts(texts)])
        let results = try await connection.pipeline([echo, echo, echo])
        #expect(results.map(\.rowCount) == [20_000, 20_000, 20_000])
        #expect(try results[2][19_999].text("t") == texts.last)
    }

    @Test func aPreparedStatementSurvivesAChangeOfTheTable() async throws {
        let select = PostgresStatement("SELECT * FROM s.t", name: "all")
        #expect(try await connection.query(select).rowCount == 0)
        try await connection.script("ALTER TABLE s.t ADD COLUMN more int4")
        #expect(try await connection.query(select).rowCount == 0)
        try await connection.script("DEALLOCATE ALL")
        #expect(try await connection.query(select).rowCount == 0)
        let other = PostgresStatement("SELECT $1::int4 AS a", [.null], name: "all")
        #expect(try await connection.query(other)[0].optionalInt64("a") == nil)
        let typed = PostgresStatement("SELECT $1::int4 AS a", [.int64(5)], name: "all")
        #expect(try await connection.query(typed)[0].int64("a") == 5)
        #expect(try await connection.query(other)[0].optionalInt64("a") == nil)
    }

    @Test func aStalePlanInATransactionMayBeTriedAgain() async throws {
        let select = PostgresStatement("SELECT * FROM s.t", name: "all")
        _ = try await connection.query(select)
        try await connection.script("ALTER TABLE s.t ADD COLUMN more int4")
        await #expect(throws: PostgresError.conflict(sqlState: "0A000")) {
            try await connection.transaction { connection in _ = try await connection.query(select)
            }
        }
        let rows = try await connection.transaction { try await $0.query(select).rowCount }
        #expect(rows == 0)
    }

    @Test func copiesTenThousandRows() async throws {
        let rows = (1...10_000).map { Array("\($0)\tnote \($0)\n".utf8) }
        #expect(try await connection.copyIn("COPY s.t FROM STDIN", rows: rows) == 10_000)
        #expect(try await count() == 10_000)
        let error = await #expect(throws: PostgresError.self) {
            try await connection.copyIn("COPY s.t FROM STDIN", rows: [Array("no number\n".utf8)])
        }
        #expect(error?.sqlState == "22P02")
        #expect(try await count() == 10_000)
    }

    @Test func aCopyInsideATransactionIsRolledBackWithIt() async throws {
        await #expect(throws: CancellationError.self) {
            try await connection.transaction { connection in
                _ = try await connection.copyIn("COPY s.t FROM STDIN", rows: [Array("1\tx\n".utf8)])
                throw CancellationError()
            }
        }
        #expect(try await count() == 0)
    }

    @Test func runsAScriptAsOneTransaction() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await connection.script("INSERT INTO s.t VALUES (1); SELECT 1/0")
        }
        #expect(error?.sqlState == "22012")
        #expect(try await count() == 0)
    }
}
