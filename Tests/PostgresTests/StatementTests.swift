import TestSupport
import Testing

@testable import Postgres

@Suite struct StatementTests {
    static let texts = rows(
        """
        text                                             kind
        SELECT 1                                         reads
        -- The due ones; no update here. SELECT 2        reads
        WITH a AS (SELECT 1) TABLE a                     reads
        show server_version                              reads
        INSERT INTO t VALUES (1)                         writes
        WITH d AS (DELETE FROM t RETURNING 1) SELECT 1   writes
        SELECT * FROM t FOR UPDATE                       writes
        SELECT renewald.submit('a')                      writes
        SELECT 1 INTO t                                  writes
        CREATE TABLE t ()                                writes
        """)

    @Test(arguments: texts)
    func tellsReadingFromWriting(_ row: [String]) {
        let text = row[0].hasPrefix("--") ? row[0] + "\nSELECT 1" : row[0]
        #expect(PostgresStatement(text).isReadOnly == (row[1] == "reads"))
    }

    @Test func refusesMoreThanTheServerTakes() {
        #expect(throws: EncodingFault.self) {
            try ParameterEncoding([.bytes([1, 2]), .bytes([3, 4])], limitBytes: 3)
        }
        #expect(throws: EncodingFault.self) {
            try ParameterEncoding(Array(repeating: .null, count: 65536))
        }
    }

    @Test func showsNothingOfTheConnectionString() {
        let settings = PostgresSettings(conninfo: "host=planted-host password=planted-secret")
        var dumped = ""
        dump(settings, to: &dumped)
        for text in ["\(settings)", String(reflecting: settings), dumped] {
            #expect(!text.contains("planted"))
        }
    }

    @Test(arguments: [
        (SQLState("23505"), PostgresError.rejected(sqlState: "23505", message: "m", statement: 2)),
        ("40001", .conflict(sqlState: "40001")), ("40P01", .conflict(sqlState: "40P01")),
        ("55P03", .conflict(sqlState: "55P03")), ("53100", .overloaded(sqlState: "53100")),
        ("57014", .overloaded(sqlState: "57014")), ("40003", .commitUnknown),
        (
            "25006",
            .unreachable(reason: "the server ended the connection, SQLSTATE 25006")
        ),
    ])
    func sortsByTheCode(sqlState: SQLState, error: PostgresError) {
        let report = ServerReport(
            sqlState: sqlState, message: "m", endsConnection: false, isFromServer: true)
        #expect(report.error(statement: 2) == error)
    }

    @Test func leavesOutTheValueThatDidNotFit() {
        let report = ServerReport(
            sqlState: "22P02", message: "invalid input syntax for type integer: \"planted\"",
            endsConnection: false, isFromServer: true)
        #expect(!"\(report.error(statement: 0))".contains("planted"))
    }
}
