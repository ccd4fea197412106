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
        #expect(heard.standing == .active)
    }

    @Test func tellsNothingOfAnotherPurchase() async throws {
        let world = Self.world(["GPA.1..1": "REFUNDED"], of: "another")
        let heard = try await Self.ask(world, [.refund(of: "GPA.1..1")])
        #expect(heard.pastRefunds.isEmpty && heard.signals.isEmpty)
        #expect(heard.settledClues == [.refund(of: "GPA.1..1")])
    }

    /// The answer itself tells of the current order.
    @Test func doesNotLookForTheCurrentOrder() async throws {
        let world = Self.world([:])
        let heard = try await Self.ask(world, [.refund(of: Self.current)])
        #expect(heard.pastRefunds.isEmpty && heard.settledClues.isEmpty)
        #expect(world.calls.count == 1)
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
        #expect(heard.standing == .active)
        #expect(world.calls.count == 2)
    }
}
