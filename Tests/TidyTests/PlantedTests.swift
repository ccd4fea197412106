import Testing

/// Each rule is broken on purpose: a rule that cannot fail holds nothing.
@Suite struct PlantedTests {
    /// The rule, the file, and its text after the bar. `~` is taken out, so that this file keeps
    /// the rules itself; `|` within the text begins a new line.
    static let broken = rows(
        """
        imports          Sources/Renewal/A.swift        | import Foundation
        imports          Sources/Renewal/A.swift        | package import struct Foundation.Data
        imports          Sources/Stores/A.swift         | import Ledger
        imports          Sources/Stores/Apple/A.swift   | import Engine
        imports          Sources/Ledger/A.swift         | internal import Stores
        imports          Sources/Ledger/A.swift         | import Engine
        imports          Sources/Engine/A.swift         | import Postgres
        imports          Sources/Engine/A.swift         | import FoundationEssentials
        imports          Sources/StoreSimulator/A.swift | import Stores
        imports          Sources/Stores/A.swift         | import CCurl
        imports          Sources/Ledger/A.swift         | @preconcurrency import Dispatch
        imports          Sources/Engine/A.swift         | import TOMLKit
        imports          Sources/Unheard/A.swift        | let a = 1
        unsafe code      Sources/Ledger/A.swift         | let a = unsafe b
        unsafe code      Sources/Stores/A.swift         | nonisolated(unsafe) var a = 1
        forced           Sources/Ledger/A.swift         | let a = try~! b()
        forced           Tests/LedgerTests/A.swift      | let a = b as~! String
        left-overs       Sources/Ledger/A.swift         | // TO~DO: later
        left-overs       Tests/LedgerTests/A.swift      | // FIX~ME
        not written yet  Sources/Ledger/A.swift         | fatalError("~not implemented")
        clock            Sources/Engine/A.swift         | let now = Date~()
        clock            Sources/Daemon/A.swift         | let now = time~(nil)
        sleeping tests   Tests/EngineTests/A.swift      | try await Task~.sleep(for: .seconds(1))
        waits for ever   Tests/StoresTests/A.swift      | process.waitUntil~Exit()
        stored facts     Sources/Engine/A.swift         | let a = Facts(storedProduct: b, state: c)
        stored facts     Sources/Ledger/A.swift         | let a = Facts(|    storedProduct: b, state: c)
        made-up outcomes  Tests/LedgerTests/A.swift      | @testable ~import Renewal
        public           Sources/Ledger/A.swift         | public struct A {}
        public           Sources/Ledger/A.swift         |     @discardableResult public func a()
        closure in a mutex  Sources/Engine/A.swift       | let a = Mutex<() -> Void>({})
        identity         Sources/Ledger/A.swift         | var books: [String: UserPurchases] = [:]
        identity         Sources/Engine/A.swift         | var told: Set<String> = []
        identity         Sources/Renewal/A.swift        | let a = Dictionary<String, Int>()
        identity         Sources/Renewal/A.swift        | package let userID: String
        identity         Sources/Ledger/A.swift         | func a(of user: String, at now: Timestamp)
        SQL in Swift     Sources/Ledger/A.swift         | query("SELECT 1")
        SQL in Swift     Sources/Ledger/A.swift         | let a = \"""|    UPDATE a SET b = 1|    \"""
        SQL in Swift     Sources/Daemon/A.swift         | run(a, "DELETE FROM b")
        SQL comment      Sources/Ledger/Queries/a.sql   | SELECT 1
        SQL that writes  Sources/Ledger/Queries/a.sql   | WITH a AS (INSERT INTO b RETURNING c), d AS (|UPDATE e SET f = 1 WHERE g OR EXISTS (SELECT FROM a WHERE a.c = e.c))
        SQL that writes  Sources/Ledger/Queries/a.sql   | WITH a AS (INSERT INTO b RETURNING c)|UPDATE e SET f = 1 WHERE g OR EXISTS (SELECT FROM a WHERE a.c = e.c)
        SQL on Citus     Sources/Ledger/Queries/a.sql   | -- One row.|WITH a AS (SELECT FROM renewald.schedule)|SELECT 1
        SQL on Citus     Sources/Ledger/Queries/a.sql   | -- One row.|UPDATE renewald.purchase SET shard = $1|WHERE id = $2
        SQL on Citus     Sources/Ledger/Queries/a.sql   | -- One row.|UPDATE renewald.schedule SET due_at = coalesce(a, now())|WHERE b
        SQL on Citus     Sources/Ledger/Queries/a.sql   | -- One row.|UPDATE renewald.purchase SET signals = a.b::text[]|FROM a
        SQL on Citus     Sources/Ledger/Queries/a.sql   | -- One row.|SELECT a FROM renewald.schedule WHERE b = ANY ($1) FOR UPDATE
        SQL on Citus     Sources/Ledger/Queries/a.sql   | -- One row.|SELECT a FROM renewald.event JOIN renewald.purchase USING (id)
        SQL on Citus     Sources/Ledger/Queries/a.sql   | -- One row.|SELECT a FROM unnest($1) AS b (c) JOIN renewald.app ON d JOIN renewald.purchase ON e
        SQL on Citus     Sources/Ledger/Queries/a.sql   | -- One row.|SELECT a FROM b CROSS JOIN LATERAL (SELECT c FROM renewald.schedule LIMIT 1) AS d
        """)

