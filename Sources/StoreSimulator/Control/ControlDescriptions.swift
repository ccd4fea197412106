// What control calls tell of a purchase.
extension JSONWriter {
    /// The members that say which purchase it is.
    mutating func names(of purchase: Purchase) {
        member("id", purchase.number)
        member("store", purchase.store.rawValue)
        member("app", purchase.app)
        member("environment", purchase.environment.rawValue)
        member("product", purchase.timeline.product)
        member("token", purchase.token)
        member("store_user_id", purchase.store == .amazon ? purchase.storeUser : nil)
        member("user", purchase.user)
    }

    /// Whether it gives access, and which products do.
    mutating func access(
        of purchase: Purchase, _ life: Life, at instant: Instant, hasBase: Bool
    ) {
        let isBought = instant >= purchase.timeline.start && hasBase
        member("state", life.phase.word)
        member("entitled", isBought && life.isEntitled)
        array("entitled_products", isBought ? life.entitledProducts : [])
    }

    mutating func describe(
        _ purchase: Purchase, _ life: Life, at now: Instant, hasBase: Bool,
        replacement: Purchase? = nil
    ) {
        names(of: purchase)
        member("now", now)
        access(of: purchase, life, at: now, hasBase: hasBase)
        member("auto_renews", life.autoRenews)
        member("payment_works", life.paymentWorks)
        member("acknowledged", life.isAcknowledged)
        objects("charges", life.charges) { $0.describe($1, of: purchase) }
        objects("acts", purchase.timeline.acts) { json, act in
            json.member("at", act.at)
            json.member("deed", "\(act.deed)")
        }
        if let replacement { object("replacement") { $0.names(of: replacement) } }
    }

    private mutating func describe(_ charge: Charge, of purchase: Purchase) {
        member("product", charge.product)
        switch purchase.store {
        case .apple:
            member(
                "transaction_id", quoted: AppleNumbers.transaction(purchase, charge: charge.number))
            member("order_id", AppleNumbers.order(purchase, charge: charge.number))
        case .google: member("order_id", Google.order(purchase, number: charge.number))
        case .amazon: break
        }
        member("paid_at", charge.paidAt)
        member("start", charge.start)
        member("end", charge.end)
        member("trial", charge.isTrial)
        member("given_back", charge.givenBack != nil)
    }
}
