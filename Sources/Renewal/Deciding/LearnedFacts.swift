// What the answer says beside the status.
extension Judgement {
    /// What the answer says beside the status.
    mutating func learn() {
        facts.environment = known.environment ?? observation.environment
        guard !observation.isSubstitute else { return learnFromSubstitute() }
        if let product = observation.items.first?.names.last { facts.product = product }
        facts.kind = kindByConfiguration
        facts.paidThrough = isStillUnpaid ? nil : observation.paidThrough
        facts.paidThrough = facts.paidThrough ?? known.paidThrough
        facts.expiresAt = observation.expiresAt ?? ownEnd ?? facts.paidThrough
        learnRenewal()
        if isRenewedUnseen { facts.expiresAt = nil }
        facts.orderID = observation.orderID ?? known.orderID
        facts.originalID = observation.originalID ?? known.originalID
        facts.period = observation.period ?? known.period
        facts.phase = observation.phase ?? known.phase
        facts.group = observation.group ?? known.group
        facts.usedIntroductory = usedIntroductory
        facts.accountToken = observation.accountToken?.usable ?? known.accountToken
        facts.ownership = observation.ownership ?? known.ownership
        facts.statedAt = observation.statedAt ?? known.statedAt
        facts.signals = observation.signals
        if !known.signals.isEmpty {
            facts.signals.formUnion(known.signals.intersection(keptSignals))
        }
        if facts.environment != observation.environment {
            facts.signals.insert(.environmentChanged)
        }
    }

    private mutating func learnRenewal() {
        facts.autoRenew = isEnding ? known.autoRenew : observation.willRenew ?? known.autoRenew
        switch observation.commitment {
        case .absent?: (facts.commitmentEndsAt, facts.renewsNext) = (nil, nil)
        case .until(let end, let renewsNext)?:
            facts.commitmentEndsAt = end
            facts.renewsNext = renewsNext ?? known.renewsNext
        case nil:
            guard isCommittedStill else {
                (facts.commitmentEndsAt, facts.renewsNext) = (nil, nil)
                return
            }
            // What the answer says of the renewal may be the next period's alone, which is owed
            // whether or not the commitment has been cancelled.
            facts.autoRenew = known.autoRenew
            facts.renewsNext =
                isLastCommitted ? known.autoRenew : observation.willRenew ?? known.renewsNext
        }
    }

    /// Whether it runs in a period whose end nobody has seen, as where a store names ends only of
    /// what renews and renewal was turned off before the last one was seen: what was known to renew
    /// is in force past its end, and not said until when.
    private var isRenewedUnseen: Bool {
        guard claim.purchase.app.store.traits.namesPeriodsByEnd, facts.kind == .autoRenewable,
            observation.status == .active, known.state == .active, known.wasGranted,
            observation.expiresAt == nil, facts.autoRenew == false, let paid = known.paidThrough
        else { return false }
        // It stays so until an answer names the end.
        return known.autoRenew == false ? known.expiresAt == nil : paid <= moment.proven
    }

    /// Whether a commitment of which the answer says nothing still runs, as far as is known. What
    /// is over owes nothing.
    private var isCommittedStill: Bool {
        switch observation.status {
        case .active, .grace, .hold, .paused, .pending: break
        case .ended, .refunded, .removedFromFamily, .replaced: return false
        }
        guard let end = known.commitmentEndsAt, facts.product == known.product else { return false }
        return facts.paidThrough.map { $0 <= end } ?? true
    }

    /// Whether the period that is paid is the last one of the commitment.
    private var isLastCommitted: Bool {
        guard let paid = facts.paidThrough, let end = known.commitmentEndsAt else { return false }
        return end - paid <= .minutes(1)
    }

    /// Whether the store ends it at this moment. Nobody has turned renewal off for later: when the
    /// end has passed by our clock too, its reason is told.
    private var isEnding: Bool {
        guard observation.status == .active, known.access == .granted, known.autoRenew == true,
            observation.willRenew == false, observation.commitment?.owesNext != true,
            let end = observation.expiresAt
        else { return false }
        return moment.isPassing(end)
    }

    /// What was told and no answer takes back. While access waits for payment or for the end of a
    /// pause, stores do not say whether what was announced still holds; of what is cancelled not
    /// either, and a higher price may be why.
    private var keptSignals: Set<Signal> {
        let always: Set<Signal> = [.environmentChanged, .pastPeriodRefunded, .sharedReceipt]
        return switch observation.status {
        case .hold, .paused: always.union([.priceIncreasePending, .productChangeScheduled])
        case .active where observation.willRenew == false: always.union([.priceIncreasePending])
        case .pending, .active, .grace, .ended, .refunded, .removedFromFamily, .replaced: always
        }
    }

