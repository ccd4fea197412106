/// Version 1 of subscription purchases, and the list of voided purchases.
///
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptions
extension Google {
    /// The body of a 200 of `purchases.subscriptions.get`. Members that do not apply are absent;
    /// 64-bit numbers are strings.
    static func legacySubscription(_ purchase: Purchase, _ life: Life, at now: Instant) -> JSON {
        let state = State(life, at: now)
        let paid = life.charges.count - 1
        return .object { json in
            json.member("kind", "androidpublisher#subscriptionPurchase")
            json.member("startTimeMillis", quoted: purchase.timeline.start.milliseconds)
            json.member("expiryTimeMillis", quoted: state.expiry?.milliseconds)
            json.member("autoRenewing", state.renews)
            json.member("priceCurrencyCode", purchase.timeline.terms.sale.currency)
            json.member("priceAmountMicros", quoted: purchase.price)
            json.member("countryCode", purchase.country)
            json.member("developerPayload", purchase.developerPayload)
            json.member("paymentState", paymentState(life))
            if let reason = cancelReason(life) {
                json.member("cancelReason", reason)
                let instant = reason == 0 ? life.autoRenewChangedAt : nil
                json.member("userCancellationTimeMillis", quoted: instant?.milliseconds)
                if reason == 0, let why = life.cancellation, let survey = why.reason {
                    json.object("cancelSurveyResult") { json in
                        json.member("cancelSurveyReason", survey)
                        json.member("userInputCancelReason", why.comment)
                    }
                }
            }
            json.member("autoResumeTimeMillis", quoted: resumption(life)?.milliseconds)
            json.member(
                "orderId", order(purchase, number: state.isUnpaid ? paid + 1 : paid))
            json.member("linkedPurchaseToken", purchase.replaces)
            if purchase.environment == .sandbox { json.member("purchaseType", 0) }
            if let offer = purchase.timeline.terms.firstOffer, offer.discount != .freeTrial {
                json.object("introductoryPriceInfo") { json in
                    json.member("introductoryPriceCurrencyCode", "EUR")
                    json.member("introductoryPriceAmountMicros", "990000")
                    json.member("introductoryPricePeriod", offer.period.text)
                    json.member("introductoryPriceCycles", offer.cycles)
                }
            }
            if let increase = life.priceIncrease {
                json.object("priceChange") { json in
                    json.object("newPrice") { json in
                        json.member("currency", "EUR")
                        json.member("priceMicros", "9990000")
                    }
                    json.member("state", increase == .asked ? 0 : 1)
                }
            }
            json.member(
                "acknowledgementState", life.latest == nil || !life.isAcknowledged ? 0 : 1)
            let sale = purchase.timeline.terms.sale
            json.member("externalAccountId", sale.linkedAccount)
            json.member("obfuscatedExternalAccountId", purchase.user)
            json.member("obfuscatedExternalProfileId", sale.profile)
        }
    }

    /// When a pause ends, also of one that is only planned.
    private static func resumption(_ life: Life) -> Instant? {
        if case .paused(let until) = life.phase { return until }
        guard let length = life.pauseLength, let latest = life.latest else { return nil }
        return latest.end.adding(length)
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
    private static func cancelReason(_ life: Life) -> Int? {
        switch life.phase {
        case .running: life.autoRenews || life.plan == .prepaid ? nil : 0
        case .ended(_, .expired) where life.plan == .prepaid: nil
        case .pending, .silent, .grace, .hold, .paused: nil
        case .abandoned, .ended(_, .cancelled), .ended(_, .expired): 0
        case .ended(_, .paymentFailed), .ended(_, .priceDeclined), .ended(_, .unavailable): 1
        case .ended(_, .replaced): 2
        case .ended(_, .refunded), .ended(_, .revoked): 3
        }
    }
}

extension Google {
    /// One charge that was given back, as the list of voided purchases shows it.
    struct VoidedPurchase: Sendable {
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
    static func voids(_ purchase: Purchase, _ life: Life) -> [VoidedPurchase] {
        life.charges.compactMap { charge in
            var void = VoidedPurchase(
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
                void.reason = givenBack.why.reason ?? void.reason
                void.source = givenBack.why.source ?? void.source
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
    static func voidedPage(_ voids: some Collection<VoidedPurchase>, nextPage: String?) -> JSON {
        .object(capacity: voids.count * 400 + 100) { json in
            if let nextPage {
                json.object("tokenPagination") { $0.member("nextPageToken", nextPage) }
            }
            if voids.isEmpty { return }
            json.objects("voidedPurchases", voids) { json, void in
                json.member("kind", "androidpublisher#voidedPurchase")
                json.member("purchaseToken", void.token)
                json.member("purchaseTimeMillis", quoted: void.purchased.milliseconds)
                json.member("voidedTimeMillis", quoted: void.voided.milliseconds)
                json.member("orderId", void.order)
                json.member("voidedSource", void.source)
                json.member("voidedReason", void.reason)
                json.member("voidedQuantity", void.quantity)
            }
        }
    }
}
