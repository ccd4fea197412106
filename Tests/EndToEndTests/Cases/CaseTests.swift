import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// Every life of the tables is lived at once, ninety-four days long: through the simulated stores,
/// the real daemon and a real database. The simulator's truth has the last word.
@Suite(.serialized)
struct CaseTests {
    /// Chosen so that no period of any life ends on the last day.
    private static let days = 94
    private static let cases = LifeCase.apple + LifeCase.google + LifeCase.amazon

    @Test func tellsEveryLife() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            try stage.configure(Self.products)
            _ = try stage.daemon()
            var lives: [Life] = []
            for one in Self.cases {
                let made = try await stage.buy(
                    one.store, product: one.product, terms: Self.terms(of: one))[0]
                let token =
                    one.form == "token"
                    ? made.token : try await stage.receipt(of: made, style: one.form)
                try await stage.submit(made, token: token, one.store, for: one.user)
                lives.append(Life(purchase: made))
            }
            try await Self.settle(stage)
            for day in 1...Self.days {
                try await stage.pass("P1D")
                for index in lives.indices {
                    for deed in Self.cases[index].deeds where deed.day == day {
                        try await lives[index].live(deed, Self.cases[index], on: stage)
                    }
                }
                try await Self.settle(stage)
            }
            for (one, life) in zip(Self.cases, lives) {
                let told = try await stage.story(of: one.user)
                let dates = try await stage.dates(of: one.user)
                #expect(told == one.story, "\(one.name), told on \(dates)")
                let truth = try await stage.entitledProducts(of: life.purchase)
                let held = try await stage.entitlements(of: one.user)
                #expect(held == truth.subtracting(["coins"]), "\(one.name)")
            }
        }
    }

    /// One user's purchase; the newest link of its chain.
    private struct Life {
        var purchase: Stage.Made
        var successor: Stage.Made?

        mutating func live(_ deed: LifeCase.Deed, _ one: LifeCase, on stage: Stage) async throws {
            if deed.name == "submit" {
                guard let successor else { throw StageFailure("\(one.title): nothing is new") }
                purchase = successor
                try await stage.submit(purchase, one.store, for: one.user)
            } else {
                successor = try await stage.act(purchase, making: deed.name, deed.body)
            }
        }
    }

    /// Waits until nothing is due.
    private static func settle(_ stage: Stage) async throws {
        try await stage.wait(within: .seconds(60)) {
            try await stage.value(
                "SELECT count(*) FROM renewald.schedule WHERE due_at <= now()") == "0"
        }
    }

    /// More members of the purchase, without the brackets.
    private static func terms(of one: LifeCase) -> String {
        String(one.terms.dropFirst().dropLast())
    }

    private static let products = """
        [engine]
        poll = "PT0.1S"

        [[product]]
        id = "pass30"
        kind = "non_renewing"
        duration = "P30D"

        [[product]]
        id = "book"
        kind = "non_consumable"

        [[product]]
        id = "coins"
        kind = "consumable"
        """
}

extension Stage {
    private struct Deed: Decodable {
        let replacement: Made?
    }

    /// Does something that may make a new purchase.
    func act(
        _ purchase: Made, making action: String, _ body: String
    ) async throws -> Made? {
        let made = try JSONDecoder().decode(
            Deed.self, from: await control("purchases/\(purchase.id)/\(action)", body)
        ).replacement
        if let made { plant([made.token]) }
        return made
    }

    /// The days of a user's events.
    fileprivate func dates(of user: String) async throws -> String {
        try await value(
            "SELECT string_agg(created_at::date::text, ' ' ORDER BY id) "
                + "FROM renewald.events WHERE user_id = $1", [.text(user)])
    }

    private struct Truth: Decodable {
        let entitled_products: [String]
    }

    /// What the simulator knows.
    fileprivate func entitledProducts(of purchase: Made) async throws -> Set<String> {
        let truth = try JSONDecoder().decode(
            Truth.self, from: await control("purchases/\(purchase.id)", nil))
        return Set(truth.entitled_products)
    }

    func entitlements(of user: String) async throws -> Set<String> {
        let held = try await value(
            "SELECT string_agg(entitlement, ' ') FROM renewald.entitlements "
                + "WHERE user_id = $1 AND renewald.has(user_id, entitlement)", [.text(user)])
        return Set(held.split(separator: " ").map(String.init))
    }
}
