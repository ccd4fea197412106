import Renewal
import TestSupport

/// Where a customer buys, and by which interface we ask about it.
enum Realm: String, Hashable, Sendable, CaseIterable {
    case apple
    /// Apple's receipts, asked about by verifyReceipt alone.
    case receipts
    case googleV2 = "google v2"
    case googleV1 = "google v1"
    case amazon
    /// Products that are sold once.
    case appleProducts = "apple products"
    case googleProducts = "google products"
    case googleProductsV1 = "google products v1"
    case amazonProducts = "amazon products"

    var store: Store {
        switch self {
        case .apple, .receipts, .appleProducts: .apple
        case .googleV2, .googleV1, .googleProducts, .googleProductsV1: .google
        case .amazon, .amazonProducts: .amazon
        }
    }

    var isApple: Bool { store == .apple }
    var isGoogle: Bool { store == .google }

    /// Whether lives are about products that are sold once.
    var sellsOnce: Bool {
        switch self {
        case .appleProducts, .googleProducts, .googleProductsV1, .amazonProducts: true
        case .apple, .receipts, .googleV2, .googleV1, .amazon: false
        }
    }

    /// What the purchase of a link is submitted with.
    func token(of link: Int) throws -> StoreToken {
        switch self {
        case .apple, .appleProducts: "42000101010100\(link)"
        // A receipt has all of its customer's subscriptions.
        case .receipts: StoreToken(try AppleTokens.token("receipt"))
        case .googleV2, .googleV1, .googleProducts, .googleProductsV1:
            "token-\(Realm.letter(of: link))"
        case .amazon, .amazonProducts: "Zk3v\(Realm.letter(of: link))=:3:11"
        }
    }

    /// Which purchase a link is submitted as.
    func purchase(of link: Int) -> Int { self == .receipts ? 1 : link }

    static func letter(of link: Int) -> String {
        String(UnicodeScalar(UInt8(64 + link)))
    }
}

/// What differs between apps, products and days of a store, drawn once for each life.
struct Terms: Hashable, Sendable {
    /// How long access goes on after a declined renewal.
    var grace: Duration
    /// How long the store collects after that.
    var hold: Duration
    /// Apple renews so long before the end.
    var early: Duration
    /// The store shows a renewal so late.
    var late: Duration
    /// Google: whether the silent first day after a declined renewal moves the expiry.
    var silentMoves: Bool
    /// Google: whether the last order is named, be it paid or not.
    var namesLatest: Bool
    /// Amazon: whether the end of the term is shown with auto-renew off.
    var offKeepsDate: Bool
    /// Apple: whether turning renewal off in grace ends it at once.
    var cancelEndsGrace: Bool
    /// The database's clock goes so far ahead of the store's.
    var ahead: Duration
    /// The store's news of a refund comes so long before its answers show it.
    var refundShownAfter: Duration

    /// What is bought first.
    var product: String

    init(_ chance: inout SeededGenerator, in realm: Realm) {
        grace =
            switch realm.store {
            case .apple: chance.any([.zero, .days(3), .days(16), .days(28)])
            case .google: chance.any([.zero, .days(3), .days(7), .days(30)])
            case .amazon: chance.any([.zero, .days(3), .days(6)])
            }
        let hasDuration = realm.store != .amazon
        product =
            realm.sellsOnce
            ? chance.any(hasDuration ? ["lifetime", "pass30", "coins"] : ["lifetime", "coins"])
            : "plus"
        hold = .days(60) - grace
        early = chance.any([.zero, .hours(2), .hours(20)])
        late = chance.any([.zero, .zero, .minutes(10), .minutes(40)])
        silentMoves = chance.any([true, false])
        namesLatest = chance.any([true, false])
        offKeepsDate = chance.any([true, false])
        cancelEndsGrace = chance.any([true, false])
        ahead = chance.any([.zero, .zero, .zero, .zero, .minutes(10), .hours(1), .zero - .hours(1)])
        refundShownAfter = chance.any([.zero, .zero, .zero, .minutes(20), .hours(3)])
    }
}

extension SeededGenerator {
    mutating func any<Element>(_ choices: [Element]) -> Element {
        choices[Int.random(in: choices.indices, using: &self)]
    }

    /// Whether it happens, at so many of a hundred times.
    mutating func happens(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }
}

/// The products that lives are about, each a subscription of one group.
enum Wares {
    static func length(of product: String) -> Duration {
        switch product {
        case "plus_year": .days(365)
        case "lifetime", "coins": .days(36_500)
        default: .days(30)
        }
    }

    static func entitlement(of product: String) -> String {
        product == "plus_year" ? "plus" : product
    }
}
