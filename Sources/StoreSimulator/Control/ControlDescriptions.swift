// What control calls tell of a purchase.
extension JSONText {
    mutating func numberOrNull(_ value: Int?) {
        guard let value else { return raw("null") }
        number(Int64(value))
    }

    /// The members that say which purchase it is.
    mutating func names(of purchase: Purchase) {
        raw("\"id\":")
        number(Int64(purchase.number))
        raw(",\"store\":")
        plain(purchase.store.rawValue)
        raw(",\"app\":")
        string(purchase.app)
        raw(",\"environment\":")
        plain(purchase.environment.rawValue)
        raw(",\"product\":")
        string(purchase.timeline.product)
        raw(",\"token\":")
        plain(purchase.token)
        if purchase.store == .amazon {
            raw(",\"store_user_id\":")
            plain(purchase.storeUser)
        }
        if let user = purchase.user {
            raw(",\"user\":")
            string(user)
        }
    }

    /// The products that give access.
    mutating func products(of purchase: Purchase, _ life: Life, at instant: Instant) {
        let products = instant >= purchase.timeline.start ? life.entitledProducts : []
        raw(",\"entitled_products\":[")
        for (index, product) in products.enumerated() {
            if index > 0 { raw(",") }
            string(product)
        }
        raw("]")
    }

    /// The members of a purchase's description, without the brackets.
    mutating func describe(
        _ purchase: Purchase, _ life: Life, at now: Instant, replacement: Purchase? = nil
    ) {
        names(of: purchase)
        raw(",\"now\":")
        time(now)
        raw(",\"state\":")
        plain(life.phase.word)
        raw(",\"entitled\":")
        boolean(now >= purchase.timeline.start && life.isEntitled)
        products(of: purchase, life, at: now)
        raw(",\"auto_renews\":")
        boolean(life.autoRenews)
        raw(",\"payment_works\":")
        boolean(life.paymentWorks)
        raw(",\"acknowledged\":")
        boolean(life.isAcknowledged)
        raw(",\"charges\":[")
        for charge in life.charges {
            if charge.number > 0 { raw(",") }
            describe(charge, of: purchase)
        }
        raw("],\"acts\":[")
        for (index, act) in purchase.timeline.acts.enumerated() {
            if index > 0 { raw(",") }
            raw("{\"at\":")
            time(act.at)
            raw(",\"deed\":")
            string("\(act.deed)")
            raw("}")
        }
        raw("]")
        if let replacement {
            raw(",\"replacement\":{")
            names(of: replacement)
            raw("}")
        }
    }

    private mutating func describe(_ charge: Charge, of purchase: Purchase) {
        raw("{\"product\":")
        string(charge.product)
        switch purchase.store {
        case .apple:
            raw(",\"transaction_id\":")
            quoted(AppleNumbers.transaction(purchase, charge: charge.number))
            raw(",\"order_id\":")
            plain(AppleNumbers.order(purchase, charge: charge.number))
        case .google:
            raw(",\"order_id\":")
            plain(Google.order(purchase, number: charge.number))
        case .amazon: break
        }
        raw(",\"paid_at\":")
        time(charge.paidAt)
        raw(",\"start\":")
        time(charge.start)
        raw(",\"end\":")
        time(charge.end)
        raw(",\"trial\":")
        boolean(charge.isTrial)
        raw(",\"given_back\":")
        boolean(charge.givenBack != nil)
        raw("}")
    }
}
