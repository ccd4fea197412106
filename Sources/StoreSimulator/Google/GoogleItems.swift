/// The line items of a subscription purchase: the product itself, one that it will become or has
/// come from, and add-ons.
///
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2
extension Google {
    /// How long an answer says what a purchase replaced.
    private static let daysOfReplacement: Int64 = 60

    /// One entry of `lineItems`, before it is text.
    private struct Item {
        var product: String
        var expiry: Instant?
        var order: String?
        var renews: Bool
        /// Only the product that is paid for now says by which price.
        var charge: Charge?
        var isMain = false
        var becomes: String?
        var isLeaving = false
    }

    static func appendLineItems(
        _ purchase: Purchase, _ life: Life, _ state: State, _ now: Instant,
        to json: inout JSONText
    ) {
        json.raw(",\"lineItems\":[")
        for (index, item) in items(purchase, life, state).enumerated() {
            json.raw(index > 0 ? ",{\"productId\":" : "{\"productId\":")
            json.string(item.product)
            if let expiry = item.expiry {
                json.raw(",\"expiryTime\":")
                json.time(expiry)
            }
            appendPlan(item, purchase, life, to: &json)
            appendOffer(item, purchase, to: &json)
            if let order = item.order {
                json.raw(",\"latestSuccessfulOrderId\":")
                json.plain(order)
            }
            if let next = item.becomes {
                json.raw(",\"deferredItemReplacement\":{\"productId\":")
                json.string(next)
                json.raw("}")
            }
            if item.isLeaving { json.raw(",\"deferredItemRemoval\":{}") }
            if item.isMain { appendReplacement(purchase, life, now, to: &json) }
            appendPhase(item, purchase, to: &json)
            json.raw("}")
        }
        json.raw("]")
    }

    private static func items(_ purchase: Purchase, _ life: Life, _ state: State) -> [Item] {
        let product = life.latest?.product ?? purchase.timeline.product
        let paid = life.latest.map { order(purchase, number: $0.number) }
        var main = Item(
            product: product, expiry: state.expiry, order: paid, renews: state.renews,
            charge: life.latest, isMain: true)
        var items: [Item] = []
        if let next = life.productAtRenewal, life.latest != nil {
            // The change waits: what is paid for goes on, and what comes is not owned yet.
            main.becomes = next
            main.renews = false
            items = [main, Item(product: next, expiry: nil, order: nil, renews: state.renews)]
        } else if purchase.timeline.nextProduct != nil, life.charges.count > 1,
            let first = life.charges.first
        {
            let old = Item(
                product: first.product, expiry: first.end, order: purchase.order, renews: false)
            items = [old, main]
        } else {
            items = [main]
        }
        for addOn in life.addOns {
            let end = addOn.end.map { end in state.expiry.map { min($0, end) } ?? end }
            items.append(
                Item(
                    product: addOn.product, expiry: end ?? state.expiry, order: paid,
                    renews: state.renews && addOn.end == nil && !addOn.isLeaving,
                    isLeaving: addOn.isLeaving && addOn.end == nil))
        }
        return items
    }

    private static func appendPlan(
        _ item: Item, _ purchase: Purchase, _ life: Life, to json: inout JSONText
    ) {
        if life.plan == .prepaid {
            json.raw(",\"prepaidPlan\":{")
            if life.isEntitled, let latest = life.latest {
                json.raw("\"allowExtendAfterTime\":")
                json.time(latest.start + (latest.end - latest.start) / 2)
            }
            return json.raw("}")
        }
        json.raw(",\"autoRenewingPlan\":{")
        if item.renews { json.raw("\"autoRenewEnabled\":true,") }
        json.raw("\"recurringPrice\":{\"currencyCode\":\"EUR\",\"units\":\"6\"")
        json.raw(",\"nanos\":990000000}")
        if item.isMain {
            appendPriceChange(life, to: &json)
            appendInstallments(purchase, life, to: &json)
        }
        json.raw("}")
    }

    private static func appendPriceChange(_ life: Life, to json: inout JSONText) {
        guard let increase = life.priceIncrease, let latest = life.latest else { return }
        json.raw(",\"priceChangeDetails\":{\"newPrice\":{\"currencyCode\":\"EUR\",\"units\":\"9\"")
        json.raw(",\"nanos\":990000000},\"priceChangeMode\":\"PRICE_INCREASE\"")
        json.raw(",\"priceChangeState\":\"")
        json.raw(increase == .asked ? "OUTSTANDING" : "CONFIRMED")
        json.raw("\",\"expectedNewPriceChargeTime\":")
        json.time(latest.end)
        json.raw("}")
    }

    private static func appendInstallments(
        _ purchase: Purchase, _ life: Life, to json: inout JSONText
    ) {
        guard case .installments(let count) = life.plan else { return }
        json.raw(",\"installmentDetails\":{\"initialCommittedPaymentsCount\":")
        json.number(Int64(count))
        if life.committedPayments > 0 {
            json.raw(",\"remainingCommittedPaymentsCount\":")
            json.number(Int64(life.committedPayments))
        }
        if life.isCancellationPending { json.raw(",\"pendingCancellation\":{}") }
        json.raw("}")
    }

    /// The name of an offer stays after its time.
    private static func appendOffer(
        _ item: Item, _ purchase: Purchase, to json: inout JSONText
    ) {
        json.raw(",\"offerDetails\":{\"basePlanId\":")
        switch purchase.timeline.terms.plan {
        case .renewing: json.raw("\"standard\"")
        case .prepaid: json.raw("\"prepaid\"")
        case .installments: json.raw("\"installments\"")
        }
        if item.isMain, let offer = purchase.timeline.terms.firstOffer {
            json.raw(",\"offerId\":")
            json.string(offer.id ?? (offer.discount == .freeTrial ? "free-trial" : "introduction"))
        }
        json.raw("}")
    }

    private static func appendReplacement(
        _ purchase: Purchase, _ life: Life, _ now: Instant, to json: inout JSONText
    ) {
        guard let old = purchase.replacedProduct, life.latest != nil,
            purchase.timeline.nextProduct == nil,
            now - purchase.timeline.start < daysOfReplacement * Instant.day
        else { return }
        json.raw(",\"itemReplacement\":{\"productId\":")
        json.string(old)
        json.raw(",\"basePlanId\":\"standard\"")
        json.raw(",\"replacementMode\":\"CHARGE_PRORATED_PRICE\"}")
    }

    private static func appendPhase(
        _ item: Item, _ purchase: Purchase, to json: inout JSONText
    ) {
        guard let charge = item.charge else { return }
        if charge.isTrial {
            json.raw(",\"offerPhase\":{\"freeTrial\":{}}")
        } else if charge.offer != nil {
            json.raw(",\"offerPhase\":{\"introductoryPrice\":{}}")
        } else if charge.number == 0, purchase.timeline.firstEnd != nil,
            purchase.timeline.nextProduct == nil, purchase.timeline.terms.plan != .prepaid
        {
            json.raw(",\"offerPhase\":{\"prorationPeriod\":{\"originalOfferPhaseType\":\"BASE\"}}")
        } else {
            json.raw(",\"offerPhase\":{\"basePrice\":{}}")
        }
    }
}