    /// What looks alike and is in order.
    static let sound = rows(
        """
        imports          Sources/Renewal/A.swift        | /// What others import stays out.
        imports          Sources/Postgres/A.swift       | import Dispatch
        imports          Sources/Engine/A.swift         | import Logging|import Synchronization
        imports          Tests/EngineTests/A.swift      | import Foundation
        unsafe code      Sources/Curl/A.swift           | nonisolated(unsafe) let a = b
        unsafe code      Sources/Ledger/A.swift         | let a = unsafely
        forced           Sources/Ledger/A.swift         | let a = try b() != c
        clock            Sources/Daemon/WallClock.swift | let now = Date~()
        clock            Sources/Engine/A.swift         | let a = UpDate~()
        sleeping tests   Sources/Engine/A.swift         | try await Task~.sleep(for: pause)
        stored facts     Sources/Renewal/A.swift        | let a = Facts(storedProduct: b, state: c)
        stored facts     Sources/Stores/A.swift         | let a = Facts(product: b)
        made-up outcomes  Tests/RenewalTests/A.swift     | @testable ~import Renewal
        made-up outcomes  Tests/LedgerTests/A.swift      | @testable import Ledger
        public           Sources/Ledger/A.swift         | /// The public contract.
        public           Sources/Ledger/A.swift         | let a = "public"
        closure in a mutex  Sources/Engine/A.swift       | let a = Mutex<Int>(0)
        identity         Sources/Ledger/A.swift         | var books: [UserID: UserPurchases] = [:]
        identity         Sources/Ledger/A.swift         | /// Not `[String: UserPurchases]`.
        identity         Sources/Daemon/A.swift         | let environment: [String: String]
        identity         Sources/Ledger/A.swift         | let names: [String]
        SQL in Swift     Sources/Ledger/A.swift         | log("Select one")
        SQL in Swift     Tests/LedgerTests/A.swift      | query("SELECT 1")
        SQL comment      Sources/Ledger/Queries/a.sql   | -- One row.|SELECT 1
        SQL on Citus     Sources/Ledger/Queries/a.sql   | -- One row.|UPDATE renewald.schedule SET due_at = now(), shards = 1|WHERE b
        SQL on Citus     Sources/Ledger/Queries/a.sql   | -- One row.|UPDATE renewald.shard SET due_at = coalesce(a, now())|WHERE b
        SQL on Citus     Sources/Ledger/Queries/a.sql   | -- One row.|SELECT a FROM renewald.app JOIN renewald.purchase USING (lane)
        SQL on Citus     Sources/Ledger/Queries/a.sql   | -- One row.|SELECT a FROM renewald.every_shard AS b CROSS JOIN LATERAL (SELECT c FROM renewald.schedule LIMIT 1) AS d
        SQL that writes  Sources/Ledger/Queries/a.sql   | WITH a AS (SELECT c FROM b), d AS (|UPDATE e SET f = 1 WHERE g OR EXISTS (SELECT FROM a WHERE a.c = e.c))
        SQL that writes  Sources/Ledger/Queries/a.sql   | WITH a AS (INSERT INTO b RETURNING c), d AS (|UPDATE e SET f = (SELECT count(*) FROM a) WHERE EXISTS (SELECT FROM a))
        """)

