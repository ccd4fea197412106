/// What a store tells of a sale beside what access hangs on. It is told with events and decides
/// nothing: what is missing, or of an unknown shape, changes nothing else.
package struct SaleNotes: Hashable, Sendable {
    /// The buyer's, ISO 3166-1 alpha-2.
    package var region: String?
    /// What a period costs, as the store shows it to the buyer.
    package var price: Money?
    package var basePlan: String?
    /// With a discount.
    package var offer: String?
    /// Whom the app has named to the store beside the account: one of its profiles.
    package var profileToken: String?
    /// The account of the app's own that is linked with the buyer's.
    package var linkedAccount: String?
    /// What the seller has tagged plan and offer with.
    package var offerTags: [String] = []
    /// Why the user does not renew, as they have told the store.
    package var cancelReason: String?
    /// The same in their own words.
    package var cancelComment: String?
    /// What this has taken the place of.
    package var replaced: Replaced?
    /// What it becomes at the next renewal.
    package var nextProduct: ProductID?
    /// What goes away at the next renewal.
    package var leavingProducts: [ProductID] = []

    package struct Replaced: Hashable, Sendable {
        package var product: ProductID
        package var basePlan: String?
        /// In the store's word.
        package var mode: String?

        package init(product: ProductID, basePlan: String? = nil, mode: String? = nil) {
            self.product = product
            self.basePlan = basePlan
            self.mode = mode
        }
    }

    package init() {}
}

/// What a store tells of a refund.
package struct RefundNotes: Hashable, Sendable {
    /// Who wanted it: `user`, `developer`, `store`, or the store's number where that is not known.
    package var source: String?
    /// Why, in the same way: `remorse`, `chargeback`, `unacknowledged` and so on.
    package var reason: String?
    /// Nil where all of the order was given back.
    package var part: RefundedPart?

    package init(source: String? = nil, reason: String? = nil, part: RefundedPart? = nil) {
        self.source = source
        self.reason = reason
        self.part = part
    }
}

/// A part of an order that was given back: no more, and no end of access.
package struct RefundedPart: Hashable, Sendable {
    /// All that was given back of the order so far; nil where the store does not tell.
    package var amount: Money?
    /// Of the order's amount or, where the store tells none, of the pieces bought.
    package var share: Share?

    package init(amount: Money? = nil, share: Share? = nil) {
        self.amount = amount
        self.share = share
    }
}

// Which event tells which of it: what would only repeat itself is left out.
extension Detail {
    func told(with kind: EventKind) -> Detail {
        var detail = self
        detail.sale = SaleNotes()
        if Self.sales.contains(kind) {
            detail.sale.region = sale.region
            detail.sale.price = sale.price
            detail.sale.basePlan = sale.basePlan
            detail.sale.offer = sale.offer
            detail.sale.offerTags = sale.offerTags
        }
        if Self.beginnings.contains(kind) {
            detail.sale.profileToken = sale.profileToken
            detail.sale.linkedAccount = sale.linkedAccount
            detail.sale.replaced = sale.replaced
        }
        if Self.cancellations.contains(kind) {
            detail.sale.cancelReason = sale.cancelReason
            detail.sale.cancelComment = sale.cancelComment
        }
        if kind == .notice(.productChangeScheduled) {
            detail.sale.nextProduct = sale.nextProduct
            detail.sale.leavingProducts = sale.leavingProducts
        }
        if !Self.refunds.contains(kind) { detail.refund = nil }
        return detail
    }

    private static let beginnings = Set(GrantReason.allCases.map(EventKind.grant))
    private static let sales = beginnings.union([
        .notice(.renewed), .notice(.paymentRecovered), .notice(.trialConverted),
    ])
    private static let cancellations: Set<EventKind> = [
        .notice(.autoRenewOff), .revoke(.cancelled),
    ]
    private static let refunds: Set<EventKind> = [
        .revoke(.refunded), .notice(.refunded), .notice(.refundOfPastPeriod),
    ]
}
