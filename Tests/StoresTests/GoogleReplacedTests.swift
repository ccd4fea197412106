import Curl
import Renewal
import Testing

@testable import Stores

/// What another purchase has replaced, with what was beside it.
@Suite struct GoogleReplacedTests {
    private static let token = "the-old-token"

    /// What was beside a replaced subscription waits like it, unless it was taken back.
    @Test(
        arguments: [
            ([], ["plus", "gold"]), ([Clue.refund(of: "GPA.2")], ["plus"]),
            ([Clue.refund(of: "GPA.3")], ["plus", "gold"]), ([Clue.revoked(news: "7")], ["plus"]),
        ] as [(Set<Clue>, [ProductID])])
    func whatWasTakenBackBesideTheReplacedDoesNotWait(
        _ clues: Set<Clue>, _ products: [ProductID]
    ) async throws {
        let end = try #require(CalendarTime.timestamp(rfc3339: "2026-03-15T10:20:28Z"))
        let held = ["plus", "gold"].map {
            Holding(entitlement: EntitlementID($0), product: ProductID($0), expiresAt: end)
        }
        var bought = purchase(
            .google, token: Self.token, state: .active, access: .granted, holdings: held
        ) {
            ($0.kind, $0.orderID, $0.originalID) = (.autoRenewable, "GPA.1", "GPA.1")
            ($0.period, $0.paidThrough, $0.expiresAt) = ("GPA.1", end, end)
        }
        bought.clues = clues
        let item = #""expiryTime":"2026-02-20T11:00:00Z","latestSuccessfulOrderId""#
        let replaced = merged(
            orEmpty: GoogleObservationTests.base,
            #"""
            {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED","latestOrderId":"GPA.1",
            "canceledStateContext":{"replacementCancellation":{}},
            "lineItems":[{"productId":"plus",\#(item):"GPA.1"},
            {"productId":"gold",\#(item):"GPA.2"}]}
            """#)
        let world = GoogleFixture.world { request in
            request.url.contains("/orders")
                ? .json("{}", status: 403) : .json(String(decoding: replaced, as: UTF8.self))
        }
        let answer = await (try GoogleFixture.store(world)).ask(bought, at: GoogleFixture.now)
        guard case .verdict(let heard) = answer else {
            Issue.record("\(summary(answer))")
            return
        }
        #expect(heard.items.compactMap(\.names.last) == products)
        #expect(heard.lostParts.contains(.refunded) == (products.count != 2))
    }
}
