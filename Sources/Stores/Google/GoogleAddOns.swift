import Renewal

// What a purchase gives beside its main product, and why that ends.
extension GoogleObservation {
    /// Holdings of other products, while the main one stays what it was, or is what is left.
    var heldBeside: [Holding] {
        guard let main, main.product == facts.product || isLeftOver else { return [] }
        return facts.holdings.filter { $0.product != main.product }
    }

    /// Whether the main product was held beside the known one, which is listed as over or, while
    /// the other is in force, not at all: nothing has taken its place.
    private var isLeftOver: Bool {
        guard let main, main.product != facts.product, heldEnd(of: main.product) != nil,
            main.notes.replaced?.product != facts.product
        else { return false }
        guard let former = listed(facts.product) else { return !inForce.isEmpty }
        return former.expires != nil && former.replacement != main.product
    }

    private func heldEnd(of product: ProductID) -> Timestamp? {
        facts.holdings.first { $0.product == product }?.expiresAt
    }

    /// Up to when the main product is known to be paid.
    var knownPaidThrough: Timestamp? {
        guard let main, !comesBackAlone else { return nil }
        return isLeftOver ? heldEnd(of: main.product) : facts.paidThrough
    }

    /// Whether the main product is what is left of a purchase that gave nothing for a while, as
    /// after a hold: what was known is of the former one, which is over.
    private var comesBackAlone: Bool {
        guard let main, main.product != facts.product, facts.access == .none, facts.state == .hold,
            main.notes.replaced?.product != facts.product, let former = listed(facts.product)
        else { return false }
        return former.expires != nil && former.replacement != main.product
    }

    /// What is still held to a known end and is not listed at all: an answer that lacks a piece
    /// takes nothing away before its time, unless Google has said that something was taken back.
    var unlisted: [Item] {
        guard !isAnythingSaidToBeTakenBack else { return [] }
        var products: Set<ProductID> = []
        var items: [Item] = []
        for holding in heldBeside {
            guard let end = holding.expiresAt, end > proven,
                !snapshot.items.contains(where: { $0.product == holding.product }),
                products.insert(holding.product).inserted
            else { continue }
            items.append(Item(names: [holding.product], expiresAt: end))
        }
        return items
    }

    /// Whether another purchase has taken its place: what it gave waits for that as a whole.
    private var isReplacedAsAWhole: Bool {
        snapshot.cancellation == .replacement && inForce.isEmpty
    }

    /// What was held beside the main product, of what has been replaced, but what Google has said
    /// to have been taken back.
    var waitingForSuccessor: [Item] {
        guard isReplacedAsAWhole, !isSaidToBeRevoked else { return [] }
        let kept = Set(unlisted.flatMap(\.names))
        var products: Set<ProductID> = []
        return heldBeside.filter { holding in
            let order = listed(holding.product)?.paidOrder
            return !kept.contains(holding.product)
                && order.map { !clues.refundedOrders.contains($0) } ?? true
                && products.insert(holding.product).inserted
        }.map { Item(names: [$0.product], expiresAt: $0.expiresAt) }
    }

    private var isAnythingSaidToBeTakenBack: Bool {
        clues.contains { clue in
            switch clue {
            case .refund(let order): !isOfPastPeriod(order)
            case .revoked: true
            case .pause, .void: false
            }
        }
    }

    /// The refund of a past period takes nothing that runs (design rule 6).
    private func isOfPastPeriod(_ order: OrderID) -> Bool {
        guard let paid = main?.paidOrder else { return false }
        return GoogleOrderID(order).isBefore(GoogleOrderID(paid))
    }

    /// What was held, beside the main product or as that, and is not in force any more. Where all
    /// is over, also beside what that was changed for.
    var lostParts: LostParts {
        var lost = LostParts()
        var held = heldBeside
        if held.isEmpty, inForce.isEmpty {
            held = facts.holdings.filter {
                $0.product != facts.product && $0.product != main?.product
            }
        }
        for holding in held where !isKept(holding.product) {
            lost[holding.product] = LostPart(
                reason: loss(of: holding), endedAt: listed(holding.product)?.expires)
        }
        return lost
    }

    /// Cut short it was given back, unless its end had only been moved while it was not paid; what
    /// ran out ended as who has cancelled it tells, or had been removed by the user when the answer
    /// still shows it without renewal.
    private func loss(of holding: Holding) -> RevokeReason {
        if isReplaced(holding) { return .productChanged }
        if isGivenBack(holding) || orderGivenBackUnseen(of: holding) != nil { return .refunded }
        if snapshot.cancellation != nil { return endCause.reason }
        guard let listed = listed(holding.product) else { return .expired }
        return listed.renews ? .expired : .cancelled
    }

