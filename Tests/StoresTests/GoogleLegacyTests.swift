import Renewal
import Testing

@testable import Stores

/// What each answer of version 1 comes to: `wire` is put over an active subscription. It is
/// 10 February 2026, noon, in the middle of the first period; the other keys are those of
/// `GoogleRead`. Dates: 1771150828912 is 15 February, 1770660251000 the 9th, 1770718828912 the
/// 10th before noon, 1771237228912 the 16th, 1773570028912 15 March.
struct GoogleLegacyTests {
    static let base = #"""
        {"kind":"androidpublisher#subscriptionPurchase","startTimeMillis":"1768472430456",
        "expiryTimeMillis":"1771150828912","autoRenewing":true,"priceCurrencyCode":"EUR",
        "priceAmountMicros":"6990000","countryCode":"PT","developerPayload":"","paymentState":1,
        "orderId":"GPA.3301-7742-9918-40211","acknowledgementState":1,
        "obfuscatedExternalAccountId":"u-7f3b0c"}
        """#

    static let cases = Case.all(
        #"""
        case: active
        wire: {}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, regular

        case: numbers as texts, texts as numbers, a payload that names the user
        wire: {"expiryTimeMillis":1771150828912,"paymentState":"1","acknowledgementState":"1",
            "developerPayload":"{\"user\":\"nanny-ogg\"}"}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, regular

        case: free trial of a tester, not acknowledged
        now: 2026-02-15T10:24:00Z
        wire: {"startTimeMillis":"1771151000000","expiryTimeMillis":"1771151280100",
            "paymentState":2,"purchaseType":0,"acknowledgementState":0}
        hear: active, sandbox, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, trial
        more: offer used, awaits, again 26-02-16T10:23

        case: by a promotion code
        wire: {"purchaseType":1,"promotionType":0,"paymentState":1}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, regular

        case: in the second of two periods at a lower price
        wire: {"orderId":"GPA.1..0","introductoryPriceInfo":{"introductoryPriceCycles":2,
            "introductoryPricePeriod":"P1M"}}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, introductory
        more: offer used

        case: after the periods at a lower price
        wire: {"orderId":"GPA.1..1","introductoryPriceInfo":{"introductoryPriceCycles":2}}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, regular
        more: offer used

        case: not acknowledged for weeks
        wire: {"acknowledgementState":0}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, regular, unacknowledged
        more: awaits

        case: false renewal, first day
        known: 2026-02-15T10:20:28.912Z
        period: GPA.3301-7742-9918-40211
        original: GPA.3301-7742-9918-40211
        now: 2026-02-15T12:00:00Z
        wire: {"expiryTimeMillis":"1771237228912","paymentState":0,
            "orderId":"GPA.3301-7742-9918-40211..0"}
        hear: grace, moved unpaid, production, plus 26-02-16T10, paid -, until 26-02-16T10,
            renews yes, -

        case: false renewal, second day
        known: 2026-02-15T10:20:28.912Z
        period: GPA.3301-7742-9918-40211
        was: grace
        now: 2026-02-16T12:00:00Z
        wire: {"expiryTimeMillis":"1771323628912","paymentState":0,
            "orderId":"GPA.3301-7742-9918-40211..0"}
        hear: grace, moved unpaid, production, plus 26-02-17T10, paid -, until 26-02-17T10,
            renews yes, -

        case: in grace, and the end that was moved on is over: it is about to be moved on again
        known: 2026-02-15T10:20:28.912Z
        period: GPA.3301-7742-9918-40211
        was: grace
        now: 2026-02-16T11:00:00Z
        wire: {"expiryTimeMillis":"1771237228912","paymentState":0,
            "orderId":"GPA.3301-7742-9918-40211..0"}
        hear: grace, moved unpaid, production, plus 26-02-16T10, paid -, until 26-02-16T10,
            renews yes, -

        case: the same, and it was not moved on
        known: 2026-02-15T10:20:28.912Z
        period: GPA.3301-7742-9918-40211
        was: grace
        now: 2026-02-16T11:30:00Z
        wire: {"expiryTimeMillis":"1771237228912","paymentState":0,
            "orderId":"GPA.3301-7742-9918-40211..0"}
        hear: hold, production, plus 26-02-16T10, paid -, until 26-02-16T10, renews yes, -

        case: in grace, and it was moved on beyond that end before
        known: 2026-02-15T10:20:28.912Z
        until: 2026-02-17T10:20:28.912Z
        period: GPA.3301-7742-9918-40211
        was: grace
        now: 2026-02-17T08:00:00Z
        wire: {"expiryTimeMillis":"1771237228912","paymentState":0,
            "orderId":"GPA.3301-7742-9918-40211..0"}
        hear: mismatch period, an older one

        case: in grace before, and now on hold
        known: 2026-02-15T10:20:28.912Z
        until: 2026-02-17T10:20:28.912Z
        period: GPA.3301-7742-9918-40211
        was: grace
        now: 2026-02-17T08:00:00Z
        wire: {"paymentState":0,"orderId":"GPA.3301-7742-9918-40211..0"}
        hear: hold, production, plus 26-02-15T10, paid -, until 26-02-15T10, renews yes, -

