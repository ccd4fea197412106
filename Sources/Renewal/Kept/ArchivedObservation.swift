// An observation as it is kept.

extension Observation {
    /// What there is to be decided again: what a store says of how things are, without what it says
    /// of something that happened once, of when to ask, and of how it came to be known, and without
    /// whether an introductory offer was ever used, which the facts remember. What is heard again
    /// and says the same is the same.
    var standing: Observation {
        var standing = Observation(
            environment: environment, kind: kind, status: status, items: items,
            originalID: originalID, orderID: orderID, period: period, paidThrough: paidThrough,
            expiresAt: expiresAt, willRenew: willRenew, phase: phase, purchasedAt: purchasedAt,
            signals: signals, predecessorToken: predecessorToken, group: group)
        standing.observed = observed
        standing.commitment = commitment
        standing.accountToken = accountToken
        standing.ownership = ownership
        standing.offerIsIntroductory = offerIsIntroductory
        standing.lostParts = lostParts
        return standing
    }

    /// All that the decision of the moment hangs on. What only goes into an event's detail is not
    /// kept, and of a token only whether it is another than the purchase's own.
    func recorded(of token: StoreToken) -> Observation {
        var recorded = self
        recorded.predecessorToken = predecessorToken.map { _ in .kept }
        recorded.nextToken = nextToken == token ? nil : nextToken.map { _ in .kept }
        recorded.notes = SaleNotes()
        recorded.words = ""
        recorded.refundedParts = refundedParts.mapValues { _ in RefundedPart() }
        return recorded
    }
}

extension StoreToken {
    /// Stands for one that is kept nowhere else than where tokens are.
    static let kept = StoreToken("kept")
}

extension Observation: ArchivedFields {
    static var blank: Observation {
        Observation(environment: .production, status: .pending, items: [])
    }

    mutating func pass(through archive: inout Archive) {
        archive.pass(&environment)
        archive.pass(&kind)
        archive.pass(&observed)
        archive.pass(&items)
        archive.pass(&originalID)
        archive.pass(&orderID)
        archive.pass(&period)
        archive.pass(&paidThrough)
        archive.pass(&expiresAt)
        archive.pass(&willRenew)
        archive.pass(&commitment)
        archive.pass(&phase)
        archive.pass(&purchasedAt)
        archive.pass(&signals)
        archive.pass(&group)
        archive.pass(&usedIntroductory)
        archive.pass(&accountToken)
        archive.pass(&ownership)
        archive.pass(&offerIsIntroductory)
        passWhatPasses(through: &archive)
    }

    /// What is of its moment: in one byte where there is nothing of it.
    private mutating func passWhatPasses(through archive: inout Archive) {
        var isPlain =
            predecessorToken == nil && nextToken == nil && !isMigrated && statedAt == nil
            && askAgainBy == nil && pastRefunds.isEmpty && !isRefundedInPart
            && refundedParts.isEmpty && lostParts.isEmpty && settledClues.isEmpty
            && !awaitsAcknowledgement
        archive.pass(&isPlain)
        guard !isPlain else { return }
        pass(&predecessorToken, through: &archive)
        pass(&nextToken, through: &archive)
        archive.pass(&isMigrated)
        archive.pass(&statedAt)
        archive.pass(&askAgainBy)
        archive.pass(&pastRefunds)
        archive.pass(&isRefundedInPart)
        var parts = Set(refundedParts.keys)
        archive.pass(&parts)
        if archive.isReading {
            refundedParts = Dictionary(
                parts.map { ($0, RefundedPart()) }, uniquingKeysWith: { first, _ in first })
        }
        archive.pass(&lostParts)
        archive.pass(&settledClues)
        archive.pass(&awaitsAcknowledgement)
    }

    private func pass(_ token: inout StoreToken?, through archive: inout Archive) {
        var isThere = token != nil
        archive.pass(&isThere)
        if archive.isReading { token = isThere ? .kept : nil }
    }
}

