import Renewal

/// The answer of `purchases.products.get`, version 1: one product that is sold once.
///
/// <https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.products>
struct GoogleLegacyProduct: Decodable, Sendable {
    let purchaseTimeMillis: LenientInteger?
    /// 0 purchased, 1 cancelled, 2 pending.
    let purchaseState: LenientInteger?
    /// 0 not yet, 1 consumed.
    let consumptionState: LenientInteger?
    let orderId: OrderID?
    /// 0 a licence tester's, 1 by a promotion code, 2 rewarded.
    let purchaseType: LenientInteger?
    /// 0 not yet, 1 done.
    let acknowledgementState: LenientInteger?
    /// May be missing.
    let purchaseToken: StoreToken?
    let productId: ProductID?
    /// Missing is one.
    let quantity: LenientInteger?
    let refundableQuantity: LenientInteger?
    let obfuscatedExternalAccountId: LooseText?
}

extension GoogleLegacyProduct {
    /// - Throws: `.malformed` with the wrong field; `.mismatch` when it names another purchase.
    func sale(of purchase: Purchase, at now: Timestamp) throws(StoreFailure) -> GoogleSale {
        if let purchaseToken, !purchaseToken.isEmpty, purchaseToken != purchase.token {
            throw .mismatch(what: "purchase")
        }
        if let productId, !productId.isEmpty, productId != purchase.facts.product {
            throw .mismatch(what: "product")
        }
        let state: GoogleSale.State =
            switch purchaseState?.value {
            case 0: .purchased
            case 1: .cancelled
            case 2: .pending
            default: throw .malformed(field: "purchaseState")
            }
        let item = GoogleSale.Item(
            product: purchase.facts.product, quantity: quantity?.value ?? 1,
            refundableQuantity: refundableQuantity?.value,
            isConsumed: consumptionState?.value == 1)
        var sale = GoogleSale(state: state, items: [item])
        sale.order = orderId
        sale.accountToken = obfuscatedExternalAccountId?.value.map(UserID.init)
        sale.boughtAt = try DateWindow(now: now).date(
            milliseconds: purchaseTimeMillis?.value, field: "purchaseTimeMillis")
        sale.isTest = purchaseType?.value == 0
        sale.awaitsAcknowledgement = acknowledgementState?.value == 0
        return sale
    }
}

/// The answer of `purchases.productsv2.getproductpurchasev2`.
///
/// <https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2>
struct GoogleProduct: Decodable, Sendable {
    let productLineItem: [LineItem]?
    let purchaseStateContext: StateContext?
    let testPurchaseContext: Presence?
    let orderId: OrderID?
    /// RFC 3339; missing until it is paid.
    let purchaseCompletionTime: String?
    let acknowledgementState: String?
    let obfuscatedExternalAccountId: LooseText?

    struct StateContext: Decodable, Sendable {
        /// `PURCHASED`, `CANCELLED` or `PENDING`.
        let purchaseState: String?
    }

    struct LineItem: Decodable, Sendable {
        let productId: ProductID?
        let productOfferDetails: Offer?
    }

    struct Offer: Decodable, Sendable {
        let quantity: LenientInteger?
        let refundableQuantity: LenientInteger?
        let consumptionState: String?
        let preorderOfferDetails: Preorder?
    }

    struct Preorder: Decodable, Sendable {
        /// RFC 3339.
        let preorderReleaseTime: String?
    }
}

extension GoogleProduct {
    /// - Throws: `.malformed` with the field that is missing or makes no sense.
    func sale(at now: Timestamp) throws(StoreFailure) -> GoogleSale {
        let window = DateWindow(now: now)
        var items: [GoogleSale.Item] = []
        var releasedAt: Timestamp?
        for item in productLineItem ?? [] {
            guard let product = item.productId, !product.isEmpty else {
                throw .malformed(field: "productLineItem.productId")
            }
            let offer = item.productOfferDetails
            items.append(
                GoogleSale.Item(
                    product: product, quantity: offer?.quantity?.value ?? 1,
                    refundableQuantity: offer?.refundableQuantity?.value,
                    isConsumed: offer?.consumptionState == "CONSUMPTION_STATE_CONSUMED"))
            releasedAt = try window.date(
                rfc3339: offer?.preorderOfferDetails?.preorderReleaseTime,
                field: "preorderReleaseTime")
        }
        guard !items.isEmpty else { throw .malformed(field: "productLineItem") }
        var sale = GoogleSale(state: try state(), items: items)
        sale.order = orderId
        sale.accountToken = obfuscatedExternalAccountId?.value.map(UserID.init)
        sale.boughtAt = try window.date(
            rfc3339: purchaseCompletionTime, field: "purchaseCompletionTime")
        sale.wasCompleted = sale.boughtAt != nil
        sale.isTest = testPurchaseContext != nil
        sale.awaitsAcknowledgement =
            acknowledgementState == "ACKNOWLEDGEMENT_STATE_PENDING"
        // Ordered ahead: paid when it is released.
        if sale.state == .purchased, sale.boughtAt == nil, let releasedAt, releasedAt > now {
            sale.state = .pending
        }
        return sale
    }

