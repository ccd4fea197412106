import Renewal

// What a purchase gives beside its main product, and why that ends.
extension GoogleObservation {
    /// Holdings of other products, while the main one stays what it was.
    var heldBeside: [Holding] {
        guard main?.product == facts.product else { return [] }
        return facts.holdings.filter { $0.product != facts.product }
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

    private var isAnythingSaidToBeTakenBack: Bool {
        clues.contains { clue in
            switch clue {
            case .refund, .revoked: true
            case .pause, .void: false
            }
        }
    }

    /// Why an add-on that was held is not in force any more: cut short it was given back, unless
    /// its end had only been moved while it was not paid; what ran out had been removed by the user
    /// when the answer still shows it without renewal.
    var lossOfPart: RevokeReason? {
        let isKept = { (product: ProductID) in
            inForce.contains { $0.product == product }
                || unlisted.contains { $0.names.contains(product) }
        }
        guard let lost = heldBeside.first(where: { !isKept($0.product) }) else { return nil }
        let listed = snapshot.items.first { $0.product == lost.product }
        let end = listed?.expires ?? now
        if facts.state != .grace, let known = lost.expiresAt, end < known - .minutes(1) {
            return .refunded
        }
        return listed.map { $0.renews ? .expired : .cancelled } ?? .expired
    }
}
