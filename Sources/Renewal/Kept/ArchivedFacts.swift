// What is known of a purchase, as it is kept with a decision about it.

extension Facts: ArchivedFields {
    static var blank: Facts { Facts(product: "") }

    mutating func pass(through archive: inout Archive) {
        archive.pass(&product)
        archive.pass(&environment)
        archive.pass(&kind)
        archive.pass(&state)
        archive.pass(&access)
        archive.pass(&paidThrough)
        archive.pass(&expiresAt)
        archive.pass(&autoRenew)
        archive.pass(&commitmentEndsAt)
        archive.pass(&renewsNext)
        archive.pass(&orderID)
        archive.pass(&originalID)
        archive.pass(&period)
        archive.pass(&phase)
        archive.pass(&group)
        archive.pass(&usedIntroductory)
        archive.pass(&statedAt)
        archive.pass(&gainReason)
        archive.pass(&lossReason)
        archive.pass(&signals)
        archive.pass(&doubt)
        archive.pass(&holdings)
        archive.pass(&heldSince)
        archive.pass(&accountToken)
        archive.pass(&ownership)
        archive.pass(&isBaseline)
    }
}

extension PendingDoubt: Archived {
    init(from archive: inout Archive) {
        self.init(doubt: archive.value(), since: archive.value())
    }

    func write(to archive: inout Archive) {
        doubt.write(to: &archive)
        since.write(to: &archive)
    }
}

extension Holding: Archived {
    init(from archive: inout Archive) {
        self.init(
            entitlement: archive.value(), product: archive.value(), expiresAt: archive.value())
    }

    func write(to archive: inout Archive) {
        entitlement.write(to: &archive)
        product.write(to: &archive)
        expiresAt.write(to: &archive)
    }
}

extension Vain: Archived {
    init(from archive: inout Archive) {
        self.init(since: archive.value(), lastAskedAt: archive.value())
    }

    func write(to archive: inout Archive) {
        since.write(to: &archive)
        lastAskedAt.write(to: &archive)
    }
}

// What was heard.

extension Answer: Archived {
    init(from archive: inout Archive) {
        switch archive.byte() {
        case 0: self = .verdict(archive.value())
        case 1: self = Observation(from: &archive).asContested()
        case 2: self = .doubt(archive.value())
        case 3: self = .failure(archive.value())
        default:
            archive.damage()
            self = .doubt(.unproven)
        }
    }

    func write(to archive: inout Archive) {
        switch self {
        case .verdict(let observation):
            archive.write(0)
            observation.write(to: &archive)
        case .contested(let contested):
            archive.write(1)
            contested.observation.write(to: &archive)
        case .doubt(let doubt):
            archive.write(2)
            doubt.write(to: &archive)
        case .failure(let failure):
            archive.write(3)
            failure.write(to: &archive)
        }
    }
}

/// Its words are for people: what is decided hangs on the kind alone, and on what a reply is about.
extension StoreFailure: Archived {
    init(from archive: inout Archive) {
        let said = ""
        switch archive.byte() {
        case 0: self = .unreachable(reason: said)
        case 1: self = .throttled(retryAfter: archive.value())
        case 2: self = .refused(reason: said)
        case 3: self = .malformed(field: said)
        case 4: self = .signature(reason: said)
        case 5: self = .mismatch(what: archive.value())
        case 6: self = .rejected(reason: said)
        case 7: self = .unsupported(reason: said)
        default:
            archive.damage()
            self = .unsupported(reason: said)
        }
    }

    func write(to archive: inout Archive) {
        switch self {
        case .unreachable: archive.write(0)
        case .throttled(let retryAfter):
            archive.write(1)
            retryAfter.write(to: &archive)
        case .refused: archive.write(2)
        case .malformed: archive.write(3)
        case .signature: archive.write(4)
        case .mismatch(let what):
            archive.write(5)
            what.write(to: &archive)
        case .rejected: archive.write(6)
        case .unsupported: archive.write(7)
        }
    }
}
