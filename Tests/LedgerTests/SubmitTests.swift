import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

@Suite(.serialized) struct SubmitTests {
    /// What a message must say of bad input; the value itself is never in it.
    private static let refused: [(name: String, submission: Submission, message: String)] = [
        ("unknown store", Submission(store: "itunes"), "unknown store 'itunes'"),
        ("empty store", Submission(store: ""), "unknown store ''"),
        ("store in capitals", Submission(store: "Google"), "unknown store 'Google'"),
        ("no store", Submission(store: nil), "unknown store NULL"),
        ("empty user", Submission(user: ""), "user_id is empty"),
        ("no user", Submission(user: nil), "user_id is empty"),
        ("blank user", Submission(user: " \t\n"), "user_id is empty"),
        ("long user", Submission(user: long(1025)), "user_id has 1025 bytes, more than the 1024"),
        ("empty app", Submission(app: ""), "app is empty"),
        ("no app", Submission(app: nil), "app is empty"),
        ("blank product", Submission(product: "  "), "product is empty"),
        ("long product", Submission(product: long(513)), "product has 513 bytes"),
        ("empty token", Submission(token: ""), "token is empty"),
        ("no token", Submission(token: nil), "token is empty"),
        ("blank token", Submission(token: " \r\n\t "), "token is empty"),
        (
            "ten megabytes", Submission(token: long(10_000_000)),
            "token has 10000000 bytes, more than the 4194304 allowed"
        ),
        ("Amazon without its user", Submission(store: "amazon"), "store_user_id is empty"),
        ("empty store user", Submission(storeUser: ""), "store_user_id is empty"),
        ("NUL in the token", Submission(token: "a\0b"), "NUL"),
        ("NUL in the user", Submission(user: "a\0b"), "NUL"),
    ]

    struct Submission: Sendable {
        var user: String? = "ann"
        var store: String? = "google"
        var app: String? = "com.example.reader"
        var product: String? = "pro"
        var token: String? = "token"
        var storeUser: String?

        var statement: PostgresStatement {
            PostgresStatement(
                "SELECT renewald.submit($1, $2, $3, $4, $5, $6)",
                [user, store, app, product, token, storeUser].map {
                    $0.map(PostgresValue.text) ?? .null
                }, isReadOnly: false)
        }
    }

    private static func long(_ count: Int) -> String { String(repeating: "x", count: count) }

    @Test func refusesBadInputClearlyAndStoresNothing() async throws {
        let stage = try await Stage()
        let before = try await stage.everything()
        for (name, submission, message) in Self.refused {
            let refusal = await refusal(of: submission, stage)
            guard case .rejected(let state, let said, _) = refusal else {
                Issue.record("not refused: \(name)")
                continue
            }
            #expect(said.contains(message), "\(name): \(said)")
            #expect(["22023", "22021"].contains(state), "\(name)")
            #expect(said.count < 200, "\(name)")
        }
        #expect(try await stage.everything() == before)
    }

    private func refusal(of submission: Submission, _ stage: Stage) async -> PostgresError? {
        do {
            try await stage.beside.query(submission.statement)
            return nil
        } catch {
            return error
        }
    }

    private static let kept = [
        "it's; DROP TABLE renewald.purchase --", "a/../../b", "..", "%2e%2e/", "a\nb", "a\\b",
        "\"quoted\"", "{a,b}", "NULL", "$1", "ünï", "用户", "пользователь", "مستخدم", "👩‍👩‍👧",
        "e\u{301}", "\u{200F}rtl", "a\u{1}b", "\u{FEFF}bom", String(repeating: "é", count: 512),
    ]

