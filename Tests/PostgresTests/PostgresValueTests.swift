import Postgres
import TestSupport
import Testing

@Suite struct PostgresValueTests {
    static func connection() async throws -> PostgresConnection {
        PostgresConnection(
            PostgresSettings(conninfo: try await ScratchCluster.shared().newDatabase()))
    }

    /// Whether the server sees `value` as the literal says, so that two wrongs of ours cannot
    /// agree.
    static func isSame(_ value: PostgresValue, as literal: String) async throws -> Bool {
        let sql = "SELECT $1 IS NOT DISTINCT FROM \(literal) AS same"
        return try await connection().query(PostgresStatement(sql, [value]))[0].bool("same")
    }

    static let uuid = UUIDBytes(bytes: Array(0xF0...0xFF))

    static var cases: [(PostgresValue, String)] {
        [
            (.bool(true), "true"), (.bool(false), "false"),
            (.int16(.min), "(-32768)::int2"), (.int32(.min), "(-2147483648)::int4"),
            (.int64(.min), "(-9223372036854775808)::int8"), (.int64(1), "1::int8"),
            (.float64(-1.5), "(-1.5)::float8"), (.float64(.infinity), "'infinity'::float8"),
            (.text(""), "''::text"), (.text("naïve 😀 \u{2028}"), "U&'naïve 😀 \\2028'::text"),
            (.bytes([]), "''::bytea"), (.bytes([0, 255, 1]), "'\\x00ff01'::bytea"),
            (.timestamp(microsecondsSinceEpoch: 0), "'1970-01-01 00:00:00Z'::timestamptz"),
            (.timestamp(microsecondsSinceEpoch: -1), "'1969-12-31 23:59:59.999999Z'::timestamptz"),
            (
                .timestamp(microsecondsSinceEpoch: 1_700_000_000_000_001),
                "'2023-11-14 22:13:20.000001Z'::timestamptz"
            ),
            (.timestamp(microsecondsSinceEpoch: .max), "'infinity'::timestamptz"),
            (.timestamp(microsecondsSinceEpoch: .min), "'-infinity'::timestamptz"),
            (.int16s([1, -2]), "'{1,-2}'::int2[]"), (.int32s([]), "'{}'::int4[]"),
            (.int32s([5]), "'{5}'::int4[]"), (.int64s([.max]), "'{9223372036854775807}'::int8[]"),
            (.bools([true, false]), "'{t,f}'::bool[]"), (.texts([]), "'{}'::text[]"),
            (.texts(["", "a,\"b\"", "😀"]), "ARRAY['', 'a,\"b\"', '😀']::text[]"),
            (.optionalInt64s([nil, 3]), "'{NULL,3}'::int8[]"),
            (.optionalBools([true, nil]), "'{t,NULL}'::bool[]"),
            (.optionalTexts([nil, "NULL"]), "ARRAY[NULL, 'NULL']::text[]"),
            (.timestamps([0]), "ARRAY['1970-01-01 00:00:00Z'::timestamptz]"),
            (
                .optionalTimestamps([nil, .max]),
                "ARRAY[NULL, 'infinity'::timestamptz]"
            ),
            (.json(#"{"a": [1, "é"]}"#), #"'{"a": [1, "é"]}'::jsonb"#),
            (.jsons(["1", "{}"]), "ARRAY['1', '{}']::jsonb[]"),
        ]
    }

    @Test(arguments: cases)
    func meansWhatTheServerWrites(value: PostgresValue, literal: String) async throws {
        #expect(try await Self.isSame(value, as: literal))
    }

    @Test func sendsUUIDs() async throws {
        let uuid = try #require(Self.uuid)
        let text = "f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff"
        #expect(uuid.description == text)
        #expect(UUIDBytes(text.uppercased()) == uuid)
        #expect(UUIDBytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff") == nil)
        #expect(UUIDBytes("+0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff") == nil)
        #expect(UUIDBytes.random() != UUIDBytes.random())
        #expect(try await Self.isSame(.uuid(uuid), as: "'\(text)'::uuid"))
        #expect(try await Self.isSame(.uuids([uuid]), as: "ARRAY['\(text)'::uuid]"))
    }

    @Test func readsEveryType() async throws {
        let row = try await Self.connection().query(
            PostgresStatement(
                """
                SELECT 2::int2 AS i2, 4::int4 AS i4, 8::int8 AS i8, true AS b, 1.5::float8 AS f8,
                  't😀'::text AS t, 'v'::varchar AS v, 'n'::name AS n, '{"a": 1}'::jsonb AS j,
                  '[1]'::json AS js, '\\x0001'::bytea AS y, 'infinity'::timestamptz AS inf,
                  '-infinity'::timestamptz AS ninf, '1970-01-01 00:00:01Z'::timestamptz AS ts,
                  'f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff'::uuid AS u, NULL::int8 AS nothing,
                  ARRAY[1, NULL] AS is_null, ARRAY[1, 2]::int4[] AS i4s, '{}'::text[] AS none
                """))[0]
        #expect(try row.int16("i2") == 2)
        #expect(try row.int64("i2") == 2)
        #expect(try row.int32("i4") == 4)
        #expect(try row.int64("i4") == 4)
        #expect(try row.int64("i8") == 8)
        #expect(try row.bool("b"))
        #expect(try row.float64("f8") == 1.5)
        #expect(try row.text("t") == "t😀")
        #expect(try row.text("v") + row.text("n") == "vn")
        #expect(try row.text("j") == #"{"a": 1}"#)
        #expect(try row.text("js") == "[1]")
        #expect(try row.bytes("y") == [0, 1])
        #expect(try row.timestamp("inf") == .max)
        #expect(try row.timestamp("ninf") == .min)
        #expect(try row.timestamp("ts") == 1_000_000)
        #expect(try row.text("u") == Self.uuid?.description)
        #expect(try row.optionalInt64("nothing") == nil)
        #expect(try row.optionalInt64s("is_null") == [1, nil])
        #expect(try row.int64s("i4s") == [1, 2])
        #expect(try row.texts("none") == [])
        #expect(try row.int64(0) == 2)
    }

    @Test func refusesToReadWhatIsNotThere() async throws {
        let row = try await Self.connection().query(
            PostgresStatement(
                "SELECT 70000::int4 AS big, 'x'::text AS t, NULL::text AS n, ARRAY[NULL::text] AS ns"
            ))[0]
        #expect(throws: PostgresError.decoding(column: "big")) { try row.int16("big") }
        #expect(throws: PostgresError.decoding(column: "t")) { try row.int64("t") }
        #expect(throws: PostgresError.decoding(column: "n")) { try row.text("n") }
        #expect(throws: PostgresError.decoding(column: "ns")) { try row.texts("ns") }
        #expect(throws: PostgresError.decoding(column: "absent")) {
            try row.optionalText("absent")
        }
    }

    @Test func carriesEightMegabytes() async throws {
        let bytes = (0..<8_388_608).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let row = try await Self.connection().query(
            PostgresStatement("SELECT $1 AS bytes, length($1) AS count", [.bytes(bytes)]))[0]
        #expect(try row.int64("count") == 8_388_608)
        #expect(try row.bytes("bytes") == bytes)
    }

    @Test(arguments: [
        PostgresValue.text("a\0b"), .texts(["", "\0"]), .json("\"\0\""), .optionalTexts(["\0"]),
    ])
    func refusesANulBeforeSending(value: PostgresValue) async throws {
        let statements = [PostgresStatement("SELECT 1"), PostgresStatement("SELECT $1", [value])]
        let failure = PostgresError.rejected(
            sqlState: "22021", message: "a text parameter holds a NUL character", statement: 1)
        let connection = PostgresConnection(PostgresSettings(conninfo: "host=/nonexistent"))
        await #expect(throws: failure) { try await connection.pipeline(statements) }
    }

    @Test func refusesTimesThatPostgresCannotHold() async throws {
        let statement = PostgresStatement(
            "SELECT $1", [.timestamp(microsecondsSinceEpoch: .min + 1)])
        let failure = PostgresError.rejected(
            sqlState: "22008", message: "a time parameter is out of range", statement: 0)
        let connection = PostgresConnection(PostgresSettings(conninfo: "host=/nonexistent"))
        await #expect(throws: failure) { try await connection.query(statement) }
    }
}
