import Curl
import Renewal
import Testing

@testable import Stores

/// What is asked about which purchase, and what is asked beside.
struct GoogleQuestionTests {
    private static let now = GoogleFixture.now
    private static let app = "/androidpublisher/v3/applications/com.example.reader"

    /// The kind of the product, configured or known, and the version, decide.
    @Test(arguments: [
        (GoogleAPI.v2, nil, nil, "/purchases/subscriptionsv2/tokens/t%2F1"),
        (.v1, nil, nil, "/purchases/subscriptions/plus/tokens/t%2F1"),
        (.v2, ProductKind.nonConsumable, nil, "/purchases/productsv2/tokens/t%2F1"),
        (.v1, .consumable, nil, "/purchases/products/plus/tokens/t%2F1"),
        (.v2, nil, ProductKind.nonRenewing, "/purchases/productsv2/tokens/t%2F1"),
        (.v2, .autoRenewable, .consumable, "/purchases/subscriptionsv2/tokens/t%2F1"),
    ])
    func asksByKindAndVersion(
        api: GoogleAPI, configured: ProductKind?, known: ProductKind?, path: String
    ) async throws {
        let world = GoogleFixture.world { request in
            request.url.contains("/subscriptionsv2/")
                ? .json(GoogleObservationTests.base)
                : request.url.contains("/subscriptions/")
                    ? .json(GoogleLegacyTests.base)
                    : request.url.contains("/productsv2/")
                        ? .json(GoogleProductTests.base)
                        : .json(GoogleProductTests.legacyBase)
        }
        let purchase = purchase(.google, token: "t/1") { $0.kind = known }
        let kinds = configured.map { [ProductID("plus"): $0] } ?? [:]
        let answer = try await GoogleFixture.store(world, api: api, kinds: kinds)
            .ask(purchase, at: time("2026-02-10T12:00:00Z"))
        #expect(summary(answer).hasPrefix("active"))
        #expect(world.calls == ["GET " + Self.app + path])
        #expect(world.extraCalls == 0)
        guard case .verdict(let observation) = answer else { return }
        #expect(observation.kind == configured ?? known ?? .autoRenewable)
    }

    /// Version 1 tells of one product of several: these are asked about in version 2.
    @Test(arguments: [
        (ProductKind.nonConsumable, "/purchases/productsv2/tokens/t"),
        (.autoRenewable, "/purchases/subscriptionsv2/tokens/t"),
    ])
    func version2IsAskedAboutWhatIsOfSeveralProducts(kind: ProductKind, path: String) async throws {
        let world = GoogleFixture.world { _ in .json("{}") }
        let held = ["plus", "gold"].map {
            Holding(entitlement: "pro", product: $0, expiresAt: nil)
        }
        let bundle = purchase(
            .google, token: "t", state: .active, access: .granted, holdings: held
        ) { $0.kind = kind }
        _ = try await GoogleFixture.store(world, api: .v1).ask(bundle, at: Self.now)
        #expect(world.calls == ["GET " + Self.app + path])
    }

    @Test(arguments: ["", ".."])
    func refusesAProductThatCannotBeAskedAbout(product: ProductID) async throws {
        let world = GoogleFixture.world { _ in .json("{}") }
        let answer = try await GoogleFixture.store(world, api: .v1).ask(
            purchase(.google, token: "t", product: product), at: Self.now)
        #expect(summary(answer) == "rejected")
        #expect(world.calls.isEmpty)
    }

    private static func world(_ answers: [String: HTTPResponse]) -> FakeWorld {
        GoogleFixture.world { request in
            answers.first { request.url.contains("/\($0.key)/") }?.value
                ?? .json(invalid, status: 400)
        }
    }

    private static let invalid = #"{"error":{"code":400,"errors":[{"reason":"invalid"}]}}"#

    /// After a change of plan at the end of a period the token is another product's, which version
    /// 1 cannot be asked about without its name.
    @Test func version1AsksVersion2AboutATokenOfAnotherProduct() async throws {
        let gold = try merged(
            GoogleObservationTests.base,
            #"{"lineItems":[{"productId":"gold","expiryTime":"2026-03-15T10:20:28.912Z","#
                + #""autoRenewingPlan":{"autoRenewEnabled":true}}]}"#)
        let world = Self.world(["subscriptionsv2": HTTPResponse(status: 200, body: gold)])
        let known = purchase(.google, token: "t") {
            $0.kind = .autoRenewable
        }
        let answer = try await GoogleFixture.store(world, api: .v1).ask(known, at: Self.now)
        #expect(summary(answer).hasPrefix("active, production, gold"), "\(summary(answer))")
        #expect(
            world.calls == [
                "GET " + Self.app + "/purchases/subscriptions/plus/tokens/t",
                "GET " + Self.app + "/purchases/subscriptionsv2/tokens/t",
            ])
        #expect(world.extraCalls == 1)
    }

