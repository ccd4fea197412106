/// Version 1 of subscription purchases, and the list of voided purchases.
///
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptions
extension Google {
    /// The body of a 200 of `purchases.subscriptions.get`. Members that do not apply are absent;
    /// 64-bit numbers are strings.
    static func legacySubscription(
        _ purchase: Purchase, _ life: Life, at now: Instant
    ) -> JSONText {
        let state = State(life, at: now)
        var json = JSONText()
        json.raw("{\"kind\":\"androidpublisher#subscriptionPurchase\",\"startTimeMillis\":")
        json.quoted(purchase.timeline.start.milliseconds)
        if let expiry = state.expiry {
            json.raw(",\"expiryTimeMillis\":")
            json.quoted(expiry.milliseconds)
        }
        json.raw(",\"autoRenewing\":")
        json.boolean(state.renews)
        json.raw(",\"priceCurrencyCode\":\"EUR\",\"priceAmountMicros\":\"6990000\"")
        json.raw(",\"countryCode\":\"PT\",\"developerPayload\":")
        json.string(purchase.developerPayload)
        if let payment = paymentState(life) {
            json.raw(",\"paymentState\":")
            json.number(payment)
        }
        appendCancellation(life, to: &json)
        if case .paused(let until) = life.phase {
            json.raw(",\"autoResumeTimeMillis\":")
            json.quoted(until.milliseconds)
        } else if let length = life.pauseLength, let latest = life.latest {
            json.raw(",\"autoResumeTimeMillis\":")
            json.quoted(latest.end.adding(length).milliseconds)
        }
        let paid = life.charges.count - 1
        json.raw(",\"orderId\":")
        json.plain(order(purchase, number: state.isUnpaid ? paid + 1 : paid))
        if let replaced = purchase.replaces {
            json.raw(",\"linkedPurchaseToken\":")
            json.string(replaced)
        }
        if purchase.environment == .sandbox { json.raw(",\"purchaseType\":0") }
        if let offer = purchase.timeline.terms.firstOffer, offer.discount != .freeTrial {
            json.raw(",\"introductoryPriceInfo\":{\"introductoryPriceCurrencyCode\":\"EUR\"")
            json.raw(",\"introductoryPriceAmountMicros\":\"990000\"")
            json.raw(",\"introductoryPricePeriod\":")
            json.plain(offer.period.text)
            json.raw(",\"introductoryPriceCycles\":")
            json.number(Int64(offer.cycles))
            json.raw("}")
        }
        if let increase = life.priceIncrease {
            json.raw(",\"priceChange\":{\"newPrice\":{\"currency\":\"EUR\"")
            json.raw(",\"priceMicros\":\"9990000\"},\"state\":")
            json.number(increase == .asked ? 0 : 1)
            json.raw("}")
        }
        json.raw(",\"acknowledgementState\":")
        json.number(life.latest == nil || !life.isAcknowledged ? 0 : 1)
        if let user = purchase.user {
            json.raw(",\"obfuscatedExternalAccountId\":")
            json.string(user)
        }
        json.raw("}")
        return json
    }

    /// 0 pending, 1 received, 2 free trial; nothing once it will not renew.
    private static func paymentState(_ life: Life) -> Int64? {
        switch life.phase {
        case .pending, .silent, .grace, .hold: 0
        case .running where life.productAtRenewal != nil: 3
        case .running where !life.autoRenews && life.plan != .prepaid: nil
        case .running, .paused: life.latest?.isTrial == true ? 2 : 1
        case .abandoned, .ended: nil
        }
    }

    /// 0 the user, 1 Google for want of payment, 2 replaced, 3 the developer.
    private static func appendCancellation(_ life: Life, to json: inout JSONText) {
        let reason: Int64? =
            switch life.phase {
            case .running: life.autoRenews || life.plan == .prepaid ? nil : 0
            case .ended(_, .expired) where life.plan == .prepaid: nil
            case .pending, .silent, .grace, .hold, .paused: nil
            case .abandoned, .ended(_, .cancelled), .ended(_, .expired): 0
            case .ended(_, .paymentFailed), .ended(_, .priceDeclined), .ended(_, .unavailable): 1
            case .ended(_, .replaced): 2
            case .ended(_, .refunded), .ended(_, .revoked): 3
            }
        guard let reason else { return }
        json.raw(",\"cancelReason\":")
        json.number(reason)
        if reason == 0, let instant = life.autoRenewChangedAt {
            json.raw(",\"userCancellationTimeMillis\":")
            json.quoted(instant.milliseconds)
        }
    }
}

extension Google {
    /// One charge that was given back, as the list of voided purchases shows it.
    struct Void: Sendable {
        var token: String
        var order: String
        var purchased: Instant
        var voided: Instant
        /// 0 the user, 1 the developer, 2 Google.
        var source: Int64
        /// 0 other, 1 remorse, 7 charge-back, 8 unacknowledged.
        var reason: Int64
        /// How many of a quantity; nil for all.
        var quantity: Int?
    }

    /// The voids of a purchase, oldest first.
    static func voids(_ purchase: Purchase, _ life: Life) -> [Void] {
        life.charges.compactMap { charge in
            var void = Void(
                token: purchase.token, order: order(purchase, number: charge.number),
                purchased: charge.paidAt, voided: charge.paidAt, source: 0, reason: 1)
            if let givenBack = charge.givenBack {
                void.voided = givenBack.at
                switch givenBack.cause {
                case .refund: break
                case .revoke: (void.source, void.reason) = (1, 0)
                case .chargeBack: (void.source, void.reason) = (2, 7)
                case .unacknowledged: (void.source, void.reason) = (2, 8)
                }
                void.reason = givenBack.reason ?? void.reason
                return void
            }
            guard let instant = charge.moneyBackAt, let count = charge.moneyBackQuantity else {
                return nil
            }
            (void.voided, void.source, void.reason) = (instant, 1, 0)
            void.quantity = count < charge.quantity ? count : nil
            return void
        }
    }

    /// One page of voided purchases; no voids are an empty object.
    static func voidedPage(_ voids: some Collection<Void>, nextPage: String?) -> JSONText {
        var json = JSONText(capacity: voids.count * 400 + 100)
        json.raw("{")
        if let nextPage {
            json.raw("\"tokenPagination\":{\"nextPageToken\":")
            json.plain(nextPage)
            json.raw("}")
        }
        for (index, void) in voids.enumerated() {
            if index > 0 {
                json.raw(",")
            } else {
                if nextPage != nil { json.raw(",") }
                json.raw("\"voidedPurchases\":[")
            }
            append(void, to: &json)
        }
        json.raw(voids.isEmpty ? "}" : "]}")
        return json
    }

    private static func append(_ void: Void, to json: inout JSONText) {
        json.raw("{\"kind\":\"androidpublisher#voidedPurchase\",\"purchaseToken\":")
        json.plain(void.token)
        json.raw(",\"purchaseTimeMillis\":")
        json.quoted(void.purchased.milliseconds)
        json.raw(",\"voidedTimeMillis\":")
        json.quoted(void.voided.milliseconds)
        json.raw(",\"orderId\":")
        json.plain(void.order)
        json.raw(",\"voidedSource\":")
        json.number(void.source)
        json.raw(",\"voidedReason\":")
        json.number(void.reason)
        if let quantity = void.quantity {
            json.raw(",\"voidedQuantity\":")
            json.number(Int64(quantity))
        }
        json.raw("}")
    }
}
