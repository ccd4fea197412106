/// A decision with all that it was made from, so that it can be made again (design rule 14): what
/// was known, what was heard, the time, and what was decided. The rules are kept apart.
package struct DecisionRecord: Hashable, Sendable {
    package let claim: Claim
    package let answer: Answer
    package let now: Timestamp
    package let storeNow: Timestamp?
    package let isReleasing: Bool
    package let decided: Decided

    /// Of a decision that has just been made.
    package init(
        of outcome: Outcome, hearing answer: Answer, at moment: Moment, isReleasing: Bool
    ) {
        claim = outcome.claim
        self.answer = answer.recorded(of: outcome.claim.purchase.token)
        now = moment.now
        storeNow = moment.storeNow
        self.isReleasing = isReleasing
        decided = Decided(outcome)
    }

    /// Decides again, by this program.
    package func decidedAgain(under rules: Rules) -> Decided {
        // The chance that spreads checks over time decides nothing.
        let moment = Moment(now: now, jitter: 0.5, storeNow: storeNow)
        return Decided(
            decide(claim, hearing: answer, at: moment, under: rules, isReleasing: isReleasing))
    }
}

/// What was decided, as far as a user, or whoever reads an event, could tell: not when to ask
/// again, and no words.
package struct Decided: Hashable, Sendable {
    package fileprivate(set) var facts: Facts
    /// Nil where only the next check was stored.
    fileprivate var change: DecidedChange?
    fileprivate var problem: Problem.Code?

    package init(_ outcome: Outcome) {
        facts = outcome.facts
        problem = outcome.schedule.problem?.code
        guard let change = outcome.change else { return }
        self.change = DecidedChange(
            notices: change.notices.map(\.reason), gain: change.reasons.gain,
            loss: change.reasons.loss, expired: change.reasons.expired,
            effectiveAt: change.effectiveAt, heir: outcome.heir, isShared: outcome.isShared,
            takesOver: change.predecessorToken != nil, continues: change.olderLink != nil,
            isAskedOtherwise: change.nextToken != nil,
            held: Set(change.heldLosses.map { HeldLoss(entitlement: $0, reason: $1) }))
    }

    /// What differs, for people.
    package func differences(from other: Decided) -> [String] {
        var names: [String] = []
        if facts.state != other.facts.state { names.append("state") }
        if facts.access != other.facts.access { names.append("access") }
        if facts.holdings != other.facts.holdings { names.append("entitlements") }
        if facts.lossReason != other.facts.lossReason || change?.loss != other.change?.loss
            || change?.gain != other.change?.gain
        {
            names.append("reason")
        }
        if change?.notices != other.change?.notices { names.append("notices") }
        if problem != other.problem { names.append("problem") }
        if names.isEmpty, facts != other.facts { names.append("facts") }
        return names.isEmpty ? ["what is told"] : names
    }
}

/// The part of a decision that is more than the next check.
private struct DecidedChange: Hashable, Sendable {
    var notices: [NoticeReason] = []
    var gain = GrantReason.purchased
    var loss = RevokeReason.expired
    var expired: Set<EntitlementID> = []
    var effectiveAt = Timestamp(microsecondsSinceEpoch: 0)
    /// The other user who gets the purchase.
    var heir: UserID?
    var isShared = false
    var takesOver = false
    var continues = false
    var isAskedOtherwise = false
    var held: Set<HeldLoss> = []
}

private struct HeldLoss: Hashable, Sendable {
    let entitlement: EntitlementID
    let reason: RevokeReason
}

extension Outcome {
    fileprivate var heir: UserID? {
        if case .handed(let user, _) = decision { user } else { nil }
    }
}

extension Answer {
    fileprivate func recorded(of token: StoreToken) -> Answer {
        switch self {
        case .verdict(let observation): .verdict(observation.recorded(of: token))
        case .contested(let contested): contested.observation.recorded(of: token).asContested()
        case .doubt, .failure: self
        }
    }
}

// MARK: - As bytes

extension DecisionRecord {
    private static let format: UInt8 = 1

    package var bytes: [UInt8] {
        var archive = Archive()
        archive.write(Self.format)
        claim.purchase.app.store.write(to: &archive)
        KnownPurchase(claim).write(to: &archive)
        answer.write(to: &archive)
        now.write(to: &archive)
        storeNow.write(to: &archive)
        isReleasing.write(to: &archive)
        decided.write(to: &archive, since: claim.purchase.facts)
        return archive.bytes
    }