    /// A product that is sold once, without a `kind` in the table of products.
    @Test(arguments: [
        (GoogleAPI.v2, 404, ["subscriptionsv2/tokens/t", "productsv2/tokens/t"]),
        (.v2, 400, ["subscriptionsv2/tokens/t", "productsv2/tokens/t"]),
        (
            .v1, 400,
            [
                "subscriptions/plus/tokens/t", "subscriptionsv2/tokens/t",
                "products/plus/tokens/t",
            ]
        ),
    ])
    func whatIsNoSubscriptionMayBeSoldOnce(
        api: GoogleAPI, status: Int, paths: [String]
    ) async throws {
        let asked = paths.map { "GET " + Self.app + "/purchases/" + $0 }
        let world = Self.world([
            "subscriptions": .json("", status: status),
            "subscriptionsv2": .json("", status: status),
            "productsv2": .json(GoogleProductTests.base),
            "products": .json(GoogleProductTests.legacyBase),
        ])
        let store = try GoogleFixture.store(world, api: api)
        guard
            case .verdict(let observation) = await store.ask(
                purchase(.google, token: "t"), at: Self.now)
        else {
            Issue.record("no verdict")
            return
        }
        #expect(observation.kind == .nonConsumable && observation.isInForce)
        #expect(world.calls == asked && world.extraCalls == asked.count - 1)

        let none = Self.world(["subscriptions": .json("", status: 404)])
        let answer = try await GoogleFixture.store(none, api: api).ask(
            purchase(.google, token: "t"), at: Self.now)
        #expect(summary(answer) == "rejected")
        #expect(none.calls == asked)

        // Nothing is rejected before both have answered.
        let outage = Self.world([
            "productsv2": .json("", status: 503), "products": .json("", status: 503),
        ])
        let unheard = try await GoogleFixture.store(outage, api: api).ask(
            purchase(.google, token: "t"), at: Self.now)
        #expect(summary(unheard).hasPrefix("unreachable"))
    }