        case: false renewal at first sight: a declined renewal has had a sign-up
        wire: {"paymentState":0,"orderId":"GPA.3301-7742-9918-40211..0"}
        hear: grace, moved unpaid, production, plus 26-02-15T10, paid -, until 26-02-15T10,
            renews yes, -

        case: recovered in grace
        known: 2026-02-09T10:20:28Z
        period: GPA.3301-7742-9918-40211
        was: grace
        wire: {"orderId":"GPA.3301-7742-9918-40211..0"}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, regular

        case: on hold: the end falls back to that of the paid period
        known: 2026-02-10T10:20:28.912Z
        was: grace
        wire: {"expiryTimeMillis":"1770718828912","paymentState":0,
            "orderId":"GPA.3301-7742-9918-40211..0"}
        hear: hold, production, plus 26-02-10T10, paid -, until 26-02-10T10, renews yes, -

        case: on hold at first sight
        wire: {"expiryTimeMillis":"1770718828912","paymentState":0,
            "orderId":"GPA.3301-7742-9918-40211..0"}
        hear: hold, production, plus 26-02-10T10, paid -, until 26-02-10T10, renews yes, -

        case: sign-up not paid yet, with an end to come
        wire: {"paymentState":0}
        hear: pending, production, plus -, paid -, until -, renews yes, -

        case: sign-up not paid yet, without an end
        wire: {"paymentState":0,"expiryTimeMillis":null,"startTimeMillis":null,"orderId":null}
        hear: pending, production, plus -, paid -, until -, renews yes, -

        case: sign-up not paid yet, its end past
        wire: {"paymentState":0,"expiryTimeMillis":"1770660251000","linkedPurchaseToken":"old"}
        hear: pending, production, plus -, paid -, until -, renews yes, -

        case: given up before it was paid, with no end
        wire: {"paymentState":null,"expiryTimeMillis":null,"startTimeMillis":null,"cancelReason":0,
            "autoRenewing":false}
        hear: ended periodEnded -, production, plus -, paid -, until -, renews no, -

        case: no end of what was paid
        known: 2026-02-15T10:20:28Z
        wire: {"paymentState":null,"expiryTimeMillis":null,"cancelReason":0,"autoRenewing":false}
        hear: malformed expiryTimeMillis

        case: pause scheduled
        wire: {"autoResumeTimeMillis":"1773570028912"}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, regular, pause_scheduled

        case: paused
        wire: {"expiryTimeMillis":"1770660251000","autoResumeTimeMillis":"1773570028912"}
        hear: paused 26-03-15T10, production, plus 26-02-09T18, paid 26-02-09T18,
            until 26-02-09T18, renews yes, regular

        case: a renewal under way is no pause
        wire: {"expiryTimeMillis":"1770660251000"}
        hear: active, production, plus 26-02-09T18, paid 26-02-09T18, until 26-02-09T18,
            renews yes, regular

        case: the resumption of a pause under way
        wire: {"expiryTimeMillis":"1770660251000","autoResumeTimeMillis":"1770718828912"}
        hear: active, production, plus 26-02-09T18, paid 26-02-09T18, until 26-02-09T18,
            renews yes, regular

        case: a renewal that has been under way for three days
        now: 2026-02-18T12:00:00Z
        wire: {}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10, renews yes, regular

        case: cancelled by the user, and still running
        wire: {"autoRenewing":false,"cancelReason":0,"paymentState":null,
            "userCancellationTimeMillis":"1770660251000","cancelSurveyResult":
            {"cancelSurveyReason":3}}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews no, -

        case: the same, with the payment that old captures show
        wire: {"autoRenewing":false,"cancelReason":0,"paymentState":1}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews no, regular

        case: the same, and the switch is left out
        wire: {"autoRenewing":null,"cancelReason":0,"paymentState":null}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews no, -

        case: a reason of zero while it renews
        wire: {"cancelReason":0}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, regular

        case: ran out after the user's cancellation
        known: 2026-02-10T10:20:28Z
        wire: {"autoRenewing":false,"cancelReason":0,"paymentState":null,
            "expiryTimeMillis":"1770718828912"}
        hear: ended userCancelled 26-02-10T10, production, plus 26-02-10T10, paid 26-02-10T10,
            until 26-02-10T10, renews no, -

        case: ended for want of payment: the declined order is not paid
        known: 2026-02-10T10:20:28Z
        original: GPA.3301-7742-9918-40211
        wire: {"autoRenewing":false,"cancelReason":1,"paymentState":null,
            "expiryTimeMillis":"1770718828912","orderId":"GPA.3301-7742-9918-40211..0"}
        hear: ended paymentFailed 26-02-10T10, production, plus 26-02-10T10, paid 26-02-10T10,
            until 26-02-10T10, renews no, -