    /// As `bytes` made them.
    package init(_ bytes: [UInt8], ofPurchase id: Int64) throws(KeptFault) {
        var archive = Archive(reading: bytes)
        let format = archive.byte()
        guard format == Self.format else { throw .unknownFormat(Int(format)) }
        let store: Store = archive.value()
        claim = KnownPurchase(from: &archive).claim(ofPurchase: id, in: store)
        answer = archive.value()
        now = archive.value()
        storeNow = archive.value()
        isReleasing = archive.value()
        decided = Decided(from: &archive, since: claim.purchase.facts)
        guard archive.isComplete else { throw .damaged }
    }
}

extension Decided {
    /// Facts that have not changed are not written twice.
    fileprivate func write(to archive: inout Archive, since known: Facts) {
        (facts == known ? nil : facts).write(to: &archive)
        change.write(to: &archive)
        problem.write(to: &archive)
    }

    fileprivate init(from archive: inout Archive, since known: Facts) {
        facts = Facts?(from: &archive) ?? known
        change = archive.value()
        problem = archive.value()
    }
}

extension DecidedChange: ArchivedFields {
    static var blank: DecidedChange { DecidedChange() }

    mutating func pass(through archive: inout Archive) {
        archive.pass(&notices)
        archive.pass(&gain)
        archive.pass(&loss)
        archive.pass(&expired)
        archive.pass(&effectiveAt)
        archive.pass(&heir)
        archive.pass(&isShared)
        archive.pass(&takesOver)
        archive.pass(&continues)
        archive.pass(&isAskedOtherwise)
        archive.pass(&held)
    }
}

extension HeldLoss: Archived {
    init(from archive: inout Archive) {
        self.init(entitlement: archive.value(), reason: archive.value())
    }

    func write(to archive: inout Archive) {
        entitlement.write(to: &archive)
        reason.write(to: &archive)
    }
}

/// What a decision takes from a claim. No token: none decides anything.
private struct KnownPurchase: ArchivedFields {
    var userID: UserID = ""
    var createdAt = Timestamp(microsecondsSinceEpoch: 0)
    var isClaimedByOthers = false
    var claimant: UserID?
    var claimedAt: Timestamp?
    var claimants: [UserID] = []
    var clues: Set<Clue> = []
    var clueTimes: [Timestamp?] = []
    var facts = Facts.blank
    var attempts = 0
    var checkedAt: Timestamp?
    var statedAt: Timestamp?
    var inVain: Vain?

    static var blank: KnownPurchase { KnownPurchase() }

    mutating func pass(through archive: inout Archive) {
        archive.pass(&userID)
        archive.pass(&createdAt)
        archive.pass(&isClaimedByOthers)
        if isClaimedByOthers {
            archive.pass(&claimant)
            archive.pass(&claimedAt)
            archive.pass(&claimants)
        }
        archive.pass(&clues)
        archive.pass(&clueTimes)
        archive.pass(&facts)
        archive.pass(&attempts)
        archive.pass(&checkedAt)
        archive.pass(&statedAt)
        archive.pass(&inVain)
    }
}

extension KnownPurchase {
    init(_ claim: Claim) {
        let purchase = claim.purchase
        userID = purchase.userID
        createdAt = purchase.createdAt
        claimant = purchase.claimant
        claimedAt = purchase.claimedAt
        claimants = purchase.claimants
        isClaimedByOthers = purchase.isClaimedByOthers || claimant != nil || !claimants.isEmpty
        clues = purchase.clues
        clueTimes = Self.inOrder(clues).map { purchase.cluesHeardAt[$0] }
        facts = purchase.facts
        attempts = claim.attempts
        checkedAt = claim.checkedAt
        statedAt = claim.statedAt
        inVain = claim.inVain
    }

    private static func inOrder(_ clues: Set<Clue>) -> [Clue] {
        clues.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    }

    func claim(ofPurchase id: Int64, in store: Store) -> Claim {
        var purchase = Purchase(
            id: id, userID: userID, app: AppKey(store: store, id: ""), token: "",
            createdAt: createdAt, isClaimedByOthers: isClaimedByOthers, claimant: claimant,
            facts: facts)
        purchase.claimedAt = claimedAt
        purchase.claimants = claimants
        purchase.clues = clues
        for (clue, time) in zip(Self.inOrder(clues), clueTimes) {
            purchase.cluesHeardAt[clue] = time
        }
        let unknown = Timestamp(microsecondsSinceEpoch: 0)
        var claim = Claim(
            purchase: purchase, shard: 0, lane: 0, dueAt: unknown, version: 0, attempts: attempts,
            crashes: 0, checkedAt: checkedAt, claimedAt: unknown)
        claim.statedAt = statedAt
        claim.inVain = inVain
        return claim
    }
}
