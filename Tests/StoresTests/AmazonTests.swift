import Curl
import Renewal
import Testing

@testable import Stores

/// What each receipt of Amazon comes to: `wire` is put over an active subscription. It is
/// 20 January 2026, noon; `known` is the end of the paid time as it was known before.
struct AmazonObservationTests {
    static let base = #"""
        {"autoRenewing":true,"betaProduct":false,"cancelDate":null,"cancelReason":null,
        "countryCode":"DE","deferredDate":null,"deferredSku":null,"freeTrialEndDate":null,
        "fulfillmentDate":1767265262000,"fulfillmentResult":"FULFILLED",
        "gracePeriodEndDate":null,"parentProductId":null,"productId":"plus",
        "productType":"SUBSCRIPTION","promotions":null,"purchaseDate":1767265200000,
        "quantity":1,"receiptId":"Zk3v=:3:11","renewalDate":1769943600000,"term":"1 Month",
        "termSku":"plus.monthly","testTransaction":false}
        """#

    static let cases = Case.all(
        #"""
        case: active
        wire: {}
        hear: active, production, plus.monthly/plus 26-02-01T11, paid 26-02-01T11,
            until 26-02-01T11, renews yes, regular

        case: unknown members, numbers as texts and floats
        wire: {"news":{"a":[1]},"renewalDate":"1769943600000","purchaseDate":1767265200000.0}
        hear: active, production, plus.monthly/plus 26-02-01T11, paid 26-02-01T11,
            until 26-02-01T11, renews yes, regular

        case: absent members
        wire: {"autoRenewing":null,"betaProduct":null,"testTransaction":null,"purchaseDate":null,
            "termSku":null,"quantity":null}
        hear: active, production, plus 26-02-01T11, paid 26-02-01T11, until 26-02-01T11,
            renews -, regular

        case: capital letters of older answers
        wire: {"autoRenewing":null,"AutoRenewing":true,"gracePeriodEndDate":null,
            "GracePeriodEndDate":1770375600000,"renewalDate":1768867200000}
        hear: grace, production, plus.monthly/plus 26-02-06T11, paid 26-01-20T00,
            until 26-02-06T11, renews yes, regular

        case: trial
        wire: {"freeTrialEndDate":1769943600000}
        hear: active, production, plus.monthly/plus 26-02-01T11, paid 26-02-01T11,
            until 26-02-01T11, renews yes, trial

        case: introductory price
        wire: {"promotions":[{"promotionType":"Queued","promotionStatus":"Queued"},
            {"promotionType":"introductory price - all customers",
            "promotionStatus":"InProgress"}]}
        hear: active, production, plus.monthly/plus 26-02-01T11, paid 26-02-01T11,
            until 26-02-01T11, renews yes, introductory

        case: renewal switched off, still paid
        wire: {"autoRenewing":false,"renewalDate":null}
        hear: active, production, plus.monthly/plus -, paid -, until -, renews no, regular

        case: renewal late
        wire: {"renewalDate":1768780800000}
        hear: active, production, plus.monthly/plus 26-01-19T00, paid 26-01-19T00,
            until 26-01-19T00, renews yes, regular

        case: grace
        wire: {"renewalDate":1768867200000,"gracePeriodEndDate":1769385600000}
        hear: grace, production, plus.monthly/plus 26-01-26T00, paid 26-01-20T00,
            until 26-01-26T00, renews yes, regular

        case: grace with a renewal date that was moved on
        wire: {"renewalDate":1769943600000,"gracePeriodEndDate":1769385600000}
        hear: grace, production, plus.monthly/plus 26-01-26T00, paid -, until 26-01-26T00,
            renews yes, regular

        case: grace that is over
        wire: {"renewalDate":1769943600000,"gracePeriodEndDate":1768780800000}
        hear: active, production, plus.monthly/plus 26-02-01T11, paid 26-02-01T11,
            until 26-02-01T11, renews yes, regular

        case: a tester's grace that is none
        wire: {"testTransaction":true,"autoRenewing":false,"freeTrialEndDate":1769943600000,
            "gracePeriodEndDate":1769943600000}
        hear: active, production, plus.monthly/plus 26-02-01T11, paid 26-02-01T11,
            until 26-02-01T11, renews no, regular

        case: sandbox
        environment: sandbox
        wire: {"termSku":"plus_term","gracePeriodEndDate":1769943600000,
            "freeTrialEndDate":1769943600000}
        hear: active, sandbox, plus_term/plus 26-02-01T11, paid 26-02-01T11, until 26-02-01T11,
            renews yes, regular

        case: change of plan waiting
        wire: {"deferredDate":1769943600000,"deferredSku":"plus.yearly"}
        hear: active, production, plus.monthly/plus 26-02-01T11, paid 26-02-01T11,
            until 26-02-01T11, renews yes, regular, product_change_scheduled

        case: end in the future
        wire: {"cancelDate":1769385600000,"cancelReason":1}
        hear: active, production, plus.monthly/plus 26-01-26T00, paid -, until 26-01-26T00,
            renews no, regular

