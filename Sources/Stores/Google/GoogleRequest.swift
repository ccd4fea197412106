import Curl
import Renewal

/// Which version of the interface is asked.
package enum GoogleAPI: String, Hashable, Sendable, CaseIterable {
    case v2, v1
}

/// What can be asked about a purchase.
enum GoogleQuestion: Hashable, Sendable {
    case subscription, legacySubscription, product, legacyProduct

    /// As the reference calls it.
    var callName: String {
        switch self {
        case .subscription: "purchases.subscriptionsv2.get"
        case .legacySubscription: "purchases.subscriptions.get"
        case .product: "purchases.productsv2.getproductpurchasev2"
        case .legacyProduct: "purchases.products.get"
        }
    }

    init(about kind: ProductKind, with api: GoogleAPI) {
        switch kind {
        case .autoRenewable: self = api == .v2 ? .subscription : .legacySubscription
        case .nonRenewing, .nonConsumable, .consumable:
            self = api == .v2 ? .product : .legacyProduct
        }
    }
}

/// The paths of the Google Play Developer API, below one app.
///
/// <https://developers.google.com/android-publisher/api-ref/rest/v3>
struct GooglePaths: Sendable {
    let app: String

    /// - Throws: `.rejected`; the package name comes from the configuration.
    init(packageName: AppID) throws(StoreFailure) {
        app =
            "/androidpublisher/v3/applications/"
            + (try PathSegment(packageName.text, what: "package name")).text
    }

    /// - Throws: `.rejected` when the token or product cannot be asked about.
    func purchase(
        _ question: GoogleQuestion, _ purchase: Purchase
    ) throws(StoreFailure) -> String {
        let token = try PathSegment(purchase.token.text, what: "token").text
        switch question {
        case .subscription:
            return app + "/purchases/subscriptionsv2/tokens/" + token
        case .product:
            return app + "/purchases/productsv2/tokens/" + token
        case .legacySubscription, .legacyProduct:
            let product = try PathSegment(purchase.facts.product.text, what: "product").text
            let family = question == .legacySubscription ? "subscriptions" : "products"
            return app + "/purchases/" + family + "/" + product + "/tokens/" + token
        }
    }

    /// The same path in both versions.
    func acknowledgement(
        of purchase: Purchase, isSubscription: Bool
    ) throws(StoreFailure) -> String {
        let question = isSubscription ? GoogleQuestion.legacySubscription : .legacyProduct
        return try self.purchase(question, purchase) + ":acknowledge"
    }

    func order(_ id: OrderID) throws(StoreFailure) -> String {
        app + "/orders/" + (try PathSegment(id.text, what: "order id")).text
    }

    func refundReview(of order: OrderID) throws(StoreFailure) -> String {
        try self.order(order) + ":reviewrefund"
    }

    func orders(_ ids: [OrderID]) -> String {
        app + "/orders:batchGet?"
            + ids.map { "orderIds=" + PercentEncoding.queryValue($0.text) }.joined(separator: "&")
    }

    /// `query` holds names and values; the values are escaped here.
    func voided(_ query: [(name: String, value: String)]) throws(StoreFailure) -> String {
        var parts: [String] = []
        for (name, value) in query {
            parts.append(name + "=" + PercentEncoding.queryValue(value))
        }
        return app + "/purchases/voidedpurchases?" + parts.joined(separator: "&")
    }
}
