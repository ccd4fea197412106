/// Real-time developer notifications: what Google tells of a life, in the words of its own.
///
/// https://developer.android.com/google/play/billing/rtdn-reference
extension Google {
    /// The decoded data of the messages about one happening; often one, sometimes none.
    static func notifications(_ purchase: Purchase, _ happening: Happening) -> [JSONText] {
        let types =
            purchase.timeline.terms.kind == .autoRenewable
            ? subscriptionTypes(happening.kind) : productTypes(happening.kind)
        var messages = types.map { notification(purchase, happening, type: $0) }
        if let refundType = refundType(happening.kind) {
            messages.append(voided(purchase, happening, refundType: refundType))
        }
        return messages
    }

    private static func subscriptionTypes(_ kind: Happening.Kind) -> [Int64] {
        switch kind {
        case .recovered(fromHold: true), .resumed: [1]
        case .renewed, .recovered(fromHold: false): [2]
        case .autoRenewOff: [3]
        case .bought, .boughtAgain, .upgraded: [4]
        case .hold: [5]
        case .grace: [6]
        case .autoRenewOn: [7]
        case .extended: [9]
        case .paused: [10]
        case .pausePlanned: [11]
        case .gaveBack(_, isNewest: true), .ended(.refunded), .ended(.revoked): [12]
        case .ended(.cancelled), .ended(.expired), .ended(.replaced): [13]
        case .ended(.paymentFailed), .ended(.priceDeclined), .ended(.unavailable): [3, 13]
        case .itemsChanged: [17]
        case .cancellationScheduled: [18]
        case .priceAsked, .priceAccepted: [19]
        case .pendingCancelled: [20]
        case .gaveBack(_, isNewest: false), .moneyBack, .refundReversed, .changePlanned, .untold:
            []
        }
    }

    private static func productTypes(_ kind: Happening.Kind) -> [Int64] {
        switch kind {
        case .bought: [1]
        case .pendingCancelled, .gaveBack: [2]
        default: []
        }
    }

    /// 1 all of it, 2 some of a quantity.
    private static func refundType(_ kind: Happening.Kind) -> Int64? {
        switch kind {
        case .gaveBack: 1
        case .moneyBack: 2
        default: nil
        }
    }

    private static func head(_ purchase: Purchase, at instant: Instant) -> JSONText {
        var json = JSONText(capacity: 400)
        json.raw("{\"version\":\"1.0\",\"packageName\":")
        json.string(purchase.app)
        json.raw(",\"eventTimeMillis\":")
        json.quoted(instant.milliseconds)
        return json
    }

    private static func notification(
        _ purchase: Purchase, _ happening: Happening, type: Int64
    ) -> JSONText {
        let isSubscription = purchase.timeline.terms.kind == .autoRenewable
        var json = head(purchase, at: happening.at)
        json.raw(
            isSubscription ? ",\"subscriptionNotification\":" : ",\"oneTimeProductNotification\":")
        json.raw("{\"version\":\"1.0\",\"notificationType\":")
        json.number(type)
        json.raw(",\"purchaseToken\":")
        json.plain(purchase.token)
        if !isSubscription {
            json.raw(",\"sku\":")
            json.string(purchase.timeline.product)
        }
        json.raw("}}")
        return json
    }

    /// Money that went back although access stays is told of only for parts of a quantity.
    private static func voided(
        _ purchase: Purchase, _ happening: Happening, refundType: Int64
    ) -> JSONText {
        var json = head(purchase, at: happening.at)
        json.raw(",\"voidedPurchaseNotification\":{\"purchaseToken\":")
        json.plain(purchase.token)
        json.raw(",\"orderId\":")
        json.plain(order(purchase, number: happening.charge))
        json.raw(",\"productType\":")
        json.number(purchase.timeline.terms.kind == .autoRenewable ? 1 : 2)
        json.raw(",\"refundType\":")
        json.number(refundType)
        json.raw("}}")
        return json
    }

    /// What the button in the console sends.
    static func testNotification(app: String, at instant: Instant) -> JSONText {
        var json = JSONText(capacity: 200)
        json.raw("{\"version\":\"1.0\",\"packageName\":")
        json.string(app)
        json.raw(",\"eventTimeMillis\":")
        json.quoted(instant.milliseconds)
        json.raw(",\"testNotification\":{\"version\":\"1.0\"}}")
        return json
    }
}