        case: ran out after the customer switched it off
        known: 2026-01-19T00:00:00Z
        wire: {"autoRenewing":false,"renewalDate":null,"cancelDate":1768780800000,
            "cancelReason":1}
        hear: ended userCancelled 26-01-19T00, production, plus.monthly/plus 26-01-19T00, paid -,
            until 26-01-19T00, renews no, regular

        case: payment failed
        known: 2026-01-15T00:00:00Z
        wire: {"autoRenewing":false,"renewalDate":null,"cancelDate":1768780800000,
            "cancelReason":2}
        hear: ended paymentFailed 26-01-19T00, production, plus.monthly/plus 26-01-19T00, paid -,
            until 26-01-19T00, renews no, regular

        case: reason not known yet
        wire: {"renewalDate":null,"cancelDate":1768780800000,"cancelReason":0}
        hear: ended periodEnded 26-01-19T00, production, plus.monthly/plus 26-01-19T00, paid -,
            until 26-01-19T00, renews no, regular

        case: reason of another age
        wire: {"renewalDate":null,"cancelDate":1768780800000,"cancelReason":99}
        hear: ended periodEnded 26-01-19T00, production, plus.monthly/plus 26-01-19T00, paid -,
            until 26-01-19T00, renews no, regular

        case: cut short
        known: 2026-02-01T11:00:00Z
        wire: {"renewalDate":null,"cancelDate":1768780800000,"cancelReason":1}
        hear: refunded 26-01-19T00, production, plus.monthly/plus 26-01-19T00, paid -,
            until 26-01-19T00, renews no, regular

        case: replaced by another plan
        known: 2026-02-01T11:00:00Z
        wire: {"renewalDate":null,"cancelDate":1768780800000,"cancelReason":4}
        hear: replaced 26-01-19T00, production, plus.monthly/plus 26-01-19T00, paid -,
            until 26-01-19T00, renews no, regular

        case: for ever
        wire: {"productType":"ENTITLED","productId":"unlock","termSku":null,"term":null,
            "renewalDate":null,"autoRenewing":false}
        hear: active, production, unlock -, paid -, until -, renews -, -, non_consumable

        case: for ever, refunded
        wire: {"productType":"ENTITLED","productId":"unlock","termSku":null,"renewalDate":null,
            "cancelDate":1768000000000,"cancelReason":1}
        hear: refunded 26-01-09T23, production, unlock -, paid -, until -, renews -, -,
            non_consumable

        case: consumable
        wire: {"productType":"CONSUMABLE","productId":"coins","termSku":null,"renewalDate":null,
            "autoRenewing":null}
        hear: active, production, coins -, paid -, until -, renews -, -, consumable

        case: another receipt
        wire: {"receiptId":"other"}
        hear: mismatch receipt

        case: no receipt
        wire: {"receiptId":null}
        hear: malformed receiptId

        case: a kind of another age
        wire: {"productType":"RENTAL"}
        hear: malformed productType

        case: no product
        wire: {"productId":null}
        hear: malformed productId

        case: a fraction of a millisecond
        wire: {"cancelDate":1768780800000.5}
        hear: malformed cancelDate

        case: a date that is a switch
        wire: {"renewalDate":true}
        hear: malformed renewalDate

        case: seconds instead of milliseconds
        wire: {"cancelDate":1768780800}
        hear: malformed cancelDate

