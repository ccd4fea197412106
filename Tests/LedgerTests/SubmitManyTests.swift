import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

/// `submit` for an array: the same for each, and none stops the others.
@Suite(.serialized) struct SubmitManyTests {
    private func many(
        _ json: String, _ stage: Stage, on connection: PostgresConnection? = nil
    ) async throws -> [String] {
        try await (connection ?? stage.beside).query(
            PostgresStatement(
                "SELECT concat_ws(' ', n, id, error) FROM renewald.submit_many($1::text::jsonb)",
                [.text(json)], isReadOnly: false)
        ).rows.map { try $0.text(0) }
    }

    private func one(
        _ user: String, _ token: String, store: String = "google", product: String = "pro"
    ) -> String {
        """
        {"user_id": \(user), "store": "\(store)", "app": "com.example.reader",
        "product": "\(product)", "token": "\(token)"}
        """
    }

    @Test func aBadOneHasAnErrorAndDoesNotStopTheOthers() async throws {
        let stage = try await Stage()
        let found = try await many(
            """
            [\(one("\"ann\"", "1")), 5, [], null, {}, {"store": "itunes"},
            {"store": 5}, \(one("{}", "2")), \(one("\"bob\"", " ")), \(one("17", "3")),
            \(one("\"cid\"", "4", store: "amazon"))]
            """, stage)
        #expect(
            found == [
                "1 1", "2 it is no object", "3 it is no object", "4 it is no object",
                "5 unknown store NULL", "6 unknown store 'itunes'", "7 store is no text",
                "8 user_id is no text", "9 token is empty", "10 2",
                "11 store_user_id is empty",
            ])
        #expect(
            try await stage.list("SELECT user_id FROM renewald.purchases ORDER BY 1")
                == ["17", "ann"])
        #expect(try await many("[]", stage) == [])
    }

    @Test(arguments: ["null", "{}", "17"]) func takesAnArrayOnly(_ json: String) async throws {
        let stage = try await Stage()
        await #expect(throws: PostgresError.self) { _ = try await many(json, stage) }
    }

    @Test func takesTenThousandAtOnceAndNoMore() async throws {
        let stage = try await Stage()
        func json(_ count: Int) -> String {
            "[" + (1...count).map { one("\"user \($0)\"", "token \($0)") }.joined(separator: ",")
                + "]"
        }
        await #expect(throws: PostgresError.self) { _ = try await many(json(10_001), stage) }
        #expect(try await stage.number("SELECT count(*) FROM renewald.purchase") == 0)
        let found = try await many(json(10_000), stage)
        #expect(found.count == 10_000)
        #expect(try await many(json(10_000), stage) == found)
        #expect(try await stage.number("SELECT count(*) FROM renewald.purchase") == 10_000)
        #expect(try await stage.broken() == [])
    }

    /// One database is filled by `submit`, another by `submit_many`: what is known twice, another
    /// user's claim, a correction, the products of an app receipt, what was heard before.
    @Test func storesWhatSubmitStores() async throws {
        let users = [
            ("ann", "t1", "google", "pro"), ("ann", "t1", "google", "pro"),
            ("bob", "t1", "google", "pro"), ("ann", "t1", "google", "other"),
            ("cid", "MIIreceipt", "apple", "pro"), ("cid", "MIIreceipt", "apple", "gold"),
            ("dee", " t2 ", "google", "pro"), ("eve", "t3", "google", "pro"),
        ]
        let (single, several) = (try await Stage(), try await Stage())
        for stage in [single, several] {
            try await stage.submit("ann", "t0")
            try await stage.beside.script(
                """
                INSERT INTO renewald.unclaimed_hint (lane, digest, clues, account_token)
                VALUES (1, sha256('t2'), '{refund GPA.1}', 'account')
                """)
        }
        for (user, token, store, product) in users {
            try await single.submit(user, token, store: store, product: product)
        }
        let json = users.map { one("\"\($0)\"", $1, store: $2, product: $3) }
        let found = try await many("[\(json.joined(separator: ","))]", several)
        #expect(found.count == users.count)
        for (index, user) in users.enumerated() {
            let id = try await several.submit(user.0, user.1, store: user.2, product: user.3)
            #expect(found[index] == "\(index + 1) \(id)")
        }
        let stored = """
            SELECT concat_ws(' ', app.store, purchase.user_id, credential.token, purchase.product,
                credential.product, purchase.account_token, claimed_by, claimed_by_others, baseline,
                schedule.due_at <= now(), clue.clue,
                (SELECT string_agg(claimant.user_id, ',') FROM renewald.claimant
                 WHERE claimant.id = purchase.id))
            FROM renewald.purchase JOIN renewald.app USING (lane)
            JOIN renewald.credential USING (shard, id) JOIN renewald.schedule USING (shard, id)
            LEFT JOIN renewald.clue USING (shard, id) ORDER BY 1
            """
        let expected = try await single.list(stored)
        #expect(expected.count == 6)
        #expect(try await several.list(stored) == expected)
        for stage in [single, several] { #expect(try await stage.broken() == []) }
    }

    @Test func racingCallsMakeOnePurchaseOfEachToken() async throws {
        let stage = try await Stage()
        let sets = try await withThrowingTaskGroup(of: Set<String>.self) { group in
            for racer in 0..<4 {
                group.addTask {
                    let connection = stage.session("racer \(racer)")
                    var tokens = (1...300).map { $0 }
                    if racer % 2 == 1 { tokens.reverse() }
                    let json = tokens.map { one("\"user \($0)\"", "token \($0)") }
                    let found = try await many(
                        "[\(json.joined(separator: ","))]", stage, on: connection)
                    await connection.close()
                    return Set(found.map { String($0.split(separator: " ")[1]) })
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(sets.count == 1)
        #expect(try await stage.number("SELECT count(*) FROM renewald.purchase") == 300)
        #expect(try await stage.broken() == [])
    }

    @Test func tellsTheDaemonOnceOfEachApp() async throws {
        let stage = try await Stage()
        let listener = stage.session("listener")
        try await listener.listen([NotifyListener.due])
        _ = try await many(
            "[\(one("\"ann\"", "1")), \(one("\"bob\"", "2")), \(one("1", "3", store: "apple"))]",
            stage)
        try await stage.submit("ann", "4", app: "com.example.last")
        let lanes = try await stage.ledger.allLanes().map { String($0.number) }
        var heard: [String] = []
        for _ in lanes {
            let notification = try await listener.nextNotification(timeout: .seconds(60))
            heard.append(try #require(notification).payload)
        }
        #expect(heard.sorted() == lanes.sorted())
        #expect(heard.last == lanes.last)
    }
}
