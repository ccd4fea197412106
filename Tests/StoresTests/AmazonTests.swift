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

        case: grace has run out, and nothing else has happened
        was: grace
        wire: {"renewalDate":1768780800000,"gracePeriodEndDate":1768867200000}
        hear: grace, production, plus.monthly/plus 26-01-20T00, paid 26-01-19T00,
            until 26-01-20T00, renews yes, regular

        case: grace is not named any more, and nothing else has happened
        was: grace
        wire: {"renewalDate":1768780800000}
        hear: grace, production, plus.monthly/plus 26-01-19T00, paid 26-01-19T00,
            until 26-01-19T00, renews yes, regular

        case: renewal switched off in grace
        was: grace
        wire: {"autoRenewing":false,"renewalDate":null}
        hear: grace, production, plus.monthly/plus -, paid -, until -, renews no, regular

        case: grace is not named any more, and the renewal date has moved on: paid
        was: grace
        wire: {}
        hear: active, production, plus.monthly/plus 26-02-01T11, paid 26-02-01T11,
            until 26-02-01T11, renews yes, regular

        case: a tester's grace that is none
        wire: {"testTransaction":true,"autoRenewing":false,"freeTrialEndDate":1769943600000,
            "gracePeriodEndDate":1769943600000}
        hear: active, sandbox, plus.monthly/plus 26-02-01T11, paid 26-02-01T11,
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
        again: 26-02-01T11

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
        again: 26-01-20T18

        case: a reason within Amazon
        wire: {"renewalDate":null,"cancelDate":1768780800000,"cancelReason":3}
        hear: ended periodEnded 26-01-19T00, production, plus.monthly/plus 26-01-19T00, paid -,
            until 26-01-19T00, renews no, regular

        case: no reason
        wire: {"renewalDate":null,"cancelDate":1768780800000}
        hear: ended periodEnded 26-01-19T00, production, plus.monthly/plus 26-01-19T00, paid -,
            until 26-01-19T00, renews no, regular

        case: cut short by customer service
        known: 2026-02-01T11:00:00Z
        wire: {"renewalDate":null,"cancelDate":1768780800000,"cancelReason":2}
        hear: refunded 26-01-19T00, production, plus.monthly/plus 26-01-19T00, paid -,
            until 26-01-19T00, renews no, regular

        case: replaced at once, not before the end
        wire: {"cancelDate":1769385600000,"cancelReason":4}
        hear: active, production, plus.monthly/plus 26-01-26T00, paid -, until 26-01-26T00,
            renews no, regular

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

        case: reasons that are no numbers, flags in quotes, noughts for dates
        wire: {"cancelReason":"UNKNOWN","autoRenewing":"true","cancelDate":0,
            "gracePeriodEndDate":0,"betaProduct":"false"}
        hear: active, production, plus.monthly/plus 26-02-01T11, paid 26-02-01T11,
            until 26-02-01T11, renews yes, regular

        case: a reason in quotes
        known: 2026-01-19T00:00:00Z
        wire: {"renewalDate":0,"cancelDate":"1768780800000","cancelReason":"1"}
        hear: ended userCancelled 26-01-19T00, production, plus.monthly/plus 26-01-19T00, paid -,
            until 26-01-19T00, renews no, regular

        case: a reason that is no number
        known: 2026-01-19T00:00:00Z
        wire: {"renewalDate":null,"cancelDate":1768780800000,"cancelReason":"CUSTOMER"}
        hear: ended periodEnded 26-01-19T00, production, plus.monthly/plus 26-01-19T00, paid -,
            until 26-01-19T00, renews no, regular

        case: nothing is said of renewal
        wire: {"autoRenewing":null,"renewalDate":null}
        hear: active, production, plus.monthly/plus -, paid -, until -, renews -, regular

        case: a beta product
        wire: {"betaProduct":true}
        hear: active, sandbox, plus.monthly/plus 26-02-01T11, paid 26-02-01T11,
            until 26-02-01T11, renews yes, regular

        case: a tester of an entitlement
        wire: {"productType":"ENTITLED","productId":"unlock","termSku":null,"renewalDate":null,
            "autoRenewing":false,"testTransaction":true}
        hear: active, sandbox, unlock -, paid -, until -, renews -, -, non_consumable

        case: a trial that was cut short gives no money back
        known: 2026-02-01T11:00:00Z
        phase: trial
        wire: {"renewalDate":null,"cancelDate":1768780800000,"cancelReason":1}
        hear: ended userCancelled 26-01-19T00, production, plus.monthly/plus 26-01-19T00, paid -,
            until 26-01-19T00, renews no, regular

        case: an entitlement that was a subscription
        known: 2026-02-01T11:00:00Z
        period: 1769943600000
        wire: {"productType":"ENTITLED","termSku":null,"renewalDate":null,"autoRenewing":false}
        hear: mismatch type of product

        case: a subscription that was an entitlement
        was: active
        period: -
        wire: {}
        hear: mismatch type of product

        case: for ever
        wire: {"productType":"ENTITLED","productId":"unlock","termSku":null,"term":null,
            "renewalDate":null,"autoRenewing":false}
        hear: active, production, unlock -, paid -, until -, renews -, -, non_consumable

        case: for ever, refunded
        wire: {"productType":"ENTITLED","productId":"unlock","termSku":null,"renewalDate":null,
            "cancelDate":1768000000000,"cancelReason":1}
        hear: refunded 26-01-09T23, production, unlock -, paid -, until -, renews -, -,
            non_consumable

        case: for ever, with an end to come
        wire: {"productType":"ENTITLED","productId":"unlock","termSku":null,"renewalDate":null,
            "cancelDate":1769385600000}
        hear: active, production, unlock -, paid -, until -, renews -, -, non_consumable
        again: 26-01-26T00

        case: consumable, refunded
        wire: {"productType":"CONSUMABLE","productId":"coins","termSku":null,"renewalDate":null,
            "autoRenewing":null,"cancelDate":1768000000000}
        hear: refunded 26-01-09T23, production, coins -, paid -, until -, renews -, -, consumable

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

        case: a kind of another age, with terms
        wire: {"productType":"RENTAL"}
        hear: active, production, plus.monthly/plus 26-02-01T11, paid 26-02-01T11, until 26-02-01T11, renews yes, regular

        case: a kind of another age
        wire: {"productType":"RENTAL","renewalDate":null,"termSku":null}
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

        case: a term of eleven years
        wire: {"renewalDate":2117000000000}
        hear: malformed renewalDate

        case: bought in some years
        wire: {"purchaseDate":1902000000000}
        hear: malformed purchaseDate

        case: a date beyond all years
        wire: {"renewalDate":9223372036854775807}
        hear: malformed renewalDate
        """#)

    @Test(arguments: cases)
    func hears(_ row: Case) throws {
        let answer = try read(row)
        #expect(summary(answer) == row["hear"])
        guard case .verdict(let observation) = answer else { return }
        let again = observation.askAgainBy.map { $0.text.dropFirst(2).prefix(11) }
        #expect(again.map(String.init) == row["again"])
    }

    /// What is still to come, and other promotions, are no use of an introductory offer.
    @Test(arguments: [
        ("{}", nil), (#"{"freeTrialEndDate":1769943600000}"#, true),
        (promotion("Introductory Price - All customers", "Completed"), true),
        (promotion("introductory price - all customers", "InProgress"), true),
        (promotion("Introductory Price - All customers", "Queued"), nil),
        (promotion("Retention Offer", "InProgress"), nil),
    ])
    func tellsWhetherAnIntroductoryOfferWasUsed(wire: String, used: Bool?) throws {
        let row = Case.all("case: x\nwire: \(wire)")[0]
        guard case .verdict(let observation) = try read(row) else {
            Issue.record("no verdict")
            return
        }
        #expect(observation.usedIntroductory == used)
    }

    private static func promotion(_ type: String, _ status: String) -> String {
        #"{"promotions":[{"promotionType":"\#(type)","promotionStatus":"\#(status)"}]}"#
    }

    @Test func namesTheReceiptAndThePeriod() throws {
        guard case .verdict(let observation) = try read(Self.cases[0]) else {
            Issue.record("no verdict")
            return
        }
        #expect(observation.orderID == nil)
        #expect(observation.originalID == "Zk3v=:3:11")
        #expect(observation.period == "1769943600000")
        #expect(
            observation.words
                == "autoRenewing true, renewalDate 2026-02-01T11:00:00Z, countryCode DE")
    }

    private func read(_ row: Case) throws -> Answer {
        var facts = purchase(
            .amazon, token: "", paidThrough: try row["known"].map(time),
            state: try row["was"].map { try #require(PurchaseState(rawValue: $0)) } ?? .new,
            access: row["period"] == nil ? .none : .granted
        ).facts
        facts.phase = try row["phase"].map { try #require(Phase(rawValue: $0)) }
        facts.period = row["period"].flatMap { $0 == "-" ? nil : OrderID($0) }
        let body = try merged(Self.base, row["wire"])
        let now = try time("2026-01-20T12:00:00Z")
        do throws(StoreFailure) {
            let receipt = try AmazonReceipt(body)
            return .verdict(
                try AmazonObservation(
                    receipt, asked: "Zk3v=:3:11",
                    from: row["environment"] == "sandbox" ? .sandbox : .production, facts: facts,
                    at: now
                ).observation)
        } catch {
            return .failure(error)
        }
    }
}