        case: a date beyond all years
        wire: {"renewalDate":9223372036854775807}
        hear: malformed renewalDate
        """#)

    @Test(arguments: cases)
    func hears(_ row: Case) throws {
        #expect(summary(try read(row)) == row["hear"])
    }

    @Test func namesTheReceiptAndThePeriod() throws {
        guard case .verdict(let observation) = try read(Self.cases[0]) else {
            Issue.record("no verdict")
            return
        }
        #expect(observation.orderID == nil)
        #expect(observation.originalID == "Zk3v=:3:11")
        #expect(observation.period == "1769943600000")
        #expect(observation.words == "autoRenewing true, renewalDate 2026-02-01T11:00:00Z")
    }

    private func read(_ row: Case) throws -> Answer {
        let facts = purchase(
            .amazon, token: "", paidThrough: try row["known"].map(time)
        ).facts
        let body = try merged(Self.base, row["wire"])
        let now = try time("2026-01-20T12:00:00Z")
        do throws(StoreFailure) {
            let receipt = try JSON.decode(AmazonReceipt.self, from: body)
            return .verdict(
                try AmazonObservation(
                    receipt, asked: "Zk3v=:3:11",
                    in: row["environment"] == "sandbox" ? .sandbox : .production, facts: facts,
                    at: now
                ).observation)
        } catch {
            return .failure(error)
        }
    }
}

struct AmazonStoreTests {
    private static let now = Timestamp(microsecondsSinceEpoch: 1_768_910_400_000_000)
    private static let secret = "2:smXBjZkW_-plutonium:kQ=="

    private func store(
        _ world: FakeWorld, allowsSandbox: Bool = false, hasSandbox: Bool = true
    ) throws -> AmazonStore {
        AmazonStore(
            credentials: AmazonCredentials(
                appID: "com.example.reader", sharedSecret: Secret(Self.secret),
                allowsSandbox: allowsSandbox),
            production: try #require(StoreHost(baseURL: "https://amazon.example")),
            sandbox: hasSandbox ? StoreHost(baseURL: "https://sandbox.example") : nil,
            transport: world.transport)
    }

    private func world(
        _ script: @escaping @Sendable (HTTPRequest) throws(CurlError) -> HTTPResponse
    ) -> FakeWorld {
        FakeWorld(clock: Self.now) { request async throws(CurlError) in try script(request) }
    }

    private static let known = purchase(.amazon, token: "Zk3v=:3:11", user: "kQ4m0=")

    @Test func asksOnThePathOfTheReceipt() async throws {
        let world = world { _ in .json(AmazonObservationTests.base) }
        let answer = try await store(world).ask(Self.known, at: Self.now)
        #expect(summary(answer).hasPrefix("active, production"))
        #expect(
            world.requests.map(\.url) == [
                "https://amazon.example/version/1.0/verifyReceiptId/developer/"
                    + "2:smXBjZkW_-plutonium:kQ==/user/kQ4m0=/receiptId/Zk3v=:3:11"
            ])
        #expect(world.extraCalls == 0)
    }

    @Test func keepsHostileTextInItsSegment() async throws {
        let world = world { _ in .json(AmazonObservationTests.base) }
        _ = try await store(world).ask(
            purchase(.amazon, token: "../../x?y#z\n%2e\"", user: "u/é"), at: Self.now)
        #expect(
            world.requests.first?.url.hasSuffix(
                "/user/u%2F%C3%A9/receiptId/..%2F..%2Fx%3Fy%23z%0A%252e%22") == true)
    }

    @Test(arguments: [
        (nil, "r"), ("", "r"), ("u", ""), ("u", "."), ("..", "r"),
    ])
    func refusesWithoutAsking(user: String?, receipt: String) async throws {
        let world = world { _ in .json("{}") }
        let answer = try await store(world).ask(
            purchase(.amazon, token: receipt, user: user), at: Self.now)
        #expect(summary(answer) == "rejected")
        #expect(world.requests.isEmpty)
    }

    @Test(arguments: [
        (400, "", "rejected"), (401, "", "malformed status 401"), (404, "", "malformed status 404"),
        (410, "", "doubt no_longer_valid"), (410, "<html>", "doubt no_longer_valid"),
        (429, "", "throttled 7"), (496, "{}", "refused"), (497, "{}", "rejected"),
        (498, "", "malformed status 498"), (500, "", "unreachable"), (503, "<html>", "unreachable"),
        (302, "", "malformed redirect, status 302"), (200, "<html>", "malformed body"),
        (200, "", "malformed body"), (200, #"{"receiptId":"Zk3"#, "malformed body"),
        (200, "null", "malformed body"), (200, #"{"status":false}"#, "malformed receiptId"),
    ])
    func sortsErrorsByTheirStatus(status: Int, body: String, heard: String) async throws {
        let world = world { _ in
            HTTPResponse(status: status, retryAfter: "7", body: Array(body.utf8))
        }
        let answer = try await store(world).ask(Self.known, at: Self.now)
        #expect(summary(answer) == heard)
        #expect(!"\(answer)".contains("plutonium"))
    }

    @Test func asksTheSandboxWhereAllowedAndNeverWithTheSecret() async throws {
        let world = world { request in
            request.url.hasPrefix("https://sandbox.example/")
                ? .json(AmazonObservationTests.base) : .json("{}", status: 400)
        }
        let answer = try await store(world, allowsSandbox: true).ask(Self.known, at: Self.now)
        #expect(summary(answer).hasPrefix("active, sandbox"))
        #expect(world.requests.count == 2)
        #expect(world.extraCalls == 1)
        #expect(
            world.requests.last?.url == "https://sandbox.example/sandbox/version/1.0/"
                + "verifyReceiptId/developer/sandbox/user/kQ4m0=/receiptId/Zk3v=:3:11")
    }

    @Test func neverAsksTheSandboxUnlessAllowed() async throws {
        let world = world { _ in .json("{}", status: 400) }
        let answer = try await store(world).ask(Self.known, at: Self.now)
        #expect(summary(answer) == "rejected")
        #expect(world.requests.count == 1)
    }

    @Test func asksAKnownSandboxPurchaseInTheSandboxAlone() async throws {
        let world = world { _ in .json("{}", status: 400) }
        let known = purchase(.amazon, token: "r", user: "u", environment: .sandbox)
        #expect(summary(try await store(world).ask(known, at: Self.now)) == "rejected")
        #expect(world.requests.map { $0.url.contains("plutonium") } == [false])
        let without = try store(world, hasSandbox: false)
        #expect(summary(await without.ask(known, at: Self.now)) == "unsupported")
    }
}
