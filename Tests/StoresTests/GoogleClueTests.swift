import Curl
import Renewal
import Testing

@testable import Stores

/// What a check looks into because a hint has named it: nothing is remembered between two checks
/// but in the purchase.
struct GoogleClueTests {
    private static let token = "token-of-ada"
    private static let current: OrderID = "GPA.3301-7742-9918-40211..0"

    /// Two past orders and the answer about the purchase.
    private static func world(
        _ states: [String: String], of token: String = token, base: String? = nil
    ) -> FakeWorld {
        let orders = states.sorted { $0.key < $1.key }.map { id, state in
            #"{"orderId":"\#(id)","purchaseToken":"\#(token)","state":"\#(state)"}"#
        }
        return GoogleFixture.world { request in
            guard request.url.contains("orders:batchGet") else {
                return .json(base ?? GoogleObservationTests.base)
            }
            return orders.isEmpty
                ? HTTPResponse(status: 403)
                : .json(#"{"orders":[\#(orders.joined(separator: ","))]}"#)
        }
    }

    private static func ask(
        _ world: FakeWorld, _ clues: Set<Clue>
    ) async throws -> Observation {
        var purchase = purchase(.google, token: token)
        purchase.clues = clues
        let answer = await (try GoogleFixture.store(world)).ask(purchase, at: GoogleFixture.now)
        guard case .verdict(let observation) = answer else {
            Issue.record("\(summary(answer))")
            throw StoreFailure.malformed(field: "test")
        }
        return observation
    }

    @Test func tellsEachRefundedOrderOfAPastPeriod() async throws {
        let world = Self.world(["GPA.1..1": "REFUNDED", "GPA.1..2": "CANCELED"])
        let clues: Set<Clue> = [.refund(of: "GPA.1..1"), .refund(of: "GPA.1..2")]
        let heard = try await Self.ask(world, clues)
        #expect(heard.pastRefunds == ["GPA.1..1", "GPA.1..2"])
        #expect(heard.settledClues == clues)
        #expect(heard.signals.contains(.pastPeriodRefunded))
        #expect(
            world.calls.last?.hasSuffix("/orders:batchGet?orderIds=GPA.1..1&orderIds=GPA.1..2")
                == true)
        #expect(world.calls.count == 2 && world.extraCalls == 1)
    }

    @Test func asksOnceWithoutAClue() async throws {
        let world = Self.world([:])
        let heard = try await Self.ask(world, [])
        #expect(heard.pastRefunds.isEmpty && heard.settledClues.isEmpty)
        #expect(world.calls.count == 1)
    }

    /// What is not shown yet, and what could not be asked, is looked into again.
    @Test(arguments: [["GPA.1..1": "PENDING_REFUND"], ["GPA.1..1": "PROCESSED"], [:]])
    func keepsAClueThatWasNotBorneOut(_ states: [String: String]) async throws {
        let heard = try await Self.ask(Self.world(states), [.refund(of: "GPA.1..1")])
        #expect(heard.pastRefunds.isEmpty && heard.settledClues.isEmpty)
        #expect(heard.status == .active)
    }

    @Test func tellsNothingOfAnotherPurchase() async throws {
        let world = Self.world(["GPA.1..1": "REFUNDED"], of: "another")
        let heard = try await Self.ask(world, [.refund(of: "GPA.1..1")])
        #expect(heard.pastRefunds.isEmpty && heard.signals.isEmpty)
        #expect(heard.settledClues == [.refund(of: "GPA.1..1")])
    }

