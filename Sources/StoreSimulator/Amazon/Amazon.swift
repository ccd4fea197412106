/// Amazon's Receipt Verification Service: what it says of a receipt.
///
/// https://developer.amazon.com/docs/in-app-purchasing/iap-rvs-for-android-apps.html
enum Amazon {
    /// The body of a 200 for `purchase` as its life stands.
    static func receipt(_ purchase: Purchase, _ life: Life) -> JSON {
        let sandbox = purchase.environment == .sandbox
        let kind = purchase.timeline.terms.kind
        let isRenewable = kind == .autoRenewable
        let dates = Dates(life, isSandbox: sandbox)
        let term = life.latest?.product ?? purchase.timeline.product
        return .object { json in
            json.member(
                "autoRenewing",
                life.isRenewable && dates.cancel == nil && life.autoRenews && !dates.isArtefact)
            bases(of: purchase, to: &json)
            json.member("betaProduct", purchase.isBeta)
            json.member("cancelDate", orNull: dates.cancel?.milliseconds)
            json.member("cancelReason", orNull: dates.cancelReason)
            json.member("countryCode", purchase.timeline.terms.sale.country ?? "DE")
            deferral(dates, life, to: &json)
            json.member("freeTrialEndDate", orNull: dates.trialEnd?.milliseconds)
            json.member("fulfillmentDate", orNull: life.fulfilledAt?.milliseconds)
            json.member("fulfillmentResult", orNull: life.fulfilmentResult)
            json.member("gracePeriodEndDate", orNull: dates.graceEnd?.milliseconds)
            json.null("parentProductId")
            json.member("productId", isRenewable ? parent(of: term) : term)
            json.member("productType", typeName(kind))
            promotions(purchase, life, to: &json)
            json.member("purchaseDate", purchase.timeline.start.milliseconds)
            json.null("purchaseMetadataMap")
            json.member("quantity", orNull: kind == .nonConsumable ? nil : 1)
            json.member("receiptId", purchase.token)
            json.member("renewalDate", orNull: dates.renewal?.milliseconds)
            json.member("term", orNull: isRenewable ? termText(life.period) : nil)
            let termSKU = sandbox ? parent(of: term) + "_term" : term
            json.member("termSku", orNull: isRenewable ? termSKU : nil)
            json.member("testTransaction", sandbox)
        }
    }

    /// The receipts of what it is an add-on of; null for most.
    private static func bases(of purchase: Purchase, to json: inout JSONWriter) {
        let receipts = purchase.buyer.bases.map(\.receipt)
        receipts.isEmpty ? json.null("baseReceipts") : json.array("baseReceipts", receipts)
    }

    /// A change of plan that waits for the next renewal; both are null once it has come.
    private static func deferral(_ dates: Dates, _ life: Life, to json: inout JSONWriter) {
        let next = dates.cancel == nil && life.latest != nil ? life.productAtRenewal : nil
        let date = next == nil ? nil : life.latest?.end
        json.member("deferredDate", orNull: date?.milliseconds)
        json.member("deferredSku", orNull: next)
    }

    private static func promotions(_ purchase: Purchase, _ life: Life, to json: inout JSONWriter) {
        guard let offer = purchase.timeline.terms.firstOffer, offer.discount != .freeTrial else {
            return json.null("promotions")
        }
        json.objects("promotions", [offer]) { json, offer in
            json.member(
                "promotionType",
                offer.kind == .introductory
                    ? "Introductory Price - All customers" : "Promotional Price - Lapsed customers")
            json.member("promotionStatus", life.latest?.offer == nil ? "Completed" : "InProgress")
        }
    }

    private static func typeName(_ kind: Terms.Kind) -> String {
        switch kind {
        case .autoRenewable: "SUBSCRIPTION"
        case .nonConsumable: "ENTITLED"
        case .consumable, .nonRenewing: "CONSUMABLE"
        }
    }

    static func failure(_ message: String) -> JSON {
        .object(capacity: 80) { json in
            json.member("message", message)
            json.member("status", false)
        }
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
                let isOurs = latest.givenBack?.cause == .unacknowledged
                cancelReason =
                    latest.givenBack?.why.reason ?? (isOurs ? 2 : Self.reason(ending))
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
