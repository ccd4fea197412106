import Renewal
import TestSupport
import Testing

/// What identifies is compared by its bytes, as PostgreSQL does, and a secret is never shown.
@Suite struct IdentityTests {
    /// The same to `String`, and two texts to PostgreSQL.
    static let pairs = [
        ("jos\u{E9}", "jose\u{301}"), ("K1", "\u{212A}1"), ("\u{C5}", "\u{212B}"),
        ("a\u{323}\u{307}", "a\u{307}\u{323}"), ("\u{AC00}", "\u{1100}\u{1161}"),
    ]

    @Test(arguments: pairs)
    func differsWhereTheBytesDo(_ left: String, _ right: String) {
        #expect(left == right, "a pair that String tells apart shows nothing")
        #expect(UserID(left) != UserID(right) && UserID(left) == UserID(left))
        #expect(Set([UserID(left), UserID(right), UserID(left)]).count == 2)
        #expect([ProductID(left): 1, ProductID(right): 2].count == 2)
        #expect(
            AppKey(store: .google, id: AppID(left)) != AppKey(store: .google, id: AppID(right)))
        #expect(Clue.refund(of: OrderID(left)) != .refund(of: OrderID(right)))
        #expect(Hint.Subject.token(StoreToken(left)) != .token(StoreToken(right)))
        #expect(Facts(product: ProductID(left)) != Facts(product: ProductID(right)))
        #expect((UserID(left) < UserID(right)) != (UserID(right) < UserID(left)))
    }

    /// `COLLATE "C"`: U+FFFF comes before U+10000, which UTF-16 would turn round.
    @Test func isInTheOrderOfItsBytes() {
        let sorted: [EntitlementID] = [
            "", "A", "Z", "a", "aa", "e\u{301}", "\u{E9}", "\u{FFFF}", "\u{10000}",
        ]
        #expect(sorted.shuffled().sorted() == sorted)
    }

    @Test(arguments: pairs)
    func aCatalogKnowsAProductByItsBytes(_ left: String, _ right: String) {
        let catalog = Catalog([
            ProductID(left): .init(kind: .autoRenewable, entitlements: [EntitlementID(left)])
        ])
        #expect(catalog.product(named: [ProductID(left)]) != nil)
        #expect(catalog.product(named: [ProductID(right)]) == nil)
        let granted = catalog.entitlements(named: [ProductID(right)], kind: .autoRenewable)
        #expect(granted == [EntitlementID(right)])
    }

    /// One purchase with two such entitlements gives both.
    @Test(arguments: pairs)
    func holdsEachEntitlementOfAPair(_ left: String, _ right: String) throws {
        let names = [EntitlementID(left), EntitlementID(right)]
        let catalog = Catalog(["one": .init(kind: .autoRenewable, entitlements: names)])
        let now = TestCalendar.start
        let purchase = Purchase(
            id: 1, userID: "user", app: AppKey(store: .google, id: "app"), token: "token",
            createdAt: now, facts: Facts(product: "one"))
        let claim = Claim(
            purchase: purchase, shard: 0, lane: 0, dueAt: now, version: 1, attempts: 0,
            crashes: 0, checkedAt: nil, claimedAt: now)
        let answer = Observation(
            environment: .production, status: .active,
            items: [Item(names: ["one"], expiresAt: nil)], paidThrough: now + .days(30))
        let outcome = decide(
            claim, hearing: .verdict(answer), at: Moment(now: now, jitter: 0.5),
            under: Rules(catalog: catalog))
        #expect(outcome.facts.holdings.map(\.entitlement) == names)
        var book = UserPurchases(
            userID: "user", version: 1, purchases: [.init(purchase: purchase, version: 1)],
            entitlements: [])
        let settlement = book.settle(outcome, at: now)
        #expect(Set(settlement.events.compactMap(\.entitlement)) == Set(names))
        #expect(book.entitlements.count == 2)
    }

    /// A blank and a mark that joins it are one `Character`, and two pieces of the text.
    @Test(arguments: ["GPA.1..2", "\u{301}x", "a b"])
    func aClueReadsWhatItHasWritten(_ order: String) {
        for clue in [
            Clue.refund(of: OrderID(order)), .pause(news: NewsID(order)),
            .void(of: OrderID(order), source: "store", reason: "99"),
        ] {
            #expect(Clue(text: clue.text) == clue)
        }
    }

    @Test func neverShowsAToken() {
        let token: StoreToken = "planted"
        let purchase = Purchase(
            id: 1, userID: "user", app: AppKey(store: .apple, id: "app"), token: token,
            createdAt: TestCalendar.start, facts: Facts(product: "one"))
        var dumped = ""
        dump(purchase, to: &dumped)
        for text in ["\(token)", "\(purchase)", String(reflecting: purchase), dumped] {
            #expect(!text.contains("planted"))
            #expect(text.contains("***"))
        }
    }
}
