import Foundation
import TestSupport
import Testing

/// A fleet lives for a year, under rules that change; then every decision of that year is made once
/// more (design rule 14).
@Suite(.serialized)
struct ReplayTests {
    private struct Sold: Decodable {
        let id: Int
        let user: String
        let store: String
        let product: String
        let token: String
        let store_user_id: String?
        let state: String
        let entitled: Bool

        var made: Stage.Made {
            Stage.Made(id: id, token: token, store_user_id: store_user_id, product: product)
        }
    }

    private struct Truth: Decodable {
        let purchases: [Sold]
    }

    private struct Replayed: Decodable {
        let decided: Int
        let different: Int
    }

    private static let kinds = """
        [[product]]
        id = "lifetime"
        kind = "non_consumable"

        [[product]]
        id = "coins"
        kind = "consumable"

        [[product]]
        id = "season"
        kind = "non_renewing"
        duration = "P90D"

        """
    /// Between two passes: never the same hour again.
    private static let stride = "P13DT7H"
    private static let passes = 29

    @Test func aYearIsDecidedAgainAsItWas() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            try await live(stage)
            let lived = try await stage.value(
                """
                SELECT count(*) FILTER (WHERE record IS NOT NULL) || ' '
                    || (max(at) - min(at) > interval '360 days') || ' ' || count(DISTINCT policy)
                FROM renewald.evidence
                """
            ).split(separator: " ")
            let reasons = try await stage.value(
                "SELECT count(DISTINCT (kind, reason)) FROM renewald.events")
            #expect(lived.count == 3 && lived[1...] == ["true", "3"], "\(lived)")
            #expect(try #require(Int(reasons)) >= 12, "the year had few turns: \(reasons)")

            let same = try await stage.renewald("replay", "--since", "2025-12-31", "--json")
            #expect(same.exit == .code(0), "\(same.standardOutput)")
            let replayed = try read(same)
            #expect(replayed.different == 0)
            #expect(replayed.decided == Int(lived[0]) && replayed.decided > 500, "\(replayed)")

            try await stage.script(
                """
                UPDATE renewald.policy SET rules = jsonb_set(rules, '{policy,grace}', '"revoke"')
                WHERE rules -> 'policy' ->> 'grace' = 'keep'
                """)
            let other = try await stage.renewald("replay", "--since", "2025-12-31", "--json")
            #expect(other.exit == .code(65))
            let found = try read(other)
            #expect(found.decided == replayed.decided)
            #expect(found.different > 0 && found.different < replayed.decided / 4, "\(found)")
        }
    }

    private func read(_ ended: Stage.Ended) throws -> Replayed {
        try JSONDecoder().decode(Replayed.self, from: Data(ended.standardOutput.utf8))
    }

    /// People buy, cancel, fail to pay and get refunds in three stores; each store has bad nights,
    /// and the operator changes his mind twice.
    private func live(_ stage: Stage) async throws {
        try stage.configure(Self.kinds)
        _ = try await stage.control(
            "fleet", #"{"count":200,"seed":5,"start":"2026-01-01T00:00:00Z","days":365}"#)
        var known: Set<Int> = []
        for pass in 1...Self.passes {
            try await stage.pass(Self.stride)
            let truth = try JSONDecoder().decode(
                Truth.self, from: await stage.control("truth", nil))
            for sold in truth.purchases where !known.contains(sold.id) {
                // What is sold later is in force already, and entitles nobody.
                guard sold.entitled || sold.state != "active" else { continue }
                known.insert(sold.id)
                try await stage.submit(sold.made, sold.store, for: sold.user)
            }
            switch pass {
            case 10: try stage.configure(Self.kinds + "[policy]\ngrace = \"revoke\"\n")
            case 18: try stage.configure(Self.kinds + "[policy]\nrefund = \"period_end\"\n")
            default: break
            }
            if pass.isMultiple(of: 5) { try await stage.fault(#"{"kind":"html"}"#) }
            let once = try await stage.renewald("once")
            // Not of everybody there is a verdict each time: some are asked about once more.
            #expect([.code(0), .code(75)].contains(once.exit), "\(once.standardError)")
            try await stage.clearFaults()
        }
    }
}
