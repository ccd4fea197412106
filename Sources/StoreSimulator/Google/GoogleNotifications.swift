/// Real-time developer notifications: what Google tells of a life, in the words of its own.
///
/// https://developer.android.com/google/play/billing/rtdn-reference
extension Google {
    /// The decoded data of the messages about one happening; often one, sometimes none.
    static func notifications(_ purchase: Purchase, _ happening: Happening) -> [JSON] {
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
        case .gaveBack(_, isNewest: false), .moneyBack, .refundReversed, .changePlanned, .untold,
            .seatsBack, .migrated:
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

    /// What stands around all of them.
    static func message(
        app: String, at instant: Instant, _ body: (inout JSONWriter) -> Void
    ) -> JSON {
        .object(capacity: 400) { json in
            json.member("version", "1.0")
            json.member("packageName", app)
            json.member("eventTimeMillis", quoted: instant.milliseconds)
            body(&json)
        }
    }

    private static func notification(
        _ purchase: Purchase, _ happening: Happening, type: Int64
    ) -> JSON {
        let isSubscription = purchase.timeline.terms.kind == .autoRenewable
        let name = isSubscription ? "subscriptionNotification" : "oneTimeProductNotification"
        return message(app: purchase.app, at: happening.at) { json in
            json.object(name) { json in
                json.member("version", "1.0")
                json.member("notificationType", type)
                json.member("purchaseToken", purchase.token)
                if !isSubscription { json.member("sku", purchase.timeline.product) }
            }
        }
    }

    /// Money that went back although access stays is told of only for parts of a quantity.
    private static func voided(
        _ purchase: Purchase, _ happening: Happening, refundType: Int64
    ) -> JSON {
        message(app: purchase.app, at: happening.at) { json in
            json.object("voidedPurchaseNotification") { json in
                json.member("purchaseToken", purchase.token)
                json.member("orderId", order(purchase, number: happening.charge))
                json.member(
                    "productType", purchase.timeline.terms.kind == .autoRenewable ? 1 : 2)
                json.member("refundType", refundType)
            }
        }
    }

    /// What the button in the console sends.
    static func testNotification(app: String, at instant: Instant) -> JSON {
        message(app: app, at: instant) { json in
            json.object("testNotification") { $0.member("version", "1.0") }
        }
    }
}