    /// A substitute adds and never takes: no end moves forward, nothing that was known is replaced.
    mutating func learnFromSubstitute() {
        facts.kind = known.kind ?? observation.kind
        facts.paidThrough = latest(known.paidThrough, observation.paidThrough)
        if known.access == .granted {
            // One that names no end does not make it last for ever.
            let end = known.expiresAt ?? known.paidThrough
            facts.expiresAt = end.map { max($0, observation.expiresAt ?? ownEnd ?? $0) }
        } else {
            facts.expiresAt = observation.expiresAt ?? ownEnd
        }
        if observation.willRenew == true { facts.autoRenew = true }
        facts.orderID = known.orderID ?? observation.orderID
        facts.originalID = known.originalID ?? observation.originalID
        facts.period = known.period ?? observation.period
        facts.phase = known.phase ?? observation.phase
        facts.group = known.group ?? observation.group
        if known.kind == nil, let product = observation.items.first?.names.last {
            facts.product = product
        }
    }

    func latest(_ first: Timestamp?, _ second: Timestamp?) -> Timestamp? {
        guard let first, let second else { return first ?? second }
        return max(first, second)
    }

    /// Once used is used for ever: the phase alone is forgotten with the next paid period.
    var usedIntroductory: Bool? {
        let phase = observation.phase
        let isInOne =
            (phase == .trial || phase == .introductory) && observation.offerIsIntroductory ?? true
        if isInOne || known.usedIntroductory == true { return true }
        return observation.usedIntroductory ?? known.usedIntroductory
    }

    /// Whether the end is another one though the store has said nothing new: the duration in the
    /// configuration was changed since the last check.
    var hasMovedByConfiguration: Bool {
        guard facts.kind != .autoRenewable, known.access == .granted,
            observation.expiresAt == nil, observation.paidThrough == nil,
            facts.product == known.product, facts.orderID == known.orderID
        else { return false }
        // A part that is given back, or comes back, moves the end of the whole.
        if areSoldTogether { return hasPartMovedByConfiguration }
        return facts.expiresAt != known.expiresAt && facts.expiresAt == ownEnd
    }

    /// Whether the configuration gives it, or a part of it, an earlier end than the known one.
    var hasEarlierEndByConfiguration: Bool {
        guard kindByConfiguration != .autoRenewable, observation.expiresAt == nil,
            observation.paidThrough == nil
        else { return false }
        if let end = ownEnd, known.expiresAt.map({ end < $0 }) ?? true { return true }
        return observation.items.contains { item in
            guard let end = ownEnd(of: item), let product = item.names.last else { return false }
            return known.holdings.contains { holding in
                holding.product == product && holding.expiresAt.map { end < $0 } ?? true
            }
        }
    }

    var names: [ProductID] { observation.items.first?.names ?? [known.product] }

    private var kindByConfiguration: ProductKind {
        catalog.product(named: names)?.kind ?? observation.kind
    }

    /// The end of a purchase that its store gives no end for: that of its product. What is sold
    /// once may hold several products: it lasts as long as the longest of them that gives anything,
    /// and without an end where one of these has none.
    var ownEnd: Timestamp? {
        guard observation.items.count > 1, kindByConfiguration != .autoRenewable else {
            return ownEnd(of: Item(names: names, expiresAt: nil))
        }
        var latest: Timestamp?
        for item in observation.items where kind(of: item) != .consumable {
            guard let end = ownEnd(of: item) else { return nil }
            latest = max(latest ?? end, end)
        }
        return latest
    }

    func kind(of item: Item) -> ProductKind {
        catalog.product(named: item.names)?.kind ?? observation.kind
    }

    /// The end of a product that its store gives no end for: bought at, plus the configured
    /// duration (design section 4, product kinds). Where an answer does not say when it was bought,
    /// the end stays as it is known; at first sight it was bought just now, at the latest, and what
    /// is held no more when it was handed in.
    func ownEnd(of item: Item) -> Timestamp? {
        guard let duration = catalog.product(named: item.names)?.duration else { return nil }
        guard let bought = observation.purchasedAt else {
            guard facts.kind != .autoRenewable else { return nil }
            if let held = known.holdings.first(where: { $0.product == item.names.last }) {
                return held.expiresAt
            }
            if observation.items.count <= 1, let end = known.expiresAt { return end }
            return (known.wasGranted ? claim.purchase.createdAt : moment.now) + duration
        }
        return bought + duration
    }
}
