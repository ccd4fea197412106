/// Amazon's Receipt Verification Service: what it says of a receipt.
///
/// https://developer.amazon.com/docs/in-app-purchasing/iap-rvs-for-android-apps.html
enum Amazon {
    /// The body of a 200 for `purchase` as its life stands.
    static func receipt(_ purchase: Purchase, _ life: Life) -> JSONText {
        let sandbox = purchase.environment == .sandbox
        let kind = purchase.timeline.terms.kind
        let dates = Dates(life, isSandbox: sandbox)
        let term = life.latest?.product ?? purchase.timeline.product
        var json = JSONText()
        json.raw("{\"autoRenewing\":")
        json.boolean(
            life.isRenewable && dates.cancel == nil && life.autoRenews && !dates.isArtefact)
        json.raw(",\"betaProduct\":")
        json.boolean(purchase.isBeta)
        json.raw(",\"cancelDate\":")
        json.millisecondsOrNull(dates.cancel)
        json.raw(",\"cancelReason\":")
        if let reason = dates.cancelReason { json.number(reason) } else { json.raw("null") }
        json.raw(",\"countryCode\":\"DE\"")
        appendDeferral(dates, life, to: &json)
        json.raw(",\"freeTrialEndDate\":")
        json.millisecondsOrNull(dates.trialEnd)
        json.raw(",\"fulfillmentDate\":")
        json.milliseconds(purchase.timeline.start + 62_000)
        json.raw(",\"fulfillmentResult\":\"FULFILLED\",\"gracePeriodEndDate\":")
        json.millisecondsOrNull(dates.graceEnd)
        json.raw(",\"parentProductId\":null,\"productId\":")
        json.string(kind == .autoRenewable ? parent(of: term) : term)
        json.raw(",\"productType\":")
        json.plain(typeName(kind))
        appendPromotions(purchase, life, to: &json)
        json.raw(",\"purchaseDate\":")
        json.milliseconds(purchase.timeline.start)
        json.raw(",\"purchaseMetadataMap\":null,\"quantity\":")
        json.raw(kind == .nonConsumable ? "null" : "1")
        json.raw(",\"receiptId\":")
        json.plain(purchase.token)
        json.raw(",\"renewalDate\":")
        json.millisecondsOrNull(dates.renewal)
        if kind == .autoRenewable {
            json.raw(",\"term\":")
            json.string(termText(life.period))
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

    /// A change of plan that waits for the next renewal; both are null once it has come.
    private static func appendDeferral(_ dates: Dates, _ life: Life, to json: inout JSONText) {
        guard dates.cancel == nil, let next = life.productAtRenewal, let latest = life.latest else {
            return json.raw(",\"deferredDate\":null,\"deferredSku\":null")
        }
        json.raw(",\"deferredDate\":")
        json.milliseconds(latest.end)
        json.raw(",\"deferredSku\":")
        json.string(next)
    }

    private static func appendPromotions(
        _ purchase: Purchase, _ life: Life, to json: inout JSONText
    ) {
        guard let offer = purchase.timeline.terms.firstOffer, offer.discount != .freeTrial else {
            return json.raw(",\"promotions\":null")
        }
        json.raw(",\"promotions\":[{\"promotionType\":\"")
        switch offer.kind {
        case .introductory: json.raw("Introductory Price - All customers")
        case .promotional, .code, .winBack: json.raw("Promotional Price - Lapsed customers")
        }
        json.raw("\",\"promotionStatus\":\"")
        json.raw(life.latest?.offer == nil ? "Completed" : "InProgress")
        json.raw("\"}]")
    }

    private static func typeName(_ kind: Terms.Kind) -> String {
        switch kind {
        case .autoRenewable: "SUBSCRIPTION"
        case .nonConsumable: "ENTITLED"
        case .consumable, .nonRenewing: "CONSUMABLE"
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
        /// The sandbox tells a running subscription as in trial and in grace at once.
        var isArtefact = false

        init(_ life: Life, isSandbox: Bool) {
            guard let latest = life.latest else { return }
            switch life.phase {
            case .pending, .abandoned, .silent, .hold, .paused, .running:
                guard life.isRenewable else { return }
                if latest.isTrial { trialEnd = latest.end }
                renewal = life.autoRenews ? latest.end : nil
                if isSandbox, renewal != nil, trialEnd == nil {
                    (isArtefact, trialEnd, graceEnd) = (true, renewal, renewal)
                }
            case .grace(_, let until):
                renewal = latest.end
                graceEnd = until
            case .ended(let instant, let ending):
                // The end of a product that the seller alone knows is not the store's.
                if life.kind == .nonRenewing, ending == .expired { return }
                cancel = instant
                cancelReason = latest.givenBack?.reason ?? Self.reason(ending)
            }
        }

        private static func reason(_ ending: Ending) -> Int64 {
            switch ending {
            case .cancelled, .refunded, .expired, .priceDeclined: 1
            case .paymentFailed, .revoked, .unavailable: 2
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