    @Test(arguments: broken)
    func finds(_ row: Row) throws {
        let violations = try row.rule.violations(in: row.file)
        #expect(violations.count == 1)
    }

    @Test(arguments: sound)
    func letsPass(_ row: Row) throws {
        #expect(try row.rule.violations(in: row.file) == [])
    }

    @Test(arguments: [(68, []), (69, ["function length"])])
    func findsLongFunctions(lines: Int, rules: [String]) throws {
        let body =
            String(repeating: "        a()\n\n", count: lines / 2)
            + String(repeating: "        b()\n", count: lines % 2)
        let file = SourceFile(
            path: "Tests/LedgerTests/A.swift",
            text: """
                protocol P {
                    func f()
                }

                struct A: P {
                    private static func f() {
                \(body)    }

                    init() {
                        if a {}
                    }
                }
                """)
        #expect(TidyRule.all.filter { !$0.violations(in: file).isEmpty }.map(\.name) == rules)
    }

    @Test func findsLongFilesAndLines() throws {
        let long = SourceFile(
            path: "Sources/Ledger/A.swift",
            text: String(repeating: "let a = 1\n", count: 401)
                + "// " + String(repeating: "a", count: 98) + "\n")
        let names = TidyRule.all.filter { !$0.violations(in: long).isEmpty }.map(\.name)
        #expect(names == ["columns", "length"])
        let limit = SourceFile(
            path: "Sources/Ledger/A.swift",
            text: String(repeating: String(repeating: "a", count: 100) + "\n", count: 400))
        #expect(TidyRule.all.flatMap { $0.violations(in: limit) } == [])
    }

    @Test func breaksEveryRule() {
        let planted = Set(Self.broken.map(\.name) + ["columns", "length", "function length"])
        #expect(planted == Set(TidyRule.all.map(\.name)))
    }

    @Test func findsWhatIsTrackedByMistake() {
        let found = TidyRule.misplaced([
            ("Package.resolved", 1), (".build/debug.yaml", 1), ("docs/film.mp4", 600_000),
            ("README.md", 500_000),
        ])
        #expect(found.count == 3)
    }

    @Test func findsDocumentsThatAreMissing() {
        let readme = """
            See [the house](docs/architecture.md#flow), [unit](./systemd/), `CHANGELOG.md`,
            [gone](docs/gone.md), `lost.md`, [web](https://example.com/x.md), [here](#top).
            """
        let existing: Set = ["docs/architecture.md", "systemd/renewald.service", "CHANGELOG.md"]
        #expect(
            TidyRule.missingDocuments(readme: readme, existing: existing)
                == ["docs/gone.md", "lost.md"])
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let file: SourceFile

        var rule: TidyRule {
            get throws { try #require(TidyRule.all.first { $0.name == name }) }
        }

        var testDescription: String { "\(name): \(file.path): \(file.text)" }
    }

    private static func rows(_ table: String) -> [Row] {
        table.replacing("~", with: "").split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "|", maxSplits: 1)
            let head = parts[0].trimmed
            guard parts.count == 2, let gap = head.lastIndex(of: " ") else { return nil }
            let text = parts[1].dropFirst().split(separator: "|").joined(separator: "\n")
            return Row(
                name: String(head[..<gap].trimmed),
                file: SourceFile(path: String(head[gap...].trimmed), text: text))
        }
    }
}
