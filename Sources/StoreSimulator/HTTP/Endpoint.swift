/// What of a store's API a request is for, as faults and the log of answers name it.
enum Endpoint: String, CaseIterable, Hashable, Sendable {
    // Apple
    case statuses
    case transaction
    case history
    case refunds
    case order
    case notifications
    case verifyReceipt = "verify_receipt"
    // Google
    case token
    case subscription
    case subscriptionV1 = "subscription_v1"
    case product
    case productV1 = "product_v1"
    case voided
    case orders
    case pubsub
    // Amazon
    case receipt
    /// A path that no store knows.
    case other

    init(_ request: Request) {
        let path = request.segments
        self =
            switch path.first {
            case "inApps": Self.apple(path)
            case "verifyReceipt": .verifyReceipt
            case "token": .token
            case "androidpublisher": Self.google(path)
            case "v1": .pubsub
            case "version", "sandbox": .receipt
            default: .other
            }
    }

    private static func apple(_ path: [Substring]) -> Endpoint {
        guard path.count > 2 else { return .other }
        return switch path[2] {
        case "subscriptions": .statuses
        case "transactions": .transaction
        case "history": .history
        case "refund": .refunds
        case "lookup": .order
        case "notifications": .notifications
        default: .other
        }
    }

    private static func google(_ path: [Substring]) -> Endpoint {
        guard path.count > 4 else { return .other }
        if path[4].hasPrefix("orders") { return .orders }
        guard path[4] == "purchases", path.count > 5 else { return .other }
        return switch path[5] {
        case "subscriptionsv2": .subscription
        case "subscriptions": .subscriptionV1
        case "productsv2": .product
        case "products": .productV1
        case "voidedpurchases": .voided
        default: .other
        }
    }
}

extension Request {
    /// Google's package name stands in the path; the others' app is known by the purchase.
    var packageInPath: String? {
        let path = segments
        guard path.count > 3, path[0] == "androidpublisher" else { return nil }
        return PercentCoding.decode(path[3])
    }
}
