import Renewal

/// What `purchases.subscriptionsv2.get` answers about a state of a subscription. Written from the
/// vendor's page.
enum GoogleBody {
    static func text(_ sold: Subscription, _ state: Subscription.State) -> String {
        let paid = sold.order(state.period)
        let declined = sold.order(state.period + 1)
        var (word, latest, extra) = ("ACTIVE", paid, "")
        switch state.standing {
        case .active where !state.renews:
            word = "CANCELED"
            extra = cancellation("user")
        case .active: break
        case .silent: latest = declined
        case .grace:
            word = "IN_GRACE_PERIOD"
            latest = declined
            extra =
                #""inGracePeriodStateContext":{"renewalDeclined":{"pendingOrderId":"\#(declined)"}},"#
        case .hold:
            word = "ON_HOLD"
            latest = declined
            extra =
                #""onHoldStateContext":{"renewalDeclined":{"pendingOrderId":"\#(declined)"}},"#
        case .paused(let until):
            word = "PAUSED"
            extra = #""pausedStateContext":{"autoResumeTime":"\#(rfc3339(until))"},"#
        case .ended(let who):
            word = "EXPIRED"
            if who == "system" { latest = declined }
            extra = cancellation(who)
        case .refunded:
            word = "EXPIRED"
            extra = cancellation("developer")
        case .replaced:
            word = "EXPIRED"
            extra = #""canceledStateContext":{"replacementCancellation":{}},"#
        }
        if let linked = sold.linked { extra += #""linkedPurchaseToken":"\#(linked.text)","# }
        let plan = #","autoRenewingPlan":{"# + (state.renews ? #""autoRenewEnabled":true}"# : "}")
        return """
            {"kind":"androidpublisher#subscriptionPurchaseV2","regionCode":"DE",\
            "startTime":"\(rfc3339(sold.boughtAt))","subscriptionState":"SUBSCRIPTION_STATE_\(word)",\
            "latestOrderId":"\(latest)","acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",\
            \(extra)"lineItems":[{"productId":"\(sold.product.text)",\
            "expiryTime":"\(rfc3339(state.end))","latestSuccessfulOrderId":"\(paid)",\
            "offerDetails":{"basePlanId":"p1m"}\(plan)}]}
            """
    }

    private static func cancellation(_ who: String) -> String {
        let context = who == "user" ? #"{"cancelTime":"2026-01-01T00:00:00Z"}"# : "{}"
        return #""canceledStateContext":{"\#(who)InitiatedCancellation":\#(context)},"#
    }

    static func error(_ status: Int) -> String {
        let (reason, word) =
            switch status {
            case 403: ("permissionDenied", "PERMISSION_DENIED")
            case 404: ("purchaseTokenNotFound", "NOT_FOUND")
            case 410: ("purchaseTokenNoLongerValid", "FAILED_PRECONDITION")
            case 429: ("rateLimitExceeded", "RESOURCE_EXHAUSTED")
            default: ("backendError", "UNAVAILABLE")
            }
        return """
            {"error":{"code":\(status),"message":"It did not work.","status":"\(word)",\
            "errors":[{"domain":"androidpublisher","reason":"\(reason)"}]}}
            """
    }

    /// Whole seconds would be an end before its time: what is written has microseconds.
    static func rfc3339(_ time: Timestamp) -> String {
        let (seconds, micros) = time.microsecondsSinceEpoch.quotientAndRemainder(
            dividingBy: 1_000_000)
        let (days, clock) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let (year, month, day) = civil(days)
        return "\(year)-\(two(month))-\(two(day))T\(two(clock / 3600)):\(two(clock / 60 % 60))"
            + ":\(two(clock % 60)).\(String(1_000_000 + micros).dropFirst())Z"
    }

    /// As the `Date` of an answer has it.
    static func date(_ time: Timestamp) -> String {
        let seconds = time.microsecondsSinceEpoch / 1_000_000
        let (days, clock) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let (year, month, day) = civil(days)
        let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        return "\(weekdays[Int(days % 7)]), \(two(day)) \(months[Int(month) - 1]) \(year) "
            + "\(two(clock / 3600)):\(two(clock / 60 % 60)):\(two(clock % 60)) GMT"
    }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Year, month and day of so many days since 1970.
    private static func civil(_ days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
