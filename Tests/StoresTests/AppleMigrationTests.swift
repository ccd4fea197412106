import Curl
import Renewal
import StoreFixtures
import Testing

@testable import Stores

// Receipts that leave verifyReceipt for good.
extension AppleEnquiryTests {
    /// What is stored, and what is asked with. The new form is to be stored in its place.
    @Test(arguments: [
        AppleReceiptFixture.base64(AppleReceiptFixture.app()), AppleReceiptFixture.transaction(),
        AppleReceiptFixture.base64(AppleReceiptFixture.app([.init(product: "other")])),
    ])
    func movesAReceiptToItsTransaction(token: String) async throws {
        let world = world(["/v1/subscriptions/\(Self.id)": try AppleFixture.active()])
        let found = try observation(await ask(world, token: token, secret: "5e0c"))
        #expect(found.nextToken == StoreToken(Self.id) && found.isMigrated)
        #expect(world.requests.map(\.url) == [Self.host + "/v1/subscriptions/\(Self.id)"])
        let next = try observation(await ask(world, token: try #require(found.nextToken).text))
        #expect(next.nextToken == nil && !next.isMigrated)
        #expect(world.requests.count == 2)
    }

    @Test func asksVerifyReceiptOnceAboutAReceiptWithoutAnId() async throws {
        let active = try AppleFixture.active()
        let world = FakeWorld(clock: Self.now) { request async throws(CurlError) in
            request.url == "https://buy.example/v"
                ? .json(
                    #"""
                    {"status":0,"receipt":{"bundle_id":"com.example.reader","in_app":[]},
                    "latest_receipt_info":[\#(AppleVerifyReceiptTests.month)],
                    "latest_receipt":"\#(AppleReceiptFixture.transaction())"}
                    """#) : .json(active)
        }
        let empty = AppleReceiptFixture.base64(AppleReceiptFixture.app([]))
        let found = try observation(await ask(world, token: empty, secret: "5e0c"))
        #expect(found.status == .active)
        #expect(found.nextToken == StoreToken(Self.id) && found.isMigrated)
        #expect(world.requests.map(\.url) == ["https://buy.example/v"])
        _ = try await ask(world, token: try #require(found.nextToken).text, secret: "5e0c")
        #expect(world.requests.count { $0.url == "https://buy.example/v" } == 1)
    }

    @Test func asksNothingAboutAReceiptWithoutAnIdWhereThereIsNoSecret() async throws {
        let world = world([:])
        let tokens = [
            AppleReceiptFixture.base64(AppleReceiptFixture.app([])),
            AppleReceiptFixture.base64(
                AppleReceiptFixture.xcode([.init(transaction: "0", original: "0")])), "MIAAAA==",
        ]
        for token in tokens {
            #expect(summary(try await ask(world, token: token)) == "rejected")
        }
        #expect(world.requests.isEmpty)
    }

    @Test func refusesAReceiptOfAnotherApp() async throws {
        let world = world([:])
        let foreign = AppleReceiptFixture.app(bundle: "com.example.other")
        for secret in [nil, "5e0c"] {
            let answer = try await ask(
                world, token: AppleReceiptFixture.base64(foreign), secret: secret)
            #expect(summary(answer) == "mismatch app")
        }
        #expect(world.requests.isEmpty)
    }

    /// A receipt may be forged: it picks what to ask, and Apple's answer decides.
    @Test func believesTheAnswerAndNotTheReceipt() async throws {
        let expired = try AppleFixture.entry(
            2, #"{"expiresDate":1773937200000,"productId":"mini"}"#, original: Self.id)
        let world = world(["/v1/subscriptions/\(Self.id)": AppleFixture.answer([expired])])
        let token = AppleReceiptFixture.base64(AppleReceiptFixture.app())
        let found = try observation(await ask(world, token: token))
        #expect(found.items.map(\.names) == [["mini"]])
        #expect(found.status != .active)
    }

    /// The receipt does not hold the product, but the customer's history does.
    @Test func findsAProductThatTheReceiptDoesNotHold() async throws {
        let world = world([
            "/v1/subscriptions/\(Self.id)": try AppleFixture.active(),
            "/v2/history/\(Self.id)?sort=DESCENDING&productId=lifetime": try AppleFixture.page([
                Self.oneTime("Non-Consumable").replacing(Self.id, with: "55")
            ]),
        ])
        let purchase = purchase(
            .apple, token: AppleReceiptFixture.base64(AppleReceiptFixture.app()),
            product: "lifetime")
        let found = try observation(await store(world).ask(purchase, at: Self.now))
        #expect(found.kind == .nonConsumable && found.nextToken?.text == found.originalID?.text)
        #expect(world.requests.count == 2)
    }

    static let original = #","originalTransactionId":"\#(id)""#
    static let lifetimes = "/v2/history/\(id)?sort=DESCENDING&productId=lifetime"

    /// The receipt's own transaction is of another one-time product, and no status is known.
    @Test(arguments: [true, false])
    func takesNoOtherProductForTheOneAskedAbout(isBought: Bool) async throws {
        let gems = Self.oneTime("Consumable").replacing("lifetime", with: "gems")
        let bought = Self.oneTime("Non-Consumable", Self.original)
            .replacing(Self.id, with: "55")
        let world = world([
            "/v1/transactions/\(Self.id)": try info(gems),
            Self.lifetimes: try AppleFixture.page(isBought ? [bought] : []),
        ])
        let token = AppleReceiptFixture.base64(AppleReceiptFixture.app([.init(product: "gems")]))
        let purchase = purchase(.apple, token: token, product: "lifetime")
        let answer = await (try store(world)).ask(purchase, at: Self.now)
        guard isBought else {
            #expect(summary(answer) == "doubt not_found")
            return
        }
        let found = try observation(answer)
        #expect(found.kind == .nonConsumable && found.originalID == "55")
    }

    /// Bought, refunded, and bought again: the refund was the latest change.
    @Test(arguments: [true, false])
    func prefersWhatIsPaidToWhatWasTakenBack(isBoughtAgain: Bool) async throws {
        let bought = Self.oneTime("Non-Consumable", Self.original)
        let refunded = Self.oneTime(
            "Non-Consumable", Self.original + #","revocationDate":1772006400000"#)
        let world = world([
            "/v1/subscriptions/\(Self.id)": try AppleFixture.active(),
            Self.lifetimes: try AppleFixture.page(
                [refunded.replacing(Self.id, with: "54")]
                    + (isBoughtAgain ? [bought.replacing(Self.id, with: "55")] : [])),
        ])
        let purchase = purchase(
            .apple, token: AppleReceiptFixture.base64(AppleReceiptFixture.app()),
            product: "lifetime")
        let found = try observation(await store(world).ask(purchase, at: Self.now))
        #expect((found.status == .active) == isBoughtAgain)
        #expect(found.originalID == (isBoughtAgain ? "55" : "54"))
    }
}
