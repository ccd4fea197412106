// What Apple added in 2025 and 2026, from the vendor's pages: versions 1.14, 1.21 and 1.23 of the
// App Store Server API. What is for the sandbox only may still change.
extension Apple {
    private static let price: Int64 = 4990

    static func original(_ purchase: Purchase, _ charge: Charge) -> String {
        charge.isMigrated ? String(AppleNumbers.migrated(purchase)) : purchase.token
    }

    /// The members of a transaction that came last.
    static func news(_ purchase: Purchase, _ charge: Charge, to json: inout JSONWriter) {
        if charge.isMigrated { json.member("previousOriginalTransactionId", purchase.token) }
        commitment(charge, to: &json)
        items(charge, to: &json)
        guard purchase.timeline.terms.isMultiSeat else { return }
        json.object("multiSeatInfo") { json in
            json.member("invitationManagement", "APPLE")
            json.objects("priceTiers", [charge.quantity]) { json, seats in
                json.member("price", price)
                json.member("quantity", seats)
            }
            // Absent until some were refunded.
            if charge.seatsBack > 0 { json.member("revokedSeatQuantity", charge.seatsBack) }
        }
        if charge.paysTogether { json.member("additionalTransactionReason", "SEAT_ADDITION") }
    }

    /// https://developer.apple.com/documentation/appstoreserverapi/transactioncommitmentinfo
    private static func commitment(_ charge: Charge, to json: inout JSONWriter) {
        guard let number = charge.instalment, let total = charge.instalments,
            let end = charge.commitmentEnd
        else { return }
        json.member("billingPlanType", "MONTHLY")
        json.object("commitmentInfo") { json in
            json.member("billingPeriodNumber", number)
            json.member("totalBillingPeriods", total)
            json.member("commitmentExpiresDate", end.milliseconds)
            json.member("commitmentPrice", price * Int64(total))
        }
    }

    /// https://developer.apple.com/documentation/appstoreserverapi/advancedcommercetransactioninfo
    private static func items(_ charge: Charge, to json: inout JSONWriter) {
        guard !charge.skus.isEmpty else { return }
        json.object("advancedCommerceInfo") { json in
            json.object("descriptors") { json in
                json.member("displayName", "A bundle of the app's own")
                json.member("description", "What was chosen")
            }
            json.objects("items", charge.skus) { json, sku in
                json.member("SKU", sku)
                json.member("displayName", sku)
                json.member("description", "One of them")
                json.member("price", price / Int64(charge.skus.count))
                json.member("revocationDate", charge.skusBack[sku]?.milliseconds)
            }
            json.member("period", "P1M")
            json.member("taxCode", "C003-00-2")
        }
    }

    /// https://developer.apple.com/documentation/appstoreserverapi/renewalcommitmentinfo
    static func newsOfRenewal(_ life: Life, _ latest: Charge, to json: inout JSONWriter) {
        guard let total = latest.instalments, let end = latest.commitmentEnd else { return }
        json.member("renewalBillingPlanType", "MONTHLY")
        json.object("commitmentInfo") { json in
            json.member(
                "commitmentAutoRenewProductId", life.productAtRenewal ?? latest.product)
            json.member(
                "commitmentAutoRenewStatus",
                life.autoRenews && !life.isCancellationPending ? 1 : 0)
            json.member("commitmentRenewalBillingPlanType", "MONTHLY")
            json.member("commitmentRenewalDate", end.milliseconds)
            json.member("commitmentRenewalPrice", price * Int64(total))
        }
    }
}
