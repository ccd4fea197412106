import Renewal

/// Reads what Google says of products that are sold once in our words.
///
/// <https://developer.android.com/google/play/billing/lifecycle/one-time>
struct GoogleOneTimeObservation: Sendable {
    let sale: GoogleSale
    let facts: Facts
    let kind: ProductKind
    /// Clues of the purchase that no check has looked into yet.
    let clues: Set<Clue>
    let now: Timestamp

    /// - Throws: `.mismatch` for an answer that is older than what is known, or about another
    ///   product.
    init(
        sale: GoogleSale, facts: Facts, kind: ProductKind, clues: Set<Clue> = [],
        at now: Timestamp
    ) throws(StoreFailure) {
        self.sale = sale
        self.facts = facts
        self.kind = kind
        self.clues = clues
        self.now = now
        guard !facts.isOtherEnvironment(isTest: sale.isTest) else { return }
        // A copy of Google's data that lags behind. Consumables were paid and give no access.
        let wasPaid = facts.access == .granted || [.active, .refunded].contains(facts.state)
        guard !wasPaid || sale.state != .pending else {
            throw .mismatch(what: "time, before it was paid")
        }
        guard facts.access == .granted else { return }
        // What is sold once never becomes something else.
        guard sale.items.contains(where: { $0.product == facts.product }) else {
            throw .mismatch(what: "product")
        }
    }

    /// What shows that the answer is about this purchase.
    var proof: GoogleProof {
        guard let known = facts.originalID else {
            return facts.access == .granted ? .unless(sale.order) : .given
        }
        guard let order = sale.order else { return .none }
        return GoogleOrderID.base(of: order) == known ? .given : .by(order: order)
    }

    var observation: Observation {
        let status = status
        let items = kept.isEmpty ? sale.items : kept
        let main = items.first { $0.product == facts.product } ?? items.first
        let others = items.filter { $0 != main }
        var observation = Observation(
            environment: sale.isTest ? .sandbox : .production, kind: kind, status: status,
            items: (main.map { [$0] } ?? []).map(\.item) + others.map(\.item) + unlisted,
            originalID: sale.order.map(GoogleOrderID.base), orderID: sale.order,
            period: mark.period, purchasedAt: sale.boughtAt, signals: signals,
            words: words)
        observation.accountToken = sale.accountToken
        observation.awaitsAcknowledgement = awaitsAcknowledgement
        observation.notes = sale.notes
        observation.isRefundedInPart = isRefundedInPart
        if isRefundedInPart, let left, let order = sale.order {
            observation.refundedParts[order] = RefundedPart(share: Share(bought - left, of: bought))
        }
        observation.lostParts = lostParts
        observation.settledClues = settledClues(status)
        if let alarm, alarm > now { observation.askAgainBy = alarm }
        return observation
    }

    /// What is cancelled is so as a whole.
    private var kept: [GoogleSale.Item] {
        guard sale.state == .purchased else { return sale.items }
        return sale.items.filter { !$0.isGivenBack && !staysGivenBack($0) }
    }

    /// Whether a part was given back before, and the answer does not say how much of it is left.
    private func staysGivenBack(_ item: GoogleSale.Item) -> Bool {
        facts.access == .granted && item.refundableQuantity == nil && known?.left != nil
            && !held.isEmpty && !held.contains(item.product)
    }

    private var held: Set<ProductID> { Set(facts.holdings.map(\.product)) }

    /// What is held and not listed at all: an answer that lacks a piece takes nothing away, unless
    /// Google has said that something was given back.
    private var unlisted: [Item] {
        missing.isEmpty || isAnythingSaidToBeGivenBack
            ? [] : missing.map { Item(names: [$0], expiresAt: nil) }
    }

    private var missing: [ProductID] {
        guard facts.access == .granted, sale.state == .purchased, !kept.isEmpty else { return [] }
        return held.subtracting(sale.items.map(\.product)).sorted()
    }

    private var isAnythingSaidToBeGivenBack: Bool {
        let isVoided = facts.orderID.map(clues.refundedOrders.contains) ?? false
        return isVoided || clues.contains(where: \.isRevocation)
    }