    /// What was consumed can be bought again, and gives no entitlement.
    @Test func whatWasConsumedIsAConsumable() async throws {
        let consumed = try merged(
            GoogleProductTests.legacyBase, #"{"consumptionState":1}"#)
        let world = Self.world(["products": HTTPResponse(status: 200, body: consumed)])
        let answer = try await GoogleFixture.store(world, api: .v1).ask(
            purchase(.google, token: "t"), at: Self.now)
        guard case .verdict(let observation) = answer else {
            Issue.record("no verdict: \(summary(answer))")
            return
        }
        #expect(observation.kind == .consumable)
    }

    /// The kind is known: the other collection is not asked.
    @Test(arguments: [ProductKind.autoRenewable, .nonConsumable])
    func aKnownKindIsAskedOnce(kind: ProductKind) async throws {
        let world = Self.world([:])
        let answer = try await GoogleFixture.store(world, kinds: ["plus": kind]).ask(
            purchase(.google, token: "t"), at: Self.now)
        #expect(summary(answer) == "rejected" && world.calls.count == 1)
    }

    /// What `orders.get` says of the order that casts doubt, and what the answer then comes to.
    static let proofs = Case.all(
        #"""
        case: Google names our token
        body: {"orderId":"GPA.3301-7742-9918-40211..0","purchaseToken":"t","state":"PROCESSED"}
        hear: active

        case: the order is of another purchase
        body: {"orderId":"GPA.3301-7742-9918-40211..0","purchaseToken":"u","state":"PROCESSED"}
        hear: mismatch purchase

        case: no token is named
        body: {"orderId":"GPA.3301-7742-9918-40211..0","state":"PROCESSED"}
        hear: mismatch purchase

        case: an answer about another order
        body: {"orderId":"GPA.1","purchaseToken":"t","state":"PROCESSED"}
        hear: mismatch purchase

        case: no JSON
        body: <html>
        hear: mismatch purchase

        case: the order is not known
        status: 404
        hear: mismatch purchase

        case: orders may not be read
        status: 403
        hear: mismatch purchase

        case: an outage
        status: 503
        hear: mismatch purchase

        case: too many calls
        status: 429
        hear: throttled -
        """#)

    @Test(arguments: proofs)
    func asksForProofWhenTheOrdersAreOfAnotherSeries(_ row: Case) async throws {
        let status = try row["status"].map { try #require(Int($0)) } ?? 200
        let world = GoogleFixture.world { request in
            request.url.contains("/orders/")
                ? .json(row["body"] ?? "", status: status) : .json(GoogleObservationTests.base)
        }
        let known = purchase(.google, token: "t") { $0.originalID = "GPA.1" }
        let answer = try await GoogleFixture.store(world).ask(known, at: Self.now)
        #expect(summary(answer).hasPrefix(row["hear"] ?? "?"))
        #expect(
            world.calls.last == "GET " + Self.app + "/orders/GPA.3301-7742-9918-40211..0")
        #expect(world.calls.count == 2)
        #expect(world.extraCalls == 1)
    }

    @Test func asksForNoProofWhenTheSeriesIsKnown() async throws {
        let world = GoogleFixture.world { _ in .json(GoogleObservationTests.base) }
        let known = purchase(.google, token: "t") { $0.originalID = "GPA.3301-7742-9918-40211" }
        let answer = try await GoogleFixture.store(world).ask(known, at: Self.now)
        #expect(summary(answer).hasPrefix("active"))
        #expect(world.calls.count == 1)
    }

    private static let order = #"""
        {"orderId":"GPA.1..0","purchaseToken":"plutonium","state":"REFUNDED",
        "createTime":"2026-02-15T10:21:40Z","orderHistory":{"processedEvent":
        {"eventTime":"2026-02-15T10:21:44Z"},"refundEvent":{"eventTime":"2026-02-20T12:00:00Z",
        "refundReason":"OTHER"}},"lineItems":[{"productId":"plus"}]}
        """#

    @Test func looksAnOrderUpForSupport() async throws {
        let world = GoogleFixture.world { _ in .json(Self.order) }
        let order = try await GoogleFixture.store(world).lookUp(orderID: "GPA.1..0", at: Self.now)
        let found = try #require(order)
        #expect(found.baseID == "GPA.1")
        #expect(found.token == "plutonium")
        #expect(found.products == ["plus"])
        #expect(found.refundedAt == (try time("2026-02-20T12:00:00Z")))
        #expect(world.calls == ["GET " + Self.app + "/orders/GPA.1..0"])
        var dumped = "\(found)"
        dump(found, to: &dumped)
        #expect(!dumped.contains("plutonium"))
    }

    @Test func looksTheSignUpUpWhenTheRenewalIsNotKnown() async throws {
        let base = try merged(Self.order, #"{"orderId":"GPA.1"}"#)
        let world = GoogleFixture.world { request in
            request.url.hasSuffix("/GPA.1")
                ? HTTPResponse(status: 200, body: base)
                : .json("", status: 404)
        }
        let store = try GoogleFixture.store(world)
        #expect(try await store.lookUp(orderID: "GPA.1..5", at: Self.now)?.id == "GPA.1")
        #expect(world.extraCalls == 1)
        #expect(try await store.lookUp(orderID: "GPA.2", at: Self.now) == nil)
        await #expect(throws: StoreFailure.mismatch(what: "order")) {
            let wrong = GoogleFixture.world { _ in .json(Self.order) }
            _ = try await GoogleFixture.store(wrong).lookUp(orderID: "GPA.9", at: Self.now)
        }
    }

    @Test(arguments: [
        (nil, "/purchases/subscriptions/plus/tokens/t:acknowledge"),
        (ProductKind.consumable, "/purchases/products/plus/tokens/t:acknowledge"),
    ])
    func acknowledges(kind: ProductKind?, path: String) async throws {
        let world = GoogleFixture.world { _ in HTTPResponse(status: 200) }
        let kinds = kind.map { [ProductID("plus"): $0] } ?? [:]
        try await GoogleFixture.store(world, kinds: kinds).acknowledge(
            purchase(.google, token: "t"), at: Self.now)
        #expect(world.calls == ["POST " + Self.app + path])
        #expect(world.requests.last?.body == Array("{}".utf8))
        #expect(world.requests.last?.header("Content-Type") == "application/json")
    }

    /// What is acknowledged is the purchase as it was before its first check.
    @Test func acknowledgesWhatIsSoldOnceAndNotConfigured() async throws {
        let world = GoogleFixture.world { request in
            request.url.contains("/products/")
                ? HTTPResponse(status: 200) : .json(Self.invalid, status: 400)
        }
        try await GoogleFixture.store(world).acknowledge(
            purchase(.google, token: "t"), at: Self.now)
        #expect(
            world.calls.last
                == "POST " + Self.app + "/purchases/products/plus/tokens/t:acknowledge")
    }

    @Test(arguments: [
        (204, "", nil), (409, "", "unreachable"),
        (400, #"{"error":{"errors":[{"reason":"subscriptionNotOwnedByUser"}]}}"#, "rejected"),
        (410, "", "rejected"), (403, "", "refused"), (429, "", "throttled -"),
    ])
    func saysWhyItCouldNotAcknowledge(status: Int, body: String, heard: String?) async throws {
        let world = GoogleFixture.world { _ in .json(body, status: status) }
        let store = try GoogleFixture.store(world)
        do throws(StoreFailure) {
            try await store.acknowledge(purchase(.google, token: "t"), at: Self.now)
            #expect(heard == nil)
        } catch {
            #expect(summary(error) == heard)
        }
    }
}