extension Item: Archived {
    init(from archive: inout Archive) {
        self.init(names: archive.value(), expiresAt: archive.value())
    }

    func write(to archive: inout Archive) {
        names.write(to: &archive)
        expiresAt.write(to: &archive)
    }
}

/// Before the products were kept there was one reason for all of them, or none.
extension LostParts: Archived {
    init(from archive: inout Archive) {
        switch archive.byte() {
        case 0: self.init()
        case 1: self.init(all: archive.value())
        case 2:
            let parts: [NamedPart] = archive.value()
            self.init(Dictionary(parts.map { ($0.product, $0.part) }) { first, _ in first })
        default:
            archive.damage()
            self.init()
        }
    }

    func write(to archive: inout Archive) {
        if let common {
            archive.write(1)
            common.write(to: &archive)
        } else if parts.isEmpty {
            archive.write(0)
        } else {
            archive.write(2)
            Set(parts.map { NamedPart(product: $0, part: $1) }).write(to: &archive)
        }
    }
}

private struct NamedPart: Hashable, Archived {
    let product: ProductID
    let part: LostPart

    init(product: ProductID, part: LostPart) {
        self.product = product
        self.part = part
    }

    init(from archive: inout Archive) {
        product = archive.value()
        part = LostPart(reason: archive.value(), endedAt: archive.value())
    }

    func write(to archive: inout Archive) {
        product.write(to: &archive)
        part.reason.write(to: &archive)
        part.endedAt.write(to: &archive)
    }
}

extension ObservedStatus: Archived {
    init(from archive: inout Archive) {
        let isSubstitute: Bool = archive.value()
        let status: SubscriptionStatus = archive.value()
        switch (isSubstitute, status) {
        case (false, _): self = .own(status)
        case (true, .active): self = .substitute(.active)
        case (true, .grace(let moved)): self = .substitute(.grace(expiryMovedUnpaid: moved))
        case (true, _):
            archive.damage()
            self = .own(status)
        }
    }

    func write(to archive: inout Archive) {
        switch self {
        case .own: false.write(to: &archive)
        case .substitute: true.write(to: &archive)
        }
        status.write(to: &archive)
    }
}

extension SubscriptionStatus: Archived {
    init(from archive: inout Archive) {
        switch archive.byte() {
        case 0: self = .pending
        case 1: self = .active
        case 2: self = .grace(expiryMovedUnpaid: archive.value())
        case 3: self = .hold
        case 4: self = .paused(until: archive.value())
        case 5: self = .ended(archive.value(), at: archive.value())
        case 6: self = .refunded(at: archive.value())
        case 7: self = .removedFromFamily(at: archive.value())
        case 8: self = .replaced(at: archive.value())
        default:
            archive.damage()
            self = .pending
        }
    }

    func write(to archive: inout Archive) {
        switch self {
        case .pending: archive.write(0)
        case .active: archive.write(1)
        case .grace(let moved):
            archive.write(2)
            moved.write(to: &archive)
        case .hold: archive.write(3)
        case .paused(let until): write(4, until, &archive)
        case .ended(let cause, let at):
            archive.write(5)
            cause.write(to: &archive)
            at.write(to: &archive)
        case .refunded(let at): write(6, at, &archive)
        case .removedFromFamily(let at): write(7, at, &archive)
        case .replaced(let at): write(8, at, &archive)
        }
    }

    private func write(_ number: UInt8, _ time: Timestamp?, _ archive: inout Archive) {
        archive.write(number)
        time.write(to: &archive)
    }
}

extension Commitment: Archived {
    init(from archive: inout Archive) {
        guard let end = Timestamp?(from: &archive) else {
            self = .absent
            return
        }
        self = .until(end, renewsNext: archive.value())
    }

    func write(to archive: inout Archive) {
        switch self {
        case .absent: Timestamp?.none.write(to: &archive)
        case .until(let end, let renewsNext):
            Timestamp?.some(end).write(to: &archive)
            renewsNext.write(to: &archive)
        }
    }
}
