/// Files that people have: which column is what, and what has to be made of it.
package enum ImportPreset: String, Hashable, Sendable, CaseIterable {
    /// The Transactions feed of the Scheduled Data Exports.
    ///
    /// <https://www.revenuecat.com/docs/integrations/scheduled-data-exports/transactions>
    case revenuecat
    /// The tables `supporters_device_sub` and `supporters_device_iap` of OsmAnd's server, and what
    /// was made after them.
    ///
    /// <https://github.com/osmandapp/OsmAnd-tools>
    case osmand

    /// The names of the columns, the best first.
    var columns: [ImportField: [String]] {
        switch self {
        case .revenuecat:
            [
                .userID: ["rc_last_seen_app_user_id_alias", "rc_original_app_user_id"],
                .product: ["product_identifier"],
                .token: ["original_store_transaction_id", "store_transaction_id"],
            ]
        case .osmand:
            [
                .userID: ["userid", "orderid"], .product: ["sku"],
                .token: ["purchasetoken", "orderid"],
            ]
        }
    }

    /// A user as the app's own backend names them, where one of the names is no made-up one.
    static func known(_ names: [String]) -> String? {
        let names = names.filter { !$0.isEmpty }
        return names.first { !$0.hasPrefix("$RCAnonymousID:") } ?? names.first
    }

    func translate(_ purchase: inout ImportedPurchase) throws(ImportFault) {
        switch self {
        case .revenuecat: try Self.fromRevenueCat(&purchase)
        case .osmand: Self.fromOsmAnd(&purchase)
        }
        // Neither has a column for it.
        if purchase.store == "amazon", purchase.storeUserID == nil {
            throw ImportFault(
                "it has no Amazon user id, with which Amazon is asked: "
                    + "add a column with your own and name it with --map store_user_id=COLUMN")
        }
    }

    private static func fromRevenueCat(
        _ purchase: inout ImportedPurchase
    ) throws(ImportFault) {
        switch purchase.store {
        case "app_store", "mac_app_store": purchase.store = "apple"
        case "play_store":
            purchase.store = "google"
            // Of Google the export names the orders; the store is asked by the purchase token.
            if purchase.token?.hasPrefix("GPA.") == true {
                throw ImportFault(
                    "it has an order id of Google and no purchase token: "
                        + "add a column with your own and name it with --map token=COLUMN")
            }
        default: break
        }
    }

    /// Apple's ids are numbers, and stand in both columns; what has a token of another store's form
    /// is Google's.
    private static func fromOsmAnd(_ purchase: inout ImportedPurchase) {
        guard purchase.store == nil, let token = purchase.token else { return }
        let isNumber = token.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        if isNumber || purchase.product?.hasPrefix("net.osmand.maps.") == true {
            purchase.store = "apple"
        } else if purchase.product?.contains(".amazon.") == true {
            purchase.store = "amazon"
        } else {
            purchase.store = "google"
        }
    }
}
