import Renewal
import TestSupport
import Testing

@testable import Ledger

/// Simulated fleets live on a model of the ledger: what it does is what the statements do.
@Suite(.serialized) struct ModelTests {
    private static let products: [ProductID] = ["pro", "gold", "bundle"]

    private static func rules(floor: Int, _ chance: inout SeededGenerator) -> Rules {
        var rules = Rules()
        rules.catalog = Catalog([
            "bundle": .init(kind: .autoRenewable, entitlements: ["gold", "pro"])
        ])
        rules.policy.shared = any(Policy.Shared.allCases.filter { $0 != .allow }, &chance)
        rules.policy.refund = any(Policy.Refund.allCases, &chance)
        rules.policy.breaker.floor = floor
        rules.policy.breaker.window = any([.hours(1), .days(1)], &chance)
        rules.policy.breaker.release = any(BreakerPolicy.Release.allCases, &chance)
        return rules
    }

    /// With several limits of the breaker.
    @Test(arguments: [1, 2, 3, 20])
    func theModelDoesWhatTheStatementsDo(_ floor: Int) async throws {
        try await Self.compare(floor, Seeds.fresh())
    }

    /// In these one batch hands a purchase to another user, and a newer link of its chain takes it
    /// over.
    @Test(arguments: [15_094_751_150_288_790_016, 16_937_740_462_602_234_282] as [UInt64])
    func whatMovesIsTakenOverWhereItIsThen(_ seed: UInt64) async throws {
        try await Self.compare(1, seed)
    }

    private static func compare(_ floor: Int, _ seed: UInt64) async throws {
        try await Seeds.run(seed: seed) { chance in
            let both = try await SideBySide(under: Self.rules(floor: floor, &chance))
            var sold: [(token: String, product: ProductID)] = []
            var now: Timestamp?
            var (grants, revokes) = (0, 0)
            for _ in 0..<40 {
                try await Self.handIn(to: both, &sold, &chance)
                let claims = try await both.claims()
                let leap: Duration = Self.any(
                    [.minutes(3), .hours(2), .days(1), .days(9)], &chance)
                let time = (now ?? claims[0].real.claimedAt) + leap
                now = time
                let heard = claims.filter { _ in Self.draw(0.4, &chance) }.map { claim in
                    let answer = Self.answer(
                        about: claim.real.purchase, among: sold.map(\.token), at: time, &chance)
                    return (claim.real, claim.model, answer)
                }
                let report = try await both.commit(
                    heard, at: time, isReleasing: Self.draw(0.1, &chance))
                revokes += report.events.count(where: \.kind.isRevoke)
                grants += report.events.count { $0.kind.name == "grant" }
            }
            _ = try await both.claims()
            #expect(grants > 0 && revokes > 0)
            await both.stage.close()
        }
    }

    /// Some buy something, and some hand in what was handed in before.
    private static func handIn(
        to both: SideBySide, _ sold: inout [(token: String, product: ProductID)],
        _ chance: inout SeededGenerator
    ) async throws {
        if sold.isEmpty || sold.count < 14 && draw(0.5, &chance) {
            sold.append(("token \(sold.count)", any(products, &chance)))
            let (token, product) = sold[sold.count - 1]
            try await both.submit(any(SideBySide.users, &chance), token, product: product)
        }
        if draw(0.15, &chance) {
            let (token, product) = any(sold, &chance)
            try await both.submit(any(SideBySide.users, &chance), token, product: product)
        }
    }

    // MARK: Answers

    private static func answer(
        about purchase: Purchase, among tokens: [String], at now: Timestamp,
        _ chance: inout SeededGenerator
    ) -> Answer {
        switch Int.random(in: 0..<12, using: &chance) {
        case 0:
            .failure(any([.unreachable(reason: "time-out"), .rejected(reason: "400")], &chance))
        case 1: .doubt(any([.notFound, .gone], &chance))
        default: .verdict(observation(of: purchase, among: tokens, at: now, &chance))
        }
    }

    private static func observation(
        of purchase: Purchase, among tokens: [String], at now: Timestamp,
        _ chance: inout SeededGenerator
    ) -> Observation {
        let facts = purchase.facts
        let end = now + any([.minutes(20), .days(1), .days(30)], &chance)
        let status: SubscriptionStatus = any(
            [
                .active, .active, .active, .active, .grace(expiryMovedUnpaid: false), .hold,
                .ended(.userCancelled, at: nil), .ended(.periodEnded, at: nil),
                .refunded(at: now), .replaced(at: nil), .paused(until: end),
            ], &chance)
        var observation = Observation(
            environment: .production, status: status,
            items: [
                Item(
                    names: [draw(0.1, &chance) ? any(products, &chance) : facts.product],
                    expiresAt: nil)
            ])
        observation.paidThrough = facts.paidThrough
        observation.expiresAt = facts.expiresAt
        observation.period = facts.paidThrough.map { "until \($0)" }
        if status == .active, facts.paidThrough.map({ $0 <= now }) ?? true || draw(0.2, &chance) {
            observation.paidThrough = end
            observation.expiresAt = end
            observation.period = "until \(end)"
        }
        if case .grace = status { observation.expiresAt = end }
        observation.willRenew = any([nil, true, true, false], &chance)
        observation.statedAt = any([nil, now, now - .hours(1)], &chance)
        // A chain has one direction: the later purchase continues an earlier one.
        let earlier = tokens.prefix { $0 != purchase.token.text }
        if !earlier.isEmpty, draw(0.25, &chance) {
            observation.predecessorToken = StoreToken(any(Array(earlier), &chance))
        }
        return observation
    }

    private static func any<Element>(
        _ elements: [Element], _ chance: inout SeededGenerator
    ) -> Element {
        elements[Int.random(in: elements.indices, using: &chance)]
    }

    private static func draw(_ probability: Double, _ chance: inout SeededGenerator) -> Bool {
        Double.random(in: 0..<1, using: &chance) < probability
    }
}
