/// What of a store's API a request is for, as faults and the log of answers name it.
enum Endpoint: String, CaseIterable, Hashable, Sendable {
    // Apple
    case statuses
    case transaction
    case history
    case refunds
    case order
    case notifications
    case consumption
    case verifyReceipt = "verify_receipt"
    // Google
    case token
    case subscription
    case subscriptionV1 = "subscription_v1"
    case product
    case productV1 = "product_v1"
    case voided
    case orders
    case reviewRefund = "review_refund"
    case pubsub
    // Amazon
    case receipt
    case queue
    /// A control call, or a path that no store knows.
    case other
}
