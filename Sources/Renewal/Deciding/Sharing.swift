/// Whose a purchase is that several users have handed in (design section 3.1).
extension Judgement {
    /// The user who gets it with this answer; nil where it stays with its owner. What this answer
    /// takes away from its owner is theirs to lose, under the breaker: it goes over afterwards.
    var heir: UserID? { takesAway ? nil : rightfulUser }

    private var takesAway: Bool { known.access != .none && facts.access == .none }

    private var rightfulUser: UserID? {
        guard facts.state != .superseded, claim.purchase.isClaimed else { return nil }
        switch policy.shared {
        case .allow: return nil
        case .keep: return namedClaimant ?? buyer
        case .move: return namedClaimant ?? (isOwnersByName ? nil : claim.purchase.claimant)
        }
    }

    /// The claimant whom the app has named to the store at the purchase.
    private var namedClaimant: UserID? {
        guard !isOwnersByName else { return nil }
        return claim.purchase.claimants.first(where: isNamed)
    }

    private var isOwnersByName: Bool { isNamed(claim.purchase.userID) }

    private func isNamed(_ user: UserID) -> Bool {
        facts.accountToken.map { namesUser($0, user) } ?? false
    }

    /// The claimant who has bought a new period of what gives its owner nothing any more, or by
    /// leniency alone: an original id belongs to an Apple ID for ever, and people make second
    /// accounts. What a store still collects for is not bought anew.
    private var buyer: UserID? {
        guard let claimant = claim.purchase.claimant, let claimedAt = claim.purchase.claimedAt,
            !isOwnersByName, known.givesNothing, facts.access == .granted,
            !isSamePeriod
        else { return nil }
        let bought = observation.isSubstitute ? nil : observation.purchasedAt
        let isBoughtSince = bought.map { $0 > claimedAt - Self.handingInTime } ?? false
        let wasOverSince = claim.checkedAt.map { $0 > claimedAt } ?? false
        return isBoughtSince || wasOverSince ? claimant : nil
    }

    /// An app hands in a purchase after it was made, and clocks differ.
    private static let handingInTime = Duration.minutes(5)

    /// A claim that does not change whose it is: told once.
    mutating func noteClaim() {
        if rightfulUser != nil {
            facts.signals.remove(.sharedReceipt)
        } else if claim.purchase.claimant != nil, facts.state != .superseded,
            policy.shared != .allow
        {
            facts.signals.insert(.sharedReceipt)
        }
    }

    /// Whether all who have claimed it have it, each their own. What this answer takes away from
    /// its owner, all or a part, goes by the breaker first: the others get theirs with a later
    /// answer.
    var isShared: Bool { isToBeShared && known.given(beyond: facts).isEmpty }

    /// Where a part is left, that answer is asked for soon.
    var isSharedLater: Bool { isToBeShared && !isShared && facts.access != .none }

    private var isToBeShared: Bool {
        policy.shared == .allow && claim.purchase.isClaimed && facts.state != .superseded
    }

    /// The older link that this purchase continues, as soon as anything of it was paid: a change
    /// that was never paid for leaves the older one as it was.
    var olderLink: StoreToken? {
        guard facts.state != .superseded, facts.state != .pending,
            facts.wasGranted || observation.period != nil
        else { return nil }
        return observation.predecessorToken
    }
}

extension Facts {
    /// Whether its store has said that it is over, no longer collects, and nothing of what was paid
    /// is left to its owner.
    fileprivate var givesNothing: Bool {
        switch state {
        case .expired: true
        case .refunded, .revoked: access == .none
        case .new, .pending, .active, .grace, .hold, .paused, .superseded, .invalid: false
        }
    }
}

extension UserID {
    private static let limitBytes = 1024

    /// Nil for what can be no user's id: whoever runs the app on a device of their own chooses what
    /// the store gives back.
    var usable: UserID? {
        let bytes = text.utf8
        return bytes.isEmpty || bytes.count > Self.limitBytes || bytes.contains(0) ? nil : self
    }
}

/// Whether a store's account token is that user's id: byte by byte, but that the digits of a UUID
/// are the same in capitals. Apple gives them in small letters, and Swift writes them in capitals.
package func namesUser(_ accountToken: UserID, _ user: UserID) -> Bool {
    let (token, id) = (Array(accountToken.text.utf8), Array(user.text.utf8))
    if accountToken == user { return true }
    guard isUUID(token), isUUID(id) else { return false }
    return token.map { $0 | 0x20 } == id.map { $0 | 0x20 }
}

/// Whether a store's account token may stand for that user: where the app's ids are no UUIDs, the
/// UUID that Apple asks for may be another name of anybody's.
package func mayNameUser(_ accountToken: UserID, _ user: UserID) -> Bool {
    namesUser(accountToken, user)
        || isUUID(Array(accountToken.text.utf8)) && !isUUID(Array(user.text.utf8))
}

private func isUUID(_ text: [UInt8]) -> Bool {
    guard text.count == 36 else { return false }
    return text.enumerated().allSatisfy { place, byte in
        switch place {
        case 8, 13, 18, 23: byte == UInt8(ascii: "-")
        default:
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
        }
    }
}
