/// Orders: what was paid, and what of it went back.
///
/// https://developers.google.com/android-publisher/api-ref/rest/v3/orders
extension Google {
    /// What an order is about, and what became of it.
    struct Order {
        enum State {
            case pending
            case processed
            case canceled
            case partlyRefunded
            case refunded
        }

        var purchase: Purchase
        var charge: Charge?
        var number: Int
        var state: State
        /// When it was made, and when its state came about.
        var created: Instant
        var changed: Instant
    }

    /// The order of a purchase with a charge's number; nil while there is none. A declined
    /// renewal has an order already.
    static func order(_ purchase: Purchase, _ life: Life, number: Int, at now: Instant) -> Order? {
        if life.charges.indices.contains(number) {
            let charge = life.charges[number]
            var order = Order(
                purchase: purchase, charge: charge, number: number, state: .processed,
                created: charge.paidAt, changed: charge.paidAt)
            if let givenBack = charge.givenBack {
                (order.state, order.changed) = (.refunded, givenBack.at)
            } else if let instant = charge.moneyBackAt {
                let isPart = charge.moneyBackQuantity.map { $0 < charge.quantity } ?? false
                (order.state, order.changed) = (isPart ? .partlyRefunded : .refunded, instant)
            } else if let last = charge.parts.last {
                (order.state, order.changed) = (.partlyRefunded, last.at)
            }
            return order
        }
        guard number == life.charges.count else { return nil }
        let attempt = life.latest?.end ?? purchase.timeline.start
        let state: Order.State? =
            switch life.phase {
            case .pending, .silent, .grace, .hold: .pending
            case .abandoned, .ended(_, .paymentFailed): .canceled
            case .running, .paused, .ended: nil
            }
        return state.map {
            Order(
                purchase: purchase, charge: nil, number: number, state: $0, created: attempt,
                changed: attempt)
        }
    }

    static func order(_ order: Order) -> JSON {
        .object(capacity: 1200) { members(of: order, to: &$0) }
    }

    static func orders(_ orders: [Order]) -> JSON {
        .object(capacity: orders.count * 1200) { json in
            json.objects("orders", orders) { members(of: $1, to: &$0) }
        }
    }

    private static func members(of order: Order, to json: inout JSONWriter) {
        let price = Price(order)
        let product = order.charge?.product ?? order.purchase.timeline.product
        json.member("orderId", Self.order(order.purchase, number: order.number))
        json.member("purchaseToken", order.purchase.token)
        json.member("state", order.state.name)
        json.member("createTime", order.created)
        json.member("lastEventTime", order.changed)
        json.member(
            "salesChannel", order.purchase.resubscribes == nil ? "IN_APP" : "PLAY_STORE")
        json.object("buyerAddress") { $0.member("buyerCountry", order.purchase.country) }
        json.object("orderDetails") { $0.member("taxInclusive", true) }
        json.money("total", price.micros, price.currency)
        json.money("tax", price.taxMicros, price.currency)
        json.object("orderHistory") { history(order, price, to: &$0) }
        json.objects("lineItems", [product]) { json, product in
            json.member("productId", product)
            json.member("productTitle", product)
            json.money("listingPrice", price.micros, price.currency)
            json.money("total", price.micros, price.currency)
            details(order, to: &json)
        }
    }

    private struct Price {
        var micros: Int64
        var currency: String
        var taxMicros: Int64 { micros * 187 / 1000 / 10_000 * 10_000 }

        init(_ order: Order) {
            currency = order.purchase.timeline.terms.sale.currency
            guard let charge = order.charge else {
                micros = order.purchase.price
                return
            }
            micros = charge.isTrial ? 0 : charge.offer == nil ? order.purchase.price : 990_000
            micros *= Int64(charge.quantity)
        }
    }

    private static func history(_ order: Order, _ price: Price, to json: inout JSONWriter) {
        if order.state == .pending { return }
        if order.state == .canceled {
            return json.object("cancellationEvent") { $0.member("eventTime", order.changed) }
        }
        json.object("processedEvent") { $0.member("eventTime", order.created) }
        switch order.state {
        case .pending, .processed, .canceled: break
        case .refunded:
            let isChargeBack = order.charge?.givenBack?.cause == .chargeBack
            json.object("refundEvent") { json in
                json.member("eventTime", order.changed)
                json.member("refundReason", isChargeBack ? "CHARGEBACK" : "OTHER")
                json.object("refundDetails") { json in
                    json.money("total", price.micros, price.currency)
                    json.money("tax", price.taxMicros, price.currency)
                }
            }
        case .partlyRefunded:
            json.objects("partialRefundEvents", parts(of: order, price)) { json, part in
                json.member("createTime", part.at)
                json.member("processTime", part.at)
                json.member("state", "PROCESSED_SUCCESSFULLY")
                json.object("refundDetails") { $0.money("total", part.micros, price.currency) }
            }
        }
    }

    /// What was given back of an order that still counts: pieces of a quantity, or of its money.
    private static func parts(
        of order: Order, _ price: Price
    ) -> [(at: Instant, micros: Int64)] {
        guard let charge = order.charge else { return [] }
        var parts = charge.parts.map {
            (at: $0.at, micros: price.micros * $0.tenThousandths / 10_000)
        }
        if let quantity = charge.moneyBackQuantity {
            let pieces = Int64(quantity) * price.micros / Int64(max(1, charge.quantity))
            parts.append((at: order.changed, micros: pieces))
        }
        return parts
    }

    private static func details(_ order: Order, to json: inout JSONWriter) {
        guard order.purchase.timeline.terms.kind == .autoRenewable else {
            return json.object("oneTimePurchaseDetails") { json in
                json.member("quantity", order.purchase.timeline.terms.quantity)
                json.member("purchaseOptionId", "buy")
            }
        }
        json.object("subscriptionDetails") { json in
            json.member("basePlanId", "standard")
            guard let charge = order.charge else { return }
            let phase =
                charge.isTrial
                ? "freeTrialDetails"
                : charge.offer == nil ? "baseDetails" : "introductoryPriceDetails"
            json.object("offerPhaseDetails") { $0.object(phase) { _ in } }
            json.member("servicePeriodStartTime", charge.start)
            json.member("servicePeriodEndTime", charge.end)
        }
    }
}

extension Google.Order.State {
    fileprivate var name: String {
        switch self {
        case .pending: "PENDING"
        case .processed: "PROCESSED"
        case .canceled: "CANCELED"
        case .partlyRefunded: "PARTIALLY_REFUNDED"
        case .refunded: "REFUNDED"
        }
    }
}
