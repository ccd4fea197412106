import Curl
import Foundation
import Renewal
import Testing

@testable import Stores

/// Voided purchases: what is asked, and what is made of the answers.
struct GoogleHintTests {
    private static let now = GoogleFixture.now
    private static let voided =
        "GET /androidpublisher/v3/applications/com.example.reader/purchases/voidedpurchases?"
    private static let options = "&type=1&includeQuantityBasedPartialRefund=true"

    /// Now is 1771588800000; a thousand seconds are 1000000.
    private static let oldest = "startTime=1768997400000"

    @Test func beginsThirtyDaysBack() async throws {
        let world = GoogleFixture.world { _ in .json("{}") }
        let page = try await GoogleFixture.store(world).voidedHints(after: nil, at: Self.now)
        #expect(world.calls == [Self.voided + Self.oldest + Self.options])
        #expect(page == HintPage(hints: [], position: "1771588800000"))
    }

    @Test(arguments: [
        ("1771585200000", "startTime=1771563600000"), ("1700000000000", oldest),
        ("nonsense", oldest), ("", oldest), ("- x y", oldest), ("-", oldest),
    ])
    func goesOnBeforeTheLastSweep(position: String, query: String) async throws {
        let world = GoogleFixture.world { _ in .json("{}") }
        let page = try await GoogleFixture.store(world).voidedHints(after: position, at: Self.now)
        #expect(world.calls == [Self.voided + query + Self.options])
        #expect(page.position == "1771588800000")
        #expect(!page.hasMore)
    }

    @Test func turnsPagesAndKeepsTheTimeAtWhichTheSweepBegan() async throws {
        let world = GoogleFixture.world { request in
            request.url.contains("token=")
                ? .json(
                    #"""
                    {"voidedPurchases":[{"purchaseToken":"c","orderId":"GPA.3",
                    "voidedTimeMillis":"1770000000000","voidedSource":"2","voidedReason":"7"}]}
                    """#)
                : .json(
                    #"""
                    {"tokenPagination":{"nextPageToken":"Cg wI+page2&x"},"voidedPurchases":[
                    {"purchaseToken":"a","orderId":"GPA.1..0","voidedTimeMillis":"1771588800000",
                    "voidedReason":1},{"purchaseToken":"b","orderId":"GPA.2","voidedQuantity":2,
                    "voidedTimeMillis":1771588860000,"voidedReason":99},{"orderId":"GPA.9"},
                    {"purchaseToken":""},{"purchaseToken":"\u0000"},null,{"purchaseToken":7},
                    {"purchaseToken":"c","orderId":8,"voidedTimeMillis":"soon"},
                    {"purchaseToken":"d"}]}
                    """#)
        }
        let store = try GoogleFixture.store(world)
        let first = try await store.voidedHints(after: "1771585200000", at: Self.now)
        let voids = [1_771_588_800_000_000, 1_771_588_860_000_000].map(
            Timestamp.init(microsecondsSinceEpoch:))
        #expect(
            first.hints.dropLast(2) == [
                Hint(
                    id: "google voided GPA.1..0 1771588800000 all", subject: .token("a"),
                    clue: .refund(of: "GPA.1..0"), happenedAt: voids[0]),
                Hint(
                    id: "google voided GPA.1..0 1771588800000 all why", subject: .token("a"),
                    clue: .void(of: "GPA.1..0", source: "unknown", reason: "remorse"),
                    happenedAt: voids[0]),
                Hint(
                    id: "google voided GPA.2 1771588860000 2", subject: .token("b"),
                    clue: .revoked(news: "google voided GPA.2 1771588860000 2"),
                    happenedAt: voids[1]),
                Hint(
                    id: "google voided GPA.2 1771588860000 2 why", subject: .token("b"),
                    clue: .void(of: "GPA.2", source: "unknown", reason: "99"), happenedAt: voids[1]),
            ])
        // Of two of them the purchase can be read, and nothing else.
        for (hint, name) in zip(
            first.hints.suffix(2), ["c 2e7d2c03a9507ae2", "d 18ac3e7343f01689"])
        {
            let words = name.split(separator: " ").map(String.init)
            let id = NewsID("google voided ~\(words[1]) - all")
            let subject = Hint.Subject.token(StoreToken(words[0]))
            #expect(hint == Hint(id: id, subject: subject, clue: .revoked(news: id)))
        }
        #expect(first.hasMore)
        #expect(first.skipped == 5)
        let later = Self.now + .minutes(3)
        let second = try await store.voidedHints(after: first.position, at: later)
        #expect(second.hints.first?.id == "google voided GPA.3 1770000000000 all")
        #expect(
            second.hints.last?.clue == .void(of: "GPA.3", source: "store", reason: "chargeback"))
        #expect(!second.hasMore)
        #expect(second.position == "1771588800000")
        #expect(
            world.calls.last == Self.voided + "token=Cg%20wI%2Bpage2%26x" + Self.options)
    }

    @Test func beginsTheSweepAnewWhenAPageIsNotKnownAnyMore() async throws {
        let world = GoogleFixture.world { _ in .json("{}", status: 400) }
        let store = try GoogleFixture.store(world)
        let page = try await store.voidedHints(
            after: "1771585200000 1771588000000 gone", at: Self.now)
        #expect(page == HintPage(hints: [], position: "1771585200000"))
        await #expect(throws: StoreFailure.refused(reason: "status 400")) {
            try await store.voidedHints(after: page.position, at: Self.now)
        }
    }

    @Test(arguments: [
        (403, "refused"), (429, "throttled -"), (503, "unreachable"), (200, "malformed body"),
        (404, "refused"), (410, "malformed status 410"),
    ])
    func saysWhyThereAreNoHints(status: Int, heard: String) async throws {
        let world = GoogleFixture.world { _ in .json("<html>", status: status) }
        let store = try GoogleFixture.store(world)
        do throws(StoreFailure) {
            _ = try await store.voidedHints(after: nil, at: Self.now)
            Issue.record("no failure")
        } catch {
            #expect(summary(error) == heard)
        }
    }

    @Test(arguments: [
        ("1771585200000 1771588000000 a b c", true), ("- 1771588000000 x", true),
        ("1771585200000", true), ("1771585200000 1771588000000", false), ("x y z", false),
        ("1771585200000 x z", false), ("99999999999999999999", false), (" ", false),
    ])
    func readsThePlacesItWrites(text: String, isPlace: Bool) {
        #expect(VoidedPlace(text)?.text == (isPlace ? text : nil))
    }
}