    private var lostParts: LostParts {
        var lost = LostParts()
        let back = sale.items.filter { $0.isGivenBack || staysGivenBack($0) }.map(\.product)
        for product in back + (isAnythingSaidToBeGivenBack ? missing : []) {
            lost[product] = LostPart(reason: .refunded)
        }
        return lost
    }

    private var status: SubscriptionStatus {
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
        guard sale.state == .purchased, !kept.isEmpty, let alarm, now > alarm else { return [] }
        return [.unacknowledged]
    }

    private var words: String {
        var words = [sale.state.rawValue]
        if let bought = sale.boughtAt { words.append("purchased \(bought.text)") }
        for item in sale.items {
            if item.isConsumed { words.append("consumed") }
            if let left = item.refundableQuantity {
                words.append("refundableQuantity \(left) of \(item.quantity)")
            }
        }
        return words.joined(separator: ", ")
    }
}

// Refunds of parts. That the list of voided purchases names one that still reads as bought is
// weighed by the decision.
extension GoogleOneTimeObservation {
    /// What was kept of the last answer.
    private var known: GoogleSaleMark? {
        guard facts.state != .new, let mark = facts.period.map({ GoogleSaleMark($0) }),
            sale.order == nil || mark.order == sale.order
        else { return nil }
        return mark
    }

    private var mark: GoogleSaleMark {
        var mark = GoogleSaleMark(order: sale.order ?? known?.order)
        guard sale.state == .purchased, !kept.isEmpty else { return mark }
        // What was given back stays so: an answer with more left is an older copy. Of a bundle its
        // order was asked.
        let former = returning == nil ? known?.left : nil
        if let least = [left, former].compactMap(\.self).min() {
            // Where lines are missing, there is more than they tell.
            mark.left = least < bought ? least : former
        }
        return mark
    }

    private var bought: Int64 { sale.items.reduce(0) { $0 + $1.quantity } }
    /// Nil where the answer does not tell.
    private var left: Int64? {
        guard sale.items.contains(where: { $0.refundableQuantity != nil }) else { return nil }
        return sale.items.reduce(0) { $0 + ($1.refundableQuantity ?? $1.quantity) }
    }

    /// The order of a bundle of which more is said to be left than at the last answer.
    var returning: OrderID? {
        guard sale.items.count > 1, sale.state == .purchased, let left, let known,
            let was = known.left, let order = known.order, left > was
        else { return nil }
        let isUntold = sale.items.allSatisfy { item in
            item.isGivenBack || item.refundableQuantity == nil || held.contains(item.product)
        }
        return isUntold && !held.isEmpty ? nil : order
    }

    /// Whether less is left than at the last answer.
    private var isRefundedInPart: Bool {
        guard sale.state == .purchased, !kept.isEmpty, let left else { return false }
        return left < known?.left ?? bought
    }

    private func settledClues(_ status: SubscriptionStatus) -> Set<Clue> {
        switch status {
        case .refunded, .ended: return clues
        case .pending, .active, .grace, .hold, .paused, .removedFromFamily, .replaced: break
        }
        // What was given back before tells nothing of what is heard now: it may be another part.
        return isRefundedInPart ? clues.filter(\.isRevocation) : []
    }
}

/// Which order a sale was read with, and how much of it was left where a part was given back: kept
/// as the period of its purchase.
struct GoogleSaleMark: Hashable {
    var order: OrderID?
    var left: Int64?

    init(order: OrderID?) {
        self.order = order
    }

    /// Reads what `period` has written.
    init(_ period: OrderID) {
        let words = period.text.split(separator: " ")
        if let first = words.first, first != "-" { order = OrderID(String(first)) }
        if words.count == 3, words[1] == "left" { left = Int64(words[2]) }
    }

    /// `ORDER` or `ORDER left 2`, with a dash for no order. Nil when there is nothing to keep.
    var period: OrderID? {
        left.map { left in OrderID("\(order?.text ?? "-") left \(left)") } ?? order
    }
}

extension Facts {
    /// A test answer for a production purchase is told, and never a verdict (design rule 9): the
    /// decision sees to that.
    func isOtherEnvironment(isTest: Bool) -> Bool { environment == .production && isTest }
}

extension GoogleSale.Item {
    fileprivate var item: Renewal.Item { Renewal.Item(names: [product], expiresAt: nil) }
}
