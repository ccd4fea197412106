import Synchronization
import TestSupport
import Testing

@testable import Postgres

/// A query of somebody else's: read page by page, and nothing but read.
@Suite struct ForeignRowsTests {
    private let conninfo: String
    private let foreign: PostgresConnection
    private let beside: PostgresConnection

    init() async throws {
        conninfo = try await ScratchCluster.shared().newDatabase()
        var settings = PostgresSettings(conninfo: conninfo, requiresReadWrite: false)
        settings.isForeign = true
        foreign = PostgresConnection(settings)
        beside = PostgresConnection(PostgresSettings(conninfo: conninfo))
        try await beside.script(
            """
            CREATE TABLE public.t (id int8 PRIMARY KEY);
            CREATE SEQUENCE public.s;
            CREATE FUNCTION public.sly() RETURNS int8 LANGUAGE plpgsql AS $$
            BEGIN INSERT INTO public.t VALUES (1); RETURN 1; END $$;
            CREATE FUNCTION public.slyer() RETURNS int8 LANGUAGE plpgsql AS $$
            BEGIN SET LOCAL transaction_read_only = off; INSERT INTO public.t VALUES (1); RETURN 1;
            END $$;
            """)
    }

    private func read(_ query: String, pageLimit: Int = 3) async throws -> [[String?]] {
        let rows = Mutex<[[String?]]>([])
        try await foreign.read(query, pageLimit: pageLimit) { page in
            #expect(page.count <= pageLimit)
            for row in 0..<page.count {
                let values = page.columns.indices.map { column in
                    page.value(row, column).map { String(decoding: $0, as: UTF8.self) }
                }
                rows.withLock { $0.append(values) }
            }
        }
        return rows.withLock { $0 }
    }

    @Test(arguments: [0, 1, 2, 3, 4, 6, 7])
    func readsAllRows(_ count: Int) async throws {
        let rows = try await read("SELECT n FROM generate_series(1, \(count)) AS n")
        #expect(rows == (0..<count).map { ["\($0 + 1)"] })
    }

    @Test func givesEveryTypeAsText() async throws {
        let rows = try await read(
            """
            SELECT true, 17::int8, 1.0::numeric, 'ab'::char(9), NULL::text,
                'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid, b'1', ''::text; -- and no more
            """)
        #expect(
            rows == [
                ["t", "17", "1.0", "ab", nil, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "1", ""]
            ])
    }

    /// What is found without a schema before it, as in any session of theirs.
    @Test func findsTheirTables() async throws {
        #expect(try await read("TABLE t") == [])
        #expect(try await read("WITH one AS (VALUES (1)) TABLE one") == [["1"]])
    }

    @Test(arguments: [
        ("SELECT 1; DROP TABLE t", "42601"), ("SELECT 1; SELECT 2", "42601"),
        ("INSERT INTO t VALUES (1)", "42601"), ("DELETE FROM t RETURNING id", "42601"),
        ("WITH new AS (INSERT INTO t VALUES (1) RETURNING id) TABLE new", "0A000"),
        ("SELECT 1 INTO other", "42601"), ("COMMIT", "42601"), ("", "42601"),
        ("SELECT sly()", "25006"), ("SELECT nextval('s')", "25006"),
        ("SELECT slyer()", "25001"), ("SELECT nothing FROM t", "42703"),
        ("SELECT 1/0", "22012"), ("SELECT id FROM t FOR UPDATE", "25006"),
    ])
    func refusesAllElse(_ query: String, _ state: String) async throws {
        await #expect {
            try await read(query)
        } throws: { error in
            (error as? PostgresError)?.sqlState?.rawValue == state
        }
        #expect(
            try await beside.query(PostgresStatement("SELECT count(*) FROM public.t"))[0].int64(0)
                == 0)
        // The connection is as good as new.
        #expect(try await read("SELECT 1") == [["1"]])
    }

    /// What a query does beside reading is taken back.
    @Test func leavesNothing() async throws {
        _ = try await read("SELECT set_config('search_path', 'nowhere', false)")
        #expect(try await read("TABLE t") == [])
    }
}
