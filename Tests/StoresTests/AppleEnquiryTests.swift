import Crypto
import Curl
import Foundation
import Renewal
import StoreFixtures
import Testing

@testable import Stores

/// Checks that take more than the statuses, and how many calls they cost.
struct AppleEnquiryTests {
    static let now = AppleFixture.now
    static let id = "420001010101001"
    static let host = "https://apple.example/inApps"
    static let unknown = HTTPResponse.json(#"{"errorCode":4040010}"#, status: 404)
    static let apiKey = AppleAPIKey(
        issuerID: "3f0b", keyID: "7KQ2",
        privateKeyPEM: Secret(P256.Signing.PrivateKey().pemRepresentation))

    /// Answers by path and query; all else is not known.
    func world(_ answers: [String: String]) -> FakeWorld {
        FakeWorld(clock: Self.now) { request async throws(CurlError) in
            let path = request.url.replacing(Self.host, with: "")
            return answers[path].map { .json($0) } ?? Self.unknown
        }
    }

    func ask(
        _ world: FakeWorld, token: String = Self.id, offers: Bool = false, secret: String? = nil,
        state: PurchaseState = .new, with change: (inout Facts) -> Void = { _ in }
    ) async throws -> Answer {
        let purchase = purchase(.apple, token: token, state: state, knowing: change)
        return await (try store(world, offers: offers, secret: secret)).ask(purchase, at: Self.now)
    }

    func store(
        _ world: FakeWorld, offers: Bool = false, secret: String? = nil
    ) throws -> AppleStore {
        try AppleStore(
            credentials: AppleCredentials(
                bundleID: "com.example.reader", apiKey: Self.apiKey,
                sharedSecret: secret.map { Secret($0) }),
            production: try #require(StoreHost(baseURL: "https://apple.example")),
            sandbox: try #require(StoreHost(baseURL: "https://sandbox.example")),
            receipts: [
                .production: try #require(AppleReceiptEndpoint(url: "https://buy.example/v")),
                .sandbox: try #require(AppleReceiptEndpoint(url: "https://try.example/v")),
            ], verifier: try AppleFixture.verifier(), readsOffers: offers,
            transport: world.transport)
    }

    func observation(_ answer: Answer) throws -> Observation {
        guard case .verdict(let observation) = answer else {
            Issue.record("\(summary(answer))")
            throw CancellationError()
        }
        return observation
    }

    func info(_ change: String) throws -> String {
        #"{"signedTransactionInfo":"\#(try AppleFixture.signed(change))"}"#
    }

    /// A transaction of a one-time product.
    static func oneTime(_ type: String, _ change: String = "") -> String {
        #"""
        {"type":"\#(type)","productId":"lifetime","transactionId":"420001010101001",
        "expiresDate":null,"subscriptionGroupIdentifier":null,"webOrderLineItemId":null,
        "purchaseDate":1771592400000,"originalPurchaseDate":1771592402000\#(change)}
        """#
    }

    /// The type, what else is said of it, and what is heard.
    static let products = Case.all(
        #"""
        case: Non-Consumable
        hear: active, production, lifetime -, paid -, until -, renews no, regular, non_consumable

        case: Non-Renewing Subscription
        hear: active, production, lifetime -, paid -, until -, renews no, regular, non_renewing

        case: Consumable
        change: ,"quantity":3
        hear: active, production, lifetime -, paid -, until -, renews no, regular, consumable

        case: Consumable
        change: ,"revocationDate":1772006400000,"revocationPercentage":33333
        hear: refunded 26-02-25T08, production, lifetime -, paid -, until -, renews no, regular,
            consumable

        case: Non-Consumable
        change: ,"revocationDate":1772006400000,"revocationReason":1
        hear: refunded 26-02-25T08, production, lifetime -, paid -, until -, renews no, regular,
            non_consumable

        case: Non-Consumable
        change: ,"revocationDate":1772006400000,"inAppOwnershipType":"FAMILY_SHARED"
        hear: removedFromFamily 26-02-25T08, production, lifetime -, paid -, until -, renews no,
            regular, non_consumable

        case: Non-Consumable
        change: ,"bundleId":null
        hear: active, production, lifetime -, paid -, until -, renews no, regular, non_consumable

        case: Wish
        hear: active, production, lifetime -, paid -, until -, renews no, regular, non_consumable
        """#)

    @Test(arguments: products)
    func asksAboutAOneTimeProductByItsTransaction(_ row: Case) async throws {
        let body = try info(Self.oneTime(row.name, row["change"] ?? ""))
        let world = world(["/v1/transactions/\(Self.id)": body])
        let answer = try await ask(world) { $0.kind = .nonConsumable }
        #expect(summary(answer) == row["hear"])
        #expect(world.requests.count == 1 && world.extraCalls == 0)
    }

    /// What is answered about a customer without subscriptions is not documented.
    @Test(arguments: [AppleFixture.answer([]), nil])
    func findsAOneTimeProductAtFirstSight(statuses: String?) async throws {
        let world = world(
            [
                "/v1/subscriptions/\(Self.id)": statuses ?? "",
                "/v1/transactions/\(Self.id)": try info(Self.oneTime("Non-Consumable")),
            ].filter { !$0.value.isEmpty })
        let found = try observation(await ask(world))
        #expect(found.kind == .nonConsumable && found.status == .active)
        #expect(found.originalID == OrderID(Self.id))
        #expect(try found.purchasedAt == time("2026-02-20T13:00:00Z"))
        #expect(world.extraCalls == world.requests.count - 1)
    }

    /// A restored transaction has an id of its own and the date of the restoring.
    @Test func countsARestoredTransactionFromItsPurchase() async throws {
        let body = try info(
            Self.oneTime("Non-Renewing Subscription").replacing(
                #""transactionId":"420001010101001""#, with: #""transactionId":"9""#))
        let world = world(["/v1/transactions/\(Self.id)": body])
        let found = try observation(await ask(world) { $0.kind = .nonRenewing })
        #expect(try found.purchasedAt == time("2026-02-20T13:00:02Z"))
    }

    /// A product that is configured as another kind than Apple says.
    @Test func goesOnToTheStatusesOfASubscription() async throws {
        let world = world([
            "/v1/transactions/\(Self.id)": try info("{}"),
            "/v1/subscriptions/\(Self.id)": try AppleFixture.active(),
        ])
        let answer = try await ask(world) { $0.kind = .nonRenewing }
        #expect(summary(answer).hasPrefix("active, production, plus"))
    }

    @Test func refusesAnotherTransaction() async throws {
        let world = world([
            "/v1/transactions/\(Self.id)":
                try info(#"{"transactionId":"8","originalTransactionId":"8"}"#)
        ])
        let answer = try await ask(world) { $0.kind = .nonConsumable }
        #expect(summary(answer) == "mismatch purchase")
    }

    /// The id is an old renewal's, and the subscription has changed its product since.
    @Test func findsAChangedProductByAnOldRenewal() async throws {
        let answers = [
            "/v1/subscriptions/7": AppleFixture.answer([
                try AppleFixture.entry(1, #"{"productId":"notes"}"#, original: "111"),
                try AppleFixture.entry(
                    1, #"{"productId":"max","transactionId":"9"}"#, original: Self.id),
            ]),
            "/v1/transactions/7": try info(#"{"transactionId":"7"}"#),
        ]
        let world = world(answers)
        let found = try observation(await ask(world, token: "7"))
        #expect(found.items.map(\.names) == [["max"]] && found.originalID == OrderID(Self.id))
        #expect(world.requests.count == 2)
        let later = self.world(answers)
        _ = try await ask(later, token: "7") {
            $0.originalID = OrderID(Self.id)
            $0.kind = .autoRenewable
        }
        #expect(later.requests.count == 1)
    }

    /// What the family shares is of the product that was bought, and is another purchase.
    @Test func findsAnOldRenewalsOwnBesideAFamilysCopy() async throws {
        let shared = #"{"inAppOwnershipType":"FAMILY_SHARED"}"#
        let world = world([
            "/v1/subscriptions/7": AppleFixture.answer([
                try AppleFixture.entry(
                    1, #"{"productId":"max","transactionId":"9"}"#, original: Self.id),
                try AppleFixture.entry(1, shared, original: "222"),
            ]),
            "/v1/transactions/7": try info(#"{"transactionId":"7"}"#),
        ])
        let found = try observation(await ask(world, token: "7"))
        #expect(found.items.map(\.names) == [["max"]] && found.originalID == OrderID(Self.id))
    }

    /// Its group shows a newer original id than the one that was stored.
    @Test func followsItsGroupAndKeepsItsName() async throws {
        let world = world([
            "/v1/subscriptions/\(Self.id)": AppleFixture.answer([
                try AppleFixture.entry(
                    1, #"{"subscriptionGroupIdentifier":"3"}"#, original: "111"),
                try AppleFixture.entry(1, #"{"productId":"max"}"#, original: "222"),
            ]),
            "/v1/transactions/\(Self.id)": try info(#"{"expiresDate":1768641300000}"#),
        ])
        let found = try observation(
            await ask(world, state: .active) { $0.originalID = OrderID(Self.id) })
        #expect(found.items.map(\.names) == [["max"]])
        #expect(found.originalID == OrderID(Self.id))
    }

    /// What the transaction itself says when the statuses do not hold it.
    @Test(arguments: [
        ("{}", "active"), (#"{"revocationDate":1772719964000}"#, "refunded 26-03-05T14"),
        (#"{"expiresDate":1773738900000}"#, "mismatch purchase"),
        (#"{"isUpgraded":true}"#, "mismatch purchase"),
    ])
    func neverRevokesForAnAnswerWithoutThePurchase(change: String, heard: String) async throws {
        let other = try AppleFixture.entry(
            1, #"{"subscriptionGroupIdentifier":"3"}"#, original: "111")
        let world = world([
            "/v1/subscriptions/\(Self.id)": AppleFixture.answer([other]),
            "/v1/transactions/\(Self.id)": try info(change),
        ])
        let answer = try await ask(world, state: .active) { $0.originalID = OrderID(Self.id) }
        #expect(summary(answer).hasPrefix(heard))
    }

    @Test func doubtsOnlyWhatTheStoreDoesNotKnowAtAll() async throws {
        let other = try AppleFixture.entry(
            1, #"{"subscriptionGroupIdentifier":"3"}"#, original: "111")
        let world = world(["/v1/subscriptions/\(Self.id)": AppleFixture.answer([other])])
        let answer = try await ask(world) { $0.originalID = OrderID(Self.id) }
        #expect(summary(answer) == "doubt not_found")
        #expect(world.requests.count == 2)
    }

    /// A member of a family who has his own subscription as well: one that runs is enough.
    @Test(arguments: [
        ("FAMILY_SHARED", 5, "PURCHASED", 1, "active"),
        ("PURCHASED", 2, "FAMILY_SHARED", 1, "active"),
        ("PURCHASED", 2, "PURCHASED", 1, "active"), ("FAMILY_SHARED", 5, "PURCHASED", 2, "removed"),
    ])
    func letsAFamilysCopyStandInForAnother(
        own: String, status: Int, other: String, otherStatus: Int, heard: String
    ) async throws {
        let ended = status == 5 ? #","revocationDate":1773819000000"# : ""
        let past = #","expiresDate":1773937200000"#
        let world = world([
            "/v1/subscriptions/\(Self.id)": AppleFixture.answer([
                try AppleFixture.entry(
                    status, #"{"inAppOwnershipType":"\#(own)"\#(past)\#(ended)}"#,
                    original: Self.id),
                try AppleFixture.entry(
                    otherStatus,
                    #"{"inAppOwnershipType":"\#(other)"\#(otherStatus == 2 ? past : "")}"#,
                    original: "222"),
            ])
        ])
        let answer = try await ask(world) { $0.originalID = OrderID(Self.id) }
        #expect(summary(answer).hasPrefix(heard))
        #expect(try observation(answer).originalID == OrderID(Self.id))
        #expect(world.requests.count == 1)
    }

    static let history =
        "/v2/history/\(Self.id)?productType=AUTO_RENEWABLE&subscriptionGroupIdentifier=21098765"

    /// The pages of the history of a group, whether an offer was used, and the calls.
    @Test(arguments: [
        ([#"{"offerType":2}"#, "-", #"{"offerType":1}"#], true, 4), (["{}", "-", "{}"], false, 3),
        ([#"{"offerType":1}"#, "-", "{}"], true, 2), ([], false, 2), (["{}", "loop"], nil, 3),
    ])
    func readsTheHistoryOfANewSubscription(
        pages: [String], used: Bool?, calls: Int
    ) async throws {
        var answers = ["/v1/subscriptions/\(Self.id)": try AppleFixture.active()]
        let parts = pages.split(separator: "-").map(Array.init)
        for (number, part) in (parts.isEmpty ? [[]] : parts).enumerated() {
            let isLoop = part.last == "loop"
            let revision = number + 1 < parts.count ? "r/\(number + 1)" : isLoop ? "same" : nil
            let page = try AppleFixture.page(part.filter { $0 != "loop" }, next: revision)
            answers[Self.history + (number == 0 ? "" : "&revision=r%2F\(number)")] = page
            if isLoop { answers[Self.history + "&revision=same"] = page }
        }
        let world = world(answers)
        let found = try observation(await ask(world, offers: true))
        #expect(found.usedIntroductory == used)
        #expect(found.group == "21098765")
        #expect(world.requests.count <= calls && world.requests.count >= 2)
        #expect(world.extraCalls == world.requests.count - 1)
    }

    @Test func readsTheHistoryOnceAtMost() async throws {
        let known = world(["/v1/subscriptions/\(Self.id)": try AppleFixture.active()])
        _ = try await ask(known, offers: true) { $0.usedIntroductory = false }
        _ = try await ask(known, offers: false)
        #expect(known.requests.count == 2)
        let trial = try AppleFixture.entry(1, #"{"offerType":1}"#, original: Self.id)
        let inTrial = world(["/v1/subscriptions/\(Self.id)": AppleFixture.answer([trial])])
        #expect(try await observation(ask(inTrial, offers: true)).usedIntroductory == true)
        #expect(inTrial.requests.count == 1)
        let failing = world(["/v1/subscriptions/\(Self.id)": try AppleFixture.active()])
        #expect(try await observation(ask(failing, offers: true)).usedIntroductory == nil)
    }

    /// Apple turns renewal off with a refund, and the statuses show the latest period only.
    @Test(arguments: [
        (true, #"{"transactionId":"1","revocationDate":1772719964000}"#, true, 2),
        (true, #"{"transactionId":"420001066677889","revocationDate":1772719964000}"#, false, 2),
        (true, #"{"originalTransactionId":"8","revocationDate":1772719964000}"#, false, 2),
        (
            true, #"{"transactionId":"1","revocationDate":1772719964000,"isUpgraded":true}"#, false,
            2
        ),
        (false, #"{"transactionId":"1","revocationDate":1772719964000}"#, false, 1),
    ])
    func findsTheRefundOfAPastPeriod(
        renewed: Bool, refund: String, isTold: Bool, calls: Int
    ) async throws {
        let off = try AppleFixture.entry(
            1, transaction: merged(AppleObservationTests.transaction, "{}"),
            renewal: merged(AppleObservationTests.renewal, #"{"autoRenewStatus":0}"#))
        let world = world([
            "/v1/subscriptions/\(Self.id)": AppleFixture.answer([off]),
            "/v2/refund/lookup/\(Self.id)": try AppleFixture.page([refund]),
        ])
        let found = try observation(await ask(world) { $0.autoRenew = renewed })
        #expect(found.status == .active)
        #expect(found.signals.contains(.pastPeriodRefunded) == isTold)
        #expect(found.pastRefunds == (isTold ? ["1"] : []))
        #expect(world.requests.count == calls)
    }
}
