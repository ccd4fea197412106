/// Amazon's Receipt Verification Service: what it says of a receipt.
///
/// https://developer.amazon.com/docs/in-app-purchasing/iap-rvs-for-android-apps.html
enum Amazon {
    /// The body of a 200 for `purchase` as its life stands.
    static func receipt(_ purchase: Purchase, _ life: Life) -> JSONText {
        let sandbox = purchase.environment == .sandbox
        let dates = Dates(life)
        var json = JSONText()
        json.raw("{\"autoRenewing\":")
        json.boolean(dates.renewal != nil && life.autoRenews)
        json.raw(",\"betaProduct\":false,\"cancelDate\":")
        json.millisecondsOrNull(dates.cancel)
        json.raw(",\"cancelReason\":")
        if let reason = dates.cancelReason { json.number(reason) } else { json.raw("null") }
        json.raw(",\"countryCode\":\"DE\",\"deferredDate\":null,\"deferredSku\":null")
        json.raw(",\"freeTrialEndDate\":")
        json.millisecondsOrNull(dates.trialEnd)
        json.raw(",\"fulfillmentDate\":")
        json.milliseconds(purchase.timeline.start + 62_000)
        json.raw(",\"fulfillmentResult\":\"FULFILLED\",\"gracePeriodEndDate\":")
        json.millisecondsOrNull(dates.graceEnd)
        json.raw(",\"parentProductId\":null,\"productId\":")
        let term = purchase.timeline.product
        let kind = purchase.timeline.terms.kind
        json.string(kind == .autoRenewable ? parent(of: term) : term)
        json.raw(",\"productType\":")
        json.plain(typeName(kind))
        json.raw(",\"promotions\":null,\"purchaseDate\":")
        json.milliseconds(purchase.timeline.start)
        json.raw(",\"purchaseMetadataMap\":null,\"quantity\":1,\"receiptId\":")
        json.plain(purchase.token)
        json.raw(",\"renewalDate\":")
        json.millisecondsOrNull(dates.renewal)
        if kind == .autoRenewable {
            json.raw(",\"term\":")
            json.string(termText(purchase.timeline.terms.period))
            json.raw(",\"termSku\":")
            json.string(sandbox ? parent(of: term) + "_term" : term)
        } else {
            json.raw(",\"term\":null,\"termSku\":null")
        }
        json.raw(",\"testTransaction\":")
        json.boolean(sandbox)
        json.raw("}")
        return json
    }

    private static func typeName(_ kind: Terms.Kind) -> String {
        switch kind {
        case .autoRenewable, .nonRenewing: "SUBSCRIPTION"
        case .nonConsumable: "ENTITLED"
        case .consumable: "CONSUMABLE"
        }
    }

    static func failure(_ message: String) -> JSONText {
        var json = JSONText(capacity: 80)
        json.raw("{\"message\":")
        json.string(message)
        json.raw(",\"status\":false}")
        return json
    }

    /// The dates of an answer. While auto-renew is off nothing says when the paid time ends.
    private struct Dates {
        var renewal: Instant?
        var trialEnd: Instant?
        var graceEnd: Instant?
        var cancel: Instant?
        var cancelReason: Int64?

        init(_ life: Life) {
            guard let latest = life.latest else { return }
            if latest.isTrial { trialEnd = latest.end }
            switch life.phase {
            case .pending, .abandoned, .silent, .hold, .paused, .running:
                renewal = life.autoRenews ? latest.end : nil
            case .grace(_, let until):
                renewal = latest.end
                graceEnd = until
            case .ended(let instant, let ending):
                trialEnd = nil
                cancel = instant
                cancelReason = Self.reason(ending)
            }
        }

        private static func reason(_ ending: Ending) -> Int64 {
            switch ending {
            case .cancelled, .refunded, .expired: 1
            case .paymentFailed, .revoked: 2
            case .replaced: 4
            }
        }
    }

    private static let termWords = [
        ".weekly", ".monthly", ".quarterly", ".halfyearly", ".yearly",
    ]

    /// The parent of a term: `com.example.reader.plus` for `com.example.reader.plus.monthly`.
    private static func parent(of term: String) -> String {
        for word in termWords where term.hasSuffix(word) {
            return String(term.dropLast(word.count))
        }
        return term
    }

    private static func termText(_ period: Period) -> String {
        let (count, unit) =
            if period.months >= 12, period.months % 12 == 0 {
                (period.months / 12, "Year")
            } else if period.months > 0 {
                (period.months, "Month")
            } else if period.milliseconds % (7 * Instant.day) == 0 {
                (period.milliseconds / (7 * Instant.day), "Week")
            } else {
                (period.milliseconds / Instant.day, "Day")
            }
        return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
}