    @Test func keepsTokensAndUsersOfAnyScriptAsTheyAre() async throws {
        let stage = try await Stage()
        for text in Self.kept {
            let id = try await stage.submit(text, text)
            #expect(
                try await stage.list(
                    "SELECT user_id FROM renewald.purchases WHERE id = $1", [.int64(id)])
                    == [text])
            #expect(
                try await stage.list(
                    "SELECT token FROM renewald.credential WHERE id = $1", [.int64(id)])
                    == [text])
        }
        let lease = try await stage.takeAll()
        let claims = try await stage.due(lease)
        #expect(claims.map(\.purchase.token.text) == Self.kept)
        #expect(claims.map(\.purchase.userID.text) == Self.kept)
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(report.committed.count == Self.kept.count)
        for user in Self.kept {
            #expect(
                try await stage.list("SELECT renewald.has($1, 'pro')::text", [.text(user)])
                    == ["true"])
        }
        #expect(try await stage.broken() == [])
    }

    @Test func keepsATokenOfFourMegabytes() async throws {
        let stage = try await Stage()
        let token = Self.long(4_194_304)
        let id = try await stage.submit("ann", token)
        #expect(try await stage.submit("ann", token) == id)
    }

    @Test func leavesOutTheBlanksAroundAToken() async throws {
        let stage = try await Stage()
        let id = try await stage.submit("ann", "token")
        #expect(try await stage.submit("ann", " token\n") == id)
    }

    @Test func givesTheSameIDForTheSameToken() async throws {
        let stage = try await Stage()
        let id = try await stage.submit("ann", "token")
        let before = try await stage.everything()
        #expect(try await stage.submit("ann", "token") == id)
        #expect(try await stage.everything() == before)
        #expect(try await stage.submit("ann", "token", product: "other") == id)
        #expect(try await stage.submit("ann", "token", app: "com.example.other") != id)
        #expect(try await stage.submit("ann", "token", store: "apple") != id)
        #expect(try await stage.submit("ann", "Token") != id)
    }

    @Test func racingSubmitsMakeOnePurchaseOfEachToken() async throws {
        let stage = try await Stage()
        let ids = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for number in 0..<6 {
                group.addTask {
                    let connection = stage.session("racer \(number)")
                    var ids: [Int64] = []
                    for token in 0..<40 {
                        ids.append(
                            try await stage.submit("ann", "token \(token)", on: connection))
                    }
                    await connection.close()
                    return ids
                }
            }
            return try await group.reduce(into: Set<[Int64]>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        #expect(Set(ids.first ?? []).count == 40)
        #expect(try await stage.number("SELECT count(*) FROM renewald.purchase") == 40)
        #expect(try await stage.number("SELECT count(*) FROM renewald.app") == 1)
        #expect(try await stage.broken() == [])
    }

    @Test func recordsAnotherUserWhoClaimsAToken() async throws {
        let stage = try await Stage()
        let id = try await stage.submit("ann", "token")
        let lease = try await stage.takeAll()
        let claim = try #require(try await stage.due(lease).first)
        let report = try await stage.ledger.commit(
            [outcome(claim, inForce(claim))], under: lease, at: claim.claimedAt)
        #expect(report.committed.count == 1)
        for user in ["bob", "cid", "bob"] {
            #expect(try await stage.submit(user, "token") == id)
        }
        #expect(
            try await stage.list("SELECT user_id FROM renewald.claimant ORDER BY user_id")
                == ["bob", "cid"])
        // It is due again, and known to be claimed by others; it stays with the first user.
        let again = try #require(try await stage.due(lease).first)
        #expect(again.purchase.isClaimedByOthers)
        #expect(again.purchase.userID == "ann")
        #expect(again.version > claim.version)
        let second = try await stage.ledger.commit(
            [outcome(again, inForce(again))], under: lease, at: again.claimedAt)
        #expect(second.events.map(\.kind) == [.notice(.sharedReceipt)])
        #expect(try await stage.list("SELECT renewald.has('bob', 'pro')::text") == ["false"])
        #expect(try await stage.broken() == [])
    }

    @Test func anAnswerFromBeforeAnotherUsersClaimIsDropped() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann"], lease)
        try await stage.submit("bob", "token of ann")
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(report.dropped == claims)
        #expect(try await stage.number("SELECT count(*) FROM renewald.event") == 0)
    }

    @Test func tellsTheDaemonWhichAppHasSomethingDue() async throws {
        let stage = try await Stage()
        let listener = stage.session("listener")
        try await listener.listen([NotifyListener.due])
        try await stage.submit("ann", "token", app: "com.example.first")
        try await stage.submit("ann", "token", app: "com.example.second")
        let lanes = try await stage.ledger.allLanes().map { String($0.number) }
        var heard: [String] = []
        for _ in lanes {
            let notification = try await listener.nextNotification(timeout: .seconds(60))
            heard.append(try #require(notification).payload)
        }
        #expect(heard == lanes)
    }

    @Test func isUndoneWithTheCallersTransaction() async throws {
        let stage = try await Stage()
        let before = try await stage.everything()
        struct Regret: Error {}
        await #expect(throws: Regret.self) {
            try await stage.beside.transaction { connection in
                try await connection.query(
                    SubmitTests.Submission(user: "ann").statement)
                throw Regret()
            }
        }
        #expect(try await stage.everything() == before)
        #expect(try await stage.submit("bob", "token") > 0)
        #expect(try await stage.list("SELECT user_id FROM renewald.purchases") == ["bob"])
    }

    @Test func storesTheStoresUser() async throws {
        let stage = try await Stage()
        try await stage.submit("ann", "receipt", store: "amazon", storeUser: "l3HL7")
        let lease = try await stage.takeAll()
        let claim = try #require(try await stage.due(lease).first)
        #expect(claim.purchase.storeUserID == "l3HL7")
        #expect(claim.purchase.app.store == .amazon)
    }

    /// Amazon may know its user by another id one day.
    @Test(arguments: [
        ("status 497, the user does not match", true),
        ("status 400, the receipt is not known", false), (nil, false),
    ])
    func whatIsTurnedDownIsAskedAboutWithTheNewStoreUser(
        _ reason: String?, _ isTaken: Bool
    ) async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "receipt", store: "amazon", storeUser: "former")
        for reason in [nil, reason] {
            let claims = try await stage.due(lease)
            _ = try await stage.ledger.commit(
                claims.map { claim in
                    reason.map { outcome(claim, .failure(.rejected(reason: $0))) }
                        ?? outcome(claim, inForce(claim))
                }, under: lease, at: claims.latest)
            try await stage.beside.script("UPDATE renewald.schedule SET due_at = now()")
        }
        try await stage.beside.script(
            "UPDATE renewald.schedule SET due_at = now() + interval '1 day'")
        try await stage.submit("ann", "receipt", store: "amazon", storeUser: "new")
        let due = try await stage.due(lease)
        #expect(due.map(\.purchase.storeUserID) == (isTaken ? ["new"] : []))
        #expect(try await stage.broken() == [])
    }
}
