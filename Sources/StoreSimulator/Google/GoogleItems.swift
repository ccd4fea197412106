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

    static func lineItems(
        _ purchase: Purchase, _ life: Life, _ state: State, _ now: Instant,
        to json: inout JSONWriter
    ) {
        json.objects("lineItems", items(purchase, life, state)) { json, item in
            json.member("productId", item.product)
            json.member("expiryTime", item.expiry)
            plan(item, purchase, life, to: &json)
            offer(item, purchase, to: &json)
            json.member("latestSuccessfulOrderId", item.order)
            if let next = item.becomes {
                json.object("deferredItemReplacement") { $0.member("productId", next) }
            }
            if item.isLeaving { json.object("deferredItemRemoval") { _ in } }
            if item.isMain { replacement(purchase, life, now, to: &json) }
            offerPhase(item, purchase, to: &json)
        }
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

    private static func plan(
        _ item: Item, _ purchase: Purchase, _ life: Life, to json: inout JSONWriter
    ) {
        if life.plan == .prepaid {
            return json.object("prepaidPlan") { json in
                guard life.isEntitled, let latest = life.latest else { return }
                json.member(
                    "allowExtendAfterTime", latest.start + (latest.end - latest.start) / 2)
            }
        }
        json.object("autoRenewingPlan") { json in
            if item.renews { json.member("autoRenewEnabled", true) }
            json.money("recurringPrice", purchase.price, purchase.timeline.terms.sale.currency)
            if item.isMain {
                priceChange(life, to: &json)
                installments(life, to: &json)
            }
        }
    }

    private static func priceChange(_ life: Life, to json: inout JSONWriter) {
        guard let increase = life.priceIncrease, let latest = life.latest else { return }
        json.object("priceChangeDetails") { json in
            json.object("newPrice") { $0.euros("9", nanos: 990_000_000) }
            json.member("priceChangeMode", "PRICE_INCREASE")
            json.member("priceChangeState", increase == .asked ? "OUTSTANDING" : "CONFIRMED")
            json.member("expectedNewPriceChargeTime", latest.end)
        }
    }

    private static func installments(_ life: Life, to json: inout JSONWriter) {
        guard case .installments(let count) = life.plan else { return }
        json.object("installmentDetails") { json in
            json.member("initialCommittedPaymentsCount", count)
            json.member("subsequentCommittedPaymentsCount", count)
            if life.committedPayments > 0 {
                json.member("remainingCommittedPaymentsCount", life.committedPayments)
            }
            if life.isCancellationPending { json.object("pendingCancellation") { _ in } }
        }
    }

    /// The name of an offer stays after its time.
    private static func offer(_ item: Item, _ purchase: Purchase, to json: inout JSONWriter) {
        json.object("offerDetails") { json in
            let sale = purchase.timeline.terms.sale
            json.member("basePlanId", sale.basePlan ?? basePlan(purchase.timeline.terms.plan))
            if !sale.offerTags.isEmpty { json.array("offerTags", sale.offerTags) }
            if item.isMain, let offer = purchase.timeline.terms.firstOffer {
                json.member(
                    "offerId",
                    offer.id ?? (offer.discount == .freeTrial ? "free-trial" : "introduction"))
            }
        }
    }

    private static func basePlan(_ plan: Terms.Plan) -> String {
        switch plan {
        case .renewing: "standard"
        case .prepaid: "prepaid"
        case .installments: "installments"
        }
    }

    private static func replacement(
        _ purchase: Purchase, _ life: Life, _ now: Instant, to json: inout JSONWriter
    ) {
        guard let old = purchase.replacedProduct, life.latest != nil,
            purchase.timeline.nextProduct == nil,
            now - purchase.timeline.start < daysOfReplacement * Instant.day
        else { return }
        json.object("itemReplacement") { json in
            json.member("productId", old)
            json.member("basePlanId", "standard")
            json.member("replacementMode", "CHARGE_PRORATED_PRICE")
        }
    }

    private static func offerPhase(_ item: Item, _ purchase: Purchase, to json: inout JSONWriter) {
        guard let charge = item.charge else { return }
        let isProrated =
            charge.number == 0 && purchase.timeline.firstEnd != nil
            && purchase.timeline.nextProduct == nil && purchase.timeline.terms.plan != .prepaid
        json.object("offerPhase") { json in
            if charge.isTrial {
                json.object("freeTrial") { _ in }
            } else if charge.offer != nil {
                json.object("introductoryPrice") { _ in }
            } else if isProrated {
                json.object("prorationPeriod") { $0.member("originalOfferPhaseType", "BASE") }
            } else {
                json.object("basePrice") { _ in }
            }
        }
    }
}

extension Purchase {
    /// What a period costs, in millionths.
    var price: Int64 { timeline.terms.sale.priceMicros }
    /// Of the buyer, at Google.
    var country: String { timeline.terms.sale.country ?? "PT" }
}

extension JSONWriter {
    /// An amount in units of its currency and billionths; parts that are zero are left out.
    mutating func money(_ name: String, _ micros: Int64, _ currency: String) {
        let (units, rest) = (micros / 1_000_000, micros % 1_000_000)
        object(name) { json in
            json.member("currencyCode", currency)
            json.member("units", units == 0 ? nil : String(units))
            json.member("nanos", rest == 0 ? nil : rest * 1000)
        }
    }

    /// The members of an amount of euros; parts that are zero are left out.
    mutating func euros(_ units: String?, nanos: Int64?) {
        member("currencyCode", "EUR")
        member("units", units)
        member("nanos", nanos)
    }
}