        case: ended by the developer at the end of the period
        known: 2026-02-10T10:20:28Z
        wire: {"autoRenewing":false,"cancelReason":3,"paymentState":null,
            "expiryTimeMillis":"1770718828912"}
        hear: ended periodEnded 26-02-10T10, production, plus 26-02-10T10, paid 26-02-10T10,
            until 26-02-10T10, renews no, -

        case: ended for a reason of another age
        known: 2026-02-10T10:20:28Z
        wire: {"autoRenewing":false,"cancelReason":9,"paymentState":null,
            "expiryTimeMillis":"1770718828912"}
        hear: ended periodEnded 26-02-10T10, production, plus 26-02-10T10, paid 26-02-10T10,
            until 26-02-10T10, renews no, -

        case: revoked in the middle of a period, by the developer
        known: 2026-02-15T10:20:28Z
        wire: {"autoRenewing":false,"cancelReason":3,"paymentState":null,
            "expiryTimeMillis":"1770660251000"}
        hear: refunded 26-02-09T18, production, plus 26-02-09T18, paid -, until 26-02-09T18,
            renews no, -

        case: revoked in the middle of a period, by Google
        known: 2026-02-15T10:20:28Z
        wire: {"autoRenewing":false,"cancelReason":1,"paymentState":null,
            "expiryTimeMillis":"1770660251000"}
        hear: refunded 26-02-09T18, production, plus 26-02-09T18, paid -, until 26-02-09T18,
            renews no, -

        case: replaced
        known: 2026-02-15T10:20:28Z
        wire: {"autoRenewing":false,"cancelReason":2,"paymentState":null,
            "expiryTimeMillis":"1770660251000"}
        hear: replaced 26-02-09T18, production, plus 26-02-09T18, paid -, until 26-02-09T18,
            renews no, -

        case: replaced, and the end is still to come
        wire: {"autoRenewing":false,"cancelReason":2,"paymentState":null}
        hear: replaced -, production, plus 26-02-15T10, paid -, until 26-02-15T10, renews no, -

        case: a change of plan waits
        wire: {"paymentState":3,"linkedPurchaseToken":"old"}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, -, product_change_scheduled, after old

        case: a higher price waits
        wire: {"priceChange":{"newPrice":{"currency":"EUR","priceMicros":"7990000"},"state":0}}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, regular, price_increase_pending

        case: a higher price accepted
        wire: {"priceChange":{"state":1}}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, regular

        case: a payment state of another age
        wire: {"paymentState":7}
        hear: active, production, plus 26-02-15T10, paid -, until 26-02-15T10,
            renews yes, -

        case: no payment state though it renews
        wire: {"paymentState":null}
        hear: active, production, plus 26-02-15T10, paid -, until 26-02-15T10,
            renews yes, -

        case: orders of another series
        original: GPA.1
        wire: {}
        hear: active, production, plus 26-02-15T10, paid 26-02-15T10, until 26-02-15T10,
            renews yes, regular
        more: foreign GPA.3301-7742-9918-40211

        case: no switch and no reason
        wire: {"autoRenewing":null}
        hear: malformed autoRenewing

        case: no end
        wire: {"expiryTimeMillis":null}
        hear: malformed expiryTimeMillis

        case: seconds instead of milliseconds
        wire: {"expiryTimeMillis":"1771150828"}
        hear: malformed expiryTimeMillis

        case: the answer of an error
        wire: {"autoRenewing":null,"expiryTimeMillis":null,"error":{"code":410}}
        hear: malformed autoRenewing
        """#)

    @Test(arguments: cases)
    func hears(_ row: Case) throws {
        let read = try GoogleRead(row, at: "2026-02-10T12:00:00Z") {
            facts, now throws(StoreFailure) in
            let wire = try JSON.decode(
                GoogleLegacySubscription.self, from: merged(orEmpty: Self.base, row["wire"]))
            let read = try GoogleObservation(
                wire.snapshot(of: facts, at: now), facts: facts, at: now)
            return (read.observation, read.proof)
        }
        #expect(summary(read.answer) == row["hear"])
        #expect(read.more == (row["more"] ?? ""))
    }

    /// The order of a declined renewal never names a paid period.
    @Test(arguments: [
        (#"{}"#, "GPA.3301-7742-9918-40211"), (#"{"orderId":"GPA.1..7"}"#, "GPA.1..7"),
        (#"{"orderId":"GPA.1..7","paymentState":0}"#, nil),
        (#"{"orderId":"GPA.1..7","autoRenewing":false,"cancelReason":1}"#, nil),
        (#"{"orderId":"GPA.1..7","autoRenewing":false,"cancelReason":0}"#, "GPA.1..7"),
    ])
    func namesThePaidPeriod(wire: String, period: OrderID?) throws {
        let now = try time("2026-02-10T12:00:00Z")
        let read = try JSON.decode(
            GoogleLegacySubscription.self, from: merged(Self.base, wire))
        let facts = Facts(product: "plus")
        let observation = try GoogleObservation(
            read.snapshot(of: facts, at: now), facts: facts, at: now
        ).observation
        #expect(observation.period == period)
        #expect(observation.originalID == (period.map(GoogleOrderID.base) ?? "GPA.1"))
    }
}