    /// One unknown id fails the whole call, and must not hide the others.
    @Test func asksOneByOneWhenOneOrderIsNotKnown() async throws {
        let world = GoogleFixture.world { request in
            if request.url.contains("orders:batchGet") { return HTTPResponse(status: 404) }
            guard request.url.contains("/orders/") else {
                return .json(GoogleObservationTests.base)
            }
            return request.url.hasSuffix("GPA.1..1")
                ? .json(
                    #"{"orderId":"GPA.1..1","purchaseToken":"\#(Self.token)","state":"REFUNDED"}"#)
                : HTTPResponse(status: 404)
        }
        let heard = try await Self.ask(
            world, [.refund(of: "GPA.1..1"), .refund(of: "GPA.unknown")])
        #expect(heard.pastRefunds == ["GPA.1..1"])
        #expect(heard.settledClues == [.refund(of: "GPA.1..1")])
        #expect(world.calls.count == 4)
    }

    /// News of a revocation is followed while the answer does not show it.
    @Test(arguments: [("ACTIVE", false), ("EXPIRED", true), ("ON_HOLD", true)])
    func keepsNewsOfARevocationUntilItIsShown(_ state: String, _ isSettled: Bool) async throws {
        let base = String(
            decoding: try merged(
                GoogleObservationTests.base,
                #"{"subscriptionState":"SUBSCRIPTION_STATE_\#(state)"}"#), as: UTF8.self)
        let clue = Clue.revoked(news: "77")
        let heard = try await Self.ask(Self.world([:], base: base), [clue])
        #expect(heard.settledClues == (isSettled ? [clue] : []))
    }

    /// What is told by ending access is no news when the list of voided purchases names it later.
    @Test func settlesTheRefundThatItTells() async throws {
        let base = String(
            decoding: try merged(
                GoogleObservationTests.base,
                #"{"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED","lineItems":[{"productId":"#
                    + #""plus","expiryTime":"2026-02-19T10:20:28Z","#
                    + #""latestSuccessfulOrderId":"\#(Self.current)"}]}"#), as: UTF8.self)
        let bought = purchase(
            .google, token: Self.token, paidThrough: try time("2026-03-15T10:20:28Z"),
            state: .active, access: .granted
        ) { $0.originalID = "GPA.3301-7742-9918-40211" }
        let answer = await (try GoogleFixture.store(Self.world([:], base: base)))
            .ask(bought, at: GoogleFixture.now)
        guard case .verdict(let heard) = answer else {
            Issue.record("\(summary(answer))")
            return
        }
        #expect(heard.status == .refunded(at: try time("2026-02-19T10:20:28Z")))
        #expect(heard.settledClues == [.refund(of: Self.current)])
    }

    /// The answer itself tells that all of the current order was given back.
    @Test(arguments: ["REFUNDED", "CANCELED", "PROCESSED"])
    func leavesTheCurrentOrderToTheAnswer(_ state: String) async throws {
        let heard = try await Self.ask(
            Self.world([Self.current.text: state]), [.refund(of: Self.current)])
        #expect(heard.pastRefunds.isEmpty && heard.settledClues.isEmpty)
        #expect(heard.refundedParts.isEmpty && heard.status == .active)
    }

    /// The list of voids stands alone against a product and an order that both read as paid: the
    /// decision is about to believe it, or has.
    @Test(arguments: [
        ("PROCESSED", token, Duration.days(1), false), ("PROCESSED", token, .days(3), true),
        ("PROCESSED", token, nil, true), ("PROCESSED", "another", .days(3), false),
        ("PENDING_REFUND", token, .days(3), false), ("REFUNDED", token, .days(3), false),
        ("REFUNDED", token, nil, false), ("PARTIALLY_REFUNDED", token, nil, false),
    ])
    func weighsTheListOfVoidsAgainstTheOrder(
        _ state: String, _ owner: String, _ heardBefore: Duration?, _ isSettled: Bool
    ) async throws {
        let order: OrderID = "GPA.3344-7000"
        let clue = Clue.refund(of: order)
        let now = GoogleFixture.now
        var bought = purchase(
            .google, token: Self.token, state: heardBefore == nil ? .refunded : .active,
            access: heardBefore == nil ? .none : .granted
        ) { facts in
            (facts.kind, facts.orderID, facts.originalID) = (.nonConsumable, order, order)
            guard heardBefore == nil else { return }
            facts.doubt = PendingDoubt(doubt: .voided, since: now - .days(9))
        }
        if let heardBefore {
            bought.clues = [clue]
            bought.cluesHeardAt = [clue: now - heardBefore]
        }
        let world = Self.world([order.text: state], of: owner, base: GoogleProductTests.base)
        let store = try GoogleFixture.store(world, kinds: ["plus": .nonConsumable])
        guard case .verdict(let heard) = await store.ask(bought, at: now) else {
            Issue.record("no verdict")
            return
        }
        #expect(heard.status == .active && heard.settledClues == (isSettled ? [clue] : []))
        #expect(world.calls.count == 2)
    }

    private static func world(
        showing shown: String, _ order: OrderID, of owner: String, _ state: String
    ) -> FakeWorld {
        GoogleFixture.world { request in
            guard request.url.contains("/orders/") else { return .json(shown) }
            return .json(
                #"{"orderId":"\#(order)","purchaseToken":"\#(owner)","state":"\#(state)"}"#)
        }
    }

    /// What was given back and reads as in force again: an older copy says so, too.
    @Test(arguments: [
        ("REFUNDED", token, false), ("PROCESSED", token, true), ("REFUNDED", "another", true),
        ("PARTIALLY_REFUNDED", token, true),
    ])
    func asksTheOrderWhetherARefundWasReversed(
        _ state: String, _ owner: String, _ isBelieved: Bool
    ) async throws {
        let order: OrderID = "GPA.3344-7000"
        let bought = purchase(.google, token: Self.token, state: .refunded, access: .none) {
            ($0.kind, $0.orderID, $0.originalID) = (.nonConsumable, order, order)
        }
        let world = Self.world(showing: GoogleProductTests.base, order, of: owner, state)
        let store = try GoogleFixture.store(world, kinds: ["plus": .nonConsumable])
        let answer = await store.ask(bought, at: GoogleFixture.now)
        let isVerdict = if case .verdict = answer { true } else { false }
        #expect(isVerdict == isBelieved, "\(summary(answer))")
        #expect(world.calls.count == 2)
    }

    /// Two products sold together, and how much of the second one was not given back.
    private static func bundle(withLeft left: Int) -> String {
        let products = #"""
            {"productLineItem":[{"productId":"plus","productOfferDetails":{"refundableQuantity":1}},
            {"productId":"gold","productOfferDetails":{"refundableQuantity":\#(left)}}]}
            """#
        return String(decoding: merged(orEmpty: GoogleProductTests.base, products), as: UTF8.self)
    }

    /// Of a bundle one product was given back, and it is shown again: an older copy says so, too.
    @Test(arguments: [
        ("PARTIALLY_REFUNDED", Duration.hours(1), false), ("PARTIALLY_REFUNDED", .hours(25), true),
        ("PROCESSED", .hours(1), true),
    ])
    func asksTheOrderWhetherAPartOfABundleCameBack(
        _ state: String, _ ago: Duration, _ isBelieved: Bool
    ) async throws {
        let order: OrderID = "GPA.3344-7000"
        var bought = purchase(.google, token: Self.token, state: .active, access: .granted) {
            ($0.kind, $0.orderID, $0.originalID) = (.nonConsumable, order, order)
            $0.period = "\(order.text) left 1"
        }
        bought.checkedAt = GoogleFixture.now - ago
        let shown = Self.bundle(withLeft: 1)
        let world = Self.world(showing: shown, order, of: Self.token, state)
        let store = try GoogleFixture.store(world, kinds: ["plus": .nonConsumable])
        let answer = await store.ask(bought, at: GoogleFixture.now)
        guard case .verdict(let heard) = answer else {
            #expect(!isBelieved, "\(summary(answer))")
            return
        }
        #expect(isBelieved && heard.items.count == 2 && heard.period == order)
    }

    /// Of a bundle a part was given back before: news that is heard now may be of the other one.
    @Test(arguments: [(nil, 1, true), (1, 1, false), (2, 1, true), (2, 2, false)])
    func newsOfABundleIsShownByWhatIsLess(_ was: Int?, _ left: Int, _ isSettled: Bool) async throws
    {
        let order: OrderID = "GPA.3344-7000"
        let clue = Clue.revoked(news: "google voided 1")
        var bought = purchase(.google, token: Self.token, state: .active, access: .granted) {
            ($0.kind, $0.orderID, $0.originalID) = (.nonConsumable, order, order)
            $0.period = was.map { OrderID("\(order.text) left \($0)") } ?? order
        }
        bought.clues = [clue]
        let shown = Self.bundle(withLeft: left - 1)
        let world = Self.world(showing: shown, order, of: Self.token, "PARTIALLY_REFUNDED")
        let store = try GoogleFixture.store(world, kinds: ["plus": .nonConsumable])
        guard case .verdict(let heard) = await store.ask(bought, at: GoogleFixture.now) else {
            Issue.record("no verdict")
            return
        }
        #expect(heard.settledClues == (isSettled ? [clue] : []))
    }

    /// Of a bundle the rest is over by its duration, and the part that had not run out was given
    /// back: the same answer again is no older copy, but one from before is.
    @Test(arguments: [(0, true), (1, false)])
    func theRestOfABundleIsOver(_ left: Int, _ isBelieved: Bool) async throws {
        let order: OrderID = "GPA.3344-7000"
        var bought = purchase(.google, token: Self.token, state: .refunded, access: .none) {
            ($0.kind, $0.orderID, $0.originalID) = (.nonConsumable, order, order)
            $0.period = "\(order.text) left 1"
        }
        bought.checkedAt = GoogleFixture.now - .hours(1)
        let shown = Self.bundle(withLeft: left)
        let world = Self.world(showing: shown, order, of: Self.token, "PARTIALLY_REFUNDED")
        let store = try GoogleFixture.store(world, kinds: ["plus": .nonConsumable])
        let answer = await store.ask(bought, at: GoogleFixture.now)
        guard case .verdict(let heard) = answer else {
            #expect(!isBelieved, "\(summary(answer))")
            return
        }
        #expect(isBelieved && heard.items.count == 1 && heard.lostParts.contains(.refunded))
    }

    /// Without its order an older copy is not told from a reversal: it waits a day, not for ever.
    @Test(arguments: [
        (403, Duration.hours(23), false), (403, .hours(25), true), (503, .hours(23), false),
        (503, .hours(25), true), (404, .hours(1), false), (429, .hours(1), false),
        (429, .hours(25), false),
    ])
    func waitsADayForTheOrderOfARefund(
        _ status: Int, _ ago: Duration, _ isBelieved: Bool
    ) async throws {
        let order: OrderID = "GPA.3344-7000"
        var bought = purchase(.google, token: Self.token, state: .refunded, access: .none) {
            ($0.kind, $0.orderID, $0.originalID) = (.nonConsumable, order, order)
        }
        bought.checkedAt = GoogleFixture.now - ago
        let world = GoogleFixture.world { request in
            guard request.url.contains("/orders/") else { return .json(GoogleProductTests.base) }
            return .json("{}", status: status)
        }
        let store = try GoogleFixture.store(world, kinds: ["plus": .nonConsumable])
        let answer = await store.ask(bought, at: GoogleFixture.now)
        let isVerdict = if case .verdict = answer { true } else { false }
        #expect(isVerdict == isBelieved, "\(summary(answer))")
    }

    /// How much of an order went back, whatever the shape in which it is told.
    @Test(arguments: [
        (
            #"[{"state":"PROCESSED_SUCCESSFULLY","refundDetails":{"total":{"currencyCode":"EUR","#
                + #""units":"1","nanos":500000000}}},{"refundDetails":{"total":{"currencyCode":"#
                + #""EUR","nanos":250000000}}},{"state":"PENDING","refundDetails":{"total":"#
                + #"{"currencyCode":"EUR","units":"5"}}}]"#, "1.75 EUR 0.25"
        ),
        (
            #"[{"refundDetails":{"total":{"currencyCode":"EUR","units":"1"}}},"#
                + #"{"refundDetails":{"total":{"currencyCode":"USD","units":"1"}}}]"#, "- -"
        ),
        (#"[{"refundDetails":{"total":{"currencyCode":"USD","units":"1"}}}]"#, "1 USD -"),
        (#"[{"refundDetails":{"total":{"currencyCode":"EUR","units":"9"}}}]"#, "9 EUR 1"),
        (#"[{"refundDetails":{"total":{"currencyCode":"EUR","nanos":1e9}}}]"#, "- -"),
        (#"[{"refundDetails":{"total":7}}]"#, "- -"), (#"[{"refundDetails":{}}]"#, "- -"),
        (#"[7]"#, "- -"), ("[]", "- -"), ("null", "- -"), (#""x""#, "- -"), ("{}", "- -"),
        (#"[{"state":"PENDING"}]"#, nil),
    ])
    func tellsAPartOfTheCurrentOrder(_ events: String, _ expected: String?) async throws {
        let order =
            #"{"orderId":"\#(Self.current)","purchaseToken":"\#(Self.token)","#
            + #""state":"PARTIALLY_REFUNDED","total":{"currencyCode":"EUR","units":"7"},"#
            + #""orderHistory":{"partialRefundEvents":\#(events)}}"#
        let world = GoogleFixture.world { request in
            request.url.contains("orders:batchGet")
                ? .json(#"{"orders":[\#(order)]}"#) : .json(GoogleObservationTests.base)
        }
        let heard = try await Self.ask(world, [.refund(of: Self.current)])
        let found = heard.refundedParts[Self.current].map { part in
            (part.amount.map { "\($0.text) \($0.currency)" } ?? "-") + " "
                + (part.share?.text ?? "-")
        }
        #expect(found == expected)
        #expect(heard.settledClues == (expected == nil ? [] : [.refund(of: Self.current)]))
        #expect(heard.status == .active && heard.pastRefunds.isEmpty && heard.signals.isEmpty)
    }

    /// News of a refund is not about the part that was given back a month before.
    @Test(arguments: [("2026-01-20T12:00:00Z", false), ("2026-02-20T11:00:00Z", true)])
    func waitsForTheRestOfAnOrder(_ processed: String, _ isTold: Bool) async throws {
        let order =
            #"{"orderId":"GPA.1..1","purchaseToken":"\#(Self.token)","#
            + #""state":"PARTIALLY_REFUNDED","orderHistory":{"partialRefundEvents":"#
            + #"[{"processTime":"\#(processed)"}]}}"#
        let world = GoogleFixture.world { request in
            request.url.contains("orders:batchGet")
                ? .json(#"{"orders":[\#(order)]}"#) : .json(GoogleObservationTests.base)
        }
        var purchase = purchase(.google, token: Self.token)
        purchase.clues = [.refund(of: "GPA.1..1")]
        purchase.cluesHeardAt = [.refund(of: "GPA.1..1"): GoogleFixture.now]
        let answer = await (try GoogleFixture.store(world)).ask(purchase, at: GoogleFixture.now)
        guard case .verdict(let heard) = answer else {
            Issue.record("\(summary(answer))")
            return
        }
        #expect(heard.pastRefunds == (isTold ? ["GPA.1..1"] : []))
        #expect(heard.refundedParts == (isTold ? ["GPA.1..1": RefundedPart()] : [:]))
    }

    /// Another purchase's order says nothing of this one, and does not hide a refund of it.
    @Test func takesNoPartOfAnothersOrder() async throws {
        let heard = try await Self.ask(
            Self.world([Self.current.text: "PARTIALLY_REFUNDED"], of: "another"),
            [.refund(of: Self.current)])
        #expect(heard.refundedParts.isEmpty && heard.settledClues.isEmpty)
    }

    /// Version 2 shows a pause only when it runs.
    @Test(arguments: [
        (#","autoResumeTimeMillis":"1789000000000""#, 200, true, true), ("", 200, false, true),
        ("", 404, false, true), ("", 503, false, false),
    ])
    func looksForAScheduledPause(
        _ resumes: String, _ status: Int, _ isTold: Bool, _ isSettled: Bool
    ) async throws {
        let world = GoogleFixture.world { request in
            guard request.url.contains("/purchases/subscriptions/plus/tokens/") else {
                return .json(GoogleObservationTests.base)
            }
            return .json(
                #"{"startTimeMillis":"1768472430456","expiryTimeMillis":"1773570028912","#
                    + #""autoRenewing":true,"paymentState":1,"orderId":"\#(Self.current)"\#(resumes)}"#,
                status: status)
        }
        let clue = Clue.pause(news: "77")
        let heard = try await Self.ask(world, [clue])
        #expect(heard.signals.contains(.pauseScheduled) == isTold)
        #expect(heard.settledClues == (isSettled ? [clue] : []))
        #expect(heard.status == .active)
        #expect(world.calls.count == 2)
    }
}
