import Renewal
import Testing

@testable import Stores

/// Google's own table of cases and what is not documented for certain, as answers of version 2:
/// `wire` is put over the base of `GoogleObservationTests`; the other keys are those of
/// `GoogleRead`.
struct GoogleCaseTests {
    static let cases = Case.all(
        #"""
        case: silent day, the latest order no longer named: moved by a day after the paid end
        known: 2026-02-20T10:20:28Z
        period: GPA.3301-7742-9918-40211
        wire: {"latestOrderId":null,"lineItems":[{"productId":"plus",
            "expiryTime":"2026-02-21T10:20:28Z","autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211"}]}
        hear: grace, moved unpaid, production, plus 26-02-21T10, paid -, until 26-02-21T10,
            renews yes, -

        case: the developer defers, the latest order no longer named
        known: 2026-02-25T10:20:28Z
        period: GPA.3301-7742-9918-40211
        wire: {"latestOrderId":null,"lineItems":[{"productId":"plus",
            "expiryTime":"2026-02-26T10:20:28Z","autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211"}]}
        hear: active, production, plus 26-02-26T10, paid 26-02-26T10, until 26-02-26T10,
            renews yes, -

        case: renewed, though the latest order is one more
        known: 2026-02-15T10:20:28Z
        period: GPA.3301-7742-9918-40211
        wire: {"latestOrderId":"GPA.3301-7742-9918-40211..1"}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, regular

        case: grace that has not moved the end
        known: 2026-02-21T10:20:28Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_IN_GRACE_PERIOD",
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-21T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},"latestSuccessfulOrderId":"GPA.1"}]}
        hear: grace, production, plus 26-02-21T10, paid -, until 26-02-21T10, renews yes, -

        case: grace at first sight
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_IN_GRACE_PERIOD",
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-21T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},"latestSuccessfulOrderId":"GPA.1"}]}
        hear: grace, moved unpaid, production, plus 26-02-21T10, paid -, until 26-02-21T10,
            renews yes, -

        case: grace a day after its end, which is late
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_IN_GRACE_PERIOD",
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-19T13:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},"latestSuccessfulOrderId":"GPA.1"}]}
        hear: grace, moved unpaid, production, plus 26-02-19T13, paid -, until 26-02-19T13,
            renews yes, -

        case: a hold of 46 days: the token answers for another fortnight
        now: 2026-04-02T10:20:28Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_ON_HOLD","lineItems":[{"productId":"plus",
            "expiryTime":"2026-02-15T10:20:28Z","autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.1"}]}
        hear: hold, production, plus 26-02-15T10, paid -, until 26-02-15T10, renews yes, -,
            token_ending

        case: a hold of 45 days
        now: 2026-04-01T10:20:28Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_ON_HOLD","lineItems":[{"productId":"plus",
            "expiryTime":"2026-02-15T10:20:28Z","autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.1"}]}
        hear: hold, production, plus 26-02-15T10, paid -, until 26-02-15T10, renews yes, -

        case: hold of an add-on suspends all items, however long they are paid
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_ON_HOLD","lineItems":[
            {"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},"latestSuccessfulOrderId":"GPA.1"},
            {"productId":"maps","expiryTime":"2026-02-18T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},"latestSuccessfulOrderId":"GPA.1"}]}
        hear: hold, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, -

        case: hold of an add-on has failed: the others come back for their time
        was: hold
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_CANCELED",
            "canceledStateContext":{"systemInitiatedCancellation":{}},"lineItems":[
            {"productId":"plus","expiryTime":"2026-03-15T10:20:28Z","autoRenewingPlan":{},
            "latestSuccessfulOrderId":"GPA.1"},
            {"productId":"maps","expiryTime":"2026-02-18T10:20:28Z","autoRenewingPlan":{},
            "latestSuccessfulOrderId":"GPA.1"}]}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews no, -

        case: an add-on that ends before the rest
        wire: {"lineItems":[{"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0"},
            {"productId":"maps","expiryTime":"2026-02-24T10:20:31Z","autoRenewingPlan":{},
            "deferredItemRemoval":{},"latestSuccessfulOrderId":"GPA.5"}]}
        hear: active, production, plus 26-03-15T10, maps 26-02-24T10, paid 26-03-15T10,
            until 26-03-15T10, renews yes, -, product_change_scheduled
        more: again 26-02-24T10:20

        case: an add-on that has gone, though the rest goes on
        wire: {"lineItems":[{"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0"},
            {"productId":"maps","expiryTime":"2026-02-20T10:20:31Z","autoRenewingPlan":{},
            "deferredItemRemoval":{},"latestSuccessfulOrderId":"GPA.5"}]}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, -

        case: an add-on whose renewal is late
        wire: {"lineItems":[{"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0"},
            {"productId":"maps","expiryTime":"2026-02-20T10:00:00Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},"latestSuccessfulOrderId":"GPA.5"}]}
        hear: active, production, plus 26-03-15T10, maps 26-02-20T10, paid 26-03-15T10,
            until 26-03-15T10, renews yes, -
        more: again 26-02-20T13:00

        case: pause scheduled, should the answer tell it
        wire: {"pausedStateContext":{"autoResumeTime":"2026-04-15T10:20:28Z"}}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, regular, pause_scheduled

        case: paused without a time to resume
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_PAUSED","lineItems":[{"productId":"plus",
            "expiryTime":"2026-02-15T10:20:28.912Z","autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.1"}]}
        hear: paused -, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, -

        case: resumption failed: on hold at once
        was: paused
        known: 2026-02-15T10:20:28Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_ON_HOLD","lineItems":[{"productId":"plus",
            "expiryTime":"2026-02-15T10:20:28Z","autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.1"}]}
        hear: hold, production, plus 26-02-15T10, paid -, until 26-02-15T10, renews yes, -

        case: subscribed again in Play after the old one had lapsed
        wire: {"outOfAppPurchaseContext":{"expiredPurchaseToken":"old",
            "expiredExternalAccountIdentifiers":{"obfuscatedExternalAccountId":"u-7"}}}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, regular, after old

        case: pending, and to replace another: that one stays
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_PENDING","startTime":null,
            "linkedPurchaseToken":"old","acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING",
            "lineItems":[{"productId":"max","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true}}]}
        hear: pending, production, max 26-03-15T10, paid -, until 26-03-15T10, renews yes, -

        case: a period that the price increase ended
        known: 2026-02-15T10:20:28Z
        signals: price_increase_pending
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED","latestOrderId":"GPA.1",
            "canceledStateContext":{"systemInitiatedCancellation":{}},
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-15T10:20:28Z",
            "autoRenewingPlan":{},"latestSuccessfulOrderId":"GPA.1"}]}
        hear: ended priceIncreaseDeclined 26-02-15T10, production, plus 26-02-15T10,
            paid 26-02-15T10, until 26-02-15T10, renews no, -

        case: a hold that ran out while a price increase waited
        was: hold
        known: 2026-02-15T10:20:28Z
        signals: price_increase_pending
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_CANCELED",
            "canceledStateContext":{"systemInitiatedCancellation":{}},
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-15T10:20:28Z",
            "autoRenewingPlan":{},"latestSuccessfulOrderId":"GPA.1"}]}
        hear: ended paymentFailed 26-02-15T10, production, plus 26-02-15T10, paid 26-02-15T10,
            until 26-02-15T10, renews no, -

        case: a step of the price that needs consent
        wire: {"lineItems":[{"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true,
            "priceStepUpConsentDetails":{"state":"PENDING"}},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0"}]}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, -, price_increase_pending

        case: price increase confirmed
        wire: {"lineItems":[{"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true,
            "priceChangeDetails":{"priceChangeMode":"PRICE_INCREASE",
            "priceChangeState":"CONFIRMED"}},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0"}]}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, -

        case: revoked, and the context says the user
        known: 2026-03-15T10:20:28Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED",
            "canceledStateContext":{"userInitiatedCancellation":{}},
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-16T10:22:02Z",
            "latestSuccessfulOrderId":"GPA.1"}]}
        hear: refunded 26-02-16T10, production, plus 26-02-16T10, paid -, until 26-02-16T10,
            renews no, -

        case: revoked, and no context at all
        known: 2026-03-15T10:20:28Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED",
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-16T10:22:02Z",
            "latestSuccessfulOrderId":"GPA.1"}]}
        hear: refunded 26-02-16T10, production, plus 26-02-16T10, paid -, until 26-02-16T10,
            renews no, -

        case: expired at first sight: nothing is known of a refund
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED",
            "canceledStateContext":{"developerInitiatedCancellation":{}},"testPurchase":{},
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-16T10:22:02Z",
            "latestSuccessfulOrderId":"GPA.1"}]}
        hear: ended periodEnded 26-02-16T10, sandbox, plus 26-02-16T10, paid 26-02-16T10,
            until 26-02-16T10, renews no, -

        case: replaced, and the end is still to come
        known: 2026-03-15T10:20:28Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED",
            "canceledStateContext":{"replacementCancellation":[]}}
        hear: replaced -, production, plus 26-03-15T10, paid -, until 26-03-15T10, renews yes,
            regular

        case: both links look alive for a while: the replaced one keeps its time
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_CANCELED",
            "canceledStateContext":{"replacementCancellation":{}},
            "lineItems":[{"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{},"latestSuccessfulOrderId":"GPA.1"}]}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews no, -

        case: a deferred change dies before it takes effect
        product: max
        known: 2026-02-19T10:20:28Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED",
            "canceledStateContext":{"systemInitiatedCancellation":{}},"latestOrderId":null,
            "lineItems":[{"productId":"max","expiryTime":"2026-02-19T10:20:28Z",
            "autoRenewingPlan":{},"latestSuccessfulOrderId":"GPA.2"},
            {"productId":"plus","autoRenewingPlan":{}}]}
        hear: ended paymentFailed 26-02-19T10, production, max 26-02-19T10, paid 26-02-19T10,
            until 26-02-19T10, renews no, -

        case: the same, and only what was never owned is left
        product: max
        known: 2026-02-19T10:20:28Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED",
            "canceledStateContext":{"systemInitiatedCancellation":{}},"latestOrderId":null,
            "lineItems":[{"productId":"plus","autoRenewingPlan":{}}]}
        hear: ended paymentFailed -, production, plus -, paid -, until -, renews no, -

        case: prepaid, topped up: a new token
        wire: {"linkedPurchaseToken":"old","latestOrderId":null,
            "startTime":"2026-02-20T07:00:00Z",
            "acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING","lineItems":[
            {"productId":"plus","expiryTime":"2026-03-22T08:30:00Z",
            "prepaidPlan":{"allowExtendAfterTime":"2026-02-22T08:30:00Z"},
            "latestSuccessfulOrderId":"GPA.3355"}]}
        hear: active, production, plus 26-03-22T08, paid 26-03-22T08, until 26-03-22T08,
            renews no, -, after old
        more: awaits, again 26-02-21T07:00

        case: prepaid for two days: to be acknowledged within one
        wire: {"latestOrderId":null,"startTime":"2026-02-20T02:00:00Z",
            "acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING","lineItems":[
            {"productId":"plus","expiryTime":"2026-02-22T02:00:00Z","prepaidPlan":{},
            "latestSuccessfulOrderId":"GPA.3355"}]}
        hear: active, production, plus 26-02-22T02, paid 26-02-22T02, until 26-02-22T02,
            renews no, -, unacknowledged
        more: awaits

        case: prepaid and over, in either state
        known: 2026-02-19T10:20:28Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED","latestOrderId":null,
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-19T10:20:28Z",
            "prepaidPlan":{},"latestSuccessfulOrderId":"GPA.3355"}]}
        hear: ended periodEnded 26-02-19T10, production, plus 26-02-19T10, paid 26-02-19T10,
            until 26-02-19T10, renews no, -

        case: bought with an offer, which is over
        wire: {"lineItems":[{"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},
            "offerDetails":{"basePlanId":"monthly","offerId":"week-free"},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0",
            "offerPhase":{"basePrice":{}}}]}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, regular
        more: offer used

        case: by a promotion code
        wire: {"lineItems":[{"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},
            "signupPromotion":{"oneTimeCode":{}}}],"latestOrderId":null}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, -

        case: a copy that lags behind says hold
        known: 2026-03-15T10:20:28Z
        period: GPA.3301-7742-9918-40211..1
        access: yes
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_ON_HOLD"}
        hear: mismatch period, an older one

        case: an earlier order is the latest, and it is over: a copy that is behind
        known: 2026-04-15T10:20:28Z
        period: GPA.3301-7742-9918-40211..1
        access: yes
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED",
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-18T10:20:28Z",
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0"}]}
        hear: mismatch period, an older one

        case: the same, and the developer has revoked it
        known: 2026-04-15T10:20:28Z
        period: GPA.3301-7742-9918-40211..1
        access: yes
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED",
            "canceledStateContext":{"developerInitiatedCancellation":{}},
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-18T10:20:28Z",
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0"}]}
        hear: refunded -, production, plus 26-02-18T10, paid -, until 26-02-18T10, renews no, -

        case: the known series of orders
        original: GPA.3301-7742-9918-40211
        wire: {}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, regular

        case: another series for the same product
        original: GPA.1
        wire: {}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, regular
        more: foreign GPA.3301-7742-9918-40211..0

        case: another series for another product
        original: GPA.1
        product: max
        wire: {}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, regular
        more: foreign GPA.3301-7742-9918-40211..0

        case: a deferred change takes effect with a series of its own
        original: GPA.2
        product: max
        wire: {"latestOrderId":null,"lineItems":[{"productId":"max",
            "expiryTime":"2026-02-19T10:20:28Z","autoRenewingPlan":{},
            "latestSuccessfulOrderId":"GPA.2"},{"productId":"plus",
            "expiryTime":"2026-03-19T10:20:28Z","autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.3..0"}]}
        hear: active, production, plus 26-03-19T10, paid 26-03-19T10, until 26-03-19T10,
            renews yes, -

        case: only the declined order is of the known series
        original: GPA.1
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_ON_HOLD","latestOrderId":null,
            "onHoldStateContext":{"renewalDeclined":{"pendingOrderId":"GPA.1..0"}},
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true}}]}
        hear: hold, production, plus 26-02-15T10, paid -, until 26-02-15T10, renews yes, -
        """#)

    @Test(arguments: cases)
    func hears(_ row: Case) throws {
        let read = try GoogleRead(row) { facts, now throws(StoreFailure) in
            let wire = try GoogleSubscription(
                merged(orEmpty: GoogleObservationTests.base, row["wire"]), at: now)
            let read = try GoogleObservation(wire.snapshot, facts: facts, at: now)
            return (read.observation, read.proof)
        }
        #expect(summary(read.answer) == row["hear"])
        #expect(read.more == (row["more"] ?? ""))
    }

    /// `offerDetails` without an offer, and none at all.
    @Test(arguments: [
        (#"{"offerDetails":{"basePlanId":"m"},"#, false), ("{", nil),
        (#"{"offerDetails":{"offerId":"x"},"#, true),
    ])
    func tellsWhetherAnOfferWasUsed(details: String, used: Bool?) throws {
        let item = details + #""productId":"plus","expiryTime":"2026-03-15T10:20:28Z"}"#
        let body = try merged(GoogleObservationTests.base, #"{"lineItems":[\#(item)]}"#)
        let now = try time("2026-02-20T12:00:00Z")
        let wire = try GoogleSubscription(body, at: now)
        let read = try GoogleObservation(
            wire.snapshot, facts: Facts(product: "plus"), at: now)
        #expect(read.observation.usedIntroductory == used)
    }
}