    /// One L or two.
    private func state() throws(StoreFailure) -> GoogleSale.State {
        switch purchaseStateContext?.purchaseState {
        case "PURCHASED": .purchased
        case "CANCELLED", "CANCELED": .cancelled
        case "PENDING": .pending
        default: throw .malformed(field: "purchaseStateContext.purchaseState")
        }
    }
}

/// A purchase of products that are sold once, as either version tells it.
struct GoogleSale: Hashable, Sendable {
    var state: State
    var items: [Item]
    var order: OrderID?
    /// The account of the app's own that it named at the purchase.
    var accountToken: UserID?
    var boughtAt: Timestamp?
    /// Whether the answer says that it was paid once.
    var wasCompleted = false
    var isTest = false
    var awaitsAcknowledgement = false

    enum State: String, Hashable, Sendable {
        case purchased = "PURCHASED"
        case cancelled = "CANCELLED"
        case pending = "PENDING"
    }

    struct Item: Hashable, Sendable {
        let product: ProductID
        let quantity: Int64
        /// How many have not been given back; nil where the answer does not tell.
        let refundableQuantity: Int64?
        let isConsumed: Bool

        var isGivenBack: Bool { refundableQuantity.map { $0 <= 0 } ?? false }
        var isPartlyGivenBack: Bool {
            refundableQuantity.map { $0 > 0 && $0 < quantity } ?? false
        }
    }
}

/// Reads what Google says of such a purchase in our words.
///
/// <https://developer.android.com/google/play/billing/lifecycle/one-time>
struct GoogleSaleObservation: Sendable {
    let sale: GoogleSale
    let facts: Facts
    let kind: ProductKind
    let now: Timestamp

    /// The order when it is not the known one: whose it is remains to be shown.
    var foreignOrder: OrderID? {
        guard let known = facts.originalID, let order = sale.order,
            GoogleOrderID.base(of: order) != known
        else { return nil }
        return order
    }

    var observation: Observation {
        let items = kept.isEmpty ? sale.items : kept
        let main = items.first { $0.product == facts.product } ?? items.first
        let others = items.filter { $0 != main }
        var observation = Observation(
            environment: sale.isTest ? .sandbox : .production, kind: kind, standing: standing,
            items: (main.map { [$0] } ?? []).map(\.item) + others.map(\.item),
            originalID: sale.order.map(GoogleOrderID.base), orderID: sale.order,
            period: sale.order, purchasedAt: sale.boughtAt, signals: signals, words: words)
        observation.accountToken = sale.accountToken
        observation.awaitsAcknowledgement = awaitsAcknowledgement
        if let alarm, alarm > now { observation.askAgainBy = alarm }
        return observation
    }

    private var kept: [GoogleSale.Item] { sale.items.filter { !$0.isGivenBack } }

    private var standing: Standing {
        switch sale.state {
        case .pending: .pending
        case .purchased: kept.isEmpty ? .refunded(at: nil) : .active
        // A payment that never came, or one that was given back.
        case .cancelled: wasPaid ? .refunded(at: nil) : .ended(.periodEnded, at: nil)
        }
    }

    private var wasPaid: Bool {
        if sale.wasCompleted || facts.wasGranted { return true }
        return switch facts.state {
        case .new, .pending, .expired, .invalid: false
        case .active, .grace, .hold, .paused, .refunded, .revoked, .superseded: true
        }
    }

    /// What was consumed has been acknowledged by that.
    private var awaitsAcknowledgement: Bool {
        sale.awaitsAcknowledgement && sale.state == .purchased
            && !sale.items.allSatisfy(\.isConsumed)
    }

    private var alarm: Timestamp? {
        guard awaitsAcknowledgement, let bought = sale.boughtAt else { return nil }
        return bought + .hours(24)
    }

    private var signals: Set<Signal> {
        guard sale.state == .purchased, !kept.isEmpty else { return [] }
        var signals: Set<Signal> = []
        if let alarm, now > alarm { signals.insert(.unacknowledged) }
        if sale.items.contains(where: { $0.isPartlyGivenBack || $0.isGivenBack }) {
            signals.insert(.pastPeriodRefunded)
        }
        return signals
    }

    private var words: String {
        var words = [sale.state.rawValue]
        if let bought = sale.boughtAt { words.append("purchased \(CalendarTime.text(bought))") }
        for item in sale.items {
            if item.isConsumed { words.append("consumed") }
            if let left = item.refundableQuantity {
                words.append("refundableQuantity \(left) of \(item.quantity)")
            }
        }
        return words.joined(separator: ", ")
    }
}

extension GoogleSale.Item {
    fileprivate var item: Renewal.Item { Renewal.Item(names: [product], expiresAt: nil) }
}
