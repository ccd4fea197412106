import TestSupport
import Testing

@testable import Renewal

/// What a user may be offered: the last paragraph of design section 4.
@Suite struct OfferTests {
    /// Known of A, known of B, then: introductory, promotional, reason.
    static let table = TestSupport.rows(
        """
        A                       B                           introductory  promotional  reason
        new                     -                           -    -    -
        pending never           -                           yes  no   never_subscribed
        active 30               -                           no   yes  subscribed
        active 30 trial         -                           no   yes  subscribed
        active 30 used          -                           no   yes  introductory_used
        grace 30                -                           no   yes  subscribed
        hold 30                 -                           yes  yes  lapsed
        expired 30              -                           yes  yes  lapsed
        expired 30 used         -                           no   yes  introductory_used
        expired 30 never        -                           yes  yes  lapsed
        hold 30 never           -                           yes  yes  lapsed
        refunded 30 never       -                           yes  yes  lapsed
        refunded 30 used        -                           no   yes  introductory_used
        expired 30 used         active 60                   no   yes  introductory_used
        expired 30              active 60                   no   yes  subscribed
        expired 30              active 60 product=gold_month  yes  yes  lapsed
        superseded 30           active 60                   no   yes  subscribed
        superseded 30 never     -                           -    -    -
        active 30 used sandbox  expired 60                  yes  yes  lapsed
        active 30 used sandbox  -                           no   yes  introductory_used
        active product=lifetime  -                          -    -    -
        active 30 used product=coins  -                     -    -    -
        """)

    @Test(arguments: table)
    func offersAsTheTableSays(_ row: [String]) throws {
        var book = try Self.book(row)
        let changes = book.reviseOffers(keeping: true, at: TestCalendar.start)
        let offer = book.offers.first { $0.key.group == "pro_month" }?.value
        #expect(Self.words(offer) == Array(row[2...]))
        #expect(changes.count == book.offers.count)
        let again = book.reviseOffers(keeping: true, at: .never)
        #expect(again.isEmpty, "nothing new, nothing to write")
    }

    @Test func aGroupOfTheStoreHoldsItsProductsTogether() throws {
        var book = try Self.book(["active 30 group=21", "expired 9 used product=pro_year group=21"])
        _ = book.reviseOffers(keeping: true, at: TestCalendar.start)
        #expect(book.offers.keys.map(\.group) == ["21"])
        #expect(Self.words(book.offers.values.first) == ["no", "yes", "introductory_used"])
    }

    @Test func whatWasUsedInAGroupThatWasLeftStaysUsed() throws {
        var stage = try RenewalTests.Stage(Story(head: "a change | active 30"))
        _ = try stage.hear("active 30 trial", at: "1")
        _ = try stage.hear("active 60 product=gold_month", at: "30")
        let offers = Dictionary(
            uniqueKeysWithValues: stage.book.offers.map { ($0.key.group, Self.words($0.value)) })
        #expect(
            offers == [
                "pro_month": ["no", "yes", "introductory_used"],
                "gold_month": ["no", "yes", "introductory_used"],
            ])
    }

    @Test func forgetsAllWhenOffersAreOff() throws {
        var book = try Self.book(["active 30", "-"])
        _ = book.reviseOffers(keeping: true, at: TestCalendar.start)
        let changes = book.reviseOffers(keeping: false, at: TestCalendar.start)
        #expect(changes.values.contains { $0 == nil } && book.offers.isEmpty)
    }

    private static func book(_ row: [String]) throws -> UserPurchases {
        let purchases = try zip([Int64(1), 2], row.prefix(2)).filter { $0.1 != "-" }.map {
            try KnownWords($0.1).purchase(id: $0.0)
        }
        return UserPurchases(
            userID: "user", version: 1,
            purchases: purchases.map { UserPurchases.Entry(purchase: $0, version: 1) },
            entitlements: [])
    }

    private static func words(_ offer: Offer?) -> [String] {
        guard let offer else { return ["-", "-", "-"] }
        return [
            offer.introductoryEligible ? "yes" : "no", offer.promotionalEligible ? "yes" : "no",
            offer.reason.rawValue,
        ]
    }

    /// For readers.
    static let page: String = {
        var page = """

            ## Offers

            What `renewald.offers` says of the group of A. A group is the store's own (Apple),
            elsewhere the product. `used`: a trial or an introductory offer was used in it, ever.

            | A | B | introductory | promotional | reason |
            | --- | --- | --- | --- | --- |

            """
        for row in table {
            let cells = row.enumerated().map { $0 == 0 || $0 == 1 && $1 != "-" ? "`\($1)`" : $1 }
            page += "| " + cells.joined(separator: " | ") + " |\n"
        }
        return page
    }()
}