    /// Whether something has taken its place in the same purchase.
    private func isReplaced(_ holding: Holding) -> Bool {
        inForce.contains { $0.notes.replaced?.product == holding.product }
    }

    private func isKept(_ product: ProductID) -> Bool {
        inForce.contains { $0.product == product }
            || (unlisted + waitingForSuccessor).contains { $0.names.contains(product) }
    }

    /// Another base plan is another item of the same product: the later end counts.
    private func listed(_ product: ProductID) -> GoogleItem? {
        GoogleItem.latest(snapshot.items.filter { $0.product == product })
    }

    /// Whether what is not in force any more was cut short. In grace its end may only have been
    /// moved while it was not paid: there Google has to name its order.
    private func isGivenBack(_ holding: Holding) -> Bool {
        guard let known = holding.expiresAt, !isReplaced(holding) else { return false }
        let listed = listed(holding.product)
        guard listed?.expires ?? now < known - .minutes(1) else { return false }
        guard facts.state == .grace else { return true }
        return listed?.paidOrder.map(clues.refundedOrders.contains) ?? false
    }

    /// The order of a period that nobody has seen, and that Google has said to be refunded.
    private func orderGivenBackUnseen(of holding: Holding) -> OrderID? {
        guard let known = holding.expiresAt, let listed = listed(holding.product),
            let end = listed.expires, end > known + .minutes(1), let order = listed.paidOrder,
            clues.refundedOrders.contains(order)
        else { return nil }
        return order
    }

    var itemOrders: GoogleItemOrders {
        var orders = GoogleItemOrders(running: Set(inForce.compactMap(\.paidOrder)))
        if facts.access == .granted {
            let held = Set(facts.holdings.map(\.product))
            let new = inForce.filter { $0.product != main?.product && !held.contains($0.product) }
            orders.joining = Set(new.compactMap(\.paidOrder))
        }
        if isCutShortForNoReason, let order = endedOrder {
            orders.cutShort.append(GoogleCut(order: order, part: nil))
        }
        let lost = facts.holdings.filter { !isKept($0.product) }
        orders.takenBack.formUnion(lost.compactMap(orderGivenBackUnseen))
        for holding in lost where isGivenBack(holding) {
            if let listed = listed(holding.product) {
                guard let order = listed.paidOrder else { continue }
                orders.takenBack.insert(order)
                if let cut = cut(holding, as: listed, by: order),
                    !orders.cutShort.contains(cut)
                {
                    orders.cutShort.append(cut)
                }
            } else {
                orders.unlisted.insert(holding.product)
            }
        }
        orders.takenBack.subtract(orders.running)
        return orders
    }

    /// What is doubted. A part for a day after the end that is named now, as a copy is behind for
    /// no longer, and what is kept is a verdict each time; one that was over long before it was
    /// paid anew casts doubt on the whole answer.
    private func cut(
        _ holding: Holding, as listed: GoogleItem, by order: OrderID
    ) -> GoogleCut? {
        guard snapshot.state.mayRun, !isSaidToBeRevoked else { return nil }
        guard main?.product == facts.product, holding.product != facts.product else {
            return GoogleCut(order: order, part: nil)
        }
        guard let end = listed.expires else { return nil }
        guard now - end >= .days(1) else {
            return GoogleCut(
                order: order, part: Item(names: [holding.product], expiresAt: holding.expiresAt))
        }
        return GoogleCut(order: order, part: nil, longOver: end)
    }
}

/// The orders behind the items of a subscription.
struct GoogleItemOrders: Hashable, Sendable {
    /// Of what is in force.
    var running: Set<OrderID> = []
    /// Of these, of what gave nothing until now.
    var joining: Set<OrderID> = []
    /// Of a bundle that is sold once, of which more is shown than was left of it.
    var returning: OrderID?
    /// Of what has been taken back since the last answer: its revocation tells that.
    var takenBack: Set<OrderID> = []
    /// Of what reads as over before its known end, where Google has not said that it was taken
    /// back.
    var cutShort: [GoogleCut] = []
    /// What has been taken back since, and is not listed any more.
    var unlisted: Set<ProductID> = []

    func tell(of order: GoogleOrder) -> Bool {
        takenBack.contains(order.id)
            || !order.products.isEmpty && unlisted.isSuperset(of: order.products)
    }
}

/// What reads as over before its known end.
struct GoogleCut: Hashable, Sendable {
    let order: OrderID
    /// What it gives beside the main product, to its known end; nil where that is over.
    let part: Item?
    /// When it ended, if that is a day ago or longer: doubtful where it was seen in force since.
    var longOver: Timestamp?
}
