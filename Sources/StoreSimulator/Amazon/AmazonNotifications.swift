/// Real-time notifications: what Amazon tells of a life, in the words of its own.
///
/// https://developer.amazon.com/docs/in-app-purchasing/rtn-example.html
extension Amazon {
    /// The notifications about one happening; often one, sometimes none.
    static func notifications(_ purchase: Purchase, _ happening: Happening) -> [JSON] {
        let type =
            switch purchase.timeline.terms.kind {
            case .autoRenewable: subscriptionType(happening.kind)
            case .nonConsumable: productType(happening.kind, "ENTITLEMENT")
            case .consumable, .nonRenewing: productType(happening.kind, "CONSUMABLE")
            }
        guard let type else { return [] }
        let notification = JSON.object { json in
            json.member("appPackageName", purchase.app)
            json.member("notificationType", type)
            json.member("appUserId", purchase.storeUser)
            json.member("receiptId", purchase.token)
            json.object("relatedReceipts") { _ in }
            json.member("timestamp", happening.at.milliseconds)
            json.member("betaProductTransaction", purchase.isBeta)
        }
        return [notification]
    }

    private static func subscriptionType(_ kind: Happening.Kind) -> String? {
        switch kind {
        case .bought, .boughtAgain: "SUBSCRIPTION_PURCHASED"
        case .renewed: "SUBSCRIPTION_RENEWED"
        case .recovered: "SUBSCRIPTION_OUT_OF_GRACE_PERIOD"
        case .autoRenewOff: "SUBSCRIPTION_AUTO_RENEWAL_OFF"
        case .autoRenewOn: "SUBSCRIPTION_AUTO_RENEWAL_ON"
        case .grace: "SUBSCRIPTION_IN_GRACE_PERIOD"
        case .gaveBack(_, isNewest: true), .ended(.refunded), .ended(.revoked):
            "SUBSCRIPTION_CANCELLED"
        case .ended: "SUBSCRIPTION_EXPIRED"
        case .upgraded: "SUBSCRIPTION_MODIFIED_IMMEDIATE"
        case .changePlanned: "SUBSCRIPTION_MODIFIED_DEFERRED"
        case .cancellationScheduled: "SUBSCRIPTION_SCHEDULED_TO_END"
        case .hold, .pausePlanned, .paused, .resumed, .gaveBack, .moneyBack, .refundReversed,
            .priceAsked, .priceAccepted, .extended, .itemsChanged, .seatsBack, .migrated,
            .pendingCancelled, .untold:
            nil
        }
    }

    private static func productType(_ kind: Happening.Kind, _ what: String) -> String? {
        switch kind {
        case .bought, .boughtAgain: what + "_PURCHASED"
        case .gaveBack, .ended(.refunded), .ended(.revoked): what + "_CANCELLED"
        default: nil
        }
    }
}
