import Foundation
import Postgres
import TestSupport

/// What happens in the stores and in the app while programs are killed, and what has to be told of
/// it in the end: one user a purchase.
struct KillWorld {
    private struct Sale {
        let made: Stage.Made
        let store: String
        var isOver = false
        var hasRenewed = false
        /// The number of the store's question about a refund.
        var review: Int?
    }

    /// What it needs of renewald's configuration.
    static let settings = """
        [refunds]
        answer = "app"
        customer_consented = true
        [safety]
        breaker_floor = 100000

        """

    private let stage: Stage
    private let renews: Bool
    private let patience: Duration
    /// By the user.
    private var sales: [String: Sale] = [:]
    private var expected: [String: [String]] = [:]
    /// Pieces of news that nobody handles, by source and type.
    private var announced: [String: Int] = [:]

    /// - Parameters:
    ///   - stage: where it happens.
    ///   - renews: whether subscriptions renew, too.
    ///   - patience: how long the app goes on trying while the database is away.
    init(_ stage: Stage, renews: Bool = false, patience: Duration = .zero) {
        (self.stage, self.renews, self.patience) = (stage, renews, patience)
    }

    /// How many have bought something.
    var buyers: Int { sales.count }

    /// Somebody who has bought something; nil at the very beginning.
    func anybody(using generator: inout SeededGenerator) -> String? {
        sales.keys.sorted().randomElement(using: &generator)
    }

    // MARK: What happens

    /// A few things happen in the stores, and the app does its part.
    mutating func turn(using generator: inout SeededGenerator) async throws {
        try await sell(using: &generator)
        try await refund(using: &generator)
        if renews { try await renew(using: &generator) }
        try await ask(using: &generator)
        try await answer()
        try await decide(using: &generator)
        try await announce(using: &generator)
    }

    private mutating func sell(using generator: inout SeededGenerator) async throws {
        for store in ["apple", "google", "amazon"] {
            let made = try await stage.buy(store, count: .random(in: 1...4, using: &generator))
            let before = sales.count
            for (index, purchase) in made.enumerated() {
                sales["u-\(before + index)"] = Sale(made: purchase, store: store)
                expected["u-\(before + index)"] = ["grant monthly purchased"]
            }
            try await patiently { try await stage.submit(made, store) { "u-\(before + $0)" } }
        }
    }

    /// Does what may be done twice until the database has done it once.
    private func patiently<Value>(_ act: () async throws -> Value) async throws -> Value {
        let deadline = ContinuousClock.now + patience
        while true {
            do {
                return try await act()
            } catch let error as PostgresError {
                switch error {
                case .unreachable, .commitUnknown, .conflict, .overloaded: break
                case .rejected, .decoding, .cancelled: throw error
                }
                guard ContinuousClock.now < deadline else { throw error }
                await Poll.pause(.milliseconds(100))
            }
        }
    }

    /// Those who have access and about whom nothing else is going on.
    private func calm() async throws -> [String] {
        let granted = try await patiently {
            try await stage.value(
                "SELECT string_agg(user_id, ' ') FROM renewald.entitlements WHERE active")
        }
        return granted.split(separator: " ").map(String.init).sorted().filter { user in
            sales[user].map { !$0.isOver && !$0.hasRenewed && $0.review == nil } ?? false
        }
    }

    private mutating func refund(using generator: inout SeededGenerator) async throws {
        let users = try await calm().shuffled(using: &generator)
        for user in users.prefix(.random(in: 0...3, using: &generator)) {
            guard let sale = sales[user] else { continue }
            try await stage.act(sale.made, "refund")
            sales[user]?.isOver = true
            expected[user]?.append("revoke monthly refunded")
            try await sweep(user, sale)
        }
    }

    private mutating func renew(using generator: inout SeededGenerator) async throws {
        let users = try await calm().shuffled(using: &generator)
        for user in users.prefix(.random(in: 0...2, using: &generator)) {
            guard let sale = sales[user] else { continue }
            try await stage.act(sale.made, "renew")
            sales[user]?.hasRenewed = true
            expected[user]?.append("notice renewed")
            try await sweep(user, sale)
        }
    }

    /// Of Amazon nothing is heard before the next sweep.
    private func sweep(_ user: String, _ sale: Sale) async throws {
        guard sale.store == "amazon" else { return }
        _ = try await patiently {
            try await stage.database.query(
                PostgresStatement(
                    """
                    UPDATE renewald.schedule SET due_at = now()
                    WHERE id = (SELECT id FROM renewald.purchases WHERE user_id = $1)
                    """, [.text(user)]))
        }
    }

    private struct Question: Decodable {
        let id: Int
    }

