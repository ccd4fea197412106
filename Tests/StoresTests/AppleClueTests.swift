import Curl
import Renewal
import Testing

@testable import Stores

// Refunds that were heard of, and the age of what is signed.
extension AppleEnquiryTests {
    private static let current = "420001066677889"

    private func ask(
        _ answers: [String: String], heard order: String, with change: (inout Facts) -> Void
    ) async throws -> Observation {
        var purchase = purchase(.apple, token: Self.id) { facts in
            facts.originalID = OrderID(Self.id)
            change(&facts)
        }
        purchase.clues = [.refund(of: OrderID(order))]
        return try observation(await store(world(answers)).ask(purchase, at: Self.now))
    }

    /// The notification may come before the statuses show it.
    @Test func keepsAClueUntilTheAnswerShowsTheRefund() async throws {
        let statuses = "/v1/subscriptions/\(Self.id)"
        let before = try await ask([statuses: AppleFixture.active()], heard: Self.current) { _ in }
        #expect(before.status == .active && before.settledClues.isEmpty)
        let refunded = try AppleFixture.entry(
            5, #"{"revocationDate":1773819000000}"#, original: Self.id)
        let after = try await ask(
            [statuses: AppleFixture.answer([refunded])], heard: Self.current
        ) { _ in }
        #expect(after.settledClues == [.refund(of: OrderID(Self.current))])
        #expect(after.pastRefunds.isEmpty)
    }

    @Test func settlesTheClueOfAOneTimeProduct() async throws {
        let path = "/v1/transactions/\(Self.id)"
        let plain = try info(Self.oneTime("Consumable"))
        let taken = try info(
            Self.oneTime("Consumable", #","revocationDate":1773819000000"#))
        let kind: (inout Facts) -> Void = { $0.kind = .consumable }
        #expect(try await ask([path: plain], heard: Self.id, with: kind).settledClues.isEmpty)
        let found = try await ask([path: taken], heard: Self.id, with: kind)
        #expect(found.settledClues == [.refund(of: OrderID(Self.id))])
    }

    /// A refund that ended access was told with that; the hint comes when it was bought again.
    @Test(arguments: [
        (
            #"{"transactionId":"1","purchaseDate":1771319700000,"revocationDate":1772719964000,"#
                + #""expiresDate":1776417300000}"#, false
        ),
        (
            #"{"transactionId":"1","purchaseDate":1768641300000,"revocationDate":1772719964000,"#
                + #""expiresDate":1771319700000}"#, true
        ),
    ])
    func tellsARefundOnce(refund: String, isTold: Bool) async throws {
        let found = try await ask(
            [
                "/v1/subscriptions/\(Self.id)": try AppleFixture.active(),
                "/v2/refund/lookup/\(Self.id)": try AppleFixture.page([refund]),
            ], heard: "1"
        ) { $0.orderID = OrderID(Self.current) }
        #expect(found.pastRefunds == (isTold ? ["1"] : []))
        #expect(found.settledClues == (isTold ? [] : [.refund(of: "1")]))
    }

    /// Our clock may be behind the store's; what is signed is measured by the store's own.
    @Test(arguments: [("Fri, 20 Mar 2026 13:00:01 GMT", "active"), (nil, "malformed")])
    func measuresTheFutureByTheStoresClock(date: String?, heard: String) async throws {
        let body = AppleFixture.answer([
            try AppleFixture.entry(1, #"{"signedDate":1774011600000}"#, original: Self.id)
        ])
        let world = FakeWorld(clock: Self.now) { _ async throws(CurlError) in
            HTTPResponse(status: 200, date: date, body: Array(body.utf8))
        }
        #expect(summary(try await ask(world)).hasPrefix(heard))
    }

    @Test func statesTheTimeOfTheAnswerWhereNothingElseDoes() async throws {
        let entry = try AppleFixture.entry(
            1, transaction: merged(AppleObservationTests.transaction, #"{"signedDate":null}"#),
            renewal: merged(AppleObservationTests.renewal, #"{"signedDate":null}"#))
        let body = AppleFixture.answer([entry])
        let world = FakeWorld(clock: Self.now) { _ async throws(CurlError) in
            HTTPResponse(
                status: 200, date: "Fri, 20 Mar 2026 12:00:01 GMT", body: Array(body.utf8))
        }
        #expect(try observation(await ask(world)).statedAt == time("2026-03-20T12:00:01Z"))
    }

    @Test func readsTheAccountThatTheAppNamed() async throws {
        let entry = try AppleFixture.entry(1, #"{"appAccountToken":"7f1c"}"#, original: Self.id)
        let world = world(["/v1/subscriptions/\(Self.id)": AppleFixture.answer([entry])])
        let found = try observation(await ask(world))
        #expect(found.accountToken == "7f1c" && found.ownership == .purchased)
    }

    /// What the app has sold to another of its users is no stand-in.
    @Test(arguments: [("A", "a", "active"), ("a", "b", "ended")])
    func takesNoStandInOfAnotherUser(own: String, other: String, heard: String) async throws {
        let world = world([
            "/v1/subscriptions/\(Self.id)": AppleFixture.answer([
                try AppleFixture.entry(
                    2, #"{"appAccountToken":"\#(own)","expiresDate":1773937200000}"#,
                    original: Self.id),
                try AppleFixture.entry(
                    1, #"{"appAccountToken":"\#(other)"}"#, original: "222"),
            ])
        ])
        #expect(summary(try await ask(world)).hasPrefix(heard))
    }
}
