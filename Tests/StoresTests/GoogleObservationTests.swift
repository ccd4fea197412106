import Curl
import Renewal
import Testing

@testable import Stores

/// What each answer of Google comes to: `wire` is put over an active subscription that was renewed
/// once. It is 20 February 2026, noon. The order of the words is that of `summary`.
struct GoogleObservationTests {
    static let base = #"""
        {"kind":"androidpublisher#subscriptionPurchaseV2","startTime":"2026-01-15T10:20:30.456Z",
        "regionCode":"PT","subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","etag":"5b1f",
        "latestOrderId":"GPA.3301-7742-9918-40211..0",
        "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
        "lineItems":[{"productId":"plus","expiryTime":"2026-03-15T10:20:28.912Z",
        "autoRenewingPlan":{"autoRenewEnabled":true,"recurringPrice":{"units":"6"}},
        "offerDetails":{"basePlanId":"monthly"},
        "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0","offerPhase":{"basePrice":{}}}]}
        """#

    static let cases = Case.all(
        #"""
        case: renewed
        wire: {}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, regular

        case: unknown members and unknown values of other enumerations
        wire: {"newThing":{"a":[1]},"acknowledgementState":"ACKNOWLEDGEMENT_STATE_X",
            "regionCode":7}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, regular

        case: free trial, not acknowledged for more than a day
        wire: {"startTime":"2026-02-18T10:20:30Z",
            "acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING","latestOrderId":"GPA.1",
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-25T10:20:29.001Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},"latestSuccessfulOrderId":"GPA.1",
            "offerPhase":{"freeTrial":{}}}]}
        hear: active, production, plus 26-02-25T10, paid 26-02-25T10, until 26-02-25T10,
            renews yes, trial, unacknowledged
        more: offer used, awaits

        case: bought today, not acknowledged yet
        wire: {"startTime":"2026-02-20T02:00:00Z",
            "acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING"}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, regular
        more: awaits, again 26-02-21T02:00

        case: introductory price, after an upgrade in its middle
        wire: {"lineItems":[{"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0",
            "offerPhase":{"prorationPeriod":{"originalOfferPhaseType":"INTRODUCTORY"}}}]}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, introductory
        more: offer used

        case: cancelled by the user and still running
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_CANCELED",
            "canceledStateContext":{"userInitiatedCancellation":
            {"cancelTime":"2026-02-09T18:04:11Z",
            "cancelSurveyResult":{"reasonUserInput":"secret words"}}},
            "lineItems":[{"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{},"latestSuccessfulOrderId":"GPA.1"}]}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews no, -

        case: grace
        known: 2026-02-15T10:20:28.912Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_IN_GRACE_PERIOD",
            "inGracePeriodStateContext":{"renewalDeclined":{"pendingOrderId":"GPA.1..0"}},
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-21T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},"latestSuccessfulOrderId":"GPA.1"}]}
        hear: grace, moved unpaid, production, plus 26-02-21T10, paid -, until 26-02-21T10,
            renews yes, -

        case: false renewal: active, moved by a day, latest order not paid
        known: 2026-02-20T10:20:28.912Z
        wire: {"lineItems":[{"productId":"plus","expiryTime":"2026-02-21T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211"}]}
        hear: grace, moved unpaid, production, plus 26-02-21T10, paid -, until 26-02-21T10,
            renews yes, -

        case: latest order not paid, but nothing moved
        known: 2026-03-15T10:20:28.912Z
        wire: {"latestOrderId":"GPA.3301-7742-9918-40211..1"}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, regular

        case: moved by the developer: the latest order is paid
        known: 2026-03-01T10:20:28.912Z
        wire: {}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, regular

        case: active a day after its expiry
        wire: {"lineItems":[{"productId":"plus","expiryTime":"2026-02-19T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0"}]}
        hear: active, production, plus 26-02-19T10, paid 26-02-19T10, until 26-02-19T10,
            renews yes, -

        case: active three days after its expiry
        wire: {"lineItems":[{"productId":"plus","expiryTime":"2026-02-17T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0"}]}
        hear: active, production, plus 26-02-17T10, paid 26-02-17T10, until 26-02-17T10, renews yes, -

        case: on hold
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_ON_HOLD","lineItems":[{"productId":"plus",
            "expiryTime":"2026-02-15T10:20:28Z","autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.1"}]}
        hear: hold, production, plus 26-02-15T10, paid -, until 26-02-15T10, renews yes, -

        case: hold ran out
        known: 2026-02-15T10:20:28.912Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_CANCELED",
            "canceledStateContext":{"systemInitiatedCancellation":{}},
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-15T10:20:28.912Z",
            "autoRenewingPlan":{},"latestSuccessfulOrderId":"GPA.1"}]}
        hear: ended paymentFailed 26-02-15T10, production, plus 26-02-15T10, paid 26-02-15T10,
            until 26-02-15T10, renews no, -

        case: paused
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_PAUSED",
            "pausedStateContext":{"autoResumeTime":"2026-03-15T10:20:28.912Z"},
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-15T10:20:28.912Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},"latestSuccessfulOrderId":"GPA.1"}]}
        hear: paused 26-03-15T10, production, plus 26-02-15T10, paid 26-02-15T10,
            until 26-02-15T10, renews yes, -

        case: expired after the user's cancellation
        known: 2026-02-15T10:20:28.912Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED",
            "canceledStateContext":{"userInitiatedCancellation":[]},
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-15T10:20:28.912Z",
            "autoRenewingPlan":{},"latestSuccessfulOrderId":"GPA.1"}]}
        hear: ended userCancelled 26-02-15T10, production, plus 26-02-15T10, paid 26-02-15T10,
            until 26-02-15T10, renews no, -

        case: expired without a word
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED","lineItems":[{"productId":"plus",
            "expiryTime":"2026-02-15T10:20:28.912Z","latestSuccessfulOrderId":"GPA.1"}]}
        hear: ended periodEnded 26-02-15T10, production, plus 26-02-15T10, paid 26-02-15T10,
            until 26-02-15T10, renews no, -

        case: cancelled by the developer, not cut short
        known: 2026-02-15T10:20:28.912Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED",
            "canceledStateContext":{"developerInitiatedCancellation":{}},
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-15T10:20:28.912Z",
            "latestSuccessfulOrderId":"GPA.1"}]}
        hear: ended periodEnded 26-02-15T10, production, plus 26-02-15T10, paid 26-02-15T10,
            until 26-02-15T10, renews no, -

        case: revoked in the middle of a paid period
        known: 2026-03-15T10:20:28.912Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED",
            "canceledStateContext":{"developerInitiatedCancellation":{}},
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-16T10:22:02Z",
            "autoRenewingPlan":{},"latestSuccessfulOrderId":"GPA.1"}]}
        hear: refunded 26-02-16T10, production, plus 26-02-16T10, paid -, until 26-02-16T10,
            renews no, -

        case: replaced in the middle of a paid period
        known: 2026-03-15T10:20:28.912Z
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED",
            "canceledStateContext":{"replacementCancellation":{}},
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-09T18:04:11Z",
            "autoRenewingPlan":{},"latestSuccessfulOrderId":"GPA.1"}]}
        hear: replaced 26-02-09T18, production, plus 26-02-09T18, paid -, until 26-02-09T18,
            renews no, -

        case: pending
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_PENDING","startTime":null,
            "linkedPurchaseToken":"old","lineItems":[{"productId":"plus","prepaidPlan":{}}]}
        hear: pending, production, plus -, paid -, until -, renews no, -

        case: pending abandoned: its predecessor stays what it is
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED",
            "startTime":null,"linkedPurchaseToken":"old","lineItems":[{"productId":"plus"}]}
        hear: ended periodEnded -, production, plus -, paid -, until -, renews no, -

        case: upgrade, the new token
        wire: {"linkedPurchaseToken":"old","lineItems":[{"productId":"max",
            "expiryTime":"2026-03-15T10:20:28Z","autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0",
            "offerPhase":{"prorationPeriod":{"originalOfferPhaseType":"BASE"}}}]}
        hear: active, production, max 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, regular, after old

        case: deferred change, waiting
        wire: {"latestOrderId":null,"lineItems":[{"productId":"max",
            "expiryTime":"2026-02-25T10:20:28Z","autoRenewingPlan":{},
            "latestSuccessfulOrderId":"GPA.2","deferredItemReplacement":{"productId":"plus"}},
            {"productId":"plus","autoRenewingPlan":{"autoRenewEnabled":true}}]}
        hear: active, production, max 26-02-25T10, paid 26-02-25T10, until 26-02-25T10,
            renews yes, -, product_change_scheduled

        case: deferred change, in effect
        product: max
        wire: {"latestOrderId":null,"lineItems":[{"productId":"max",
            "expiryTime":"2026-02-19T10:20:28Z","autoRenewingPlan":{},
            "latestSuccessfulOrderId":"GPA.2"},{"productId":"plus",
            "expiryTime":"2026-03-19T10:20:28Z","autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.3..0"}]}
        hear: active, production, plus 26-03-19T10, paid 26-03-19T10, until 26-03-19T10,
            renews yes, -

        case: an add-on with an end of its own
        wire: {"lineItems":[{"productId":"maps","expiryTime":"2026-03-24T10:20:31Z",
            "autoRenewingPlan":{},"deferredItemRemoval":{},"latestSuccessfulOrderId":"GPA.5"},
            {"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0"}]}
        hear: active, production, plus 26-03-15T10, maps 26-03-24T10, paid 26-03-15T10,
            until 26-03-15T10, renews yes, -, product_change_scheduled
        more: again 26-03-24T10:20

        case: prepaid
        wire: {"latestOrderId":null,"lineItems":[{"productId":"plus",
            "expiryTime":"2026-03-22T08:30:00Z",
            "prepaidPlan":{"allowExtendAfterTime":"2026-02-22T08:30:00Z"},
            "latestSuccessfulOrderId":"GPA.3355"}]}
        hear: active, production, plus 26-03-22T08, paid 26-03-22T08, until 26-03-22T08,
            renews no, -

        case: instalments that end with the commitment
        wire: {"lineItems":[{"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true,
            "installmentDetails":{"remainingCommittedPaymentsCount":10,
            "pendingCancellation":{}}},"latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0"}]}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews no, -

        case: price increase not answered
        wire: {"lineItems":[{"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true,
            "priceChangeDetails":{"priceChangeMode":"PRICE_INCREASE",
            "priceChangeState":"OUTSTANDING"}},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0"}]}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, -, price_increase_pending

        case: price decrease not answered
        wire: {"lineItems":[{"productId":"plus","expiryTime":"2026-03-15T10:20:28Z",
            "autoRenewingPlan":{"autoRenewEnabled":true,
            "priceChangeDetails":{"priceChangeMode":"PRICE_DECREASE",
            "priceChangeState":"OUTSTANDING"}},
            "latestSuccessfulOrderId":"GPA.3301-7742-9918-40211..0"}]}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, -

        case: a tester's
        wire: {"testPurchase":{}}
        hear: active, sandbox, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10, renews yes,
            regular

        case: a tester's, by way of PHP
        wire: {"testPurchase":[]}
        hear: active, sandbox, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10, renews yes,
            regular

        case: unknown state
        was: active
        access: yes
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_DREAMING"}
        hear: malformed subscriptionState

        case: unspecified state
        was: hold
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_UNSPECIFIED"}
        hear: malformed subscriptionState

        case: unknown state at first sight
        wire: {"subscriptionState":"SUBSCRIPTION_STATE_DREAMING"}
        hear: active, production, plus 26-03-15T10, paid 26-03-15T10, until 26-03-15T10,
            renews yes, regular

        case: no state at first sight, and over
        wire: {"subscriptionState":null,
            "lineItems":[{"productId":"plus","expiryTime":"2026-02-18T10:20:28Z"}]}
        hear: malformed subscriptionState

        case: no items
        wire: {"lineItems":null}
        hear: malformed lineItems

        case: no item is owned
        wire: {"lineItems":[{"productId":"plus"}]}
        hear: malformed lineItems.expiryTime

        case: a date that is none
        wire: {"lineItems":[{"productId":"plus","expiryTime":"tomorrow"}]}
        hear: malformed lineItems.expiryTime

        case: a date of another age
        wire: {"lineItems":[{"productId":"plus","expiryTime":"1970-01-01T00:00:00Z"}]}
        hear: malformed lineItems.expiryTime

        case: a date as a number
        wire: {"lineItems":[{"productId":"plus","expiryTime":1771150828912}]}
        hear: malformed lineItems.[0].expiryTime

        case: an item without a product
        wire: {"lineItems":[{"expiryTime":"2026-03-15T10:20:28Z"}]}
        hear: malformed lineItems.productId

        case: a switch as a text
        wire: {"lineItems":[{"productId":"plus","autoRenewingPlan":{"autoRenewEnabled":"yes"}}]}
        hear: malformed lineItems.[0].autoRenewingPlan.autoRenewEnabled
        """#)

    @Test(arguments: cases)
    func hears(_ row: Case) throws {
        let read = try read(row)
        #expect(summary(read.answer) == row["hear"])
        #expect(read.more == (row["more"] ?? ""))
    }

    @Test func namesTheOrdersAndThePeriod() throws {
        guard case .verdict(let observation) = try read(Case.all("case: renewed")[0]).answer else {
            Issue.record("no verdict")
            return
        }
        #expect(observation.orderID == "GPA.3301-7742-9918-40211..0")
        #expect(observation.period == "GPA.3301-7742-9918-40211..0")
        #expect(observation.originalID == "GPA.3301-7742-9918-40211")
        #expect(observation.purchasedAt == (try time("2026-01-15T10:20:30.456Z")))
        #expect(
            observation.words == "ACTIVE, expiryTime 2026-03-15T10:20:28Z, autoRenewEnabled true")
    }

    @Test(arguments: [
        ("GPA.1-2..0", "GPA.1-2"), ("GPA.1-2..17", "GPA.1-2"), ("GPA.1-2", "GPA.1-2"),
        ("GPA..x", "GPA..x"), ("..5", ""), ("GS.1.2", "GS.1.2"), ("", ""),
    ])
    func stripsTheRenewalFromAnOrder(id: OrderID, base: OrderID) {
        #expect(GoogleOrderID.base(of: id) == base)
    }

    @Test(arguments: [
        ("GPA.1..3", "GPA.1..4", true), ("GPA.1", "GPA.1..0", true),
        ("GPA.1..9", "GPA.1..10", true),
        ("GPA.1..4", "GPA.1..4", false), ("GPA.1..5", "GPA.1..4", false),
        ("GPA.2..3", "GPA.1..4", false),
    ])
    func ordersTheRenewalsOfASeries(one: OrderID, other: OrderID, isBefore: Bool) {
        #expect(GoogleOrderID(one).isBefore(GoogleOrderID(other)) == isBefore)
    }

    private func read(_ row: Case) throws -> GoogleRead {
        try GoogleRead(row) { facts, now throws(StoreFailure) in
            let wire = try GoogleSubscription(
                merged(orEmpty: Self.base, row["wire"]), at: now)
            let read = try GoogleObservation(wire.snapshot, facts: facts, at: now)
            return (read.observation, read.proof)
        }
    }
}
