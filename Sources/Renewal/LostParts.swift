/// What a purchase gave beside what it gives now, as far as the answer tells why that is not in
/// force any more. What is not named has been changed for another, or has run out.
package struct LostParts: Hashable, Sendable {
    private(set) var parts: [ProductID: LostPart]
    /// One reason for all: so it was kept once.
    let common: RevokeReason?

    package init(_ parts: [ProductID: LostPart] = [:], all common: RevokeReason? = nil) {
        self.parts = parts
        self.common = common
    }

    package subscript(product: ProductID) -> LostPart? {
        get { parts[product] ?? common.map { LostPart(reason: $0) } }
        set { parts[product] = newValue }
    }

    package var isEmpty: Bool { parts.isEmpty && common == nil }

    package func contains(_ reason: RevokeReason) -> Bool {
        common == reason || parts.values.contains { $0.reason == reason }
    }
}

/// One product that is not in force any more.
package struct LostPart: Hashable, Sendable {
    package let reason: RevokeReason
    /// When it ended; nil where the answer does not tell.
    package let endedAt: Timestamp?

    package init(reason: RevokeReason, endedAt: Timestamp? = nil) {
        self.reason = reason
        self.endedAt = endedAt
    }
}
