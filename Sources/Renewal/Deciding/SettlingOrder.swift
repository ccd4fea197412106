// In which order the outcomes of one batch are settled. They come to one transaction, and what its
// events tell is told together.
extension [Outcome] {
    /// What gives comes before what takes away, so that nobody loses what another purchase of
    /// theirs gives in the same batch; a newer link of a chain comes before what it may have
    /// replaced; and of what is taken away the earlier is told first (design rules 8 and 10).
    package var inOrderOfSettling: [Outcome] {
        sorted { left, right in
            let (one, other) = (left.settlingRank, right.settlingRank)
            if one != other { return one < other }
            guard one == .takes, left.effectiveAt != right.effectiveAt else {
                return left.place < right.place
            }
            return left.effectiveAt < right.effectiveAt
        }
    }
}

private enum SettlingRank: Int, Comparable {
    case gives
    case continues
    case takes

    static func < (left: SettlingRank, right: SettlingRank) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension Outcome {
    fileprivate var settlingRank: SettlingRank {
        let isHanded = if case .handed = decision { true } else { false }
        guard takes || isHanded else { return .gives }
        return change?.predecessorToken == nil ? .takes : .continues
    }

    fileprivate var place: (Int16, Int64) { (claim.shard, claim.purchaseID) }

    fileprivate var effectiveAt: Timestamp { change?.effectiveAt ?? claim.claimedAt }
}
