import Renewal
import Stores

extension StoreScene {
    /// What a store says hangs on what was given, not on whether the breaker holds what takes it
    /// away. Of an add-on of Amazon's that has ended nothing is said while its base is silent.
    func askWhileHeld(
        about purchase: Purchase, at now: Timestamp, knowing known: KnownPurchases,
        expecting answer: Answer
    ) async throws {
        guard purchase.facts.access == .granted, purchase.app.store != .amazon else { return }
        let other = await ask(purchase.held(since: now), at: now, in: CallSession(knowing: known))
        guard other == answer else { throw AnswersOtherwise(held: other) }
    }
}

private struct AnswersOtherwise: Error {
    let held: Answer
}

extension Purchase {
    fileprivate func held(since now: Timestamp) -> Purchase {
        var held = Purchase(
            id: id, userID: userID, app: app, token: token, storeUserID: storeUserID,
            createdAt: createdAt, isClaimedByOthers: isClaimedByOthers, claimant: claimant,
            facts: facts.held(since: now))
        held.clues = clues
        held.cluesHeardAt = cluesHeardAt
        held.knownRefunds = knownRefunds
        held.checkedAt = checkedAt
        held.inVainSince = inVainSince
        return held
    }
}

extension Facts {
    fileprivate func held(since now: Timestamp) -> Facts {
        var held = Facts(
            storedProduct: product, state: state, access: .held, lossReason: .refunded,
            holdings: holdings)
        held.environment = environment
        held.kind = kind
        held.paidThrough = paidThrough
        held.expiresAt = expiresAt
        held.autoRenew = autoRenew
        held.commitmentEndsAt = commitmentEndsAt
        held.renewsNext = renewsNext
        held.orderID = orderID
        held.originalID = originalID
        held.period = period
        held.phase = phase
        held.group = group
        held.usedIntroductory = usedIntroductory
        held.statedAt = statedAt
        held.gainReason = gainReason
        held.signals = signals
        held.doubt = doubt
        held.heldSince = now
        held.accountToken = accountToken
        held.ownership = ownership
        held.isBaseline = isBaseline
        return held
    }
}
