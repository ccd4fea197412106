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

    static func order(_ order: Order) -> JSONText {
        var json = JSONText(capacity: 1200)
        append(order, to: &json)
        return json
    }

    static func orders(_ orders: [Order]) -> JSONText {
        var json = JSONText(capacity: orders.count * 1200)
        json.raw("{\"orders\":[")
        for (index, order) in orders.enumerated() {
            if index > 0 { json.raw(",") }
            append(order, to: &json)
        }
        json.raw("]}")
        return json
    }

    private static func append(_ order: Order, to json: inout JSONText) {
        json.raw("{\"orderId\":")
        json.plain(Self.order(order.purchase, number: order.number))
        json.raw(",\"purchaseToken\":")
        json.plain(order.purchase.token)
        json.raw(",\"state\":\"")
        switch order.state {
        case .pending: json.raw("PENDING")
        case .processed: json.raw("PROCESSED")
        case .canceled: json.raw("CANCELED")
        case .partlyRefunded: json.raw("PARTIALLY_REFUNDED")
        case .refunded: json.raw("REFUNDED")
        }
        json.raw("\",\"createTime\":")
        json.time(order.created)
        json.raw(",\"lastEventTime\":")
        json.time(order.changed)
        json.raw(",\"salesChannel\":\"")
        json.raw(order.purchase.resubscribes == nil ? "IN_APP" : "PLAY_STORE")
        json.raw("\",\"buyerAddress\":{\"buyerCountry\":\"PT\"}")
        json.raw(",\"orderDetails\":{\"taxInclusive\":true}")
        let price = Price(order)
        appendTotals(price, to: &json)
        json.raw(",\"orderHistory\":{")
        appendHistory(order, price, to: &json)
        json.raw("},\"lineItems\":[{\"productId\":")
        json.string(order.charge?.product ?? order.purchase.timeline.product)
        json.raw(",\"productTitle\":")
        json.string(order.charge?.product ?? order.purchase.timeline.product)
        json.raw(",\"listingPrice\":")
        json.money(price.micros)
        json.raw(",\"total\":")
        json.money(price.micros)
        appendDetails(order, to: &json)
        json.raw("}]}")
    }

    private struct Price {
        var micros: Int64
        var taxMicros: Int64 { micros * 187 / 1000 / 10_000 * 10_000 }

        init(_ order: Order) {
            guard let charge = order.charge else {
                micros = 6_990_000
                return
            }
            micros = charge.isTrial ? 0 : charge.offer == nil ? 6_990_000 : 990_000
            micros *= Int64(charge.quantity)
        }
    }

    private static func appendTotals(_ price: Price, to json: inout JSONText) {
        json.raw(",\"total\":")
        json.money(price.micros)
        json.raw(",\"tax\":")
        json.money(price.taxMicros)
    }

    private static func appendHistory(_ order: Order, _ price: Price, to json: inout JSONText) {
        if order.state == .pending { return }
        if order.state == .canceled {
            json.raw("\"cancellationEvent\":{\"eventTime\":")
            json.time(order.changed)
            return json.raw("}")
        }
        json.raw("\"processedEvent\":{\"eventTime\":")
        json.time(order.created)
        json.raw("}")
        switch order.state {
        case .pending, .processed, .canceled: break
        case .refunded:
            json.raw(",\"refundEvent\":{\"eventTime\":")
            json.time(order.changed)
            json.raw(",\"refundReason\":\"")
            json.raw(order.charge?.givenBack?.cause == .chargeBack ? "CHARGEBACK" : "OTHER")
            json.raw("\",\"refundDetails\":{\"total\":")
            json.money(price.micros)
            json.raw(",\"tax\":")
            json.money(price.taxMicros)
            json.raw("}}")
        case .partlyRefunded:
            let part = Int64(order.charge?.moneyBackQuantity ?? 1)
            let total = price.micros * part / Int64(max(1, order.charge?.quantity ?? 1))
            json.raw(",\"partialRefundEvents\":[{\"createTime\":")
            json.time(order.changed)
            json.raw(",\"processTime\":")
            json.time(order.changed)
            json.raw(",\"state\":\"PROCESSED_SUCCESSFULLY\",\"refundDetails\":{\"total\":")
            json.money(total)
            json.raw("}}]")
        }
    }

    private static func appendDetails(_ order: Order, to json: inout JSONText) {
        guard order.purchase.timeline.terms.kind == .autoRenewable else {
            json.raw(",\"oneTimePurchaseDetails\":{\"quantity\":")
            json.number(Int64(order.purchase.timeline.terms.quantity))
            return json.raw(",\"purchaseOptionId\":\"buy\"}")
        }
        json.raw(",\"subscriptionDetails\":{\"basePlanId\":\"standard\"")
        if let charge = order.charge {
            json.raw(",\"offerPhaseDetails\":{\"")
            if charge.isTrial {
                json.raw("freeTrialDetails")
            } else {
                json.raw(charge.offer == nil ? "baseDetails" : "introductoryPriceDetails")
            }
            json.raw("\":{}},\"servicePeriodStartTime\":")
            json.time(charge.start)
            json.raw(",\"servicePeriodEndTime\":")
            json.time(charge.end)
        }
        json.raw("}")
    }
}

extension JSONText {
    /// An amount of euros; parts that are zero are left out.
    fileprivate mutating func money(_ micros: Int64) {
        raw("{\"currencyCode\":\"EUR\"")
        if micros / 1_000_000 != 0 {
            raw(",\"units\":")
            quoted(micros / 1_000_000)
        }
        if micros % 1_000_000 != 0 {
            raw(",\"nanos\":")
            number(micros % 1_000_000 * 1000)
        }
        raw("}")
    }
}