    private mutating func ask(using generator: inout SeededGenerator) async throws {
        let users = try await calm().filter { sales[$0]?.store != "amazon" }
            .shuffled(using: &generator)
        for user in users.prefix(.random(in: 0...2, using: &generator)) {
            guard let sale = sales[user] else { continue }
            let reason = sale.store == "apple" ? "UNINTENDED_PURCHASE" : "7"
            let reply = try await stage.control(
                "refunds", #"{"purchase":\#(sale.made.id),"reason":"\#(reason)"}"#)
            sales[user]?.review = try JSONDecoder().decode(Question.self, from: reply).id
            expected[user]?.append("notice refund_requested")
        }
    }

    /// The app answers whatever is open.
    func answer() async throws {
        try await patiently {
            try await stage.script(
                """
                SELECT renewald.answer_refund(id, 'decline') FROM renewald.refund_requests
                WHERE state = 'open' AND answer IS NULL
                """)
        }
    }

    /// The stores decide about some of what was answered.
    private mutating func decide(using generator: inout SeededGenerator) async throws {
        let answered = try await patiently {
            try await stage.value(
                """
                SELECT string_agg(user_id, ' ') FROM renewald.refund_requests
                WHERE state = 'answered'
                """)
        }
        let users = answered.split(separator: " ").map(String.init).sorted()
            .filter { sales[$0]?.isOver == false }.shuffled(using: &generator)
        for user in users.prefix(.random(in: 0...1, using: &generator)) {
            guard let sale = sales[user], let review = sale.review else { continue }
            let isGranted = Bool.random(using: &generator)
            let outcome = isGranted ? "refunded" : "declined"
            try await stage.control("refunds/\(review)/decide", #"{"outcome":"\#(outcome)"}"#)
            sales[user]?.isOver = true
            if isGranted {
                expected[user]?.append("revoke monthly refunded")
            } else if sale.store == "apple" {
                expected[user]?.append("notice refund_declined")
            }
        }
    }

    private mutating func announce(using generator: inout SeededGenerator) async throws {
        for (store, source, type) in [
            ("apple", "apple", "RESCIND_CONSENT"), ("apple", "apple", "DREAM"),
            ("google", "pubsub", "dreamNotification"),
        ] where Bool.random(using: &generator) {
            try await stage.control(
                "announcements", #"{"store":"\#(store)","type":"\#(type)"}"#)
            announced["\(source) \(type)", default: 0] += 1
        }
    }

    // MARK: What came of it

    /// Compares what was told, answered and recorded with what should be.
    func tally() async throws -> KillTally {
        var tally = KillTally()
        let stories = try await stage.database.query(
            PostgresStatement(
                """
                SELECT coalesce(user_id, '') AS user_id,
                    concat_ws(' ', kind, entitlement, reason) AS line
                FROM renewald.events ORDER BY id
                """))
        var told: [String: [String]] = [:]
        for row in stories.rows {
            told[try row.text("user_id"), default: []].append(try row.text("line"))
        }
        for user in Set(told.keys).union(expected.keys) {
            let (heard, right) = (told[user] ?? [], expected[user] ?? [])
            tally.compare(user, told: heard, expected: right)
            if heard.sorted() == right.sorted(), heard != right {
                throw StageFailure("\(user) was told \(heard), in the wrong order")
            }
        }
        try await compareNews(&tally)
        try await compareAnswers(&tally)
        return tally
    }

    private func compareNews(_ tally: inout KillTally) async throws {
        let counts = try await stage.database.query(
            PostgresStatement("SELECT source, type, count FROM renewald.unhandled_news"))
        var recorded: [String: Int] = [:]
        for row in counts.rows {
            let name = "\(try row.text("source")) \(try row.text("type"))"
            recorded[name] = Int(try row.int64("count"))
        }
        for name in Set(recorded.keys).union(announced.keys) {
            tally.note(
                "news \(name)", found: recorded[name] ?? 0, expected: announced[name] ?? 0)
        }
    }

    private struct Reviews: Decodable {
        struct Reply: Decodable { let body: String }
        struct Review: Decodable {
            let id: Int
            let replies: [Reply]
        }
        let refunds: [Review]
    }

    /// Google keeps the first answer: it must not hear a second one, and where it may have none the
    /// row says so. Apple may hear the same again.
    private func compareAnswers(_ tally: inout KillTally) async throws {
        let reviews = try JSONDecoder().decode(
            Reviews.self, from: await stage.control("refunds", nil)
        ).refunds
        let bodies = Dictionary(uniqueKeysWithValues: reviews.map { ($0.id, $0.replies) })
        let rows = try await stage.database.query(
            PostgresStatement(
                """
                SELECT coalesce(user_id, '') AS user_id, state, problem IS NOT NULL AS is_uncertain
                FROM renewald.refund_requests
                """))
        var noted: [String: (state: String, isUncertain: Bool)] = [:]
        for row in rows.rows {
            noted[try row.text("user_id")] = (try row.text("state"), try row.bool("is_uncertain"))
        }
        for (user, sale) in sales {
            guard let review = sale.review else { continue }
            let replies = bodies[review] ?? []
            guard let (state, isUncertain) = noted[user], state != "open" else {
                tally.note("answer about \(user), which is not noted", found: 0, expected: 1)
                continue
            }
            // The store may have none of an answer of which that is not known.
            let isExcused = sale.store == "google" && isUncertain && replies.isEmpty
            let different = sale.store == "google" ? replies.count : Set(replies.map(\.body)).count
            tally.note(
                "\(state) answer about \(user) at \(sale.store)", found: different,
                expected: isExcused ? 0 : 1)
        }
    }
}
